"""HEBBS's insights: `GET /v1/insights`, `POST /v1/reflect` with `/prepare` and `/commit`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field

from ...nouns.caller import Caller
from ...nouns.errors import InvalidInput
from ...nouns.ids import parse_id, to_ulid
from ...nouns.memory import BankRef
from ...verbs.insight_prompts import CHECK, SYSTEM, spelled
from ...verbs.insights import MOST_INSIGHTS, Cluster, Insight
from .access import Calling
from .answers import OpenApp, answer
from .auditing import noter
from .body import Wire, body_of
from .errors import ENTITY_ERRORS
from .hebbs_shapes import HebbsMemory, MemoryId, bank_of, entity_of, ids_of, memories_of
from .prime import Int64
from .schema import reads

_MOST_TAGS = 100

router = APIRouter(tags=["Memory"])


class InsightsResponse(BaseModel):
    """Insights, the most important first."""

    insights: list[HebbsMemory]
    count: int


class SinceScope(Wire):
    """All entities."""

    since_us: Int64 | None = None


class EntityScope(SinceScope):
    """One entity."""

    entity_id: str


class ReflectScope(Wire):
    """One of the two; neither: all entities."""

    entity: EntityScope | None = None
    global_: SinceScope | None = Field(None, alias="global")


class HebbsReflectRequest(Wire):
    """Which memories to group; all entities by default."""

    entity_id: str | None = None
    since_us: Int64 | None = Field(None, description="Leave out what was kept before.")
    scope: ReflectScope | None = Field(None, description="The same, as gRPC spells it.")


class ReflectCounts(BaseModel):
    """What was found, and made. For a model of your own see prepare and commit."""

    insights_created: int
    clusters_found: int
    clusters_processed: int
    memories_processed: int


class ClusterMemory(BaseModel):
    """One memory of a cluster."""

    memory_id: str
    content: str
    importance: float
    entity_id: str | None
    created_at: int


class ClusterPrompt(BaseModel):
    """Memories that are about one thing, and what to ask a model about them."""

    cluster_id: int
    member_count: int
    proposal_system_prompt: str
    proposal_user_prompt: str
    memory_ids: list[str]
    validation_context: str
    memories: list[ClusterMemory]


class PreparedResponse(BaseModel):
    """What could be reflected on; a session can be committed for ten minutes."""

    session_id: str
    memories_processed: int
    clusters: list[ClusterPrompt]
    existing_insight_count: int


class ProducedInsight(Wire):
    """What a model made of a cluster."""

    content: str
    confidence: float = Field(description="0 to 1.")
    source_memory_ids: list[MemoryId] = Field(
        default_factory=list, description="What it rests on; the whole cluster when left out."
    )
    tags: Annotated[list[str], Field(max_length=_MOST_TAGS)] = Field(default_factory=list)
    cluster_id: int | None = None


class CommitRequest(Wire):
    """Insights of a prepared session."""

    session_id: str
    insights: Annotated[list[ProducedInsight], Field(max_length=MOST_INSIGHTS)]


class CommitResponse(BaseModel):
    """How many are kept; sent again, the same ones are."""

    insights_created: int


@router.get(
    "/v1/insights",
    operation_id="list_insights",
    summary="List insights",
    response_model=InsightsResponse,
    responses=ENTITY_ERRORS,
)
async def list_insights(
    request: Request,
    app: OpenApp,
    caller: Calling,
    entity_id: Annotated[str | None, Query(description="All entities by default.")] = None,
    min_confidence: Annotated[
        float, Query(ge=0, le=1, allow_inf_nan=False, description="Lowest importance.")
    ] = 0.0,
    max_results: Annotated[int, Query(ge=0, le=MOST_INSIGHTS)] = 100,
) -> Response:
    """List what was derived from several memories, the most important first."""
    found = await app.memories.insights.listed(
        caller, bank_of(caller, entity_id), least=min_confidence, limit=max_results
    )
    return answer(
        request,
        {"insights": await memories_of(app.memories.lookup, found), "count": len(found)},
        nulls=True,
        queries=("entity_id", "min_confidence", "max_results"),
    )


@router.post(
    "/v1/reflect",
    operation_id="find_clusters",
    summary="Look for what memories have in common",
    response_model=ReflectCounts,
    responses=ENTITY_ERRORS,
    openapi_extra=reads(HebbsReflectRequest),
)
async def find_clusters(
    request: Request,
    app: OpenApp,
    caller: Calling,
    body: Annotated[HebbsReflectRequest, Depends(body_of(HebbsReflectRequest))],
) -> Response:
    """Group memories that are about one thing; a language model, if there is one, makes insights.

    Groups whose insights are there are not asked about again.
    """
    done = await app.distil(caller, *_scope(caller, body), noter(request))
    return answer(
        request,
        ReflectCounts(
            insights_created=done.created,
            clusters_found=done.clusters,
            clusters_processed=done.processed,
            memories_processed=done.read,
        ),
    )


@router.post(
    "/v1/reflect/prepare",
    operation_id="prepare_insights",
    summary="Prepare insights",
    response_model=PreparedResponse,
    responses=ENTITY_ERRORS,
    openapi_extra=reads(HebbsReflectRequest),
)
async def prepare_insights(
    request: Request,
    app: OpenApp,
    caller: Calling,
    body: Annotated[HebbsReflectRequest, Depends(body_of(HebbsReflectRequest))],
) -> Response:
    """Group memories for the caller's own model, which says what they show."""
    prepared = await app.memories.insights.prepare(caller, *_scope(caller, body))
    return answer(
        request,
        {
            "session_id": to_ulid(prepared.session),
            "memories_processed": prepared.read,
            "clusters": [_prompt(n, each) for n, each in enumerate(prepared.clusters)],
            "existing_insight_count": prepared.existing,
        },
        nulls=True,
    )


@router.post(
    "/v1/reflect/commit",
    operation_id="commit_insights",
    summary="Commit insights",
    response_model=CommitResponse,
    responses=ENTITY_ERRORS,
    openapi_extra=reads(CommitRequest),
)
async def commit_insights(
    request: Request,
    app: OpenApp,
    caller: Calling,
    body: Annotated[CommitRequest, Depends(body_of(CommitRequest))],
) -> Response:
    """Keep what a model made of a prepared session."""
    session = parse_id(body.session_id, "session_id")
    insights = [
        Insight(
            each.content,
            each.confidence,
            ids_of(each.source_memory_ids, "source_memory_ids"),
            tuple(each.tags),
            each.cluster_id,
        )
        for each in body.insights
    ]
    made = await app.memories.insights.commit(caller, session, insights, noter(request))
    return answer(request, CommitResponse(insights_created=sum(made.values())))


def _scope(caller: Caller, body: HebbsReflectRequest) -> tuple[BankRef | None, int | None]:
    """Return which bank, None for all of the tenant's, and since when."""
    entity, since = body.entity_id, body.since_us
    scope = body.scope or ReflectScope()
    if scope.entity is not None:
        if not scope.entity.entity_id.strip():
            raise InvalidInput("entity_id must not be empty", field="scope.entity.entity_id")
        entity, since = scope.entity.entity_id, scope.entity.since_us
    elif scope.global_ is not None:
        entity, since = None, scope.global_.since_us
    return bank_of(caller, entity), since


def _prompt(number: int, cluster: Cluster) -> dict[str, Any]:
    return {
        "cluster_id": number,
        "member_count": len(cluster.members),
        "proposal_system_prompt": SYSTEM,
        "proposal_user_prompt": spelled(cluster),
        "memory_ids": [kept.unit.id.hex() for kept in cluster.members],
        "validation_context": CHECK,
        "memories": [
            {
                "memory_id": kept.unit.id.hex(),
                "content": kept.unit.text,
                "importance": kept.unit.importance,
                "entity_id": entity_of(kept.ref),
                "created_at": kept.unit.created_at,
            }
            for kept in cluster.members
        ],
    }
