"""HEBBS's memories one by one: `/v1/memories`, `/v1/revise/{memory_id}`, `/v1/entities`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import AliasChoices, BaseModel, Field

from ...nouns.ids import parse_id
from ...nouns.memory import Link
from ...nouns.names import UNNAMED
from ...verbs.listing import MOST_LISTED
from ...verbs.recalling.origins import Origin
from ...verbs.remember import Tie
from ...verbs.revise import Revision
from ...verbs.tenant_banks import all_banks_of, reached
from .access import Calling
from .answers import OpenApp, answer
from .auditing import audited_in, noter
from .banks import Limit, Offset
from .body import Wire, body_of
from .errors import ENTITY_ERRORS
from .hebbs_shapes import (
    Edge,
    EntityId,
    HebbsMemory,
    MemoryId,
    bank_of,
    home_of,
    ids_of,
    link_type,
    memories_of,
    memory_of,
    origin_named,
)
from .schema import reads

MOST_AT_ONCE = 500  # memories of one batch
MOST_EDGES = 1_000

router = APIRouter(tags=["Memory"])

Edges = Annotated[list[Edge], Field(max_length=MOST_EDGES)]


class RememberRequest(Wire):
    """One memory, as it is told."""

    content: str = Field(description="1 to 65,536 bytes of UTF-8.")
    importance: float | None = Field(None, description="0 to 1; .5 by default.")
    entity_id: EntityId = None
    context: dict[str, Any] | None = Field(None, description="Any JSON, kept with it.")
    edges: Edges = Field(default_factory=list)
    kind: str | None = Field(None, description="insight: derived from others; else an episode.")


class ReviseRequest(Wire):
    """What to change; what is left out or null stays."""

    content: str | None = None
    importance: float | None = None
    context: dict[str, Any] | None = None
    context_mode: str = Field(
        "merge", description="merge: over the old context. replace: in its place."
    )
    entity_id: str | None = Field(None, description="Move it to this entity.")
    edges: Edges = Field(default_factory=list)


class BatchRequest(Wire):
    """Which memories to get."""

    memory_ids: Annotated[list[MemoryId], Field(max_length=MOST_AT_ONCE)] = Field(
        validation_alias=AliasChoices("memory_ids", "ids"), description="`ids` is another name."
    )


class MemoryPage(BaseModel):
    """Memories by id, and where to go on."""

    memories: list[HebbsMemory]
    next_cursor: str | None = Field(description="Null on the last page.")


class EdgeItem(BaseModel):
    """A link between two memories."""

    source_id: str
    target_id: str
    edge_type: str
    confidence: float


class EdgesResponse(BaseModel):
    """The links of a memory, those of what was read from it included; the strongest first."""

    outgoing: list[EdgeItem]
    incoming: list[EdgeItem]


class GraphRequest(Wire):
    """Around which memory to look, and how far."""

    center_id: MemoryId
    depth: int = Field(2, description="Steps, up to 5.")
    edge_types: list[str] = Field(default_factory=list, description="None given: all.")
    max_nodes: int = Field(100, description="Up to 500.")


class GraphResponse(BaseModel):
    """Memories, nearest first, and the links between them."""

    nodes: list[HebbsMemory]
    edges: list[EdgeItem]
    truncated: bool = Field(description="There are more than `max_nodes`.")


@router.post(
    "/v1/memories",
    operation_id="remember",
    summary="Remember",
    status_code=201,
    response_model=HebbsMemory,
    responses=ENTITY_ERRORS,
    openapi_extra=reads(RememberRequest),
)
async def remember(
    request: Request,
    app: OpenApp,
    caller: Calling,
    body: Annotated[RememberRequest, Depends(body_of(RememberRequest))],
) -> Response:
    """Keep one memory as it is told; nothing is read from it."""
    ref = home_of(caller, body.entity_id)
    unit = await app.memories.remember(
        ref,
        body.content,
        importance=body.importance,
        attributes=body.context,
        ties=_ties(body.edges),
        derived=origin_named(body.kind, "kind") is Origin.DERIVED,
    )
    audited_in(request, ref, memory_id=unit.id.hex())
    kept = await app.memories.lookup(caller, unit.id)
    return answer(request, await memory_of(app.memories.lookup, kept), nulls=True, status=201)


@router.get(
    "/v1/memories",
    operation_id="list_entity_memories",
    summary="List memories of an entity",
    response_model=MemoryPage,
    responses=ENTITY_ERRORS,
)
async def list_memories(
    request: Request,
    app: OpenApp,
    caller: Calling,
    entity_id: Annotated[str | None, Query(description="All entities by default.")] = None,
    kind: Annotated[str | None, Query(description="episode, insight, and so on.")] = None,
    cursor: Annotated[str | None, Query(description="`next_cursor` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 100,
) -> Response:
    """List memories, oldest first; a page may be short, so go on until `next_cursor` is null.

    Propositions, which are read from other memories, come only when `kind` asks for them.
    """
    listed = await app.memories.listing(
        caller,
        bank_of(caller, entity_id),
        origin=origin_named(kind or None, "kind"),
        cursor=cursor or None,
        limit=limit,
    )
    return answer(
        request,
        {
            "memories": await memories_of(app.memories.lookup, listed.memories),
            "next_cursor": listed.cursor,
        },
        nulls=True,
        queries=("entity_id", "kind", "cursor", "limit"),
    )


@router.post(
    "/v1/memories/batch",
    operation_id="get_memories",
    summary="Get several memories",
    response_model=list[HebbsMemory],
    responses=ENTITY_ERRORS,
    openapi_extra=reads(BatchRequest),
)
async def get_memories(
    request: Request,
    app: OpenApp,
    caller: Calling,
    body: Annotated[BatchRequest, Depends(body_of(BatchRequest))],
) -> Response:
    """Return memories in the order of their ids; those that are not there are left out."""
    ids = ids_of(body.memory_ids, "memory_ids")
    places = await reached(app.store, caller, ids)
    found = {
        kept.unit.id: kept
        for ref in dict.fromkeys(places.values())
        for kept in await app.memories.lookup.several(ref, [i for i in ids if places.get(i) == ref])
    }
    kept = [found[unit_id] for unit_id in ids if unit_id in found]
    return answer(request, await memories_of(app.memories.lookup, kept), nulls=True)


@router.get(
    "/v1/memories/{memory_id}",
    operation_id="get_memory_by_id",
    summary="Get a memory by its id",
    response_model=HebbsMemory,
    responses=ENTITY_ERRORS,
)
async def get_memory(
    request: Request, app: OpenApp, caller: Calling, memory_id: MemoryId
) -> Response:
    """Return one memory, whatever its entity."""
    kept = await app.memories.lookup(caller, parse_id(memory_id, "memory_id"))
    return answer(request, await memory_of(app.memories.lookup, kept), nulls=True)


@router.get(
    "/v1/memories/{memory_id}/edges",
    operation_id="get_edges",
    summary="Get the links of a memory",
    response_model=EdgesResponse,
    responses=ENTITY_ERRORS,
)
async def get_edges(
    request: Request, app: OpenApp, caller: Calling, memory_id: MemoryId
) -> Response:
    """Return the links that lead from a memory, and those that lead to it."""
    found = await app.memories.surroundings.edges(caller, parse_id(memory_id, "memory_id"))
    return answer(request, {"outgoing": _edges(found.outgoing), "incoming": _edges(found.incoming)})


@router.put(
    "/v1/revise/{memory_id}",
    operation_id="revise",
    summary="Revise a memory",
    response_model=HebbsMemory,
    responses=ENTITY_ERRORS,
    openapi_extra=reads(ReviseRequest),
)
async def revise(
    request: Request,
    app: OpenApp,
    caller: Calling,
    memory_id: MemoryId,
    body: Annotated[ReviseRequest, Depends(body_of(ReviseRequest))],
) -> Response:
    """Change a memory; it keeps its id, and what it was is kept with it."""
    revision = Revision(
        content=body.content,
        importance=body.importance,
        attributes=body.context,
        replaces=body.context_mode.lower() == "replace",
        ties=_ties(body.edges),
        bank=bank_of(caller, body.entity_id),
    )
    kept = await app.memories.revise(
        caller, parse_id(memory_id, "memory_id"), revision, noter(request)
    )
    return answer(request, await memory_of(app.memories.lookup, kept), nulls=True)


@router.post(
    "/v1/graph",
    operation_id="walk_graph",
    summary="Walk from a memory",
    response_model=GraphResponse,
    responses=ENTITY_ERRORS,
    openapi_extra=reads(GraphRequest),
)
async def walk_graph(
    request: Request,
    app: OpenApp,
    caller: Calling,
    body: Annotated[GraphRequest, Depends(body_of(GraphRequest))],
) -> Response:
    """Return what stored links lead to from a memory, in either direction."""
    found = await app.memories.surroundings(
        caller,
        parse_id(body.center_id, "center_id"),
        depth=body.depth,
        types=[link_type(name, "edge_types") for name in body.edge_types],
        limit=body.max_nodes,
    )
    return answer(
        request,
        {
            "nodes": await memories_of(app.memories.lookup, found.nodes),
            "edges": _edges(found.edges),
            "truncated": found.truncated,
        },
        nulls=True,
    )


@router.get(
    "/v1/entities",
    operation_id="list_entity_names",
    summary="List the names of entities",
    response_model=list[str],
    responses=ENTITY_ERRORS,
)
async def list_entities(
    request: Request, app: OpenApp, caller: Calling, limit: Limit = 1_000, offset: Offset = 0
) -> Response:
    """Return the names of entities, which are banks, in order."""
    names: list[str] = []
    async for ref in all_banks_of(app.store, caller):
        if ref.bank != UNNAMED:
            if offset:
                offset -= 1
            else:
                names.append(ref.bank)
        if len(names) == limit:
            break
    return answer(request, names, queries=("limit", "offset"))


def _ties(edges: Sequence[Edge]) -> list[Tie]:
    return [
        Tie(
            parse_id(edge.target_id, "edges.target_id"),
            link_type(edge.edge_type, "edges.edge_type"),
            edge.confidence,
        )
        for edge in edges
    ]


def _edges(links: Sequence[Link]) -> list[dict[str, Any]]:
    return [
        {
            "source_id": link.source.hex(),
            "target_id": link.target.hex(),
            "edge_type": link.type.value,
            "confidence": link.weight,
        }
        for link in links
    ]
