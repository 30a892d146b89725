"""The paths of mem0's platform, versions 1 to 3, under `/compat/mem0`: its client's base URL."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel

from . import mem0_hosted as hosted
from .access import Calling
from .answers import answer
from .body import body_of
from .errors import BANK_ERRORS
from .mem0_shapes import (
    QUERIES,
    Given,
    Listed,
    Mem0Added,
    Mem0AddRequest,
    Mem0AddResults,
    Mem0Change,
    Mem0ListRequest,
    Mem0Memory,
    Mem0Message,
    Mem0Page,
    Mem0Results,
    Mem0SearchRequest,
    Mem0UpdateRequest,
)
from .schema import reads

_ROOT = "/compat/mem0"
_WRAPPED = "v1.1"

router = APIRouter(tags=["mem0"])

AddBody = Annotated[Mem0AddRequest, Depends(body_of(Mem0AddRequest))]
SearchBody = Annotated[Mem0SearchRequest, Depends(body_of(Mem0SearchRequest))]
ListBody = Annotated[Mem0ListRequest, Depends(body_of(Mem0ListRequest))]
Page = Annotated[int | None, Query(ge=1, le=1_000_000)]
Size = Annotated[int | None, Query(ge=1, le=1_000)]


class Mem0Ping(BaseModel):
    """That a key is good. Organisation and project are its tenant."""

    status: str
    org_id: str
    project_id: str
    user_email: str | None


class Mem0Entity(BaseModel):
    """A user, an agent, a run or an app that has memories."""

    id: str
    name: str
    type: str
    total_memories: int


class Mem0Entities(BaseModel):
    """Those that there are, by name."""

    count: int
    results: list[Mem0Entity]


@router.get(
    f"{_ROOT}/v1/ping/",
    operation_id="mem0_ping",
    summary="Check a key",
    response_model=Mem0Ping,
    responses=BANK_ERRORS,
)
async def ping(request: Request, caller: Calling) -> Response:
    """Answer whoever has a key."""
    tenant = caller.tenant
    told = {"status": "ok", "org_id": tenant, "project_id": tenant, "user_email": None}
    return answer(request, told, nulls=True, queries=("org_id", "project_id"))


@router.post(
    f"{_ROOT}/v1/memories/",
    operation_id="mem0_add_v1",
    summary="Add memories (v1)",
    response_model=list[Mem0Added] | Mem0AddResults,
    responses=BANK_ERRORS,
    openapi_extra=reads(Mem0AddRequest),
)
async def add_v1(request: Request, mem0: Given, body: AddBody) -> Response:
    """Keep messages, verbatim; a list, or with `output_format` v1.1 an object."""
    return _wrapped(request, await mem0.add(body), body.output_format)


router.post(
    f"{_ROOT}/v3/memories/add/",
    operation_id="mem0_add_v3",
    summary="Add memories (v3)",
    response_model=Mem0AddResults,
    responses=BANK_ERRORS,
    openapi_extra=reads(Mem0AddRequest),
)(hosted.add)


@router.get(
    f"{_ROOT}/v1/memories/",
    operation_id="mem0_list_v1",
    summary="Get all memories (v1)",
    response_model=list[Mem0Memory],
    responses=BANK_ERRORS,
)
async def list_v1(request: Request, mem0: Given, asked: Listed) -> Response:
    """Return memories, the newest first."""
    found, _ = await mem0.listed(asked)
    return answer(request, found, nulls=True, queries=QUERIES)


@router.post(
    f"{_ROOT}/v2/memories/",
    operation_id="mem0_list_v2",
    summary="Get all memories (v2)",
    response_model=list[Mem0Memory] | Mem0Page,
    responses=BANK_ERRORS,
    openapi_extra=reads(Mem0ListRequest),
)
async def list_v2(
    request: Request, mem0: Given, body: ListBody, page: Page = None, page_size: Size = None
) -> Response:
    """Return memories that pass a filter: a list, or with `page` a page of it."""
    body = _paged(body, page, page_size)
    found, total = await mem0.listed(body)
    told: Any = found if body.page is None else _page(body, found, total)
    return answer(request, told, nulls=True, queries=("page", "page_size"))


@router.post(
    f"{_ROOT}/v3/memories/",
    operation_id="mem0_list_v3",
    summary="Get all memories (v3)",
    response_model=Mem0Page,
    responses=BANK_ERRORS,
    openapi_extra=reads(Mem0ListRequest),
)
async def list_v3(
    request: Request, mem0: Given, body: ListBody, page: Page = None, page_size: Size = None
) -> Response:
    """Return a page of memories that pass a filter."""
    body = _paged(body, page, page_size)
    found, total = await mem0.listed(body)
    told = _page(body, found, total)
    return answer(request, told, nulls=True, queries=("page", "page_size"))


@router.post(
    f"{_ROOT}/v1/memories/search/",
    operation_id="mem0_search_v1",
    summary="Search memories (v1)",
    response_model=list[Mem0Memory] | Mem0Results,
    responses=BANK_ERRORS,
    openapi_extra=reads(Mem0SearchRequest),
)
async def search_v1(request: Request, mem0: Given, body: SearchBody) -> Response:
    """Find memories: a list, or with `output_format` v1.1 an object."""
    return _wrapped(request, await mem0.search(body), body.output_format)


router.post(
    f"{_ROOT}/v2/memories/search/",
    operation_id="mem0_search_v2",
    summary="Search memories (v2)",
    response_model=list[Mem0Memory] | Mem0Results,
    responses=BANK_ERRORS,
    openapi_extra=reads(Mem0SearchRequest),
)(search_v1)


router.post(
    f"{_ROOT}/v3/memories/search/",
    operation_id="mem0_search_v3",
    summary="Search memories (v3)",
    response_model=Mem0Results,
    responses=BANK_ERRORS,
    openapi_extra=reads(Mem0SearchRequest),
)(hosted.search)


router.delete(
    f"{_ROOT}/v1/memories/",
    operation_id="mem0_delete_all_v1",
    summary="Delete all memories (v1)",
    response_model=Mem0Message,
    responses=BANK_ERRORS,
)(hosted.delete_all)


router.get(
    f"{_ROOT}/v1/memories/{{memory_id}}/",
    operation_id="mem0_get_v1",
    summary="Get a memory (v1)",
    response_model=Mem0Memory,
    responses=BANK_ERRORS,
)(hosted.get)


@router.put(
    f"{_ROOT}/v1/memories/{{memory_id}}/",
    operation_id="mem0_update_v1",
    summary="Update a memory (v1)",
    response_model=Mem0Memory,
    responses=BANK_ERRORS,
    openapi_extra=reads(Mem0UpdateRequest),
)
async def update_v1(
    request: Request,
    mem0: Given,
    memory_id: str,
    body: Annotated[Mem0UpdateRequest, Depends(body_of(Mem0UpdateRequest))],
) -> Response:
    """Change a memory and return it."""
    await mem0.update(memory_id, body)
    return answer(request, await hosted.found_one(mem0, memory_id), nulls=True)


router.delete(
    f"{_ROOT}/v1/memories/{{memory_id}}/",
    operation_id="mem0_delete_v1",
    summary="Delete a memory (v1)",
    response_model=Mem0Message,
    responses=BANK_ERRORS,
)(hosted.delete)


router.get(
    f"{_ROOT}/v1/memories/{{memory_id}}/history/",
    operation_id="mem0_history_v1",
    summary="Get the history of a memory (v1)",
    response_model=list[Mem0Change],
    responses=BANK_ERRORS,
)(hosted.history)


@router.get(
    f"{_ROOT}/v1/entities/",
    operation_id="mem0_entities",
    summary="List users, agents, runs and apps",
    response_model=Mem0Entities,
    responses=BANK_ERRORS,
)
async def entities(request: Request, mem0: Given) -> Response:
    """Return those that memories are kept of first: a user's agents are not listed."""
    found = await mem0.mem0.entities()
    told = {"count": len(found), "results": found}
    return answer(request, told, queries=("org_id", "project_id"))


@router.delete(
    f"{_ROOT}/v2/entities/{{entity_type}}/{{entity_id}}/",
    operation_id="mem0_delete_entity",
    summary="Delete a user, an agent, a run or an app",
    response_model=Mem0Message,
    responses=BANK_ERRORS,
)
async def delete_entity(
    request: Request, mem0: Given, entity_type: str, entity_id: str
) -> Response:
    """Erase all memories that have its id."""
    await mem0.delete_all({f"{entity_type}_id": entity_id})
    return answer(request, {"message": "Entity deleted successfully!"})


def _wrapped(request: Request, found: list[dict[str, Any]], form: str | None) -> Response:
    told: Any = {"results": found} if form == _WRAPPED else found
    return answer(request, told, nulls=True)


def _paged(body: Mem0ListRequest, page: int | None, page_size: int | None) -> Mem0ListRequest:
    """Return the body with what the query says of the page."""
    return body.model_copy(
        update={"page": page or body.page, "page_size": page_size or body.page_size}
    )


def _page(body: Mem0ListRequest, found: list[dict[str, Any]], total: int) -> dict[str, Any]:
    number, size = body.page or 1, body.page_size or body.top_k or 100
    more = number * size < total

    def at(page: int) -> str:
        return f"?page={page}&page_size={size}"

    return {
        "count": total,
        "next": at(number + 1) if more else None,
        "previous": at(number - 1) if number > 1 else None,
        "results": found,
    }
