"""`GET /metrics`: figures for Prometheus, in its text format 0.0.4.

Ours begin with `remembrancer_`. Beside them stand those of Hindsight and of HEBBS that mean the
same, so that dashboards made for them go on.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from ..._version import __version__
from ...app import App
from ...keeping.store import Totals
from ...nouns.memory import JobState
from ...verbs.meters import (
    ADMISSION_SHED,
    ADMISSION_WAITS,
    DEADLINES,
    GRPC_REQUESTS,
    RECALL_STAGES,
    RETAINED_FACTS,
    RETAINED_ITEMS,
    SLOW_RECALLS,
    Histogram,
    Labels,
    Meters,
)
from ...verbs.thinking.minds import CALLS, TOKENS
from ..log_queue import dropped
from .answers import OpenApp
from .exposition import MEDIA_TYPE, histogram, metric
from .hebbs_metrics import hebbs_figures
from .watching import REQUESTS

_THEIRS = "hindsight_"
_BANK = "/v1/default/banks/{bank_id}/"
_OPERATIONS = {
    ("POST", f"{_BANK}memories"): "retain",
    ("POST", f"{_BANK}memories/recall"): "recall",
    ("POST", f"{_BANK}reflect"): "reflect",
}
_STATM = Path("/proc/self/statm")

router = APIRouter(tags=["Monitoring"])


@router.get(
    "/metrics",
    operation_id="metrics",
    summary="Figures for Prometheus",
    response_class=PlainTextResponse,
)
@router.get(
    "/v1/metrics",
    operation_id="metrics",  # the same one, so it is described once and needs the same
    include_in_schema=False,
)
async def metrics(request: Request, app: OpenApp) -> Response:
    """Return what this process has done since it began, and what the store holds."""
    totals = await app.store.totals()
    parts = [
        *_process(time.monotonic() - request.app.state.started),
        *_store(totals, app.indexes.memory_bytes),
        *_done(app.meters),
        *_admission(app),
        *hebbs_figures(
            app.meters,
            totals.sources + totals.observations,
            len(app.memories.subscriptions),
        ),
    ]
    return Response("\n".join(parts) + "\n", media_type=MEDIA_TYPE)


def _process(uptime_s: float) -> Iterator[str]:
    yield from metric("info", "gauge", "The version.", [({"version": __version__}, 1)])
    yield from metric("uptime_seconds", "gauge", "Since the server began.", [({}, uptime_s)])
    rss = _resident_bytes()
    if rss is not None:
        yield from metric(
            "process_resident_memory_bytes", "gauge", "Memory of the process.", [({}, rss)]
        )


def _store(totals: Totals, index_bytes: int) -> Iterator[str]:
    yield from metric("banks", "gauge", "Banks.", [({}, totals.banks)])
    layers = {
        "source": totals.sources,
        "fact": totals.facts,
        "observation": totals.observations,
    }
    yield from metric(
        "units", "gauge", "Memories by layer.", [({"layer": k}, n) for k, n in layers.items()]
    )
    yield from metric("documents", "gauge", "Documents.", [({}, totals.documents)])
    yield from metric("index_memory_bytes", "gauge", "Held by indexes.", [({}, index_bytes)])
    states = [({"status": s.value}, totals.jobs.get(s, 0)) for s in JobState]
    yield from metric("operations", "gauge", "Background operations by state.", states)
    yield from metric("async_operations", "gauge", "As operations.", states, prefix=_THEIRS)


def _done(meters: Meters) -> Iterator[str]:
    for name, help_text in (
        (RETAINED_ITEMS, "Items retained by this process."),
        (RETAINED_FACTS, "Facts read from them."),
        (SLOW_RECALLS, "Recalls that took longer than slow_recall_ms."),
    ):
        counts = meters.counter(name) or {(): 0}
        yield from metric(name, "counter", help_text, [(dict(k), n) for k, n in counts.items()])
    for name, help_text in (
        (CALLS, "Requests to language models by verb and outcome."),
        (TOKENS, "Tokens of language models by verb and kind, failed requests included."),
    ):
        told = sorted(meters.counter(name).items())
        yield from metric(name, "counter", help_text, [(dict(k), n) for k, n in told])
    yield from metric(
        "log_lines_dropped_total", "counter", "Lines of log that nobody took.", [({}, dropped())]
    )
    requests = list(meters.times(REQUESTS))
    yield from histogram(REQUESTS, "Requests by route and status.", requests)
    calls = list(meters.times(GRPC_REQUESTS))
    yield from histogram(GRPC_REQUESTS, "Calls by service, method and status.", calls)
    stages = list(meters.times(RECALL_STAGES))
    yield from histogram(RECALL_STAGES, "Where the time of recalls went.", stages)
    operations = _by_operation(requests)
    yield from histogram(
        "operation_duration_seconds", "Retain, recall, reflect.", operations, prefix=_THEIRS
    )
    yield from metric(
        "operation_total",
        "counter",
        "Retain, recall, reflect.",
        [(dict(labels), sum(h.counts)) for labels, h in operations],
        prefix=_THEIRS,
    )


def _admission(app: App) -> Iterator[str]:
    figures = list(app.desk.figures())
    running = [({"work": work}, running) for work, running, _ in figures]
    yield from metric("admission_running", "gauge", "Requests worked on, by class.", running)
    queued = [({"work": work}, queued) for work, _, queued in figures]
    yield from metric("admission_queued", "gauge", "Requests that wait, by class.", queued)
    for name, help_text in (
        (ADMISSION_SHED, "Requests refused under load, by class and reason."),
        (DEADLINES, "Requests whose work was ended since their time was over."),
    ):
        told = sorted(app.meters.counter(name).items())
        yield from metric(name, "counter", help_text, [(dict(k), n) for k, n in told])
    waits = list(app.meters.times(ADMISSION_WAITS))
    yield from histogram(ADMISSION_WAITS, "How long those waited that had to.", waits)


def _by_operation(
    requests: Iterable[tuple[Labels, Histogram]],
) -> list[tuple[Labels, Histogram]]:
    found: defaultdict[Labels, Histogram] = defaultdict(Histogram)
    for labels, times in requests:
        told = dict(labels)
        operation = _OPERATIONS.get((told["method"], told["route"]))
        if operation is not None:
            success = "true" if int(told["status"]) < 400 else "false"
            found[("operation", operation), ("success", success)].merge(times)
    return sorted(found.items(), key=lambda each: each[0])


def _resident_bytes() -> int | None:
    """Return the memory that the process holds; None where the system does not tell it so."""
    try:
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
