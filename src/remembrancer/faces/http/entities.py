"""`…/entities`: who and what a bank's memories mention; merging, splitting, renaming."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from ...keeping.entity_view import CoMention
from ...nouns.errors import InvalidInput, NotFound
from ...nouns.ids import parse_id, to_uuid
from ...nouns.memory import BankRef, Entity, Unit
from ...verbs.entities import MAX_ALIASES, MAX_GRAPH, MAX_MERGED, MAX_SPLIT, NAME_CHARS
from .answers import OpenApp, answer
from .auditing import unaudited
from .banks import PATH, Limit, NamedBank, Offset
from .body import Wire, body_of
from .errors import BANK_ERRORS, HTTPError
from .moments import spell
from .schema import fails_with, reads

router = APIRouter(tags=["Entities"])

Name = Annotated[str, Field(max_length=NAME_CHARS)]


class MergeEntitiesRequest(Wire):
    """Which entities become part of the one in the path."""

    merged: Annotated[list[str], Field(min_length=1, max_length=MAX_MERGED)] = Field(
        alias="from", description="Their ids."
    )

    model_config = ConfigDict(
        json_schema_extra={"example": {"from": ["0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10"]}}
    )


class SplitEntityRequest(Wire):
    """Which memories speak of somebody else, and of whom."""

    name: Name = Field(description="Of an entity that is there, or of a new one.")
    memory_ids: Annotated[list[str], Field(min_length=1, max_length=MAX_SPLIT)] = Field(
        description="Facts go with their memory."
    )


class UpdateEntityRequest(Wire):
    """What to change; what is left out, or null, stays."""

    name: Name | None = Field(None, description="The older name becomes an alias.")
    aliases: Annotated[list[Name], Field(max_length=MAX_ALIASES)] | None = Field(
        None, description="All aliases from now on; then an older name does not become one."
    )
    kind: Name | None = Field(None, description="What it is, such as person.")


class EntityMetadata(BaseModel):
    """What is known of an entity beside its name."""

    kind: str
    aliases: list[str]


class EntityListItem(BaseModel):
    """An entity as listed."""

    id: str
    canonical_name: str
    mention_count: int = Field(description="Memories and facts that mention it.")
    first_seen: str | None = None
    last_seen: str | None = None
    metadata: EntityMetadata | None = None


class EntityListResponse(BaseModel):
    """Entities, most mentioned first."""

    items: list[EntityListItem]
    total: int
    limit: int
    offset: int


class EntityObservationResponse(BaseModel):
    """An observation of an entity; there are none yet."""

    text: str
    mentioned_at: str | None = None


class EntityMemory(BaseModel):
    """A memory that mentions an entity."""

    id: str
    text: str
    type: str
    mentioned_at: str | None = None
    entities: list[str]


class EntityDetailResponse(EntityListItem):
    """An entity with its latest memories."""

    observations: list[EntityObservationResponse]
    aliases: list[str]
    kind: str
    memories: list[EntityMemory] = Field(description="The latest ones, 20 at most.")


class EntityGraphResponse(BaseModel):
    """Entities, and which of them memories mention together."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    total_entities: int
    total_edges: int
    limit: int


@router.get(
    f"{PATH}/entities",
    operation_id="list_entities",
    summary="List entities",
    response_model=EntityListResponse,
    responses=BANK_ERRORS,
)
async def list_entities(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    q: Annotated[
        str | None,
        Query(max_length=NAME_CHARS, description="A part of a name or alias, however spelled."),
    ] = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """List entities, most mentioned first."""
    page = await app.entities.listing(bank, containing=q, limit=limit, offset=offset)
    body = EntityListResponse(
        items=[_listed(each) for each in page.items], total=page.total, limit=limit, offset=offset
    )
    return answer(request, body, queries=("q", "limit", "offset"))


@router.get(  # before the route of one entity, whose id could be "graph" otherwise
    f"{PATH}/entities/graph",
    operation_id="get_entity_graph",
    summary="Get the graph of entities",
    response_model=EntityGraphResponse,
    responses=BANK_ERRORS,
)
async def get_entity_graph(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    limit: Annotated[
        int, Query(ge=1, le=MAX_GRAPH, description="Of entities, and of edges.")
    ] = 1_000,
    min_count: Annotated[
        int, Query(ge=1, description="Memories that mention two entities, at least.")
    ] = 1,
) -> Response:
    """Show which entities are mentioned together.

    Of the most mentioned entities the latest 100,000 mentions in all are looked at.
    """
    graph = await app.entities.graph(bank, limit=limit, min_count=min_count)
    body = EntityGraphResponse(
        nodes=[{"data": _node(entity)} for entity in graph.nodes],
        edges=[{"data": _edge(pair)} for pair in graph.edges],
        total_entities=graph.total_entities,
        total_edges=graph.total_edges,
        limit=limit,
    )
    return answer(request, body, queries=("limit", "min_count"))


@router.get(
    f"{PATH}/entities/{{entity_id}}",
    operation_id="get_entity",
    summary="Get an entity",
    response_model=EntityDetailResponse,
    responses=BANK_ERRORS,
)
async def get_entity(request: Request, app: OpenApp, bank: NamedBank, entity_id: str) -> Response:
    """Show an entity with its latest memories."""
    return answer(request, await _detail(app, bank, _id(entity_id)))


@router.post(
    f"{PATH}/entities/{{entity_id}}/regenerate",
    operation_id="regenerate_entity_observations",
    summary="Regenerate an entity's observations",
    deprecated=True,
    response_model=EntityDetailResponse,
    responses={**BANK_ERRORS, 410: fails_with(HTTPError)},
)
async def regenerate_entity(bank: NamedBank, entity_id: str) -> Response:
    """Refuse: observations are no longer made entity by entity."""
    raise HTTPException(
        410,
        f"entity {entity_id[:64]!r} of bank {bank.bank!r} has no observations of its own to "
        "regenerate; drop this call",
    )


@router.post(
    f"{PATH}/entities/{{entity_id}}/merge",
    operation_id="merge_entities",
    summary="Merge entities",
    response_model=EntityDetailResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(MergeEntitiesRequest),
)
async def merge_entities(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    entity_id: str,
    body: Annotated[MergeEntitiesRequest, Depends(body_of(MergeEntitiesRequest))],
) -> Response:
    """Make other entities part of this one; their names become its aliases.

    The audit entry `entity.merge` keeps the ids of the memories that moved, 5,000 an entity at
    most, by which a split undoes it.
    """
    unaudited(request)
    merged = [parse_id(each, "from") for each in body.merged]
    found = await app.entities.merge(bank, _id(entity_id), merged)
    return answer(request, await _detail(app, bank, found.id))


@router.post(
    f"{PATH}/entities/{{entity_id}}/split",
    operation_id="split_entity",
    summary="Split an entity",
    response_model=EntityDetailResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(SplitEntityRequest),
)
async def split_entity(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    entity_id: str,
    body: Annotated[SplitEntityRequest, Depends(body_of(SplitEntityRequest))],
) -> Response:
    """Let some memories mention the entity of another name instead; answers with that one."""
    unaudited(request)
    ids = [parse_id(each, "memory_ids") for each in body.memory_ids]
    found = await app.entities.split(bank, _id(entity_id), body.name, ids)
    return answer(request, await _detail(app, bank, found.id))


@router.patch(
    f"{PATH}/entities/{{entity_id}}",
    operation_id="update_entity",
    summary="Rename an entity, or change its aliases",
    response_model=EntityDetailResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(UpdateEntityRequest),
)
async def update_entity(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    entity_id: str,
    body: Annotated[UpdateEntityRequest, Depends(body_of(UpdateEntityRequest))],
) -> Response:
    """Change what an entity is called, or its kind.

    An entity that no memory mentions is gone once it has lost its last alias.
    """
    unaudited(request)
    before = (await app.entities.get(bank, _id(entity_id))).entity
    found = await app.entities.change(
        bank, before.id, name=body.name, aliases=body.aliases, kind=body.kind
    )
    if found is None:
        return answer(request, _detailed(before, ()))
    return answer(request, await _detail(app, bank, found.id))


async def _detail(app: OpenApp, bank: BankRef, entity_id: bytes) -> EntityDetailResponse:
    found = await app.entities.get(bank, entity_id)
    return _detailed(found.entity, found.memories)


def _id(entity_id: str) -> bytes:
    try:
        return parse_id(entity_id, "entity_id")
    except InvalidInput:
        raise NotFound(f"there is no entity {entity_id[:64]!r}", field="entity_id") from None


def _listed(entity: Entity) -> EntityListItem:
    return EntityListItem(
        id=to_uuid(entity.id),
        canonical_name=entity.name,
        mention_count=entity.mention_count,
        first_seen=spell(entity.first_seen),
        last_seen=spell(entity.last_seen),
        metadata=EntityMetadata(kind=entity.kind, aliases=list(entity.aliases)),
    )


def _detailed(entity: Entity, memories: Sequence[Unit]) -> EntityDetailResponse:
    return EntityDetailResponse(
        **dict(_listed(entity)),
        observations=[],
        aliases=list(entity.aliases),
        kind=entity.kind,
        memories=[
            EntityMemory(
                id=to_uuid(unit.id),
                text=unit.text,
                type=unit.kind.name.lower(),
                mentioned_at=spell(unit.mentioned_at, unit.offset_min),
                entities=list(unit.entities),
            )
            for unit in memories
        ],
    )


def _node(entity: Entity) -> dict[str, Any]:
    return {
        "id": to_uuid(entity.id),
        "label": entity.name,
        "kind": entity.kind,
        "mention_count": entity.mention_count,
        "mentionCount": entity.mention_count,  # newer clients of Hindsight read this name
    }


def _edge(pair: CoMention) -> dict[str, Any]:
    one, other = to_uuid(pair.one), to_uuid(pair.other)
    return {
        "id": f"{one}-{other}",
        "source": one,
        "target": other,
        "linkType": "co_mention",
        "weight": pair.units,
    }
