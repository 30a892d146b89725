"""`POST /v1/prime`: the context that a conversation should start with, in HEBBS's words."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field

from ...finding.composite import ScoringWeights
from ...nouns.clock import DAY_US
from ...nouns.errors import InvalidInput
from ...nouns.memory import Layer, Unit
from ...nouns.names import bank_ref
from ...verbs.bank_config import Effective
from ...verbs.prime import Context, Primed, PrimeOptions, Strategy
from .answers import OpenApp, answer, timing
from .body import Wire, body_of
from .errors import ENTITY_ERRORS
from .schema import reads

router = APIRouter(tags=["Memory"])

Int64 = Annotated[int, Field(ge=0, le=(1 << 63) - 1)]
Weight = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]


class Weights(Wire):
    """Weights of the composite score; those left out, and 0 for the last two, are the default."""

    w_relevance: Weight = 0.5
    w_recency: Weight = 0.2
    w_importance: Weight = 0.2
    w_reinforcement: Weight = 0.1
    max_age_us: Int64 = Field(0, description="Age at which recency is 0; 30 days by default.")
    reinforcement_cap: Int64 = Field(0, description="Uses that count most; 100 by default.")


class PrimeRequest(Wire):
    """Whose context to load, and how to choose it."""

    entity_id: str = Field(description="Entity (bank) whose context to load.")
    max_memories: Int64 | None = Field(None, description="20 by default; above 200 counts as 200.")
    similarity_cue: str | None = Field(
        None, description="What the conversation is about; without it the most recent come."
    )
    scoring_weights: Weights | None = None
    recency_window_us: Annotated[int, Field(ge=1, le=(1 << 63) - 1)] | None = Field(
        None, description="How far back is recent; 7 days by default."
    )
    temporal_ratio: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="Share of recent memories; .5 by default."
    )
    reinforce: bool = Field(True, description="Count this as a use of the memories returned.")


class PrimedMemory(BaseModel):
    """One memory. Times are microseconds since 1970."""

    memory_id: str = Field(description="32 hex digits.")
    content: str
    importance: float
    decay_score: float
    entity_id: str
    kind: str
    access_count: int
    created_at_us: int
    last_accessed_at_us: int
    context: dict[str, Any]
    file_path: str | None = None


class StoredMemory(PrimedMemory):
    """A memory with everything that is known of it."""

    created_at: int
    updated_at: int
    last_accessed_at: int
    said_at_us: int
    speaker: str | None
    role: str
    note: str | None
    tags: list[str]
    metadata: dict[str, str]


class TemporalDetail(BaseModel):
    """A memory is here because it is recent; rank 0 is the newest."""

    strategy: Literal["temporal"] = "temporal"
    timestamp: int
    rank: int
    relevance: float


class SimilarityDetail(BaseModel):
    """A memory is here because it is like the cue."""

    strategy: Literal["similarity"] = "similarity"
    distance: float
    relevance: float


class PrimeResult(PrimedMemory):
    """A memory and its score; the memory's keys stand beside it as well."""

    memory: StoredMemory
    score: float
    relevance: float
    strategy_details: list[TemporalDetail | SimilarityDetail]


class PrimeResponse(BaseModel):
    """Memories by composite score, and how many each strategy gave."""

    results: list[PrimeResult]
    temporal_count: int
    similarity_count: int
    count: int
    degraded: str | None = Field(None, description="Why the cue could not be used.")


@router.post(
    "/v1/prime",
    operation_id="prime",
    summary="Prime",
    response_model=PrimeResponse,
    responses=ENTITY_ERRORS,
    openapi_extra=reads(PrimeRequest),
)
async def prime(
    request: Request,
    app: OpenApp,
    body: Annotated[PrimeRequest, Depends(body_of(PrimeRequest))],
) -> Response:
    """Load the context that a conversation should start with.

    It blends recent and similar memories of an entity, which is a bank, and ranks them by
    composite score. An entity that does not exist has none.
    """
    if not body.entity_id.strip():
        raise InvalidInput(
            "invalid input for prime: entity_id must not be empty", field="entity_id", limit=1
        )
    ref = bank_ref(body.entity_id, "entity_id")
    context = await app.prime(ref, _options(body, await app.configs.of(ref)))
    return answer(
        request,
        PrimeResponse(
            results=[_result(body.entity_id, m) for m in context.memories],
            temporal_count=context.temporal_count,
            similarity_count=context.similarity_count,
            count=len(context.memories),
            degraded=context.degraded,
        ),
        nulls=True,
        headers=_timing(context),
    )


def _options(body: PrimeRequest, config: Effective) -> PrimeOptions:
    def given(value: Any, default: Any) -> Any:
        return default if value is None else value

    weights = body.scoring_weights
    return PrimeOptions(
        max_memories=given(body.max_memories, config.prime_max_memories),
        cue=body.similarity_cue,
        weights=ScoringWeights(
            **{name: getattr(weights, name) for name in Weights.model_fields} if weights else {}
        ),
        temporal_ratio=given(body.temporal_ratio, config.prime_temporal_ratio),
        window_us=given(body.recency_window_us, int(config.prime_window_days * DAY_US)),
        reinforce=body.reinforce,
    )


def _result(entity: str, primed: Primed) -> PrimeResult:
    memory = _memory(entity, primed.unit)
    return PrimeResult(
        **{name: getattr(memory, name) for name in PrimedMemory.model_fields},
        memory=memory,
        score=primed.score,
        relevance=primed.relevance,
        strategy_details=[_detail(primed)],
    )


def _memory(entity: str, unit: Unit) -> StoredMemory:
    accessed = unit.last_accessed_at if unit.last_accessed_at is not None else unit.created_at
    return StoredMemory(
        memory_id=unit.id.hex(),
        content=unit.text,
        importance=unit.importance,
        decay_score=unit.importance,  # nothing decays yet
        entity_id=entity,
        kind=_kind(unit),
        access_count=unit.access_count,
        created_at_us=unit.created_at,
        last_accessed_at_us=accessed,
        context=dict(unit.attributes or {}),
        created_at=unit.created_at,
        updated_at=unit.updated_at if unit.updated_at is not None else unit.created_at,
        last_accessed_at=accessed,
        said_at_us=unit.mentioned_at,
        speaker=unit.speaker,
        role=unit.role.name.lower(),
        note=unit.note,
        tags=list(unit.tags),
        metadata=dict(unit.metadata or {}),
    )


def _kind(unit: Unit) -> str:
    match unit.layer:
        case Layer.FACT:
            return "proposition"
        case Layer.OBSERVATION:
            return "insight"
    return "episode" if unit.document_id is None else "document"


def _detail(primed: Primed) -> TemporalDetail | SimilarityDetail:
    if primed.strategy is Strategy.TEMPORAL:
        return TemporalDetail(
            timestamp=primed.unit.mentioned_at, rank=primed.rank or 0, relevance=primed.relevance
        )
    return SimilarityDetail(distance=1 - primed.relevance, relevance=primed.relevance)


def _timing(context: Context) -> dict[str, str]:
    return timing(
        embed=context.embed_ms,
        search=context.total_ms - context.embed_ms,
        total=context.total_ms,
    )
