"""`…/tags` and `…/observations/scopes`: which tags a bank's memories have."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from ...nouns.text import clean
from .answers import OpenApp, answer
from .banks import MAX_PAGE, PATH, Limit, NamedBank, Offset
from .errors import BANK_ERRORS

router = APIRouter(tags=["Memory"])


class TagItem(BaseModel):
    """A tag, and how many memories have it."""

    tag: str
    count: int


class ListTagsResponse(BaseModel):
    """Tags, most used first."""

    items: list[TagItem]
    total: int
    limit: int
    offset: int


class ObservationScope(BaseModel):
    """A set of tags, and how many observations have just these."""

    tags: list[str]
    count: int


class ObservationScopesResponse(BaseModel):
    """Sets of tags, most used first."""

    scopes: list[ObservationScope]
    total: int
    limit: int
    offset: int


@router.get(
    f"{PATH}/tags",
    operation_id="list_tags",
    summary="List tags",
    response_model=ListTagsResponse,
    responses=BANK_ERRORS,
)
async def list_tags(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    q: Annotated[
        str | None,
        Query(description="The whole tag, letter case aside; `*` stands for any text."),
    ] = None,
    source: Annotated[
        Literal["memories", "mental_models"],
        Query(description="There are no mental models yet, so these have no tags."),
    ] = "memories",
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """List tags with how many memories have them: a source with its facts is one memory."""
    pattern = clean(q) or None if q else None
    items: list[tuple[str, int]] = []
    total = 0
    if source == "memories":
        items, total = await app.stats.tags(bank, pattern, limit, offset)
    body = ListTagsResponse(
        items=[TagItem(tag=tag, count=count) for tag, count in items],
        total=total,
        limit=limit,
        offset=offset,
    )
    return answer(request, body, queries=("q", "source", "limit", "offset"))


@router.get(
    f"{PATH}/observations/scopes",
    operation_id="list_observation_scopes",
    summary="List observation scopes",
    response_model=ObservationScopesResponse,
    responses=BANK_ERRORS,
)
async def list_observation_scopes(
    request: Request, app: OpenApp, bank: NamedBank, limit: Limit = MAX_PAGE, offset: Offset = 0
) -> Response:
    """List the sets of tags that observations have."""
    scopes = await app.stats.scopes(bank)
    body = ObservationScopesResponse(
        scopes=[
            ObservationScope(tags=list(tags), count=count)
            for tags, count in scopes[offset : offset + limit]
        ],
        total=len(scopes),
        limit=limit,
        offset=offset,
    )
    return answer(request, body, queries=("limit", "offset"))
