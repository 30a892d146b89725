"""mem0's words on the HTTP wire: bodies, and what its two sets of routes have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from pydantic import BaseModel, Field

from ...app import App
from ..compat.mem0.messages import told_at
from ..compat.mem0.scope import ENTITIES, MAX_ID_CHARS
from ..compat.mem0.service import MAX_TOP_K, TOP_K, UNSET, Mem0, Search, filter_of
from .access import Calling
from .answers import OpenApp
from .auditing import audited_in
from .body import Wire

UPDATED = {"message": "Memory updated successfully!"}
DELETED = {"message": "Memory deleted successfully!"}
ALL_DELETED = {"message": "Memories deleted successfully!"}

Id = Annotated[str | None, Field(max_length=2 * MAX_ID_CHARS)]
Metadata = dict[str, Any] | None


class Scoped(Wire):
    """Whose memories: here or, where there are any, in `filters`."""

    user_id: Id = None
    agent_id: Id = None
    run_id: Id = None
    app_id: Id = None

    @property
    def ids(self) -> dict[str, str | None]:
        """The ids by name."""
        return {name: getattr(self, name) for name in ENTITIES}


class Mem0AddRequest(Scoped):
    """Messages to keep, verbatim; one id at least."""

    messages: str | dict[str, Any] | list[dict[str, Any]]
    metadata: Metadata = None
    timestamp: int | float | str | None = Field(
        None, description="When it was said: seconds since 1970, or ISO 8601."
    )
    expiration_date: str | None = Field(None, description="The last day on which it is shown.")
    infer: bool = Field(True, description="Without effect: texts are kept as they are.")
    output_format: str | None = Field(None, description="Of /v1: v1.1 wraps the list in `results`.")


class Mem0SearchRequest(Scoped):
    """A question, and whose memories are searched."""

    query: str
    filters: dict[str, Any] | None = None
    metadata: Metadata = Field(None, description="Values that the memory's metadata must have.")
    top_k: int | None = Field(None, ge=1, le=MAX_TOP_K)
    limit: int | None = Field(None, ge=1, le=MAX_TOP_K, description="Another name of `top_k`.")
    threshold: float | None = Field(None, description="The lowest score, 0 to 1.")
    show_expired: bool = False
    reference_date: int | float | str | None = Field(None, description='For "yesterday".')
    output_format: str | None = None


class Mem0ListRequest(Scoped):
    """Whose memories, and which of them."""

    filters: dict[str, Any] | None = None
    page: int | None = Field(None, ge=1, le=1_000_000)
    page_size: int | None = Field(None, ge=1, le=MAX_TOP_K)
    top_k: int | None = Field(None, ge=1, le=MAX_TOP_K)
    show_expired: bool = False


class Mem0UpdateRequest(Wire):
    """What to change; `data` is another name of `text`. A date of null clears it."""

    text: str | None = None
    data: str | None = None
    metadata: Metadata = None
    expiration_date: str | None = None


class Mem0Memory(BaseModel):
    """A memory as mem0 shows it; ids and dates only where it has them."""

    id: str
    memory: str
    hash: str
    metadata: dict[str, Any] | None
    score: float | None = Field(None, description="Of a search: 0 to 1.")
    created_at: str
    updated_at: str
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    app_id: str | None = None
    actor_id: str | None = None
    role: str | None = None
    expiration_date: str | None = None


class Mem0Results(BaseModel):
    """Memories, the best first or the newest first."""

    results: list[Mem0Memory]


class Mem0Page(Mem0Results):
    """A page of them, and how many there are."""

    count: int
    next: str | None
    previous: str | None


class Mem0Added(BaseModel):
    """What was added."""

    id: str
    memory: str
    event: str
    role: str | None = None
    actor_id: str | None = None


class Mem0AddResults(BaseModel):
    """What was added, one entry a message or passage."""

    results: list[Mem0Added]


class Mem0Change(BaseModel):
    """One thing that became of a memory."""

    id: str
    memory_id: str
    old_memory: str | None
    new_memory: str | None
    event: str
    created_at: str
    updated_at: str | None
    is_deleted: bool
    actor_id: str | None
    role: str | None
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    app_id: str | None = None


class Mem0Message(BaseModel):
    """That it was done."""

    message: str


class Doing:
    """mem0's calls for the caller of one request; what they changed is told to the audit log."""

    def __init__(self, request: Request, app: App, mem0: Mem0) -> None:
        self.request = request
        self.app = app
        self.mem0 = mem0

    async def add(self, body: Mem0AddRequest) -> list[dict[str, Any]]:
        """Keep messages."""
        added = await self.mem0.add(
            body.messages,
            body.ids,
            metadata=body.metadata,
            timestamp=body.timestamp,
            expiration_date=body.expiration_date,
        )
        self._audited(count=len(added))
        return added

    async def search(self, body: Mem0SearchRequest) -> list[dict[str, Any]]:
        """Find memories."""
        top_k = next((k for k in (body.top_k, body.limit) if k is not None), TOP_K)
        return await self.mem0.search(
            Search(
                body.query,
                filter_of(body.filters, body.ids, body.metadata),
                top_k=top_k,
                threshold=body.threshold,
                show_expired=body.show_expired,
                asked_at=told_at(body.reference_date, "reference_date"),
            )
        )

    async def listed(self, body: Mem0ListRequest) -> tuple[list[dict[str, Any]], int]:
        """Return a page of memories, and how many there are."""
        size = body.page_size or body.top_k or 100
        return await self.mem0.get_all(
            filter_of(body.filters, body.ids),
            top_k=size,
            offset=((body.page or 1) - 1) * size,
            show_expired=body.show_expired,
        )

    async def update(self, memory_id: str, body: Mem0UpdateRequest) -> None:
        """Change a memory."""
        named = "expiration_date" in body.model_fields_set
        await self.mem0.update(
            memory_id,
            text=body.data if body.text is None else body.text,
            metadata=body.metadata,
            expiration_date=body.expiration_date if named else UNSET,
        )
        self._audited(memory_id=memory_id)

    async def delete(self, memory_id: str) -> None:
        """Erase a memory."""
        await self.mem0.delete(memory_id)
        self._audited(memory_id=memory_id)

    async def delete_all(self, ids: Mapping[str, Any]) -> None:
        """Erase what has all of some ids."""
        count = await self.mem0.delete_all(ids)
        self._audited(count=count)

    def _audited(self, **metadata: Any) -> None:
        for ref in self.mem0.places:
            audited_in(self.request, ref, **metadata)


async def _doing(request: Request, app: OpenApp, caller: Calling) -> Doing:
    return Doing(request, app, Mem0(app, caller))


Given = Annotated[Doing, Depends(_doing)]

_Text = Annotated[str | None, Query(max_length=2 * MAX_ID_CHARS)]
QUERIES = (*ENTITIES, "page", "page_size", "top_k", "limit", "show_expired")


async def _listing(
    user_id: _Text = None,
    agent_id: _Text = None,
    run_id: _Text = None,
    app_id: _Text = None,
    page: Annotated[int | None, Query(ge=1, le=1_000_000)] = None,
    page_size: Annotated[int | None, Query(ge=1, le=MAX_TOP_K)] = None,
    top_k: Annotated[int | None, Query(ge=1, le=MAX_TOP_K)] = None,
    limit: Annotated[int | None, Query(ge=1, le=MAX_TOP_K)] = None,
    show_expired: bool = False,
) -> Mem0ListRequest:
    return Mem0ListRequest(
        user_id=user_id,
        agent_id=agent_id,
        run_id=run_id,
        app_id=app_id,
        page=page,
        page_size=page_size,
        top_k=limit if top_k is None else top_k,
        show_expired=show_expired,
    )


Listed = Annotated[Mem0ListRequest, Depends(_listing)]
"""What a GET asks for in its query."""


async def _named(
    user_id: _Text = None, agent_id: _Text = None, run_id: _Text = None, app_id: _Text = None
) -> dict[str, str | None]:
    return {"user_id": user_id, "agent_id": agent_id, "run_id": run_id, "app_id": app_id}


Named = Annotated[dict[str, str | None], Depends(_named)]
"""Ids in the query."""
