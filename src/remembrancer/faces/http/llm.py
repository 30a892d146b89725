"""Language models on the wire: whether they answer, and what was asked of them."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from ...keeping.records import Record
from ...models.llm.types import LlmFailed, Prompt
from ...nouns.clock import from_us
from ...nouns.errors import BudgetSpent, InvalidInput
from ...nouns.memory import BankRef
from ...verbs.thinking.minds import VERBS
from ...verbs.thinking.traces import Wanted
from .answers import OpenApp, answer
from .banks import PATH, NamedBank, Offset
from .errors import BANK_ERRORS
from .moments import read_moment, spell

router = APIRouter(tags=["Language models"])

_STATES: dict[str, Literal["auth_failed", "timeout", "unreachable"]] = {
    "auth": "auth_failed",
    "timeout": "timeout",
}
_PERIODS_H = {"1h": 1, "12h": 12, "1d": 24, "7d": 168, "30d": 720, "90d": 2160}
_HOUR_US = 3_600_000_000
Text = Annotated[str | None, Query(max_length=256)]


class LlmOperationHealth(BaseModel):
    """Whether the model of one kind of work answers."""

    operation: Literal["retain", "consolidation", "reflect"]
    ok: bool
    status: Literal["connected", "not_configured", "auth_failed", "unreachable", "timeout"]
    latency_ms: float | None = None


class BankLlmHealthResponse(BaseModel):
    """Whether the models of a bank's work answer."""

    bank_id: str
    operations: list[LlmOperationHealth]


class LLMRequestEntry(BaseModel):
    """One question to a model. `input` and `output` are always null: no text is kept."""

    id: str
    bank_id: str | None
    operation: str | None
    scope: str | None
    trace_id: str | None
    span_id: str | None
    parent_span_id: str | None
    provider: str | None
    model: str | None
    status: str
    started_at: str | None
    ended_at: str | None
    duration_ms: int | None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    total_tokens: int | None
    input: None = None
    output: None = None
    error: str | None
    llm_info: dict[str, Any]
    metadata: dict[str, Any]


class LLMRequestListResponse(BaseModel):
    """Questions, newest first."""

    bank_id: str
    total: int
    limit: int
    offset: int
    items: list[LLMRequestEntry]


class LLMRequestTokenSums(BaseModel):
    """Tokens added up."""

    input: int = 0
    output: int = 0
    cached: int = 0
    total: int = 0


class LLMRequestStatsBucket(BaseModel):
    """What was asked in one hour or day."""

    time: str
    statuses: dict[str, int]
    total: int
    tokens: LLMRequestTokenSums


class LLMRequestStatsResponse(BaseModel):
    """What was asked over a while. `today` is what counts against the caps of the day."""

    bank_id: str
    period: str
    trunc: str
    start: str
    buckets: list[LLMRequestStatsBucket]
    today: dict[str, dict[str, int | None]] = Field(
        description="Tokens, calls and caps of this bank and of its tenant, today (UTC)."
    )


@router.post(
    f"{PATH}/health/llm",
    operation_id="bank_llm_health",
    summary="Ask whether language models answer",
    response_model=BankLlmHealthResponse,
    responses=BANK_ERRORS,
)
async def bank_llm_health(request: Request, app: OpenApp, bank: NamedBank) -> Response:
    """Send each configured model one short question, which is counted like any other."""
    found = [await _health(app, bank, verb) for verb in VERBS]
    return answer(request, BankLlmHealthResponse(bank_id=bank.bank, operations=found))


async def _health(app: OpenApp, bank: BankRef, verb: Any) -> LlmOperationHealth:
    task = app.minds.task(bank, verb)
    if task is None:
        return LlmOperationHealth(operation=verb, ok=False, status="not_configured")
    task.scope = "health"
    begun = time.perf_counter()
    try:
        await task.ask(Prompt("Answer with one word.", "Say: ready", max_tokens=64))
    except LlmFailed as failed:
        state = _STATES.get(failed.reason, "unreachable")
        return LlmOperationHealth(operation=verb, ok=False, status=state)
    except BudgetSpent:
        return LlmOperationHealth(operation=verb, ok=False, status="unreachable")
    took = round((time.perf_counter() - begun) * 1e3, 1)
    return LlmOperationHealth(operation=verb, ok=True, status="connected", latency_ms=took)


@router.get(
    f"{PATH}/llm-requests",
    operation_id="list_llm_requests",
    summary="List questions to language models",
    response_model=LLMRequestListResponse,
    responses=BANK_ERRORS,
)
async def list_llm_requests(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    status: Text = None,
    operation: Text = None,
    scope: Text = None,
    provider: Text = None,
    trace_id: Text = None,
    start_date: Text = None,
    end_date: Text = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Offset = 0,
) -> Response:
    """List what was asked of language models for a bank: when, for what, tokens; no texts."""
    since, until = _moment(start_date, "start_date"), _moment(end_date, "end_date")
    wanted = Wanted(
        status,
        operation,
        scope,
        provider,
        trace_id,
        since.us if since else None,
        until.us if until else None,
    )
    page, total = await app.minds.traces.page(bank, wanted, limit=limit, offset=offset)
    body = LLMRequestListResponse(
        bank_id=bank.bank,
        total=total,
        limit=limit,
        offset=offset,
        items=[_entry(bank, each) for each in page],
    )
    names = ("status", "operation", "scope", "provider", "trace_id", "start_date", "end_date")
    return answer(request, body, nulls=True, queries=(*names, "limit", "offset"))


@router.get(
    f"{PATH}/llm-requests/stats",
    operation_id="llm_request_stats",
    summary="Add up questions to language models",
    response_model=LLMRequestStatsResponse,
    responses=BANK_ERRORS,
)
async def llm_request_stats(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    operation: Text = None,
    period: Annotated[Literal["1h", "12h", "1d", "7d", "30d", "90d"], Query()] = "7d",
) -> Response:
    """Add up what the newest thousand questions of a bank used, and what counts today."""
    hours = _PERIODS_H[period]
    start = app.clock.now_us() - hours * _HOUR_US
    found = await app.minds.traces.all(bank, Wanted(since=start))
    trunc = "hour" if hours <= 24 else "day"
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    tokens: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for each in found:
        if operation is not None and each.data["operation"] != operation:
            continue
        at = from_us(each.created_at).replace(minute=0, second=0, microsecond=0)
        key = (at if trunc == "hour" else at.replace(hour=0)).isoformat()
        counts[key][each.data["status"]] += 1
        for name in ("input", "output", "cached", "total"):
            tokens[key][name] += each.data[f"{name}_tokens"]
    spent, tenant = await app.minds.ledger.spent(bank)
    caps = app.minds.ledger.caps
    body = LLMRequestStatsResponse(
        bank_id=bank.bank,
        period=period,
        trunc=trunc,
        start=spell(start) or "",
        buckets=[
            LLMRequestStatsBucket(
                time=key,
                statuses=dict(counts[key]),
                total=sum(counts[key].values()),
                tokens=LLMRequestTokenSums(**tokens[key]),
            )
            for key in sorted(counts)
        ],
        today={
            "bank": {
                "tokens": spent.tokens,
                "calls": spent.calls,
                "tokens_cap": caps.bank_tokens,
                "calls_cap": caps.bank_calls,
            },
            "tenant": {
                "tokens": tenant.tokens,
                "calls": tenant.calls,
                "tokens_cap": caps.tenant_tokens,
                "calls_cap": caps.tenant_calls,
            },
        },
    )
    return answer(request, body, nulls=True, queries=("operation", "period"))


def _entry(bank: BankRef, record: Record) -> LLMRequestEntry:
    data = record.data
    return LLMRequestEntry(
        id=record.key,
        bank_id=bank.bank,
        operation=data["operation"],
        scope=data["scope"],
        trace_id=data["trace_id"],
        span_id=None,
        parent_span_id=None,
        provider=data["provider"],
        model=data["model"],
        status=data["status"],
        started_at=spell(record.created_at),
        ended_at=spell(record.updated_at),
        duration_ms=(record.updated_at - record.created_at) // 1000,
        input_tokens=data["input_tokens"],
        output_tokens=data["output_tokens"],
        cached_tokens=data["cached_tokens"],
        total_tokens=data["total_tokens"],
        error=data["error"],
        llm_info={"calls": data["calls"], "failed_calls": data["failed_calls"]},
        metadata={"estimated": data["estimated"]},
    )


def _moment(text: str | None, field: str) -> Any:
    if not text:
        return None
    try:
        return read_moment(text)
    except ValueError:
        raise InvalidInput(f"{field} must be a time in ISO 8601", field=field) from None
