"""stats: how much a bank holds, of what, since when, under which tags."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ..finding.indexes import Indexes
from ..finding.links import count_links, indexed
from ..finding.state import IndexState
from ..keeping.stats_view import TagPage, TimeField
from ..keeping.store import Store
from ..keeping.view import Reader, View
from ..nouns.clock import DAY_US, Clock
from ..nouns.memory import BankRef, JobState, Kind, Layer, LinkType
from .recalling.snapshots import read_indexed

_BANKS = 200  # whose counts are kept in memory
_MINUTE_US, _HOUR_US = 60_000_000, 3_600_000_000


class Period(StrEnum):
    """How far back a time series goes."""

    HOUR = "1h"
    HOURS_12 = "12h"
    DAY = "1d"
    WEEK = "7d"
    MONTH = "30d"
    QUARTER = "90d"


_LENGTH_US = {
    Period.HOUR: _HOUR_US,
    Period.HOURS_12: 12 * _HOUR_US,
    Period.DAY: DAY_US,
    Period.WEEK: 7 * DAY_US,
    Period.MONTH: 30 * DAY_US,
    Period.QUARTER: 90 * DAY_US,
}
_STEPS = {"minute": _MINUTE_US, "hour": _HOUR_US, "day": DAY_US}


@dataclass(frozen=True, slots=True)
class Span:
    """Buckets without a gap from `start` on, the last of which holds now. Microseconds, UTC."""

    unit: str  # minute, hour or day
    start: int
    step: int
    buckets: int

    @property
    def end(self) -> int:
        """Where the last bucket ends."""
        return self.start + self.step * self.buckets


def span_of(period: Period, now: int) -> Span:
    """Return the buckets of a period that ends now: minutes of an hour, hours of a day, or days."""
    unit = {Period.HOUR: "minute", Period.HOURS_12: "hour", Period.DAY: "hour"}.get(period, "day")
    step = _STEPS[unit]
    last = now // step
    first = (now - _LENGTH_US[period]) // step
    return Span(unit, first * step, step, last - first + 1)


@dataclass(frozen=True, slots=True)
class LinkTally:
    """Links by type and by the kind of unit where they begin; `None` where that is not known."""

    counts: Mapping[tuple[LinkType | str, Kind | None], int]
    estimated: bool  # the semantic ones were counted on a sample


@dataclass(frozen=True, slots=True)
class BankStats:
    """What a bank holds."""

    units: Mapping[tuple[Layer, Kind], int]
    documents: int
    distinct_facts: int
    links: LinkTally
    jobs: Mapping[JobState, int]
    written_at: int | None

    def of_layer(self, layer: Layer) -> int:
        """Return how many units a layer has."""
        return sum(n for (mine, _), n in self.units.items() if mine is layer)

    @property
    def by_kind(self) -> dict[Kind, int]:
        """How many units there are of each kind."""
        counts: Counter[Kind] = Counter()
        for (_, kind), n in self.units.items():
            counts[kind] += n
        return dict(counts)


ENTITY = "entity"
"""Names the links between units that mention the same entity."""


class Stats:
    """The verb; everything it needs is passed in."""

    def __init__(self, store: Store, indexes: Indexes, *, clock: Clock) -> None:
        self._store = store
        self._indexes = indexes
        self._clock = clock
        self._known: OrderedDict[BankRef, tuple[int, int, BankStats]] = OrderedDict()

    async def __call__(self, ref: BankRef, *, refresh: bool = False) -> BankStats:
        """Count what a bank holds; a bank that does not exist holds nothing.

        Counts are kept until the bank changes; `refresh` counts anew all the same.
        """
        known = self._known.get(ref)
        async with self._store.snapshot(ref) as view:
            jobs = await view.job_counts()
            at = (view.revision, view.generation)
            if known is not None and known[:2] == at and not refresh:
                self._known.move_to_end(ref)
                return replace(known[2], jobs=jobs)
            found = await self._counted(view, jobs)
        links = await self._links(ref, found)
        tally = LinkTally({**found.links.counts, **links.counts}, links.estimated)
        found = replace(found, links=tally)
        self._known[ref] = *at, found
        while len(self._known) > _BANKS:
            self._known.popitem(last=False)
        return found

    async def timeseries(
        self, ref: BankRef, period: Period, field: TimeField
    ) -> tuple[Span, list[dict[Kind, int]]]:
        """Count units by time and kind, in buckets without a gap."""
        span = span_of(period, self._clock.now_us())
        async with self._store.snapshot(ref) as view:
            counts = await view.histogram(field, span.start, span.end, span.step)
        buckets: list[dict[Kind, int]] = [{} for _ in range(span.buckets)]
        for (number, kind), n in counts.items():
            buckets[number][kind] = n
        return span, buckets

    async def tags(self, ref: BankRef, pattern: str | None, limit: int, offset: int) -> TagPage:
        """Count tags; a source counts once with the facts read from it."""
        async with self._store.snapshot(ref) as view:
            return await view.tags(pattern, limit, offset)

    async def scopes(self, ref: BankRef) -> list[tuple[tuple[str, ...], int]]:
        """Count observations by their set of tags."""
        async with self._store.snapshot(ref) as view:
            return await view.scopes()

    async def _counted(self, view: View, jobs: Mapping[JobState, int]) -> BankStats:
        counts = await view.counts()
        stored = await view.link_counts()
        return BankStats(
            units=await view.unit_counts(),
            documents=counts["documents"],
            distinct_facts=await view.distinct_count(Layer.FACT),
            links=LinkTally({(t, kind): n for (t, kind), n in stored.items()}, estimated=False),
            jobs=jobs,
            written_at=await view.written_at(),
        )

    async def _links(self, ref: BankRef, found: BankStats) -> LinkTally:
        """Count the links that follow from rows: near in time, alike, about the same entity."""
        if not found.units:
            return LinkTally({}, estimated=False)
        async with self._store.snapshot(ref) as view:
            mentions = await view.mention_counts()
        state = await read_indexed(self._store, self._indexes, ref, _state)
        tally, estimated = await asyncio.to_thread(_derived, state, mentions)
        return LinkTally(tally, estimated)


def _state(_: Reader, state: IndexState) -> IndexState:
    return state


def _derived(
    state: IndexState, mentions: Sequence[int]
) -> tuple[dict[tuple[LinkType | str, Kind | None], int], bool]:
    rows = indexed(state)
    links = count_links(rows.kinds, rows.times, rows.vectors, mentions)
    counts: dict[tuple[LinkType | str, Kind | None], int] = {}
    for link_type, by_kind in (
        (LinkType.TEMPORAL, links.temporal),
        (LinkType.SEMANTIC, links.semantic),
    ):
        counts |= {(link_type, Kind(kind)): n for kind, n in by_kind.items() if n}
    if links.entity:
        counts[ENTITY, None] = links.entity
    return counts, links.estimated
