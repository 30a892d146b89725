"""lookup: memories by id, with everything that is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..finding.decay import decayed
from ..keeping.store import Store
from ..keeping.view import Reader
from ..models.embedder import Floats
from ..nouns.caller import Caller
from ..nouns.clock import Clock
from ..nouns.memory import BankRef, Curation, Layer, LinkType, Unit, Vector
from .policy import Policies, Policy
from .recalling.origins import Origin, edits_of, origin_of
from .tenant_banks import no_memory, reached


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory as it is kept. `basis`: what it was derived from; `vector`: when asked for."""

    ref: BankRef
    unit: Unit
    curation: Curation | None = None
    basis: tuple[bytes, ...] = ()
    vector: Vector | None = None

    @property
    def origin(self) -> Origin:
        """Where it comes from."""
        return origin_of(self.unit, self.curation)

    @property
    def edits(self) -> int:
        """How often it was corrected."""
        return edits_of(self.curation)

    @property
    def holds(self) -> bool:
        """Whether nobody has taken it out."""
        return self.curation is None or not self.curation.invalid

    @property
    def used_at(self) -> int:
        """When it was last used, or made."""
        last = self.unit.last_accessed_at
        return self.unit.created_at if last is None else last

    @property
    def earlier(self) -> list[Mapping[str, Any]]:
        """What it was before its corrections, newest first; each with `at` and `was`."""
        history = self.curation.data.get("history", ()) if self.curation else ()
        return [each for each in reversed(history) if each["action"] == "edit"]

    def worth(self, policy: Policy, now: int) -> float:
        """Return what it is worth now (see `finding.decay`); a correction makes it new."""
        at = max(self.used_at, self.unit.updated_at or 0)
        return decayed(
            self.unit.importance,
            age_us=now - at,
            access_count=self.unit.access_count,
            half_life_us=policy.half_life_us,
        )


def embedding(vector: Vector) -> Floats:
    """Return a stored vector as float32 of shape (dim,)."""
    codes = np.frombuffer(vector.codes, dtype=np.int8).astype(np.float32)
    return codes * np.float32(vector.scale)


def kept_of(
    reader: Reader, ref: BankRef, units: Sequence[Unit], *, vectors: bool = False
) -> list[Kept]:
    """Return units of one bank with what is known of them."""
    ids = [unit.id for unit in units]
    curations = reader.curations(ids)
    derived = [unit.id for unit in units if unit.layer is Layer.OBSERVATION]
    basis: dict[bytes, list[bytes]] = {}
    for link in reader.links_of(derived) if derived else ():
        if link.type is LinkType.INSIGHT_FROM:
            basis.setdefault(link.source, []).append(link.target)
    found = {row.unit.id: row.vector for row in reader.rows(ids)} if vectors else {}
    return [
        Kept(ref, u, curations.get(u.id), tuple(basis.get(u.id, ())), found.get(u.id))
        for u in units
    ]


class Lookup:
    """The verb; everything it needs is passed in."""

    def __init__(self, store: Store, policies: Policies, *, clock: Clock) -> None:
        self._store = store
        self._policies = policies
        self._clock = clock

    async def find(self, caller: Caller, unit_id: bytes) -> BankRef:
        """Return the bank of a memory.

        Raises:
            NotFound: the caller reaches none of that id.
        """
        refs = await reached(self._store, caller, [unit_id])
        if unit_id not in refs:
            raise no_memory(unit_id)
        return refs[unit_id]

    async def __call__(self, caller: Caller, unit_id: bytes, *, vectors: bool = False) -> Kept:
        """Return one memory.

        Raises:
            NotFound: the caller reaches none of that id.
        """
        ref = await self.find(caller, unit_id)
        found = await self.several(ref, [unit_id], vectors=vectors)
        if not found:
            raise no_memory(unit_id)
        return found[0]

    async def several(
        self, ref: BankRef, ids: Sequence[bytes], *, vectors: bool = False
    ) -> list[Kept]:
        """Return memories of one bank in the order of `ids`; missing ones are left out."""
        return await self._store.read(
            ref, lambda reader: kept_of(reader, ref, reader.units(ids), vectors=vectors)
        )

    async def worth(self, kept: Sequence[Kept]) -> list[float]:
        """Return what memories of one tenant are worth now."""
        if not kept:
            return []
        policy = await self._policies.of(kept[0].ref.tenant)
        now = self._clock.now_us()
        return [each.worth(policy, now) for each in kept]
