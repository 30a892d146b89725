"""Counts of one bank over a snapshot, and of the whole store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ...nouns.memory import JobState, Kind, Layer, LinkType
from ..stats_view import TagPage, TimeField
from ..store import Tenant, Totals
from . import rows
from .db import Db
from .lanes import Lane

_HISTOGRAMS = {
    TimeField.CREATED: "stats_created_at",
    TimeField.MENTIONED: "stats_mentioned_at",
    TimeField.OCCURRED: "stats_occurred_start",
}


class StatsCalls:
    """See `keeping.stats_view.StatsView`; `RowView` joins it."""

    _key: int
    _lane: Lane

    async def unit_counts(self) -> Mapping[tuple[Layer, Kind], int]:
        """Count units by layer and kind."""
        return await self._lane.run(_unit_counts, self._key)

    async def link_counts(self) -> Mapping[tuple[LinkType, Kind], int]:
        """Count stored links by their type and the kind of the unit where they begin."""
        return await self._lane.run(_link_counts, self._key)

    async def mention_counts(self) -> Sequence[int]:
        """Return for each entity how many units mention it, in no order."""
        return await self._lane.run(_mention_counts, self._key)

    async def distinct_count(self, layer: Layer) -> int:
        """Count what the units of a layer say, the same only once."""
        return await self._lane.run(_distinct, self._key, layer)

    async def job_counts(self) -> Mapping[JobState, int]:
        """Count jobs by state."""
        return await self._lane.run(_job_counts, self._key)

    async def written_at(self) -> int | None:
        """Return when the newest unit was made; None without units."""
        return await self._lane.run(_written_at, self._key)

    async def histogram(
        self, field: TimeField, since: int, until: int, step: int
    ) -> Mapping[tuple[int, Kind], int]:
        """Count units by time and kind; buckets are numbered from `since` on."""
        return await self._lane.run(_histogram, self._key, field, since, until, step)

    async def tags(self, pattern: str | None = None, limit: int = 100, offset: int = 0) -> TagPage:
        """Count tags over units that were not read from another one, most used first."""
        return await self._lane.run(_tags, self._key, pattern, limit, offset)

    async def scopes(self) -> list[tuple[tuple[str, ...], int]]:
        """Count observations by their set of tags, most first; tags are sorted."""
        return await self._lane.run(_scopes, self._key)

    async def unit_ids(
        self, kind: Kind | None = None, after: bytes = b"", limit: int = 10_000
    ) -> list[bytes]:
        """Return the next ids in id order: units of a kind, or all not read from another one."""
        return await self._lane.run(_unit_ids, self._key, kind, after, limit)


def totals(db: Db) -> Totals:
    """Count over all banks, and jobs over those that the house keeps for itself as well."""
    banks, sources, facts, observations, documents = db.all("stats_all_units")[0]
    jobs = {JobState(state): n for state, n in db.all("stats_all_jobs")}
    return Totals(banks, sources, facts, observations, documents, jobs)


def tenants(db: Db, after: str, limit: int) -> list[Tenant]:
    """Return the next tenants by name."""
    return [Tenant(*row) for row in db.all("stats_tenants", after, limit)]


def tenant(db: Db, name: str) -> Tenant:
    """Return what a tenant holds."""
    return Tenant(name, *db.all("stats_tenant", name)[0])


def memory_count(db: Db, tenant: str | None) -> int:
    """Count sources and observations of a tenant, or of all."""
    found: int = db.value("stats_memories", tenant)
    return found


def _unit_counts(db: Db, key: int) -> dict[tuple[Layer, Kind], int]:
    return {(Layer(layer), Kind(kind)): n for layer, kind, n in db.all("stats_units", key)}


def _link_counts(db: Db, key: int) -> dict[tuple[LinkType, Kind], int]:
    found = db.all("stats_links", key)
    return {(rows.link_type(code), Kind(kind)): n for code, kind, n in found}


def _mention_counts(db: Db, key: int) -> list[int]:
    return [row[0] for row in db.all("stats_mentions", key)]


def _distinct(db: Db, key: int, layer: Layer) -> int:
    count: int = db.value("stats_distinct", key, int(layer))
    return count


def _job_counts(db: Db, key: int) -> dict[JobState, int]:
    return {JobState(state): n for state, n in db.all("stats_jobs", key)}


def _written_at(db: Db, key: int) -> int | None:
    row = db.one("stats_written", key)
    return None if row is None else row[0]


def _histogram(
    db: Db, key: int, field: TimeField, since: int, until: int, step: int
) -> dict[tuple[int, Kind], int]:
    found = db.all(_HISTOGRAMS[field], key, since, until, step)
    return {(bucket, Kind(kind)): n for bucket, kind, n in found}


def _tags(db: Db, key: int, pattern: str | None, limit: int, offset: int) -> TagPage:
    like = None if pattern is None else _like(pattern)
    found = db.all("stats_tags", key, like, limit, offset)
    return TagPage([(tag, n) for _, tag, n in found if tag is not None], found[0][0])


def _like(pattern: str) -> str:
    for special in "\\%_":
        pattern = pattern.replace(special, f"\\{special}")
    return pattern.replace("*", "%")


def _scopes(db: Db, key: int) -> list[tuple[tuple[str, ...], int]]:
    counts: Counter[tuple[str, ...]] = Counter()
    for text, n in db.all("stats_scopes", key):
        counts[tuple(sorted(set(rows.strings(text))))] += n
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))


def _unit_ids(db: Db, key: int, kind: Kind | None, after: bytes, limit: int) -> list[bytes]:
    wanted = None if kind is None else int(kind)
    return [row[0] for row in db.all("stats_ids", key, after, wanted, limit)]
