"""`POST …/memories/recall`: recall, in Hindsight's words."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field, model_validator

from ...app import App
from ...finding.tagging import TagFilter, TagMatch
from ...nouns.ids import to_uuid
from ...nouns.memory import BankRef, Kind, Polarity, Unit
from ...nouns.text import clean
from ...verbs.recall import Answer, RecallOptions, Recollection
from .answers import OpenApp, answer, timing
from .banks import NamedBank
from .body import Wire, body_of
from .errors import BANK_ERRORS
from .moments import When, spell
from .retain import Tags
from .schema import reads

MAX_TOKENS = 1_000_000
LIMITS = {"low": 10, "mid": 30, "high": 100}
"""Answers at most, by `budget`; `max_tokens` cuts, too."""

router = APIRouter(tags=["Memory"])


class TemporalWindow(Wire):
    """A time whose memories are preferred; the others are not left out."""

    start: When = None
    end: When = None

    @model_validator(mode="after")
    def _ordered(self) -> TemporalWindow:
        if self.start and self.end and self.start.us > self.end.us:
            raise ValueError("start must not lie after end")
        return self


class RecallRequest(Wire):
    """A question and what its answers should be like."""

    query: str
    types: list[Literal["world", "experience", "observation", "opinion"]] | None = Field(
        None, description="`opinion` is a former type, which nothing has any more."
    )
    budget: Literal["low", "mid", "high"] = Field(
        "mid", description="How many answers at most: 10, 30 or 100."
    )
    max_tokens: int | None = Field(
        None, ge=1, le=MAX_TOKENS, description="4,096 unless the server is set otherwise."
    )
    tags: Tags = None
    tags_match: Literal["any", "all", "any_strict", "all_strict", "exact"] = "any"
    query_timestamp: When = Field(None, description="When the question is asked; null: now.")
    temporal_window: TemporalWindow | None = None
    trace: bool = False


class RecallScores(BaseModel):
    """Why a memory was found: the fused score, the cosine, and BM25."""

    final: float
    semantic: float | None = None
    keyword: float | None = None


class RecallFact(BaseModel):
    """A statement read from a memory; its text stands there word for word."""

    id: str
    text: str
    subject: str | None = None
    negated: bool
    modality: str
    occurred_start: str | None = None
    occurred_end: str | None = None


class RecallResult(BaseModel):
    """One memory: a turn or passage, verbatim."""

    id: str
    text: str
    type: str | None = None
    entities: list[str] | None = None
    context: str | None = None
    occurred_start: str | None = None
    occurred_end: str | None = None
    mentioned_at: str | None = None
    document_id: str | None = None
    metadata: dict[str, str] | None = None
    chunk_id: str | None = None
    tags: list[str] | None = None
    scores: RecallScores | None = None
    facts: list[RecallFact] | None = None
    speaker: str | None = None
    role: str | None = None
    turn: int | None = None


class RecallResponse(BaseModel):
    """Memories, best first."""

    results: list[RecallResult]
    degraded: str | None = Field(None, description="Why an arm of the search was missing.")


@router.post(
    "/v1/default/banks/{bank_id}/memories/recall",
    operation_id="recall_memories",
    summary="Recall memory",
    response_model=RecallResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(RecallRequest),
)
async def recall_memories(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    body: Annotated[RecallRequest, Depends(body_of(RecallRequest))],
) -> Response:
    """Find what answers a question. A bank that does not exist has no answers."""
    found = await app.recall(bank, body.query, _options(app, body))
    return answer(
        request,
        RecallResponse(
            results=[_result(bank, a) for a in found.answers],
            degraded=found.degraded,
        ),
        ignored=["trace"] if body.trace else (),
        headers=_timing(found),
    )


def _options(app: App, body: RecallRequest) -> RecallOptions:
    window = body.temporal_window
    asked = body.query_timestamp
    return RecallOptions(
        limit=LIMITS[body.budget],
        max_tokens=body.max_tokens or app.settings.recall_max_tokens,
        kinds=[Kind[t.upper()] for t in body.types if t != "opinion"] if body.types else None,
        tags=_tag_filter(body),
        now=asked.us if asked else None,
        offset_min=asked.offset_min if asked else None,
        since=window.start.us if window and window.start else None,
        until=window.end.us if window and window.end else None,
    )


def _tag_filter(body: RecallRequest) -> TagFilter | None:
    tags = tuple(clean(tag) for tag in body.tags or ())
    return TagFilter(tags, TagMatch(body.tags_match)) if tags else None


def _result(bank: BankRef, found: Answer) -> RecallResult:
    unit, name = found.unit, found.document
    return RecallResult(
        id=to_uuid(unit.id),
        text=unit.text,
        type=unit.kind.name.lower(),
        entities=list(
            dict.fromkeys((*unit.entities, *(n for f in found.facts for n in f.entities)))
        ),
        context=unit.note,
        occurred_start=spell(unit.occurred_start, unit.offset_min),
        occurred_end=spell(unit.occurred_end, unit.offset_min),
        mentioned_at=spell(unit.mentioned_at, unit.offset_min),
        document_id=name,
        metadata=dict(unit.metadata) if unit.metadata else None,
        chunk_id=None if name is None else f"{bank.bank}_{name}_{unit.chunk_index}",
        tags=list(unit.tags),
        scores=RecallScores(
            final=found.score, semantic=found.arms.cosine, keyword=found.arms.keyword
        ),
        facts=[_fact(f) for f in found.facts],
        speaker=unit.speaker,
        role=unit.role.name.lower(),
        turn=unit.turn,
    )


def _fact(unit: Unit) -> RecallFact:
    return RecallFact(
        id=to_uuid(unit.id),
        text=unit.text,
        subject=unit.subject,
        negated=unit.polarity is Polarity.NEGATED,
        modality=unit.modality.value,
        occurred_start=spell(unit.occurred_start, unit.offset_min),
        occurred_end=spell(unit.occurred_end, unit.offset_min),
    )


def _timing(found: Recollection) -> dict[str, str]:
    times = found.timings
    return timing(
        embed=times.embed_ms, search=times.search_ms, rows=times.rows_ms, total=times.total_ms
    )
