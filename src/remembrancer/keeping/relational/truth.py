"""The part of `apply` that says what holds: claims, and what follows from them for their facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...nouns.memory import Claim, LinkType, Stance, UnitRow
from ..timeline import Placed, Settled, settle
from ..truth_view import FactTruth
from . import rows
from .db import Db, Row
from .work import Work

MOST_CLAIMS = 1_000
"""Claims of a slot that are looked at, the newest; older ones stay as they were left."""

_NEWS, _TIMED, _DATED, _LOOSE, _MANY = 1, 2, 4, 8, 16
_STANCES = {int(stance): stance for stance in Stance}  # an enum's call costs several times as much
_Pairs = set[tuple[bytes, bytes]]


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
    made: list[tuple[Any, ...]] = []
    for unit_id, row in new.items():
        for number, claim in enumerate(row.claims or ()):
            work.slots.add(claim.slot)
            made.append((work.key, unit_id, number, *_params(claim)))
    if made:
        work.db.many("claim_insert", made)


def tell(work: Work, ids: Sequence[bytes], mentioned_at: int) -> None:
    """Move the claims of units that are told another time."""
    touch(work, ids)
    work.db.many("claim_tell", ((work.key, unit_id, mentioned_at) for unit_id in ids))


def withdraw(work: Work, ids: Sequence[bytes]) -> None:
    """Take back what was found of facts that people took out: nobody counts on it any more.

    Once they are brought back, their slots are settled with them again.
    """
    nothing = Settled()
    found = [p for p in claims_of(work.db, work.key, ids) if p.settled != nothing]
    params = ((work.key, p.unit_id, p.number, *nothing) for p in found)
    work.db.many("claim_settle", params)
    for unit_id in sorted({p.unit_id for p in found}):
        work.db.run("unit_validate", work.key, unit_id, None, None)


def settle_all(work: Work) -> None:
    """Work out what holds in each slot that was touched, and write what differs from before."""
    if not work.slots:
        return
    peers: dict[bytes, set[bytes]] = {}
    units: set[bytes] = set()
    for slot in sorted(work.slots):
        before = slot_claims(work.db, work.key, slot)
        together = {p.unit_id for p in before}
        old = {(p.unit_id, p.number): p.settled for p in before}
        after = settle(before)
        changed = [p for p in after if old[p.unit_id, p.number] != p.settled]
        work.db.many("claim_settle", ((work.key, p.unit_id, p.number, *p.settled) for p in changed))
        # What is put again has lost its links, also those to what it ended before.
        linked = {p.unit_id for p in after if not work.put.keys().isdisjoint(p.settled[2:])}
        for unit_id in {p.unit_id for p in changed} | linked | (together & work.put.keys()):
            units.add(unit_id)
            peers.setdefault(unit_id, set()).update(together)
    if units:
        _write(work, units, peers)


def _write(work: Work, units: set[bytes], peers: Mapping[bytes, set[bytes]]) -> None:
    ids = sorted(units)
    claims: dict[bytes, list[Settled]] = {}
    bounds: dict[bytes, list[Settled]] = {}
    for each in claims_of(work.db, work.key, ids):
        claims.setdefault(each.unit_id, []).append(each.settled)
        if each.claim.stance is not Stance.HELD:  # that something held once stays true
            bounds.setdefault(each.unit_id, []).append(each.settled)
    for unit_id, *held in work.db.all_in("unit_validity", ids, work.key):
        begins = [s.begins for s in bounds.get(unit_id, ()) if s.begins is not None]
        ends = [s.ends for s in bounds.get(unit_id, ()) if s.ends is not None]
        valid = [max(begins, default=None), min(ends, default=None)]
        if valid != held:
            work.db.run("unit_validate", work.key, unit_id, *valid)
            work.put[unit_id] = None
            work.changed = True
    ended = {(s.ended_by, i) for i, mine in claims.items() for s in mine if s.ended_by}
    against = {
        (max(i, s.against), min(i, s.against))
        for i, mine in claims.items()
        for s in mine
        if s.against
    }
    stood = work.db.all_in("link_superseding", ids, work.key, rows.LINK_CODES[LinkType.SUPERSEDES])
    mine = {(a, b) for a, b, _ in stood if a in peers[b]}
    _relink(work, LinkType.SUPERSEDES, mine, ended)
    code = rows.LINK_CODES[LinkType.CONTRADICTS]
    stood = work.db.all_in("link_superseded", ids, work.key, code)
    mine = {(a, b) for a, b, _ in stood if b in peers[a]}
    stood = work.db.all_in("link_superseding", ids, work.key, code)
    mine |= {(a, b) for a, b, _ in stood if a in peers[b]}
    _relink(work, LinkType.CONTRADICTS, mine, against)


def _relink(work: Work, kind: LinkType, stood: _Pairs, wanted: _Pairs) -> None:
    code, db, key = rows.LINK_CODES[kind], work.db, work.key
    gone = db.many("link_cut", ((key, a, code, b) for a, b in sorted(stood - wanted)))
    made = db.many("link_insert", ((key, a, code, b, 1.0) for a, b in sorted(wanted - stood)))
    work.links += made - gone
    work.changed = work.changed or made + gone > 0


def _params(claim: Claim) -> tuple[Any, ...]:
    flags = _NEWS * claim.news + _TIMED * claim.timed + _DATED * claim.dated + _LOOSE * claim.loose
    flags += _MANY * claim.many
    where = (claim.at, claim.since, claim.until)
    return (claim.slot, claim.value, int(claim.stance), *where, flags)


class Truths:
    """The part of a reader that knows what holds; see `keeping.truth_view`."""

    _db: Db
    _key: int

    def truths(self, ids: Sequence[bytes]) -> dict[bytes, tuple[FactTruth, ...]]:
        """Return what the facts read from sources claim; sources without claims are left out."""
        found: dict[bytes, list[FactTruth]] = {}
        for row in self._db.all_in("truth_of", sorted(set(ids)), self._key):
            source_id, fact_id, slot, value, stance, flags, *rest = row
            truth = FactTruth(fact_id, slot, value, stance, bool(flags & _MANY), *rest)
            found.setdefault(source_id, []).append(truth)
        return {source_id: tuple(mine) for source_id, mine in found.items()}

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
