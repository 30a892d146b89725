"""The figures of a bench: percentiles, and how much of the gold stands in the first k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

Figures = dict[str, float]

KS = (5, 10, 20, 50)


@dataclass(frozen=True, slots=True)
class Case:
    """One judged question: what was found, best first, what should be, and its groups."""

    ranked: Sequence[str]
    gold: frozenset[str]
    groups: tuple[str, ...]


def distinct(keys: Iterable[str]) -> list[str]:
    """Return the keys in order, each once."""
    return list(dict.fromkeys(keys))


def any_at(case: Case, k: int) -> float:
    """Return 1 when at least one gold key is among the first k."""
    return float(not case.gold.isdisjoint(case.ranked[:k]))


def all_at(case: Case, k: int) -> float:
    """Return 1 when every gold key is among the first k."""
    return float(case.gold.issubset(case.ranked[:k]))


def frac_at(case: Case, k: int) -> float:
    """Return the share of the gold keys that are among the first k."""
    return len(case.gold.intersection(case.ranked[:k])) / len(case.gold)


def retrieval_figures(cases: Sequence[Case], prefix: str = "") -> Figures:
    """Return `PREFIX{any,all,frac}@K.GROUP` for every group, averaged over its questions.

    The group named "" gives `PREFIXfrac@K`.
    """
    figures: Figures = {}
    for group in sorted({g for case in cases for g in case.groups}):
        members = [case for case in cases if group in case.groups]
        suffix = f".{group}" if group else ""
        for name, at in (("any", any_at), ("all", all_at), ("frac", frac_at)):
            for k in KS:
                values = [at(case, k) for case in members]
                figures[f"{prefix}{name}@{k}{suffix}"] = sum(values) / len(values)
    return figures


def group_sizes(cases: Sequence[Case]) -> Figures:
    """Return `n.GROUP`: how many questions each group has."""
    sizes = Counter(group for case in cases for group in case.groups)
    return {f"n.{group}" if group else "n": sizes[group] for group in sorted(sizes)}


def percentile(values: Sequence[float], q: float) -> float:
    """Return the q-th percentile (0 to 100), linear between neighbours."""
    return float(np.percentile(np.asarray(values, dtype=np.float64), q))


def latency_figures(prefix: str, ms: Sequence[float]) -> Figures:
    """Return `PREFIX.p50_ms`, `.p95_ms` and `.p99_ms`."""
    return {f"{prefix}.p{q}_ms": percentile(ms, q) for q in (50, 95, 99)}


def best_elsewhere(values: Mapping[str, Sequence[Sequence[float]]], left_out: int) -> str:
    """Choose the setting with the best mean over all conversations but one.

    Args:
        values: for each setting, the questions' values by conversation.
        left_out: the conversation that must not count.

    Returns:
        The first of the best settings.
    """

    def mean(setting: str) -> float:
        rest = [v for i, vs in enumerate(values[setting]) if i != left_out for v in vs]
        return sum(rest) / len(rest) if rest else 0.0

    return max(values, key=mean)
