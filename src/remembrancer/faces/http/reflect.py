"""`POST …/reflect`: an answer in words, in Hindsight's words."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field

from ...app import App
from ...models.llm.types import Usage
from ...nouns.ids import to_uuid
from ...nouns.memory import BankRef
from ...verbs.answering import Answered, Asking
from ...verbs.recall import Answer
from ...verbs.reflect import ReflectOptions
from .answers import OpenApp, answer, timing
from .banks import NamedBank
from .body import Wire, body_of
from .errors import BANK_ERRORS, HTTPError
from .memory_shapes import chunk_id
from .moments import spell
from .recall_request import LIMITS, MOST_TOKENS, FactType, TagsInput, asked_at, kinds_of
from .schema import fails_with, reads

_MAX_TOKENS = 4096

router = APIRouter(tags=["Memory"])


class FactsIncludeOptions(Wire):
    """Ask for what the answer is based on."""


class ToolCallsIncludeOptions(Wire):
    """Ask for what was done to find it."""

    output: bool = True


class ReflectIncludeOptions(Wire):
    """What comes with the answer."""

    facts: FactsIncludeOptions | None = None
    tool_calls: ToolCallsIncludeOptions | None = None


class ReflectRequest(TagsInput):
    """A question to be answered in words."""

    query: str
    budget: Literal["low", "mid", "high"] = Field(
        "low", description="How many memories are looked at: 10, 30 or 100."
    )
    context: str | None = Field(
        None, description="Deprecated: put it in the query. It is searched for, too."
    )
    max_tokens: int | None = Field(
        None, ge=1, le=MOST_TOKENS, description="Of the text, estimated; 4,096 by default."
    )
    include: ReflectIncludeOptions | None = None
    response_schema: dict[str, Any] | None = Field(
        None, description="JSON Schema of an object to fill: see `structured_output`."
    )
    query_timestamp: str | None = Field(
        None, description="When the question is asked; null: now. What has passed by then is past."
    )
    fact_types: list[FactType] | None = None
    apply_all_directives: bool = False
    exclude_mental_models: bool = False
    exclude_mental_model_ids: list[str] | None = None


class ReflectFact(BaseModel):
    """A memory that the answer rests on."""

    id: str | None = None
    text: str
    type: str | None = None
    context: str | None = None
    occurred_start: str | None = None
    occurred_end: str | None = None
    mentioned_at: str | None = None
    document_id: str | None = None
    chunk_id: str | None = None
    tags: list[str] | None = None
    metadata: dict[str, str] | None = None


class ReflectBasedOn(BaseModel):
    """What the answer is based on."""

    memories: list[ReflectFact]
    mental_models: list[dict[str, Any]] = Field(default_factory=list)
    directives: list[dict[str, Any]] = Field(default_factory=list)


class TokenUsage(BaseModel):
    """Tokens of a language model, failed requests included; 0 without one."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    thoughts_tokens: int = 0


class ReflectToolCall(BaseModel):
    """One search."""

    tool: str
    input: dict[str, Any]
    output: dict[str, Any] | None = None
    duration_ms: int
    iteration: int = 0


class ReflectLLMCall(BaseModel):
    """A call of a language model."""

    scope: str
    duration_ms: int


class ReflectTrace(BaseModel):
    """What was done to find the answer."""

    tool_calls: list[ReflectToolCall]
    llm_calls: list[ReflectLLMCall] = Field(default_factory=list)


class ReflectResponse(BaseModel):
    """An answer from what is known."""

    text: str
    based_on: ReflectBasedOn | None = None
    structured_output: dict[str, Any] | None = None
    structured_missing: list[str] | None = Field(
        None, description="Required properties of `structured_output` that nothing known fits."
    )
    usage: TokenUsage
    trace: ReflectTrace | None = None
    degraded: str | None = Field(
        None, description="Why an arm of the search was missing, or a model did not answer."
    )


@router.post(
    "/v1/default/banks/{bank_id}/reflect",
    operation_id="reflect",
    summary="Answer in words",
    response_model=ReflectResponse,
    responses={**BANK_ERRORS, 400: fails_with(HTTPError)},
    openapi_extra=reads(ReflectRequest),
)
async def reflect(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    body: Annotated[ReflectRequest, Depends(body_of(ReflectRequest))],
) -> Response:
    """Answer a question from what is known: quoted, or in the words of a language model.

    Where a model is configured it is shown what was found, and answers from that alone; an answer
    that names what no memory names is dropped for the quoted one, and `degraded` says so.
    """
    answered = await answer_to(app, bank, body)
    found = answered.found
    include = body.include or ReflectIncludeOptions()
    times = found.recalled.timings
    return answer(
        request,
        ReflectResponse(
            text=found.text,
            based_on=_based_on(bank.bank, answered) if include.facts is not None else None,
            structured_output=found.structured,
            structured_missing=list(found.missing) or None,
            usage=usage_of(answered.usage),
            trace=_trace(body, answered, include.tool_calls) if include.tool_calls else None,
            degraded=found.recalled.degraded or answered.degraded,
        ),
        headers=timing(embed=times.embed_ms, search=times.search_ms, total=times.total_ms),
    )


async def answer_to(app: App, bank: BankRef, body: ReflectRequest) -> Answered:
    """Answer a request, whichever face it came over.

    Raises:
        InvalidInput: what of it cannot be used.
    """
    asked = asked_at(body.query_timestamp)
    return await app.answering(
        bank,
        body.query,
        ReflectOptions(
            limit=LIMITS[body.budget],
            max_tokens=body.max_tokens or _MAX_TOKENS,
            kinds=kinds_of(body.fact_types),
            tags=body.tag_filter(),
            context=body.context,
            schema=body.response_schema,
            now=asked.us if asked else None,
            offset_min=asked.offset_min if asked else None,
            min_relevance=None if app.settings.wire_cut_off else 0.0,
        ),
        Asking(
            body.tags or (),
            body.apply_all_directives,
            not body.exclude_mental_models,
            body.exclude_mental_model_ids or (),
        ),
    )


def usage_of(used: Usage) -> TokenUsage:
    """Return what a model used as the wire shows it."""
    return TokenUsage(
        input_tokens=used.input,
        output_tokens=used.output,
        total_tokens=used.total,
        cached_tokens=used.cached,
        thoughts_tokens=used.thoughts,
    )


def _based_on(bank: str, answered: Answered) -> ReflectBasedOn:
    told = answered.directives if answered.by_model else ()
    return ReflectBasedOn(
        memories=[_fact(bank, each) for each in answered.found.based_on],
        mental_models=[
            {"id": s.model.id, "text": s.content or "", "context": s.model.name}
            for s in answered.models
        ],
        directives=[{"id": d.id, "name": d.name, "content": d.content} for d in told],
    )


def _fact(bank: str, found: Answer) -> ReflectFact:
    unit, document = found.unit, found.document
    return ReflectFact(
        id=to_uuid(unit.id),
        text=unit.text,
        type=unit.kind.name.lower(),
        context=unit.note,
        occurred_start=spell(unit.occurred_start, unit.offset_min),
        occurred_end=spell(unit.occurred_end, unit.offset_min),
        mentioned_at=spell(unit.mentioned_at, unit.offset_min),
        document_id=document,
        chunk_id=None if document is None else chunk_id(bank, document, unit.chunk_index),
        tags=list(unit.tags),
        metadata=dict(unit.metadata) if unit.metadata else None,
    )


def _trace(
    body: ReflectRequest, answered: Answered, wanted: ToolCallsIncludeOptions
) -> ReflectTrace:
    found = answered.found
    memories = [
        {"id": to_uuid(a.unit.id), "text": a.unit.text, "score": a.score}
        for a in found.recalled.answers
    ]
    call = ReflectToolCall(
        tool="recall",
        input={"query": found.asked, "budget": body.budget},
        output={"memories": memories} if wanted.output else None,
        duration_ms=round(found.recalled.timings.total_ms),
    )
    calls = [ReflectLLMCall(scope=scope, duration_ms=ms) for scope, ms in answered.calls]
    return ReflectTrace(tool_calls=[call], llm_calls=calls)
