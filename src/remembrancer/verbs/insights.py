"""insights: what was derived from several memories, and what could be.

Clusters of memories are found here; what they have in common is said by the caller's own model,
in two steps: `prepare` hands over the clusters, `commit` keeps what was made of them, each insight
with links to the memories it rests on. No text is made up here.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..keeping.browse import UnitFilter
from ..keeping.store import Store
from ..keeping.view import Reader
from ..nouns.caller import Caller
from ..nouns.clock import Clock
from ..nouns.errors import Conflict, InvalidInput, NotFound
from ..nouns.ids import IdMaker
from ..nouns.memory import BankRef, Kind, Layer, Link, LinkType, Unit
from ..nouns.names import OF_TENANT
from .attributes import merged_attributes
from .lookup import Kept, embedding, kept_of
from .noting import Note, unnoted
from .reflecting.clusters import clusters
from .remember import Remember, checked_content, checked_share
from .retaining.guarding import OPEN, Guard
from .tenant_banks import banks_of, reached

SESSION_US = 600_000_000
"""How long a prepared session can be committed."""

MOST_INSIGHTS = 1_000  # kept by one commit, and returned
_MOST_READ = 500  # newest memories of a bank that are grouped
_MOST_IN_ALL = 5_000  # about, in all banks
_LEAST_READ = 5  # with fewer there is nothing to reflect on
_MOST_LISTED = 10_000  # insights of a bank looked at for the most important ones
_MOST_BASIS = 1_000  # memories that one insight rests on
_TRIES = 20
_STEP = 500  # insights read at once, for their texts may be long
_SESSION = "session/"


class Cluster(NamedTuple):
    """Memories of one bank that are about one thing."""

    ref: BankRef
    members: list[Kept]


@dataclass(frozen=True, slots=True)
class Prepared:
    """What could be reflected on. `read`: memories looked at; `existing`: insights that are there.

    `session` names it for `commit`.
    """

    clusters: tuple[Cluster, ...]
    read: int
    existing: int
    session: bytes


@dataclass(frozen=True, slots=True)
class Insight:
    """What a model made of a cluster. Without `basis` it rests on the whole cluster."""

    content: str
    confidence: float
    basis: tuple[bytes, ...] = ()
    tags: tuple[str, ...] = ()
    cluster: int | None = None


class Insights:
    """The verbs; everything they need is passed in."""

    def __init__(
        self,
        store: Store,
        remember: Remember,
        *,
        ids: IdMaker,
        clock: Clock,
        guard: Guard = OPEN,
    ) -> None:
        self._store = store
        self._guard = guard
        self._remember = remember
        self._ids = ids
        self._clock = clock

    async def listed(
        self, caller: Caller, bank: BankRef | None, *, least: float = 0.0, limit: int = 100
    ) -> list[Kept]:
        """Return insights of a bank, or of all that the caller reaches, the most important first.

        `least`: lowest importance.
        """
        found: list[Kept] = []
        for ref in await self._refs(caller, bank):
            found += await self._store.read(ref, partial(_most_important, ref=ref, least=least))
            found.sort(key=lambda kept: (-kept.unit.importance, kept.unit.id))
            del found[MOST_INSIGHTS:]
        return found[:limit]

    async def clusters(
        self, caller: Caller, bank: BankRef | None, since: int | None = None
    ) -> tuple[list[Cluster], int]:
        """Group the newest memories of each bank; return clusters and how many were read.

        `since`: microseconds; what was kept before is left out.
        """
        found: list[Cluster] = []
        read = 0
        for ref in await self._refs(caller, bank):
            groups, seen = await self._store.read(ref, partial(_grouped, ref=ref, since=since))
            found += groups
            read += seen
            if read >= _MOST_IN_ALL:
                break
        return found, read

    async def prepare(
        self, caller: Caller, bank: BankRef | None, since: int | None = None
    ) -> Prepared:
        """Group memories and keep which they are for `SESSION_US`."""
        found, read = await self.clusters(caller, bank, since)
        existing = 0
        for ref in await self._refs(caller, bank):
            async with self._store.snapshot(ref) as view:
                existing += (await view.counts())["observations"]
        session = self._ids.new()
        told = [{"bank": c.ref.bank, "ids": [k.unit.id.hex() for k in c.members]} for c in found]
        await self._store.blob_put(
            BankRef(caller.tenant, OF_TENANT),
            _SESSION + session.hex(),
            json.dumps(told).encode(),
            self._clock.now_us() + SESSION_US,
        )
        return Prepared(tuple(found), read, existing, session)

    async def commit(
        self,
        caller: Caller,
        session: bytes,
        insights: Sequence[Insight],
        note: Note = unnoted,
    ) -> Mapping[BankRef, int]:
        """Keep insights of a prepared session; return how many, by bank.

        Done again, it comes to the same. `note` is told how many, also when it fails half-way.

        Raises:
            NotFound: there is no such session any more, or an insight rests on a memory that is
                not there; those before it are kept.
            InvalidInput: an insight cannot be taken.
            Conflict: a bank changed too often meanwhile.
        """
        kept = await self._store.blob_get(
            BankRef(caller.tenant, OF_TENANT), _SESSION + session.hex(), self._clock.now_us()
        )
        if kept is None:
            raise NotFound("there is no such session, or it has expired", field="session_id")
        if len(insights) > MOST_INSIGHTS:
            raise InvalidInput(
                f"insights has {len(insights)} items; the limit is {MOST_INSIGHTS}",
                field="insights",
                limit=MOST_INSIGHTS,
            )
        prepared = json.loads(kept)
        insights = [self._guarded(insight) for insight in insights]
        made: Counter[BankRef] = Counter()
        try:
            for number, insight in enumerate(insights):
                basis = _basis(insight, prepared)
                ref = await self._home(caller, basis)
                await self._keep(ref, _id_of(session, number), insight, basis)
                made[ref] += 1
        finally:
            for ref, count in made.items():
                note(ref, insights=count)
        return made

    async def _home(self, caller: Caller, basis: Sequence[bytes]) -> BankRef:
        """Return the bank of what an insight rests on."""
        refs = set((await reached(self._store, caller, basis)).values())
        if len(refs) != 1:
            what = "memories of one entity" if refs else "memories that are there"
            raise NotFound(f"an insight must rest on {what}", field="source_memory_ids")
        return refs.pop()

    async def keep(self, ref: BankRef, unit_id: bytes, insight: Insight) -> None:
        """Keep an insight under an id; one that is there is replaced.

        Raises:
            NotFound: a memory that it rests on is gone.
            InvalidInput: it holds what is not to be kept.
            Conflict: the bank changed too often meanwhile.
        """
        await self._keep(ref, unit_id, self._guarded(insight), insight.basis)

    def _guarded(self, insight: Insight) -> Insight:
        return replace(
            insight,
            content=self._guard.text(insight.content, "insights.content"),
            tags=tuple(self._guard.text(tag, "insights.tags") for tag in insight.tags),
        )

    async def _keep(
        self, ref: BankRef, unit_id: bytes, insight: Insight, basis: Sequence[bytes]
    ) -> None:
        """Write one insight, on what is there when it is written."""
        confidence = checked_share(insight.confidence, "insights.confidence")
        for _ in range(_TRIES):
            async with self._store.snapshot(ref) as view:
                revision = view.revision
                sources = await view.units(basis)
            if len(sources) < len(basis):
                raise NotFound(
                    "an insight rests on a memory that is not there", field="source_memory_ids"
                )
            unit = self._unit(unit_id, insight, confidence, sources)
            links = [Link(unit_id, each, LinkType.INSIGHT_FROM, confidence) for each in basis]
            source = self._remember.source(unit)
            batch = await self._remember.batch([source], links, expect_revision=revision)
            try:
                await self._store.apply(ref, batch)
            except Conflict:
                continue
            return
        raise Conflict("the entity is being written to all the time; try again")

    def _unit(
        self, unit_id: bytes, insight: Insight, confidence: float, sources: Sequence[Unit]
    ) -> Unit:
        now = self._clock.now_us()
        mean = sum(source.importance for source in sources) / len(sources)
        attributes: dict[str, Any] = {
            "reflect_confidence": confidence,
            "reflect_source_count": len(sources),
            "reflect_tags": list(insight.tags),
        }
        if insight.cluster is not None:
            attributes["reflect_cluster_id"] = insight.cluster
        return Unit(
            id=unit_id,
            layer=Layer.OBSERVATION,
            text=checked_content(insight.content),
            created_at=now,
            mentioned_at=now,
            kind=Kind.OBSERVATION,
            attributes=merged_attributes(None, attributes),
            importance=0.7 * mean + 0.3 * confidence,  # as HEBBS weighs them
        )

    async def _refs(self, caller: Caller, bank: BankRef | None) -> list[BankRef]:
        return [bank] if bank is not None else (await banks_of(self._store, caller))[0]


def _most_important(reader: Reader, ref: BankRef, least: float) -> list[Kept]:
    wanted = UnitFilter(layers=(Layer.OBSERVATION,), invalid=False)
    best: list[Unit] = []
    for start in range(0, _MOST_LISTED, _STEP):
        page = reader.browse(wanted, _STEP, start).units
        best += [unit for unit in page if unit.importance >= least]
        best = sorted(best, key=lambda unit: (-unit.importance, unit.id))[:MOST_INSIGHTS]
        if len(page) < _STEP:
            break
    return kept_of(reader, ref, best)


def _grouped(reader: Reader, ref: BankRef, since: int | None) -> tuple[list[Cluster], int]:
    newest = reader.newest(_MOST_READ, layer=Layer.SOURCE)
    units = [unit for unit in newest if since is None or unit.created_at >= since]
    found = [k for k in kept_of(reader, ref, units, vectors=True) if k.vector is not None]
    if len(found) < _LEAST_READ:
        return [], 0
    found.reverse()  # the oldest first, so that what comes later joins
    vectors = np.stack([embedding(k.vector) for k in found if k.vector is not None])
    groups = clusters(vectors)
    return [Cluster(ref, [found[row] for row in rows]) for rows in groups], len(found)


def _basis(insight: Insight, prepared: Sequence[Mapping[str, Any]]) -> list[bytes]:
    basis = list(dict.fromkeys(insight.basis))
    if not basis and insight.cluster is not None and 0 <= insight.cluster < len(prepared):
        basis = [bytes.fromhex(each) for each in prepared[insight.cluster]["ids"]]
    if not 1 <= len(basis) <= _MOST_BASIS:
        raise InvalidInput(
            f"an insight must rest on 1 to {_MOST_BASIS} memories: give source_memory_ids, or a "
            "cluster_id of the session",
            field="source_memory_ids",
            limit=_MOST_BASIS,
        )
    return basis


def _id_of(session: bytes, number: int) -> bytes:
    """Return the id of a session's insight: the same each time it is committed."""
    tail = hashlib.blake2b(session + number.to_bytes(4, "big"), digest_size=6).digest()
    return session[:10] + tail
