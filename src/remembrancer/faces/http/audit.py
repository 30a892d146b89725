"""`…/audit-logs`: who changed what in a bank, when."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from ...keeping.records import Record
from ...nouns.memory import BankRef
from ...verbs.audit import AuditFilter
from ...verbs.stats import Period
from .answers import OpenApp, answer
from .banks import PATH, NamedBank, Offset
from .errors import BANK_ERRORS, Fault, Refused
from .moments import read_moment, spell
from .stats import Periods

MAX_PAGE = 1_000

router = APIRouter(tags=["Audit"])

Action = Annotated[str | None, Query(description="Noun and verb, such as `memories.retain`.")]


class AuditLogEntry(BaseModel):
    """One change. Texts of memories are never in it."""

    id: str
    action: str
    transport: str
    bank_id: str | None
    started_at: str | None
    ended_at: str | None
    duration_ms: int | None
    request: dict[str, Any] | None
    response: dict[str, Any] | None = Field(description="Always null: answers are not kept.")
    metadata: dict[str, Any]


class AuditLogListResponse(BaseModel):
    """Changes, newest first."""

    bank_id: str
    total: int
    limit: int
    offset: int
    items: list[AuditLogEntry]


class AuditLogStatsBucket(BaseModel):
    """How often each action was done in a span of time that begins here."""

    time: str
    actions: dict[str, int]
    total: int


class AuditLogStatsResponse(BaseModel):
    """Actions by time, oldest first, without a gap. Times are in UTC."""

    bank_id: str
    period: str
    trunc: str
    start: str
    buckets: list[AuditLogStatsBucket]


@router.get(
    f"{PATH}/audit-logs",
    operation_id="list_audit_logs",
    summary="List changes",
    response_model=AuditLogListResponse,
    responses=BANK_ERRORS,
)
async def list_audit_logs(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    action: Action = None,
    transport: Annotated[str | None, Query(description="`http`, `mcp` or `internal`.")] = None,
    start_date: Annotated[str | None, Query(description="ISO 8601, inclusive.")] = None,
    end_date: Annotated[str | None, Query(description="ISO 8601, exclusive.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50,
    offset: Offset = 0,
) -> Response:
    """List what was changed in a bank, newest first; the newest 10,000 entries are kept."""
    wanted = AuditFilter(
        action or None,
        transport or None,
        since=_moment(start_date, "start_date"),
        until=_moment(end_date, "end_date"),
    )
    page = await app.audit_log.page(bank, wanted, limit, offset)
    return answer(
        request,
        AuditLogListResponse(
            bank_id=bank.bank,
            total=page.total,
            limit=limit,
            offset=offset,
            items=[_entry(bank, each) for each in page.items],
        ),
        nulls=True,
        queries=("action", "transport", "start_date", "end_date", "limit", "offset"),
    )


@router.get(
    f"{PATH}/audit-logs/stats",
    operation_id="get_audit_log_stats",
    summary="Count changes by time",
    response_model=AuditLogStatsResponse,
    responses=BANK_ERRORS,
)
async def get_audit_log_stats(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    action: Action = None,
    period: Annotated[Periods, Query()] = "7d",
) -> Response:
    """Count what was changed in a bank by time."""
    span, buckets = await app.audit_log.timeseries(bank, Period(period), action or None)
    body = AuditLogStatsResponse(
        bank_id=bank.bank,
        period=period,
        trunc=span.unit,
        start=spell(span.start) or "",
        buckets=[
            AuditLogStatsBucket(
                time=spell(span.start + n * span.step) or "",
                actions=dict(bucket),
                total=bucket.total(),
            )
            for n, bucket in enumerate(buckets)
        ],
    )
    return answer(request, body, queries=("action", "period"))


@router.get(
    f"{PATH}/audit-logs/{{log_id}}",
    operation_id="get_audit_log",
    summary="Get a change",
    response_model=AuditLogEntry,
    responses=BANK_ERRORS,
)
async def get_audit_log(request: Request, app: OpenApp, bank: NamedBank, log_id: str) -> Response:
    """Return one change of a bank."""
    return answer(request, _entry(bank, await app.audit_log.get(bank, log_id)), nulls=True)


def _moment(text: str | None, name: str) -> int | None:
    try:
        found = read_moment(text)
    except ValueError as error:
        raise Refused(422, Fault(f"{name} {error}", where="query", path=(name,))) from None
    return found.us if found else None


def _entry(bank: BankRef, record: Record) -> AuditLogEntry:
    data = record.data
    return AuditLogEntry(
        id=record.key,
        action=data["action"],
        transport=data.get("transport", "internal"),
        bank_id=bank.bank,
        started_at=spell(data.get("started_at", record.created_at)),
        ended_at=spell(data.get("ended_at", record.created_at)),
        duration_ms=data.get("duration_ms"),
        request=data.get("request"),
        response=None,
        metadata=dict(data.get("metadata", {})),
    )
