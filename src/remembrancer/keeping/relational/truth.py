"""The part of `apply` that writes what facts claim; `slots` works out what follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...nouns.memory import Claim, Stance, Unit, UnitRow
from ..timeline import Placed, Settled
from ..truth_view import FactTruth
from .db import Db, Row
from .work import Work

MOST_CLAIMS = 1_000
"""Claims of a slot that are looked at, the newest; older ones stay as they were left."""

_NEWS, _TIMED, _DATED, _LOOSE, _MANY = 1, 2, 4, 8, 16
_STANCES = {int(stance): stance for stance in Stance}  # an enum's call costs several times as much


def placed(row: Row) -> Placed:
    """Read a row of `claim_columns`."""
    unit_id, number, slot, value, stance, at, since, until, flags, *rest = row
    begins, ends, ended_by, against, said, document_id, start = rest
    claim = Claim(
        slot,
        value,
        _STANCES[stance],
        at,
        since,
        until,
        news=bool(flags & _NEWS),
        timed=bool(flags & _TIMED),
        dated=bool(flags & _DATED),
        loose=bool(flags & _LOOSE),
        many=bool(flags & _MANY),
    )
    settled = Settled(begins, ends, ended_by, against)
    return Placed(unit_id, number, claim, said, document_id, start, settled)


def slot_claims(db: Db, key: int, slot: str) -> list[Placed]:
    """Return the newest claims of a slot, the newest first; those of invalid facts are left out."""
    return [placed(row) for row in db.all("claim_slot", key, slot, MOST_CLAIMS)]


def open_claims(db: Db, key: int, slot: str, stances: Sequence[Stance]) -> list[Placed]:
    """Return the newest claims of a slot, of one or two stances, that nothing has ended."""
    first, *others = map(int, stances)
    wanted = (first, others[0] if others else first)
    return [placed(row) for row in db.all("claim_open", key, slot, *wanted, MOST_CLAIMS)]


def disputed(db: Db, key: int, slot: str) -> bool:
    """Tell whether any claim of a slot is against another."""
    return bool(db.all("claim_disputed", key, slot))


def claims_since(db: Db, key: int, slot: str, at: int) -> list[Placed]:
    """Return the newest claims of a slot from a time on."""
    return [placed(row) for row in db.all("claim_since", key, slot, at, MOST_CLAIMS)]


def claims_of(db: Db, key: int, ids: Sequence[bytes]) -> list[Placed]:
    """Return the claims of facts."""
    return [placed(row) for row in db.all_in("claim_of", sorted(set(ids)), key)]


def touch(work: Work, ids: Sequence[bytes]) -> None:
    """Note that what some units claim is to be settled again."""
    if ids:
        work.slots.update(r[0] for r in work.db.all_in("claim_slots", ids, work.key))


def drop(work: Work, ids: Sequence[bytes]) -> None:
    """Delete the claims of units."""
    touch(work, ids)
    work.db.run_in("claim_delete", ids, work.key)


def put(work: Work, new: Mapping[bytes, UnitRow], again: Sequence[bytes]) -> None:
    """Write the claims of units just put; `again` are those that were there before."""
    touch(work, again)
    renewed = [i for i in again if new[i].claims is not None]
    if renewed:
        work.db.run_in("claim_delete", renewed, work.key)
    known = set(again)
    made: list[tuple[Any, ...]] = []
    for unit_id, row in new.items():
        for number, claim in enumerate(row.claims or ()):
            if unit_id in known:
                work.slots.add(claim.slot)
            else:
                _note(work, unit_id, claim)
            made.append((work.key, unit_id, number, *_params(claim)))
    if made:
        work.db.later("claim_insert", made)


def _note(work: Work, unit_id: bytes, claim: Claim) -> None:
    units = work.added.setdefault(claim.slot, {})
    units[unit_id] = min(claim.at, units.get(unit_id, claim.at))


def tell(work: Work, ids: Sequence[bytes], mentioned_at: int) -> None:
    """Move the claims of units that are told another time."""
    touch(work, ids)
    work.db.later("claim_tell", ((work.key, unit_id, mentioned_at) for unit_id in ids))


def withdraw(work: Work, ids: Sequence[bytes]) -> None:
    """Take back what was found of facts that people took out: nobody counts on it any more.

    Once they are brought back, their slots are settled with them again.
    """
    nothing = Settled()
    found = [p for p in claims_of(work.db, work.key, ids) if p.settled != nothing]
    params = ((work.key, p.unit_id, p.number, *nothing) for p in found)
    work.db.later("claim_settle", params)
    for unit_id in sorted({p.unit_id for p in found}):
        work.db.run("unit_validate", work.key, unit_id, None, None)


def _params(claim: Claim) -> tuple[Any, ...]:
    flags = _NEWS * claim.news + _TIMED * claim.timed + _DATED * claim.dated + _LOOSE * claim.loose
    flags += _MANY * claim.many
    where = (claim.at, claim.since, claim.until)
    return (claim.slot, claim.value, int(claim.stance), *where, flags)


class Truths:
    """The part of a reader that knows what holds; see `keeping.truth_view`."""

    _db: Db
    _key: int
    _facts: dict[bytes, tuple[Unit, ...]]  # of the sources that were recalled

    def truths(self, ids: Sequence[bytes]) -> dict[bytes, tuple[FactTruth, ...]]:
        """Return what the facts read from sources claim; sources without claims are left out."""
        found: dict[bytes, list[FactTruth]] = {}
        for source_id, row in self._claiming(set(ids)):
            _, fact_id, slot, value, stance, flags, *rest = row
            truth = FactTruth(fact_id, slot, value, stance, bool(flags & _MANY), *rest)
            found.setdefault(source_id, []).append(truth)
        return {source_id: tuple(mine) for source_id, mine in found.items()}

    def _claiming(self, ids: set[bytes]) -> list[tuple[bytes, Row]]:
        """Return the rows of claims, each with its source."""
        if self._db.asks_ahead or not ids <= self._facts.keys():
            return [(row[0], row) for row in self._db.all_in("truth_of", sorted(ids), self._key)]
        source_of = {fact.id: source_id for source_id in ids for fact in self._facts[source_id]}
        found = self._db.all_in("truth_of_facts", sorted(source_of), self._key)
        return [(source_of[row[0]], row) for row in found]

    def holders(self, slots: Sequence[str], at: int) -> dict[str, bytes]:
        """Return by slot the source of the last claim that holds at a time."""
        found = self._db.all_in("claim_holder", slots, self._key, at)
        return {slot: source_id for slot, source_id in found if source_id is not None}

    def claims_of(self, ids: Sequence[bytes]) -> list[Placed]:
        """Return the claims of facts."""
        return claims_of(self._db, self._key, ids)

    def slot_claims(self, slot: str) -> list[Placed]:
        """Return the claims of a slot, the newest first."""
        return slot_claims(self._db, self._key, slot)
