"""`…/stats`: how much a bank holds, and since when."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from ...keeping.stats_view import TimeField
from ...nouns.memory import BankRef, JobState, Kind, Layer
from ...verbs.stats import BankStats, Period
from .answers import OpenApp, answer
from .banks import PATH, NamedBank
from .errors import BANK_ERRORS
from .moments import spell

router = APIRouter(tags=["Banks"])

Periods = Literal["1h", "12h", "1d", "7d", "30d", "90d"]


class BankStatsResponse(BaseModel):
    """How much a bank holds."""

    bank_id: str
    total_nodes: int = Field(description="Memories: sources, facts and observations.")
    total_links: int
    total_documents: int
    nodes_by_fact_type: dict[str, int]
    links_by_link_type: dict[str, int]
    links_by_fact_type: dict[str, int] = Field(
        description="By the type of the memory where they begin; entity links are not told apart."
    )
    links_breakdown: dict[str, dict[str, int]] = Field(description="By fact type, then link type.")
    pending_operations: int
    failed_operations: int
    operations_by_status: dict[str, int]
    last_consolidated_at: str | None = None
    last_memory_write_at: str | None = None
    pending_consolidation: int = 0
    failed_consolidation: int = 0
    total_observations: int = 0
    sources: int = Field(description="Turns and passages, verbatim.")
    facts: int = Field(description="Statements read from them.")
    distinct_facts: int = Field(description="Of these, what is said; the same counts once.")
    links_estimated: bool = Field(description="Semantic links were counted on a sample.")


class MemoryTimeseriesBucket(BaseModel):
    """How many memories of each type fall into a span of time that begins here."""

    time: str
    world: int = 0
    experience: int = 0
    observation: int = 0


class MemoriesTimeseriesResponse(BaseModel):
    """Memories by time, oldest first, without a gap. Times are in UTC."""

    bank_id: str
    period: str
    trunc: str = Field(description="How long a bucket is: minute, hour or day.")
    time_field: str = "created_at"
    buckets: list[MemoryTimeseriesBucket]


@router.get(
    f"{PATH}/stats",
    operation_id="get_bank_stats",
    summary="Count what a bank holds",
    response_model=BankStatsResponse,
    responses=BANK_ERRORS,
)
async def get_bank_stats(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    refresh: Annotated[bool, Query(description="Count anew, even if nothing changed.")] = False,
) -> Response:
    """Count what a bank holds; one that does not exist holds nothing.

    Links that follow from memories (near in time, alike, about the same entity) count as the
    graph would show them; the others as they are stored.
    """
    found = await app.stats(bank, refresh=refresh)
    return answer(request, _stats(bank, found), queries=("refresh",))


@router.get(
    f"{PATH}/stats/memories-timeseries",
    operation_id="get_memories_timeseries",
    summary="Count memories by time",
    response_model=MemoriesTimeseriesResponse,
    responses=BANK_ERRORS,
)
async def get_memories_timeseries(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    period: Annotated[Periods, Query()] = "7d",
    time_field: Annotated[
        Literal["created_at", "mentioned_at", "occurred_start"], Query()
    ] = "created_at",
) -> Response:
    """Count memories by when they were made, were said, or happened."""
    span, buckets = await app.stats.timeseries(bank, Period(period), TimeField(time_field))
    body = MemoriesTimeseriesResponse(
        bank_id=bank.bank,
        period=period,
        trunc=span.unit,
        time_field=time_field,
        buckets=[
            MemoryTimeseriesBucket(
                time=spell(span.start + n * span.step) or "",
                **{kind.name.lower(): count for kind, count in bucket.items()},
            )
            for n, bucket in enumerate(buckets)
        ],
    )
    return answer(request, body, queries=("period", "time_field"))


def _stats(bank: BankRef, found: BankStats) -> BankStatsResponse:
    by_type: Counter[str] = Counter()
    breakdown: dict[str, dict[str, int]] = {}
    for (link_type, kind), n in found.links.counts.items():
        by_type[str(link_type)] += n
        if kind is not None:
            breakdown.setdefault(kind.name.lower(), {})[str(link_type)] = n
    kinds = {kind.name.lower(): n for kind, n in sorted(found.by_kind.items())}
    jobs = found.jobs
    return BankStatsResponse(
        bank_id=bank.bank,
        total_nodes=sum(kinds.values()),
        total_links=sum(by_type.values()),
        total_documents=found.documents,
        nodes_by_fact_type=kinds,
        links_by_link_type=dict(by_type),
        links_by_fact_type={kind: sum(each.values()) for kind, each in breakdown.items()},
        links_breakdown=breakdown,
        pending_operations=sum(jobs.get(s, 0) for s in (JobState.PENDING, JobState.PROCESSING)),
        failed_operations=jobs.get(JobState.FAILED, 0),
        operations_by_status={state.value: n for state, n in sorted(jobs.items())},
        last_memory_write_at=spell(found.written_at),
        total_observations=found.by_kind.get(Kind.OBSERVATION, 0),
        sources=found.of_layer(Layer.SOURCE),
        facts=found.of_layer(Layer.FACT),
        distinct_facts=found.distinct_facts,
        links_estimated=found.links.estimated,
    )
