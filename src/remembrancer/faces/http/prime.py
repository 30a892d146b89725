"""`POST /v1/prime`: the context that a conversation should start with, in HEBBS's words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta, timezone, tzinfo
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field

from ...finding.composite import ScoringWeights
from ...nouns.caller import Permission
from ...nouns.errors import InvalidInput
from ...reading.recurrence.zones import zone_of
from ...verbs.bank_config import Effective
from ...verbs.freshness import reach
from ...verbs.lookup import Kept
from ...verbs.prime import Context, Order, Primed, PrimeOptions, Strategy, defaults
from ...verbs.priming.text import compose
from ...verbs.recalling.origins import Origin
from .access import Calling
from .answers import OpenApp, answer, timing
from .body import Wire, body_of
from .ceiling import ceiling_of
from .direct import Direct
from .errors import ENTITY_ERRORS
from .intention_shapes import DueItem, shown_due
from .moments import When
from .recall_request import MinRevision, Tokens
from .schema import reads

router = APIRouter(tags=["Memory"], route_class=Direct)

Int64 = Annotated[int, Field(ge=0, le=(1 << 63) - 1)]
KINDS = {
    Origin.REMEMBERED: "episode",
    Origin.RETAINED: "document",
    Origin.REVISED: "revision",
    Origin.READ: "proposition",
    Origin.DERIVED: "insight",
}
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
    reinforce: bool = Field(
        True,
        description="Count this as a use of the memories returned; needs the permission write.",
    )
    order: Literal["score", "blocks"] = Field(
        "score",
        description="score: pinned memories first, then by composite score. blocks: recent ones, "
        "oldest first, then similar ones by score.",
    )
    max_tokens: Tokens | None = Field(
        None, description="Estimated tokens of all contents (or of `text`) at most."
    )
    min_revision: MinRevision = None
    now: When = Field(None, description="The time that ages are counted from; null: now.")
    zone: str | None = Field(
        None, description="IANA name of the zone that `text` spells dates in; that of `now` if not."
    )
    format: Literal["json", "text"] = Field(
        "json", description="text: the answer also holds `text`, ready to be put into a prompt."
    )


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
    pinned: bool
    logical_clock: int = Field(description="How often it was corrected.")
    source_memory_ids: list[str] = Field(description="What it was derived from.")


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
    """Memories in the order asked for, and how many each strategy gave."""

    results: list[PrimeResult]
    temporal_count: int
    similarity_count: int
    count: int
    degraded: str | None = Field(None, description="Why the cue could not be used.")
    text: str | None = Field(None, description="The whole as one string, for `format` text.")
    due: list[DueItem] = Field(
        description="What is to be done now: due, or leased and not acknowledged; nothing of it "
        "is consumed. Its times are Unix milliseconds."
    )


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
    caller: Calling,
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
    ref = caller.bank(body.entity_id, "entity_id")
    options = _options(body, await app.configs.of(ref))
    if body.min_revision is not None:
        await reach(app.store, ref, body.min_revision)
    if not caller.may(Permission.WRITE):
        options = replace(options, reinforce=False)
    zone = _zone(body)
    context = await app.prime(ref, options)
    due = []
    if context.intends:
        due = await app.due(ref, body.similarity_cue, ceiling_of(request, None))
    kept = [Kept(ref, m.unit, m.curation, m.basis) for m in context.memories]
    worth = await app.memories.lookup.worth(kept)
    text = None
    if body.format == "text":
        text = compose(context, due, zone=zone, max_tokens=body.max_tokens)
    return answer(
        request,
        # Not built as `PrimeResponse`, which takes longer than all the rest of a prime.
        {
            "results": [
                _result(body.entity_id, *each)
                for each in zip(context.memories, kept, worth, strict=True)
            ],
            "temporal_count": context.temporal_count,
            "similarity_count": context.similarity_count,
            "count": len(context.memories),
            "degraded": context.degraded,
            "text": text,
            "due": [shown_due(each) for each in due],
        },
        nulls=True,
        headers=_timing(context),
    )


def _options(body: PrimeRequest, config: Effective) -> PrimeOptions:
    weights = body.scoring_weights
    return replace(
        defaults(config, body.max_memories, body.temporal_ratio, body.recency_window_us),
        cue=body.similarity_cue,
        weights=ScoringWeights(
            **{name: getattr(weights, name) for name in Weights.model_fields} if weights else {}
        ),
        reinforce=body.reinforce,
        order=Order(body.order),
        max_tokens=body.max_tokens,
        now=body.now.us if body.now else None,
        facts=body.format == "text",
    )


def _zone(body: PrimeRequest) -> tzinfo | None:
    if body.zone is not None:
        return zone_of(body.zone)
    offset = body.now.offset_min if body.now else None
    return None if offset is None else timezone(timedelta(minutes=offset))


def _result(entity: str, primed: Primed, kept: Kept, worth: float) -> dict[str, Any]:
    """Return a memory as `PrimeResult` has it."""
    unit, used = kept.unit, kept.used_at
    flat = {
        "memory_id": unit.id.hex(),
        "content": unit.text,
        "importance": unit.importance,
        "decay_score": worth,
        "entity_id": entity,
        "kind": KINDS[kept.origin],
        "access_count": unit.access_count,
        "created_at_us": unit.created_at,
        "last_accessed_at_us": used,
        "context": unit.attributes or {},
        "file_path": None,
    }
    return flat | {
        "memory": flat
        | {
            "created_at": unit.created_at,
            "updated_at": unit.created_at if unit.updated_at is None else unit.updated_at,
            "last_accessed_at": used,
            "said_at_us": unit.mentioned_at,
            "speaker": unit.speaker,
            "role": unit.role.name.lower(),
            "note": unit.note,
            "tags": unit.tags,
            "metadata": unit.metadata or {},
            "pinned": primed.pinned,
            "logical_clock": kept.edits,
            "source_memory_ids": [i.hex() for i in kept.basis],
        },
        "score": primed.score,
        "relevance": primed.relevance,
        "strategy_details": [_detail(primed)],
    }


def _detail(primed: Primed) -> dict[str, Any]:
    """Return why a memory is here, as `TemporalDetail` or `SimilarityDetail` has it."""
    relevance = primed.relevance
    if primed.strategy is Strategy.SIMILARITY:
        return {"strategy": "similarity", "distance": 1 - relevance, "relevance": relevance}
    return {
        "strategy": "temporal",
        "timestamp": primed.unit.mentioned_at,
        "rank": primed.rank or 0,
        "relevance": relevance,
    }


def _timing(context: Context) -> dict[str, str]:
    return timing(
        embed=context.embed_ms,
        search=context.total_ms - context.embed_ms,
        total=context.total_ms,
    )
