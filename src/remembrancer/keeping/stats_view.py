"""The part of a view that counts: units, links, tags and jobs of one bank in one snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from ..nouns.memory import JobState, Kind, Layer, LinkType


class TimeField(StrEnum):
    """Which time of a unit is counted."""

    CREATED = "created_at"
    MENTIONED = "mentioned_at"
    OCCURRED = "occurred_start"


class TagPage(NamedTuple):
    """Some tags with how many units have them, most used first, and how many tags there are."""

    items: list[tuple[str, int]]
    total: int


class StatsView(Protocol):
    """Counts of one bank; most of these walk the bank, so they are for people, not for each call.

    A source and what was read from it are counted each, unless it says otherwise.
    """

    async def unit_counts(self) -> Mapping[tuple[Layer, Kind], int]:
        """Count units by layer and kind."""
        ...

    async def link_counts(self) -> Mapping[tuple[LinkType, Kind], int]:
        """Count stored links by their type and the kind of the unit where they begin."""
        ...

    async def mention_counts(self) -> Sequence[int]:
        """Return for each entity how many units mention it, in no order."""
        ...

    async def distinct_count(self, layer: Layer) -> int:
        """Count what the units of a layer say, the same only once (see `UnitRow.same`)."""
        ...

    async def job_counts(self) -> Mapping[JobState, int]:
        """Count jobs by state: those that are listed, children and not their parents."""
        ...

    async def written_at(self) -> int | None:
        """Return when the newest unit was made; None without units."""
        ...

    async def histogram(
        self, field: TimeField, since: int, until: int, step: int
    ) -> Mapping[tuple[int, Kind], int]:
        """Count units by time and kind.

        Args:
            field: which time; units without it are left out.
            since: microseconds, inclusive; where the first bucket begins.
            until: exclusive.
            step: microseconds in a bucket.

        Returns:
            Number of the bucket (0 at `since`) and kind to count; empty buckets are left out.
        """
        ...

    async def tags(self, pattern: str | None = None, limit: int = 100, offset: int = 0) -> TagPage:
        """Count tags over units that were not read from another one.

        `pattern` matches the whole tag, letter case aside; `*` stands for any text.
        """
        ...

    async def scopes(self) -> list[tuple[tuple[str, ...], int]]:
        """Count observations by their set of tags, most first; tags are sorted."""
        ...

    async def unit_ids(
        self, kind: Kind | None = None, after: bytes = b"", limit: int = 10_000
    ) -> list[bytes]:
        """Return the next ids in id order: units of a kind, or all not read from another one."""
        ...
