"""`GET /metrics`: figures for Prometheus, in its text format 0.0.4.

Ours begin with `remembrancer_`. Beside them stand those of Hindsight that mean the same, so that
dashboards made for it go on.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from ..._version import __version__
from ...keeping.store import Totals
from ...nouns.memory import JobState
from ...verbs.meters import (
    BOUNDS_S,
    RETAINED_FACTS,
    RETAINED_ITEMS,
    Histogram,
    Labels,
    Meters,
)
from .answers import OpenApp
from .watching import REQUESTS

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_OURS, _THEIRS = "remembrancer_", "hindsight_"
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
    ]
    return Response("\n".join(parts) + "\n", media_type=MEDIA_TYPE)


def _process(uptime_s: float) -> Iterator[str]:
    yield from _metric("info", "gauge", "The version.", [({"version": __version__}, 1)])
    yield from _metric("uptime_seconds", "gauge", "Since the server began.", [({}, uptime_s)])
    rss = _resident_bytes()
    if rss is not None:
        yield from _metric(
            "process_resident_memory_bytes", "gauge", "Memory of the process.", [({}, rss)]
        )


def _store(totals: Totals, index_bytes: int) -> Iterator[str]:
    yield from _metric("banks", "gauge", "Banks.", [({}, totals.banks)])
    layers = {
        "source": totals.sources,
        "fact": totals.facts,
        "observation": totals.observations,
    }
    yield from _metric(
        "units", "gauge", "Memories by layer.", [({"layer": k}, n) for k, n in layers.items()]
    )
    yield from _metric("documents", "gauge", "Documents.", [({}, totals.documents)])
    yield from _metric("index_memory_bytes", "gauge", "Held by indexes.", [({}, index_bytes)])
    states = [({"status": s.value}, totals.jobs.get(s, 0)) for s in JobState]
    yield from _metric("operations", "gauge", "Background operations by state.", states)
    yield from _metric("async_operations", "gauge", "As operations.", states, prefix=_THEIRS)


def _done(meters: Meters) -> Iterator[str]:
    for name, help_text in (
        (RETAINED_ITEMS, "Items retained by this process."),
        (RETAINED_FACTS, "Facts read from them."),
    ):
        counts = meters.counter(name) or {(): 0}
        yield from _metric(name, "counter", help_text, [(dict(k), n) for k, n in counts.items()])
    requests = list(meters.times(REQUESTS))
    yield from _histogram(REQUESTS, "Requests by route and status.", requests)
    operations = _by_operation(requests)
    yield from _histogram(
        "operation_duration_seconds", "Retain, recall, reflect.", operations, prefix=_THEIRS
    )
    yield from _metric(
        "operation_total",
        "counter",
        "Retain, recall, reflect.",
        [(dict(labels), sum(h.counts)) for labels, h in operations],
        prefix=_THEIRS,
    )


def _by_operation(
    requests: Iterable[tuple[Labels, Histogram]],
) -> list[tuple[Labels, Histogram]]:
    found: defaultdict[Labels, Histogram] = defaultdict(Histogram)
    for labels, histogram in requests:
        told = dict(labels)
        operation = _OPERATIONS.get((told["method"], told["route"]))
        if operation is not None:
            success = "true" if int(told["status"]) < 400 else "false"
            found[("operation", operation), ("success", success)].merge(histogram)
    return sorted(found.items(), key=lambda each: each[0])


def _metric(
    name: str,
    kind: str,
    help_text: str,
    values: Iterable[tuple[Mapping[str, str], float]],
    *,
    prefix: str = _OURS,
) -> Iterator[str]:
    full = prefix + name
    yield f"# HELP {full} {help_text}"
    yield f"# TYPE {full} {kind}"
    for labels, value in values:
        yield f"{full}{_labels(labels)} {value}"


def _histogram(
    name: str,
    help_text: str,
    values: Iterable[tuple[Labels, Histogram]],
    *,
    prefix: str = _OURS,
) -> Iterator[str]:
    full = prefix + name
    yield f"# HELP {full} {help_text}"
    yield f"# TYPE {full} histogram"
    for labels, histogram in values:
        told = dict(labels)
        count = 0
        for bound, n in zip((*map(str, BOUNDS_S), "+Inf"), histogram.counts, strict=True):
            count += n
            yield f"{full}_bucket{_labels({**told, 'le': bound})} {count}"
        yield f"{full}_sum{_labels(told)} {histogram.sum}"
        yield f"{full}_count{_labels(told)} {count}"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _resident_bytes() -> int | None:
    """Return the memory that the process holds; None where the system does not tell it so."""
    try:
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
