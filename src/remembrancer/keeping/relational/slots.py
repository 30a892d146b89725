"""The part of `apply` that works out what holds: what follows from claims for their facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...nouns.memory import LinkType, Stance
from ..parts import Span, hull, parts, together
from ..timeline import Placed, Settled, extend, settle
from . import rows, truth
from .work import Work

_Pairs = set[tuple[bytes, bytes]]


def settle_all(work: Work) -> None:
    """Work out what holds in each slot that was touched, and write what differs from before."""
    peers: dict[bytes, set[bytes]] = {}
    units: set[bytes] = set()
    for slot in sorted(work.slots.union(work.added)):
        before, after = _settled(work, slot)
        together = {p.unit_id for p in before}
        old = {(p.unit_id, p.number): p.settled for p in before}
        changed = [p for p in after if old[p.unit_id, p.number] != p.settled]
        settled = ((work.key, p.unit_id, p.number, *p.settled) for p in changed)
        work.db.later("claim_settle", settled)
        # What is put again has lost its links, also those to what it ended before.
        linked = {p.unit_id for p in after if not work.put.keys().isdisjoint(p.settled[2:])}
        for unit_id in {p.unit_id for p in changed} | linked | (together & work.put.keys()):
            units.add(unit_id)
            peers.setdefault(unit_id, set()).update(together)
    if units:
        _write(work, units, peers)


def _settled(work: Work, slot: str) -> tuple[Sequence[Placed], Sequence[Placed]]:
    """Return claims of a slot, as they are and as they have to be; others stay as they are."""
    if slot not in work.slots:
        found = _extended(work, slot)
        if found is not None:
            return found
    before = truth.slot_claims(work.db, work.key, slot)
    return before, settle(before)


def _extended(work: Work, slot: str) -> tuple[Sequence[Placed], Sequence[Placed]] | None:
    """Settle what was added to the end of a slot, however long that is.

    Returns None where the slot has to be settled as a whole.
    """
    added = work.added[slot]
    late = truth.claims_since(work.db, work.key, slot, min(added.values()))
    new = [p for p in late if p.unit_id in added]
    if not new:  # people have taken out all of them
        return new, new
    first = min(p.order for p in new)
    between = any(p.order > first for p in late if p.unit_id not in added)
    if between or _cut(late) or truth.disputed(work.db, work.key, slot):
        return None
    found = truth.open_claims(work.db, work.key, slot, _met(new))
    standing = [p for p in found if p.unit_id not in added]
    after = None if _cut(found) else extend(standing, new)
    return None if after is None else ([*standing, *new], after)


def _met(new: Sequence[Placed]) -> list[Stance]:
    """Return the stances of open claims that new ones can end, or come to be against."""
    holds = [p.claim for p in new if p.claim.stance is Stance.HOLDS]
    met = [Stance.DENIED] if holds else []
    # One of many values ends none but a denial.
    if len(holds) < len(new) or not all(claim.many for claim in holds):
        met.append(Stance.HOLDS)
    return met


def _cut(found: Sequence[Placed]) -> bool:
    return len(found) == truth.MOST_CLAIMS


def _write(work: Work, units: set[bytes], peers: Mapping[bytes, set[bytes]]) -> None:
    ids = sorted(units)
    claims: dict[bytes, list[Settled]] = {}
    made: dict[bytes, list[Placed]] = {}
    for each in truth.claims_of(work.db, work.key, ids):
        claims.setdefault(each.unit_id, []).append(each.settled)
        made.setdefault(each.unit_id, []).append(each)
    for unit_id, *held in work.db.all_in("unit_validity", ids, work.key):
        valid = _validity(made.get(unit_id, ()))
        if valid != tuple(held):
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


def _validity(claims: Sequence[Placed]) -> Span:
    """Return from and until when a fact holds: while any of its parts does."""
    found = parts([placed.claim for placed in claims])
    settled = [[claims[i].settled for i in part] for part in found]
    return hull([together((s.begins, s.ends) for s in part) for part in settled])


def _relink(work: Work, kind: LinkType, stood: _Pairs, wanted: _Pairs) -> None:
    code, db, key = rows.LINK_CODES[kind], work.db, work.key
    gone = db.many("link_cut", ((key, a, code, b) for a, b in sorted(stood - wanted)))
    made = db.many("link_insert", ((key, a, code, b, 1.0) for a, b in sorted(wanted - stood)))
    work.links += made - gone
    work.changed = work.changed or made + gone > 0
