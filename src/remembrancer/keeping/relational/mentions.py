"""The part of `apply` that keeps entities: who mentions what, how often, and since when."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set

from ...nouns.folding import fold_name
from ...nouns.memory import Entity, Unit, UnitRow
from ..batch import EntityMention
from . import rows
from .work import Work

Held = tuple[bytes, bytes, str]
"""A mention put aside while its unit is replaced: unit id, entity id, entity name."""

_WORD = re.compile(r"\w+(?:[’'&.\-]\w+)*")

NO_KIND = "thing"
"""The kind of an entity that nobody gave one."""


def add(work: Work, new: Sequence[EntityMention]) -> None:
    """Add mentions by units that exist; entities are found by name or alias, or made."""
    if not new:
        return
    db, key = work.db, work.key
    ids = list({unit_id for mention in new for unit_id in mention.unit_ids})
    known = {row[0]: (row[2], row[1]) for row in db.all_in("unit_known", ids, key)}
    for mention in new:
        present = [unit_id for unit_id in dict.fromkeys(mention.unit_ids) if unit_id in known]
        if not present:
            continue
        entity = find_or_make(work, mention.entity)
        inserted = db.many(
            "mention_insert", ((key, unit_id, entity.id, *known[unit_id]) for unit_id in present)
        )
        work.mentions[entity.id] += inserted
        work.changed = work.changed or inserted > 0
        names = {mention.entity.name, *mention.spellings}
        if names != {entity.name}:
            respell(work, present, {fold_name(name) for name in names}, entity.name)


def drop(work: Work, unit_ids: Sequence[bytes], *, erased: bool = False) -> None:
    """Remove the mentions by some units; `erased`: those are being forgotten."""
    gone = [row[0] for row in work.db.all_in("mention_delete", unit_ids, work.key)]
    work.mentions.subtract(gone)
    if erased:
        work.forgotten.update(gone)


def held(work: Work, unit_ids: Sequence[bytes]) -> list[Held]:
    """Remove the mentions by units about to be replaced, and return them for `hold`."""
    found: list[Held] = [
        (unit_id, entity_id, name)
        for unit_id, entity_id, name in work.db.all_in("mention_some", unit_ids, work.key)
    ]
    if found:
        drop(work, unit_ids)
    return found


def hold(work: Work, aside: Sequence[Held], new: Mapping[bytes, UnitRow]) -> None:
    """Give replaced units back their mentions of those entities that they still name."""
    kept = [
        (work.key, unit_id, entity_id, unit.mentioned_at, int(unit.layer))
        for unit_id, entity_id, name in aside
        if name in (unit := new[unit_id].unit).entities
    ]
    work.db.later("mention_insert", kept)
    work.mentions.update(entity_id for _, _, entity_id, _, _ in kept)


def withdraw(work: Work, unit: Unit, names: Set[str]) -> None:
    """Take back the mentions of entities that a unit's caller named and names no more.

    A name that stands in the unit's text, whole or by its capitalised first word, or that speaks
    is mentioned all the same.
    """
    if not names:
        return
    folds = {fold_name(name) for name in names}
    said = _WORD.findall(unit.text)
    words = f" {' '.join(map(fold_name, said))} "
    firsts = {word for word in said if word[:1].isupper()}
    for entity_id, name, aliases in work.db.all("mention_named", work.key, unit.id):
        own = {fold_name(each): each for each in (name, *rows.strings(aliases))}
        if folds.isdisjoint(own) or (unit.speaker and fold_name(unit.speaker) in own):
            continue
        if any(f" {folded} " in words for folded in own):
            continue
        if any(each.partition(" ")[0] in firsts for each in own.values()):
            continue
        work.mentions[entity_id] -= work.db.run("mention_drop", work.key, unit.id, entity_id)
        work.changed = True


def move(work: Work, unit_ids: Sequence[bytes], mentioned_at: int) -> None:
    """Move the mentions by some units to another time."""
    for unit_id in unit_ids:
        for (entity_id,) in work.db.all("mention_move", work.key, unit_id, mentioned_at):
            work.mentions[entity_id] += 0  # so that its dates are brought up to date


def settle(work: Work) -> None:
    """Bring the counts and dates of touched entities up to date; drop those nobody mentions."""
    db, key = work.db, work.key
    for entity_id, difference in work.mentions.items():
        db.run("entity_count", key, entity_id, difference)
        if db.run("entity_delete_unused", key, entity_id, entity_id in work.forgotten):
            db.run("alias_delete_all", key, entity_id)
            work.entities -= 1


def find_or_make(work: Work, wanted: Entity) -> Entity:
    """Return the entity of that name, made when new, with the new aliases added."""
    db, key = work.db, work.key
    folded = fold_name(wanted.name)
    stored = called(work, folded)
    if stored is None:
        stored = Entity(wanted.id, wanted.name, wanted.kind)
        db.run("entity_insert", key, stored.id, stored.name, stored.kind, None)
        db.run("alias_insert", key, folded, stored.id, False)
        work.entities += 1
    kind = wanted.kind if stored.kind == NO_KIND else stored.kind
    free = [a for a in wanted.aliases if db.run("alias_insert", key, fold_name(a), stored.id, True)]
    if free or kind != stored.kind:
        aliases = rows.dump_list((*stored.aliases, *free))
        db.run("entity_describe", key, stored.id, kind, aliases)
        work.changed = True
    return stored


def called(work: Work, folded: str) -> Entity | None:
    """Return the entity that has a name or alias, given as its fold."""
    found = work.db.all_in("entity_called", [folded], work.key)
    return rows.entity(found[0][1:]) if found else None


def respell(work: Work, unit_ids: Sequence[bytes], folds: Set[str], name: str) -> None:
    """Put `name` where the rows of units name an entity by a name with one of some folds."""
    found = work.db.all_in("unit_entities", unit_ids, work.key)
    respell_rows(work, found, folds, name)


def respell_rows(
    work: Work, found: Sequence[tuple[bytes, str | None]], folds: Set[str], name: str
) -> None:
    """As `respell`, for units given with the names in their rows."""
    changed = []
    for unit_id, text in found:
        old = rows.strings(text)
        new = tuple(dict.fromkeys(name if fold_name(each) in folds else each for each in old))
        if new != old:
            changed.append((work.key, unit_id, rows.dump_list(new)))
    if changed:
        work.db.later("unit_name_entities", changed)
        work.put.update((unit_id, None) for _, unit_id, _ in changed)
        work.changed = work.deleted = True
