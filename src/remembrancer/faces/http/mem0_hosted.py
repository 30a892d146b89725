"""The paths of mem0's own server, under `/compat/mem0`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from ...nouns.errors import NotFound
from .answers import answer
from .body import body_of
from .errors import BANK_ERRORS
from .mem0_shapes import (
    ALL_DELETED,
    DELETED,
    QUERIES,
    UPDATED,
    Given,
    Listed,
    Mem0AddRequest,
    Mem0AddResults,
    Mem0Change,
    Mem0Memory,
    Mem0Message,
    Mem0Results,
    Mem0SearchRequest,
    Mem0UpdateRequest,
    Named,
)
from .schema import reads

_ROOT = "/compat/mem0"

router = APIRouter(tags=["mem0"])


@router.post(
    f"{_ROOT}/memories",
    operation_id="mem0_add",
    summary="Add memories",
    response_model=Mem0AddResults,
    responses=BANK_ERRORS,
    openapi_extra=reads(Mem0AddRequest),
)
async def add(
    request: Request, mem0: Given, body: Annotated[Mem0AddRequest, Depends(body_of(Mem0AddRequest))]
) -> Response:
    """Keep messages, verbatim."""
    return answer(request, {"results": await mem0.add(body)}, nulls=True)


@router.get(
    f"{_ROOT}/memories",
    operation_id="mem0_list",
    summary="Get all memories",
    response_model=Mem0Results,
    responses=BANK_ERRORS,
)
async def get_all(request: Request, mem0: Given, asked: Listed) -> Response:
    """Return the memories of a user, an agent or a run, the newest first."""
    found, _ = await mem0.listed(asked)
    return answer(request, {"results": found}, nulls=True, queries=QUERIES)


@router.delete(
    f"{_ROOT}/memories",
    operation_id="mem0_delete_all",
    summary="Delete all memories",
    response_model=Mem0Message,
    responses=BANK_ERRORS,
)
async def delete_all(request: Request, mem0: Given, named: Named) -> Response:
    """Erase what has all ids given; one at least."""
    await mem0.delete_all(named)
    return answer(request, ALL_DELETED, queries=QUERIES)


@router.post(
    f"{_ROOT}/search",
    operation_id="mem0_search",
    summary="Search memories",
    response_model=Mem0Results,
    responses=BANK_ERRORS,
    openapi_extra=reads(Mem0SearchRequest),
)
async def search(
    request: Request,
    mem0: Given,
    body: Annotated[Mem0SearchRequest, Depends(body_of(Mem0SearchRequest))],
) -> Response:
    """Find memories, best first."""
    return answer(request, {"results": await mem0.search(body)}, nulls=True)


@router.get(
    f"{_ROOT}/memories/{{memory_id}}",
    operation_id="mem0_get",
    summary="Get a memory",
    response_model=Mem0Memory,
    responses=BANK_ERRORS,
)
async def get(request: Request, mem0: Given, memory_id: str) -> Response:
    """Return one memory."""
    return answer(request, await found_one(mem0, memory_id), nulls=True)


@router.put(
    f"{_ROOT}/memories/{{memory_id}}",
    operation_id="mem0_update",
    summary="Update a memory",
    response_model=Mem0Message,
    responses=BANK_ERRORS,
    openapi_extra=reads(Mem0UpdateRequest),
)
async def update(
    request: Request,
    mem0: Given,
    memory_id: str,
    body: Annotated[Mem0UpdateRequest, Depends(body_of(Mem0UpdateRequest))],
) -> Response:
    """Change a memory's text, metadata, or last day."""
    await mem0.update(memory_id, body)
    return answer(request, UPDATED)


@router.delete(
    f"{_ROOT}/memories/{{memory_id}}",
    operation_id="mem0_delete",
    summary="Delete a memory",
    response_model=Mem0Message,
    responses=BANK_ERRORS,
)
async def delete(request: Request, mem0: Given, memory_id: str) -> Response:
    """Erase a memory."""
    await mem0.delete(memory_id)
    return answer(request, DELETED)


@router.get(
    f"{_ROOT}/memories/{{memory_id}}/history",
    operation_id="mem0_history",
    summary="Get the history of a memory",
    response_model=list[Mem0Change],
    responses=BANK_ERRORS,
)
async def history(request: Request, mem0: Given, memory_id: str) -> Response:
    """Return what became of a memory, oldest first."""
    return answer(request, await mem0.mem0.history(memory_id), nulls=True)


@router.post(
    f"{_ROOT}/reset",
    operation_id="mem0_reset",
    summary="Reset",
    response_model=Mem0Message,
    responses=BANK_ERRORS,
)
async def reset(request: Request, mem0: Given) -> Response:
    """Erase every memory that was made through mem0's routes or classes."""
    await mem0.mem0.reset()
    return answer(request, {"message": "All memories reset"})


async def found_one(mem0: Given, memory_id: str) -> dict[str, object]:
    """Return a memory.

    Raises:
        NotFound: there is none of that id.
    """
    found = await mem0.mem0.get(memory_id)
    if found is None:
        raise NotFound(f"Memory with id {memory_id} not found", field="memory_id")
    return found
