"""When units go that superseded others, those others hold again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set

from ...nouns.memory import LinkType
from . import rows
from .work import Work

_Heirs = Mapping[bytes, Sequence[tuple[bytes, float]]]


def reopen(work: Work, going: Sequence[bytes]) -> None:
    """Take the end off what only `going` superseded, with what was read from it.

    What one of them was superseded by itself takes its place: then the older one stays closed, and
    is linked to that. Their links must still be there.
    """
    code = rows.LINK_CODES[LinkType.SUPERSEDES]
    gone = set(going)
    closed = [
        (source, target)
        for source, target, _ in work.db.all_in("link_superseded", going, work.key, code)
        if target not in gone
    ]
    if not closed:
        return
    targets = sorted({target for _, target in closed})
    still = _inherit(work, closed, gone, code)
    still |= {target for target, by in _superseded(work, targets, code).items() if by - gone}
    free = [target for target in targets if target not in still]
    read = sorted(row[0] for row in work.db.all_in("unit_ids_of_source", free, work.key))
    read = [i for i in read if i not in gone]
    held = _superseded(work, read, code)  # a fact may have been superseded on its own
    free += [unit_id for unit_id in read if not held.get(unit_id, set()) - gone]
    if work.db.run_in("unit_reopen", free, work.key):
        work.put.update(dict.fromkeys(free))
        work.changed = True


def _inherit(
    work: Work, closed: Sequence[tuple[bytes, bytes]], gone: Set[bytes], code: int
) -> set[bytes]:
    """Link what was superseded to what supersedes its superseder; return what is so linked."""
    heirs: dict[bytes, list[tuple[bytes, float]]] = defaultdict(list)
    for source, target, weight in work.db.all_in("link_superseding", sorted(gone), work.key, code):
        heirs[target].append((source, weight))
    links = {
        (heir, target): weight
        for source, target in closed
        for heir, weight in _last(source, heirs, gone)
        if heir != target
    }
    work.links += work.db.many(
        "link_insert",
        ((work.key, heir, code, target, weight) for (heir, target), weight in links.items()),
    )
    return {target for _, target in links}


def _last(unit_id: bytes, heirs: _Heirs, gone: Set[bytes]) -> list[tuple[bytes, float]]:
    """Return what supersedes a unit that goes, past others that go as well."""
    found: list[tuple[bytes, float]] = []
    seen, edge = {unit_id}, [unit_id]
    while edge:
        for heir, weight in heirs.get(edge.pop(), ()):
            if heir in seen:
                continue
            seen.add(heir)
            if heir in gone:
                edge.append(heir)
            else:
                found.append((heir, weight))
    return found


def _superseded(work: Work, ids: Sequence[bytes], code: int) -> dict[bytes, set[bytes]]:
    """Return what supersedes each of some units."""
    found: dict[bytes, set[bytes]] = defaultdict(set)
    for source, target, _ in work.db.all_in("link_superseding", ids, work.key, code):
        found[target].add(source)
    return found
