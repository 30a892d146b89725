"""`…/directives`: rules for how questions are answered, in Hindsight's words."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field

from ...nouns.memory import BankRef
from ...verbs.directives import CONTENT_CHARS, NAME_CHARS, Directive
from .answers import OpenApp, answer
from .auditing import audited
from .banks import PATH, DeleteResponse, Limit, NamedBank, Offset
from .body import Wire, body_of
from .errors import BANK_ERRORS
from .moments import spell
from .retain import Tags
from .schema import reads
from .tag_rules import MatchQuery, TagsQuery, passes

_PATH = f"{PATH}/directives"
_ONE = f"{_PATH}/{{directive_id}}"
_MOST = 1 << 31

router = APIRouter(tags=["Directives"])

Name = Annotated[str, Field(max_length=NAME_CHARS)]
Content = Annotated[str, Field(max_length=CONTENT_CHARS)]
Priority = Annotated[int, Field(ge=-_MOST, le=_MOST)]


class CreateDirectiveRequest(Wire):
    """A directive to keep."""

    name: Name
    content: Content = Field(description="What answers are to follow, as a sentence.")
    priority: Priority = Field(0, description="The highest is told first.")
    is_active: bool = True
    tags: Tags = Field(None, description="With tags it holds for questions with one of them.")


class UpdateDirectiveRequest(Wire):
    """What to change; what is left out or null stays."""

    name: Name | None = None
    content: Content | None = None
    priority: Priority | None = None
    is_active: bool | None = None
    tags: Tags = None


class DirectiveResponse(BaseModel):
    """A directive."""

    id: str
    bank_id: str
    name: str
    content: str
    priority: int = 0
    is_active: bool = True
    tags: list[str] = Field(default_factory=list)
    created_at: str | None = None
    updated_at: str | None = None


class DirectiveListResponse(BaseModel):
    """Directives, the highest priority first."""

    items: list[DirectiveResponse]
    total: int
    limit: int
    offset: int


@router.get(
    _PATH,
    operation_id="list_directives",
    summary="List directives",
    response_model=DirectiveListResponse,
    responses=BANK_ERRORS,
)
async def list_directives(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    tags: TagsQuery = None,
    tags_match: MatchQuery = "any",
    active_only: Annotated[bool, Query()] = True,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """List a bank's directives."""
    found = [
        each
        for each in await app.directives.list(bank, active=active_only)
        if passes(each.tags, tags, tags_match)
    ]
    page = [_shown(bank, each) for each in found[offset : offset + limit]]
    body = DirectiveListResponse(items=page, total=len(found), limit=limit, offset=offset)
    names = ("tags", "tags_match", "active_only", "limit", "offset")
    return answer(request, body, queries=names)


@router.post(
    _PATH,
    operation_id="create_directive",
    summary="Create directive",
    response_model=DirectiveResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(CreateDirectiveRequest),
)
async def create_directive(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    body: Annotated[CreateDirectiveRequest, Depends(body_of(CreateDirectiveRequest))],
) -> Response:
    """Keep a rule for how questions of this bank are answered by a language model."""
    kept = await app.directives.create(
        bank,
        body.name,
        body.content,
        priority=body.priority,
        is_active=body.is_active,
        tags=body.tags or (),
    )
    audited(request, directive_id=kept.id)
    return answer(request, _shown(bank, kept))


@router.get(
    _ONE,
    operation_id="get_directive",
    summary="Get directive",
    response_model=DirectiveResponse,
    responses=BANK_ERRORS,
)
async def get_directive(
    request: Request, app: OpenApp, bank: NamedBank, directive_id: str
) -> Response:
    """Show a directive."""
    return answer(request, _shown(bank, await app.directives.get(bank, directive_id)))


@router.patch(
    _ONE,
    operation_id="update_directive",
    summary="Update directive",
    response_model=DirectiveResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(UpdateDirectiveRequest),
)
async def update_directive(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    directive_id: str,
    body: Annotated[UpdateDirectiveRequest, Depends(body_of(UpdateDirectiveRequest))],
) -> Response:
    """Change a directive."""
    names = ("name", "content", "priority", "is_active", "tags")
    changes = {n: value for n in names if (value := getattr(body, n)) is not None}
    kept = await app.directives.update(bank, directive_id, changes)
    audited(request, directive_id=kept.id)
    return answer(request, _shown(bank, kept))


@router.delete(
    _ONE,
    operation_id="delete_directive",
    summary="Delete directive",
    response_model=DeleteResponse,
    responses=BANK_ERRORS,
)
async def delete_directive(
    request: Request, app: OpenApp, bank: NamedBank, directive_id: str
) -> Response:
    """Delete a directive."""
    await app.directives.delete(bank, directive_id)
    told = DeleteResponse(success=True, message="the directive was deleted", deleted_count=1)
    return answer(request, told)


def _shown(bank: BankRef, each: Directive) -> DirectiveResponse:
    return DirectiveResponse(
        id=each.id,
        bank_id=bank.bank,
        name=each.name,
        content=each.content,
        priority=each.priority,
        is_active=each.is_active,
        tags=list(each.tags),
        created_at=spell(each.created_at),
        updated_at=spell(each.updated_at),
    )
