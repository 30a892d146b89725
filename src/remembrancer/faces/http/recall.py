"""`POST …/memories/recall`: recall, in Hindsight's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field

from ...nouns.ids import to_uuid
from ...nouns.memory import BankRef, Kind, Polarity, Role, Unit
from ...verbs.freshness import reach
from ...verbs.recall import Answer, Recollection
from ...verbs.recalling.included import Included
from ...verbs.recalling.truth import HOLDS, Truth
from .access import Calling
from .answers import OpenApp, answer, timing
from .banks import NamedBank
from .body import body_of
from .direct import Direct
from .errors import BANK_ERRORS, HTTPError
from .moments import spell
from .recall_request import RecallRequest, options_of
from .recall_trace import shape_trace
from .schema import fails_with, reads

router = APIRouter(tags=["Memory"], route_class=Direct)

# By number: an enum makes a call for each name that it is asked for.
_KINDS = [Kind(n).name.lower() for n in range(len(Kind))]
_ROLES = [Role(n).name.lower() for n in range(len(Role))]


class RecallScores(BaseModel):
    """Why a memory was found: the fused score, the cosine, and BM25. No reranker is used."""

    final: float
    reranker: float | None = None
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
    valid_from: str | None = None
    valid_until: str | None = None
    superseded_by: list[str] | None = Field(None, description="Memories that say what holds now.")
    contradicts: list[str] | None = None


class RecallNeighbour(BaseModel):
    """What was said near a memory, verbatim."""

    id: str
    text: str
    speaker: str | None = None
    role: str | None = None
    turn: int | None = None
    mentioned_at: str | None = None


class RecallNeighbours(BaseModel):
    """What was said right before and after a memory, each in order."""

    before: list[RecallNeighbour]
    after: list[RecallNeighbour]


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
    source_fact_ids: list[str] | None = None
    scores: RecallScores | None = None
    facts: list[RecallFact] | None = None
    speaker: str | None = None
    role: str | None = None
    turn: int | None = None
    bank_id: str | None = Field(None, description="In a recall over several banks.")
    holds: bool | None = Field(None, description="False: all that it says of was superseded.")
    valid_from: str | None = None
    valid_until: str | None = None
    superseded_by: list[str] | None = Field(None, description="Memories that say what holds now.")
    contradicts: list[str] | None = Field(
        None, description="Memories that say otherwise, where time does not tell which is right."
    )
    neighbours: RecallNeighbours | None = Field(None, description="Where they were asked for.")


class EntityObservationResponse(BaseModel):
    """What is observed of an entity."""

    text: str
    mentioned_at: str | None = None


class EntityStateResponse(BaseModel):
    """An entity that a result names."""

    entity_id: str
    canonical_name: str
    observations: list[EntityObservationResponse]


class ChunkData(BaseModel):
    """A chunk that a result stands in."""

    id: str
    text: str
    chunk_index: int
    truncated: bool = False


class RecallResponse(BaseModel):
    """Memories, best first."""

    results: list[RecallResult]
    trace: dict[str, Any] | None = None
    entities: dict[str, EntityStateResponse] | None = None
    chunks: dict[str, ChunkData] | None = None
    source_facts: dict[str, RecallResult] | None = None
    source_facts_truncated: bool | None = None
    degraded: str | None = Field(None, description="Why an arm of the search was missing.")


@router.post(
    "/v1/default/banks/{bank_id}/memories/recall",
    operation_id="recall_memories",
    summary="Recall memory",
    response_model=RecallResponse,
    responses={**BANK_ERRORS, 400: fails_with(HTTPError)},
    openapi_extra=reads(RecallRequest),
)
async def recall_memories(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    caller: Calling,
    body: Annotated[RecallRequest, Depends(body_of(RecallRequest))],
) -> Response:
    """Find what answers a question. A bank that does not exist has no answers."""
    options = options_of(await app.configs.of(bank), body)
    if body.min_revision is not None:
        await reach(app.store, bank, body.min_revision)
    if body.banks is None:
        found = await app.recall(bank, body.query, options)
    else:
        refs = [caller.bank(name, "banks") for name in body.banks]
        found = await app.across(refs, body.query, options)
    included = found.included
    told = None
    if found.trace is not None:
        told = shape_trace(body.query, body.budget, options, found, found.trace)
    return answer(
        request,
        # Not built as `RecallResponse`, which takes longer than writing the answer does.
        _some(
            {
                "results": [_result(bank, a, included) for a in found.answers],
                "trace": told,
                "entities": _entities(included),
                "chunks": _chunks(bank, included),
                "source_facts": _source_facts(bank, included),
                "source_facts_truncated": _truncated(included),
                "degraded": found.degraded,
            }
        ),
        ignored=["trace"] if body.trace and body.banks is not None else (),
        headers=_timing(found),
    )


def _some(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those values that there are: keys without one are not written."""
    return {name: value for name, value in values.items() if value is not None}


def _entities(included: Included | None) -> dict[str, Any] | None:
    """Return entities as `EntityStateResponse` has them, by name."""
    if included is None or included.entities is None:
        return None
    return {
        e.name: {"entity_id": to_uuid(e.id), "canonical_name": e.name, "observations": []}
        for e in included.entities
    }


def _chunks(bank: BankRef, included: Included | None) -> dict[str, Any] | None:
    """Return chunks as `ChunkData` has them, by id."""
    if included is None or included.chunks is None:
        return None
    found = [
        {
            "id": _chunk_id(chunk.bank or bank.bank, chunk.document, chunk.index),
            "text": chunk.text,
            "chunk_index": chunk.index,
            "truncated": chunk.truncated,
        }
        for chunk in included.chunks
    ]
    return {str(chunk["id"]): chunk for chunk in found}


def _source_facts(bank: BankRef, included: Included | None) -> dict[str, Any] | None:
    if included is None or included.sources is None:
        return None
    return {
        to_uuid(unit_id): _memory(bank.bank, row.unit, row.facts, row.document)
        for unit_id, row in included.sources.items()
    }


def _truncated(included: Included | None) -> bool | None:
    asked = included is not None and included.sources is not None
    return included.sources_truncated if included is not None and asked else None


def _result(bank: BankRef, found: Answer, included: Included | None) -> dict[str, Any]:
    rests = included.rests_on.get(found.unit.id) if included is not None else None
    shown = _memory(
        found.bank or bank.bank,
        found.unit,
        found.facts,
        found.document,
        rests_on=[to_uuid(unit_id) for unit_id in rests] if rests else None,
        scores=_some(
            {
                "final": found.score,
                "semantic": found.arms.cosine,
                "keyword": found.arms.keyword,
            }
        ),
        bank_id=found.bank,
        truth=found.truth,
    )
    if found.before or found.after:
        shown["neighbours"] = {
            "before": [_neighbour(unit) for unit in found.before],
            "after": [_neighbour(unit) for unit in found.after],
        }
    return shown


def _neighbour(unit: Unit) -> dict[str, Any]:
    """Return a unit as `RecallNeighbour` has it."""
    return _some(
        {
            "id": to_uuid(unit.id),
            "text": unit.text,
            "speaker": unit.speaker,
            "role": _ROLES[unit.role],
            "turn": unit.turn,
            "mentioned_at": spell(unit.mentioned_at, unit.offset_min),
        }
    )


def _memory(
    bank: str,
    unit: Unit,
    facts: Sequence[Unit],
    document: str | None,
    *,
    rests_on: list[str] | None = None,
    scores: dict[str, Any] | None = None,
    bank_id: str | None = None,
    truth: Truth = HOLDS,
) -> dict[str, Any]:
    """Return a memory as `RecallResult` has it, in the order of its fields."""
    offset = unit.offset_min
    return _some(
        {
            "id": to_uuid(unit.id),
            "text": unit.text,
            "type": _KINDS[unit.kind],
            "entities": list(
                dict.fromkeys((*unit.entities, *(n for f in facts for n in f.entities)))
            ),
            "context": unit.note,
            "occurred_start": spell(unit.occurred_start, offset),
            "occurred_end": spell(unit.occurred_end, offset),
            "mentioned_at": spell(unit.mentioned_at, offset),
            "document_id": document,
            "metadata": unit.metadata or None,
            "chunk_id": None if document is None else _chunk_id(bank, document, unit.chunk_index),
            "tags": unit.tags,
            "source_fact_ids": rests_on,
            "scores": scores,
            "facts": [_fact(f, truth.facts.get(f.id, HOLDS)) for f in facts],
            "speaker": unit.speaker,
            "role": _ROLES[unit.role],
            "turn": unit.turn,
            "bank_id": bank_id,
            **({} if truth is HOLDS else _marks(truth, offset)),
        }
    )


def _chunk_id(bank: str, document: str, index: int) -> str:
    return f"{bank}_{document}_{index}"


def _marks(truth: Truth, offset: int | None) -> dict[str, Any]:
    """Return what holds of a memory."""
    return {
        "holds": truth.holds,
        "valid_from": spell(truth.valid_from, offset),
        "valid_until": spell(truth.valid_until, offset),
        "superseded_by": _ids(truth.superseded_by),
        "contradicts": _ids(truth.contradicts),
    }


def _ids(ids: Sequence[bytes]) -> list[str] | None:
    return [to_uuid(unit_id) for unit_id in ids] or None


def _fact(unit: Unit, truth: Truth = HOLDS) -> dict[str, Any]:
    """Return a statement as `RecallFact` has it."""
    return _some(
        {
            "id": to_uuid(unit.id),
            "text": unit.text,
            "subject": unit.subject,
            "negated": unit.polarity is Polarity.NEGATED,
            "modality": unit.modality.value,
            "occurred_start": spell(unit.occurred_start, unit.offset_min),
            "occurred_end": spell(unit.occurred_end, unit.offset_min),
            "valid_from": spell(unit.valid_from, unit.offset_min),
            "valid_until": spell(unit.valid_until, unit.offset_min),
            "superseded_by": _ids(truth.superseded_by),
            "contradicts": _ids(truth.contradicts),
        }
    )


def _timing(found: Recollection) -> dict[str, str]:
    times = found.timings
    return timing(
        embed=times.embed_ms, search=times.search_ms, rows=times.rows_ms, total=times.total_ms
    )
