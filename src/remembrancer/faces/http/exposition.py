"""Prometheus's text format 0.0.4: how counters, gauges and histograms are spelled.

Names have a prefix: `remembrancer_`, or another project's, whose names are told as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...verbs.meters import BOUNDS_S, Histogram, Labels

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

OURS = "remembrancer_"


def metric(
    name: str,
    kind: str,
    help_text: str,
    values: Iterable[tuple[Mapping[str, str], float]],
    *,
    prefix: str = OURS,
) -> Iterator[str]:
    """Yield the lines of a counter or gauge, a value for each set of labels."""
    full = prefix + name
    yield f"# HELP {full} {help_text}"
    yield f"# TYPE {full} {kind}"
    for labels, value in values:
        yield f"{full}{_labels(labels)} {value}"


def histogram(
    name: str,
    help_text: str,
    values: Iterable[tuple[Labels, Histogram]],
    *,
    prefix: str = OURS,
) -> Iterator[str]:
    """Yield the lines of a histogram, buckets, sum and count for each set of labels."""
    full = prefix + name
    yield f"# HELP {full} {help_text}"
    yield f"# TYPE {full} histogram"
    for labels, times in values:
        told = dict(labels)
        count = 0
        for bound, n in zip((*map(str, BOUNDS_S), "+Inf"), times.counts, strict=True):
            count += n
            yield f"{full}_bucket{_labels({**told, 'le': bound})} {count}"
        yield f"{full}_sum{_labels(told)} {times.sum}"
        yield f"{full}_count{_labels(told)} {count}"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
