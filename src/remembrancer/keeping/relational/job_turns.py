"""Which jobs come next: tenants in turn, then the banks of each, then the first queued.

Nothing is sorted and no queue is read through: each step is one look for each kind into an index
of the jobs that may be taken now, so a claim costs the same however many are queued or have ended.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from .db import Db

MAX_TENANTS = 10_000
"""Tenants whose turn is remembered; beyond, all begin anew."""

T = TypeVar("T")


class Place(NamedTuple):
    """Where a job stands."""

    key: int
    id: bytes
    tenant: str


class Turns:
    """Remembers who was served last, in this process: others go on from there."""

    def __init__(self) -> None:
        self._tenant: str | None = None
        self._banks: dict[str, int] = {}

    def served(self, place: Place) -> None:
        """Note whose job was taken."""
        if len(self._banks) >= MAX_TENANTS:
            self._banks.clear()
        self._tenant = place.tenant
        self._banks[place.tenant] = place.key

    def poll(self, db: Db, kinds: Sequence[str], limit: int) -> list[Place]:
        """Return up to `limit` jobs that may be taken, in the order of their turns."""
        levels = _levels(db, sorted(set(kinds)))
        return list(islice((place for each in levels for place in self._of(each, limit)), limit))

    def _of(self, level: _Level, limit: int) -> Iterator[Place]:
        tenants = _ring(self._tenant, level.tenant_after)
        return _in_turn(self._of_tenant(level, tenant, limit) for tenant in tenants)

    def _of_tenant(self, level: _Level, tenant: str, limit: int) -> Iterator[Place]:
        banks = _ring(self._banks.get(tenant), lambda after: level.bank_after(tenant, after))
        return _in_turn(level.jobs(tenant, key, limit) for key in banks)


class _Level(NamedTuple):
    """The jobs of one priority: kinds of which there are some."""

    db: Db
    kinds: Sequence[str]
    priority: int

    def tenant_after(self, after: str | None) -> str | None:
        """Return the next tenant with a job; the first one after None."""
        found: str | None = (
            self._least("job_first_tenant")
            if after is None
            else self._least("job_next_tenant", after)
        )
        return found

    def bank_after(self, tenant: str, after: int | None) -> int | None:
        """Return the next bank of a tenant with a job; the first one after None."""
        found: int | None = (
            self._least("job_first_bank", tenant)
            if after is None
            else self._least("job_next_bank", tenant, after)
        )
        return found

    def jobs(self, tenant: str, key: int, limit: int) -> Iterator[Place]:
        """Yield a bank's jobs, the first queued first."""
        place = (self.priority, tenant, key, limit)
        for _, job_id in merge(*(self.db.all("job_poll", kind, *place) for kind in self.kinds)):
            yield Place(key, job_id, tenant)

    def _least(self, query: str, *params: Any) -> Any:
        found = (self.db.value(query, kind, self.priority, *params) for kind in self.kinds)
        return min((each for each in found if each is not None), default=None)


def _levels(db: Db, kinds: Sequence[str]) -> Iterator[_Level]:
    """Yield the priorities of which there are jobs, the highest first."""
    highest = {kind: db.value("job_first_priority", kind) for kind in kinds}
    while (priority := _most(highest.values())) is not None:
        yield _Level(db, [kind for kind, p in highest.items() if p == priority], priority)
        for kind, level in highest.items():
            if level == priority:
                highest[kind] = db.value("job_next_priority", kind, priority)


def _most(values: Iterable[int | None]) -> int | None:
    return max((each for each in values if each is not None), default=None)


def _ring(last: T | None, following: Callable[[T | None], T | None]) -> Iterator[T]:
    """Yield what follows `last` to the end, then what comes from the beginning up to it."""
    each = None if last is None else following(last)
    while each is not None:
        yield each
        each = following(each)
    each = following(None)
    while each is not None and (last is None or not each > last):  # type: ignore[operator]
        yield each
        each = following(each)


def _in_turn(groups: Iterator[Iterator[T]]) -> Iterator[T]:
    """Yield one of each group in turn until all are empty; a group is begun at its first turn."""
    waiting: deque[Iterator[T]] = deque()
    for group in groups:
        for each in group:
            yield each
            waiting.append(group)
            break
    while waiting:
        group = waiting.popleft()
        for each in group:
            yield each
            waiting.append(group)
            break
