"""The figures of `GET /metrics` under HEBBS's names, so that dashboards made for it go on.

Its operations are counted over REST and gRPC together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from ...verbs.meters import GRPC_REQUESTS, Histogram, Labels, Meters
from .exposition import histogram, metric
from .watching import REQUESTS

_PREFIX = "hebbs_"
_OPERATIONS = {
    ("POST", "/v1/memories"): "remember",
    ("GET", "/v1/memories/{memory_id}"): "get",
    ("POST", "/v1/recall"): "recall",
    ("POST", "/v1/prime"): "prime",
    ("PUT", "/v1/revise/{memory_id}"): "revise",
    ("POST", "/v1/forget"): "forget",
    ("POST", "/v1/reflect"): "reflect",
    ("GET", "/v1/insights"): "get_insights",
}
_METHODS = {
    ("hebbs.v1.MemoryService", "Remember"): "remember",
    ("hebbs.v1.MemoryService", "Get"): "get",
    ("hebbs.v1.MemoryService", "Recall"): "recall",
    ("hebbs.v1.MemoryService", "Prime"): "prime",
    ("hebbs.v1.MemoryService", "Revise"): "revise",
    ("hebbs.v1.MemoryService", "Forget"): "forget",
    ("hebbs.v1.ReflectService", "Reflect"): "reflect",
    ("hebbs.v1.ReflectService", "GetInsights"): "get_insights",
}


def hebbs_figures(meters: Meters, memories: int, subscriptions: int) -> Iterator[str]:
    """Yield the lines.

    Args:
        meters: of this process.
        memories: that the store holds, over all tenants.
        subscriptions: that are open here.
    """
    rest, grpc = list(meters.times(REQUESTS)), list(meters.times(GRPC_REQUESTS))
    done = [*_of_rest(rest), *_of_grpc(grpc)]
    durations: defaultdict[Labels, Histogram] = defaultdict(Histogram)
    errors: Counter[Labels] = Counter()
    for operation, fault, times in done:
        status = "ok" if fault is None else "error"
        durations[("operation", operation), ("status", status)].merge(times)
        if fault is not None:
            errors[("operation", operation), ("error_type", fault)] += sum(times.counts)
    yield from histogram(
        "operation_duration_seconds",
        "HEBBS's operations, over REST and gRPC.",
        sorted(durations.items(), key=lambda each: each[0]),
        prefix=_PREFIX,
    )
    answered = [sum(sum(times.counts) for _, times in told) for told in (grpc, rest)]
    for name, kind, help_text, values in (
        ("errors_total", "counter", "Those refused or failed.", sorted(errors.items())),
        ("memory_count", "gauge", "Memories.", [((), memories)]),
        ("active_subscriptions", "gauge", "Open streams.", [((), subscriptions)]),
        ("grpc_requests_total", "counter", "Calls answered.", [((), answered[0])]),
        ("http_requests_total", "counter", "Requests answered.", [((), answered[1])]),
    ):
        told = [(dict(labels), value) for labels, value in values]
        yield from metric(name, kind, help_text, told, prefix=_PREFIX)


def _of_rest(
    requests: Iterable[tuple[Labels, Histogram]],
) -> Iterator[tuple[str, str | None, Histogram]]:
    for labels, times in requests:
        told = dict(labels)
        operation = _OPERATIONS.get((told["method"], told["route"]))
        if operation is not None:
            yield operation, None if int(told["status"]) < 400 else told["status"], times


def _of_grpc(
    requests: Iterable[tuple[Labels, Histogram]],
) -> Iterator[tuple[str, str | None, Histogram]]:
    for labels, times in requests:
        told = dict(labels)
        operation = _METHODS.get((told["service"], told["method"]))
        if operation is not None:
            yield operation, None if told["status"] == "OK" else told["status"], times
