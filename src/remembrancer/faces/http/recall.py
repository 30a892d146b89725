"""`POST …/memories/recall`: recall, in Hindsight's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field

from ...nouns.ids import to_uuid
from ...nouns.memory import BankRef, Polarity, Unit
from ...verbs.recall import Answer, Recollection
from ...verbs.recalling.included import Included
from .access import Calling
from .answers import OpenApp, answer, timing
from .banks import NamedBank
from .body import body_of
from .errors import BANK_ERRORS, HTTPError
from .moments import spell
from .recall_request import RecallRequest, options_of
from .recall_trace import shape_trace
from .schema import reads

router = APIRouter(tags=["Memory"])


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
    responses={**BANK_ERRORS, 400: {"model": HTTPError}},
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
        RecallResponse(
            results=[_result(bank, a, included) for a in found.answers],
            trace=told,
            entities=_entities(included),
            chunks=_chunks(bank, included),
            source_facts=_source_facts(bank, included),
            source_facts_truncated=_truncated(included),
            degraded=found.degraded,
        ),
        ignored=["trace"] if body.trace and body.banks is not None else (),
        headers=_timing(found),
    )


def _entities(included: Included | None) -> dict[str, EntityStateResponse] | None:
    if included is None or included.entities is None:
        return None
    return {
        e.name: EntityStateResponse(entity_id=to_uuid(e.id), canonical_name=e.name, observations=[])
        for e in included.entities
    }


def _chunks(bank: BankRef, included: Included | None) -> dict[str, ChunkData] | None:
    if included is None or included.chunks is None:
        return None
    found = [
        ChunkData(
            id=_chunk_id(chunk.bank or bank.bank, chunk.document, chunk.index),
            text=chunk.text,
            chunk_index=chunk.index,
            truncated=chunk.truncated,
        )
        for chunk in included.chunks
    ]
    return {chunk.id: chunk for chunk in found}


def _source_facts(bank: BankRef, included: Included | None) -> dict[str, RecallResult] | None:
    if included is None or included.sources is None:
        return None
    return {
        to_uuid(unit_id): _memory(bank.bank, row.unit, row.facts, row.document)
        for unit_id, row in included.sources.items()
    }


def _truncated(included: Included | None) -> bool | None:
    asked = included is not None and included.sources is not None
    return included.sources_truncated if included is not None and asked else None


def _result(bank: BankRef, found: Answer, included: Included | None) -> RecallResult:
    result = _memory(found.bank or bank.bank, found.unit, found.facts, found.document)
    result.scores = RecallScores(
        final=found.score, semantic=found.arms.cosine, keyword=found.arms.keyword
    )
    result.bank_id = found.bank
    rests = included.rests_on.get(found.unit.id) if included is not None else None
    if rests:
        result.source_fact_ids = [to_uuid(unit_id) for unit_id in rests]
    return result


def _memory(bank: str, unit: Unit, facts: Sequence[Unit], document: str | None) -> RecallResult:
    return RecallResult(
        id=to_uuid(unit.id),
        text=unit.text,
        type=unit.kind.name.lower(),
        entities=list(dict.fromkeys((*unit.entities, *(n for f in facts for n in f.entities)))),
        context=unit.note,
        occurred_start=spell(unit.occurred_start, unit.offset_min),
        occurred_end=spell(unit.occurred_end, unit.offset_min),
        mentioned_at=spell(unit.mentioned_at, unit.offset_min),
        document_id=document,
        metadata=dict(unit.metadata) if unit.metadata else None,
        chunk_id=None if document is None else _chunk_id(bank, document, unit.chunk_index),
        tags=list(unit.tags),
        facts=[_fact(f) for f in facts],
        speaker=unit.speaker,
        role=unit.role.name.lower(),
        turn=unit.turn,
    )


def _chunk_id(bank: str, document: str, index: int) -> str:
    return f"{bank}_{document}_{index}"


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
