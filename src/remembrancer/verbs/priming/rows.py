"""The newest rows of banks as ready objects: a cache that serves one revision of a bank alone.

Reading fifty rows costs more than all the rest of a prime. What is kept here is a function of the
bank's rows at a revision, so any write of the bank makes it worthless; it is checked in the very
snapshot that is read. Access counters stand outside the revision and are read each time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

from ...keeping.priming_view import Access
from ...keeping.truth_view import FactTruth
from ...keeping.view import Reader
from ...nouns.counting import accessed
from ...nouns.memory import BankRef, Curation, Layer, LinkType, Unit

MOST_BYTES = 16 * 1024 * 1024
"""Estimated bytes held at most, over all banks."""

KEPT_S = 20.0
"""Seconds that rows of a bank that is not primed are kept; looked after as often, so that a
forgotten text lasts at most twice as long."""

_LEAST_DEPTH = 64  # rows read at first, so that primes of different sizes share them
_UNIT_BYTES = 1_000  # a unit without its text
_MOMENTS = 8  # of each bank; as many threads read at once, at most
_NEVER = Access(0, None)


class Mark(NamedTuple):
    """What people did to a unit, what it was derived from, and what its facts claim."""

    curation: Curation | None
    basis: tuple[bytes, ...]
    claims: tuple[FactTruth, ...] = ()


UNMARKED = Mark(None, ())


@dataclass(frozen=True, slots=True)
class Rows:
    """The newest memories of a bank at a revision.

    `newest` are their ids, newest first, up to `depth`; `complete` when the bank has no more.
    `pinned` are those of the pinned ones, newest first. `units` holds both, with the counters as
    last read. `keys` and `proofs` are what `Fold` reads of them; `marks` leaves out those that have
    none. `accesses` are the counters by the moment of the store they were read in.
    """

    revision: int
    generation: int
    depth: int
    newest: tuple[bytes, ...]
    complete: bool
    pinned: tuple[bytes, ...]
    units: dict[bytes, Unit]
    keys: Mapping[bytes, bytes]
    proofs: Mapping[bytes, int]
    marks: Mapping[bytes, Mark]
    size: int = 0
    accesses: dict[Hashable, dict[bytes, Access]] = field(default_factory=dict)

    def counted(self, reader: Reader, ids: Sequence[bytes]) -> None:
        """Bring the counters of these units up to the reader's snapshot."""
        moment = reader.moment
        known = self.accesses.get(moment)
        if known is None:
            if len(self.accesses) >= _MOMENTS:
                self.accesses.clear()
            known = self.accesses[moment] = {}
        units = self.units
        mine = [i for i in ids if i in units]
        unread = [i for i in mine if i not in known]
        if unread:
            found = reader.accesses(unread)
            known.update((i, found.get(i, _NEVER)) for i in unread)
        for unit_id in mine:
            unit, access = units[unit_id], known[unit_id]
            if unit.access_count != access.uses or unit.last_accessed_at != access.last_at:
                units[unit_id] = accessed(unit, *access)


@dataclass(slots=True)
class _Held:
    rows: Rows
    used: float


@dataclass(slots=True)
class NewestRows:
    """The rows of the banks that were primed last, within a bound of memory.

    Used from several threads. `time` counts seconds.
    """

    time: Callable[[], float]
    most_bytes: int = MOST_BYTES
    _held: OrderedDict[BankRef, _Held] = field(default_factory=OrderedDict)
    _bytes: int = 0
    _lock: Lock = field(default_factory=Lock)

    def of(self, ref: BankRef, reader: Reader, depth: int, most_pinned: int) -> tuple[Rows, bool]:
        """Return at least `depth` of a bank's newest rows, or all, at the reader's revision.

        The flag tells whether they come from before: their counters are then to be brought up.
        """
        with self._lock:
            held = self._held.get(ref)
            if held is not None:
                rows = held.rows
                fits = (rows.revision, rows.generation) == (reader.revision, reader.generation)
                if fits and (rows.complete or rows.depth >= depth):
                    held.used = self.time()
                    self._held.move_to_end(ref)
                    return rows, True
        rows = read(reader, max(depth, _LEAST_DEPTH), most_pinned)
        if rows.units:
            self._keep(ref, rows)
        return rows, False

    def expire(self) -> bool:
        """Drop what was not used for `KEPT_S`; return whether anything is left."""
        with self._lock:
            before = self.time() - KEPT_S
            for ref in [r for r, held in self._held.items() if held.used <= before]:
                self._drop(ref)
            return bool(self._held)

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._held.clear()
            self._bytes = 0

    @property
    def bytes(self) -> int:
        """Estimated bytes held."""
        return self._bytes

    def _keep(self, ref: BankRef, rows: Rows) -> None:
        with self._lock:
            held = self._held.get(ref)
            if held is not None:
                if held.rows.revision > rows.revision:
                    return  # read in an older snapshot
                self._drop(ref)
            if rows.size > self.most_bytes:
                return
            self._held[ref] = _Held(rows, self.time())
            self._bytes += rows.size
            while self._bytes > self.most_bytes:
                self._drop(next(iter(self._held)))

    def _drop(self, ref: BankRef) -> None:
        self._bytes -= self._held.pop(ref).rows.size


def read(reader: Reader, depth: int, most_pinned: int) -> Rows:
    """Read the rows that a prime chooses from."""
    newest = reader.latest(depth)
    pinned = reader.pinned(most_pinned)
    units = {u.id: u for u in (*pinned, *newest)}
    keys = reader.shared_keys(list(units))
    return Rows(
        reader.revision,
        reader.generation,
        depth,
        tuple(u.id for u in newest),
        len(newest) < depth,
        tuple(u.id for u in pinned),
        units,
        keys,
        reader.proofs(list(set(keys.values()))) if keys else {},
        marks_of(reader, list(units.values())),
        size(units.values()),
    )


def marks_of(reader: Reader, units: Sequence[Unit]) -> dict[bytes, Mark]:
    """Read the marks of units; those that have none are left out."""
    curations = reader.curations([u.id for u in units])
    derived = [u.id for u in units if u.layer is Layer.OBSERVATION]
    basis: dict[bytes, list[bytes]] = {}
    for link in reader.links_of(derived) if derived else ():
        if link.type is LinkType.INSIGHT_FROM:
            basis.setdefault(link.source, []).append(link.target)
    claims = reader.truths([u.id for u in units if u.layer is Layer.SOURCE])
    marked = curations.keys() | basis.keys() | claims.keys()
    return {i: Mark(curations.get(i), tuple(basis.get(i, ())), claims.get(i, ())) for i in marked}


def size(units: Iterable[Unit]) -> int:
    """Estimate the bytes that units take in memory."""
    return sum(
        _UNIT_BYTES
        + 2 * len(u.text)
        + (4 * len(str(u.attributes)) if u.attributes else 0)
        + (4 * len(str(u.metadata)) if u.metadata else 0)
        for u in units
    )


class Known:
    """What a fold reads: from rows at hand, and of other units from the reader."""

    def __init__(self, rows: Rows, reader: Reader) -> None:
        self._rows = rows
        self._reader = reader

    def shared_keys(self, ids: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """As `Reader.shared_keys`."""
        units, keys = self._rows.units, self._rows.keys
        other = [i for i in ids if i not in units]
        found = {i: keys[i] for i in ids if i in keys} if keys else {}
        return {**found, **self._reader.shared_keys(other)} if other else found

    def proofs(self, keys: Sequence[bytes]) -> Mapping[bytes, int]:
        """As `Reader.proofs`."""
        known = self._rows.proofs
        other = [key for key in keys if key not in known]
        found = {key: known[key] for key in keys if key in known}
        return {**found, **self._reader.proofs(other)} if other else found
