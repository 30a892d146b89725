"""Which memories a policy forgets, and why: pure functions of what is kept."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from ...nouns.clock import DAY_US
from ...nouns.memory import Unit
from ..lookup import Kept
from ..policy import Policy

_PINNING = frozenset({"pinned", "instruction"})


class Why(StrEnum):
    """Why a memory is forgotten; the first that holds is told."""

    BELOW = "below_threshold"  # decayed below the threshold
    OLD = "over_age"  # kept longer ago than the policy allows
    OVER = "over_count"  # of the least worth, where there are too many


class Doomed(NamedTuple):
    """A memory that is to be forgotten."""

    unit_id: bytes
    why: Why


def pinned(unit: Unit) -> bool:
    """Tell whether a memory is pinned, as prime sees it (`PrimingReader.pinned`)."""
    marked = (unit.attributes or {}).get("pinned")
    return (
        bool(_PINNING.intersection(unit.tags))
        or (isinstance(marked, bool | int | float) and marked == 1)
        or marked == "true"
        or (unit.metadata or {}).get("pinned") == "true"
    )


def doomed(kept: Iterable[Kept], policy: Policy, now: int) -> list[Doomed]:
    """Return which of some memories the policy forgets, whatever else there is.

    Args:
        kept: sources and observations.
        policy: the tenant's.
        now: microseconds.
    """
    found = []
    for each in kept:
        if pinned(each.unit):
            continue
        if policy.auto_forget and each.worth(policy, now) < policy.auto_forget_threshold:
            found.append(Doomed(each.unit.id, Why.BELOW))
        elif policy.max_age_days and now - each.unit.created_at > policy.max_age_days * DAY_US:
            found.append(Doomed(each.unit.id, Why.OLD))
    return found


class Least:
    """Keeps the least worthy of memories that are shown to it; the older of equals first.

    Args:
        count: how many to keep.
        policy: the tenant's.
        now: microseconds.
    """

    def __init__(self, count: int, policy: Policy, now: int) -> None:
        self._count = count
        self._policy = policy
        self._now = now
        self._heap: list[tuple[float, int, bytes]] = []  # the worthiest on top

    def show(self, kept: Sequence[Kept]) -> None:
        """Look at some memories; pinned ones are passed over."""
        for each in kept:
            if pinned(each.unit):
                continue
            worth = each.worth(self._policy, self._now)
            entry = (-worth, -int.from_bytes(each.unit.id, "big"), each.unit.id)
            if len(self._heap) < self._count:
                heapq.heappush(self._heap, entry)
            elif entry > self._heap[0]:
                heapq.heapreplace(self._heap, entry)

    def found(self) -> list[Doomed]:
        """Return them, the least worthy first."""
        return [Doomed(unit_id, Why.OVER) for *_, unit_id in sorted(self._heap, reverse=True)]


def counted(chosen: Iterable[Doomed]) -> Mapping[str, int]:
    """Count by why."""
    counts = dict.fromkeys((each.value for each in Why), 0)
    for each in chosen:
        counts[each.why.value] += 1
    return counts
