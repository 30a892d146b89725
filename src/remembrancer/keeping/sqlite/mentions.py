"""The part of `apply` that keeps entities: who mentions what, how often, and since when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...nouns.memory import Entity, UnitRow
from ..batch import EntityMention
from . import rows
from .work import Work

Held = tuple[bytes, bytes, str]
"""A mention put aside while its unit is replaced: unit id, entity id, entity name."""


def add(work: Work, new: Sequence[EntityMention]) -> None:
    """Add mentions by units that exist; entities are found by name, or made."""
    if not new:
        return
    db, key = work.db, work.key
    ids = list({unit_id for mention in new for unit_id in mention.unit_ids})
    known = {row[0]: (row[2], row[1]) for row in db.all_in("unit_known", ids, key)}
    for mention in new:
        present = [unit_id for unit_id in dict.fromkeys(mention.unit_ids) if unit_id in known]
        if not present:
            continue
        entity_id = _entity(work, mention.entity)
        inserted = db.many(
            "mention_insert", ((key, unit_id, entity_id, *known[unit_id]) for unit_id in present)
        )
        work.mentions[entity_id] += inserted
        work.changed = work.changed or inserted > 0


def drop(work: Work, unit_ids: Sequence[bytes]) -> None:
    """Remove the mentions by some units."""
    work.mentions.subtract(row[0] for row in work.db.all_in("mention_delete", unit_ids, work.key))


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
    work.db.many("mention_insert", kept)
    work.mentions.update(entity_id for _, _, entity_id, _, _ in kept)


def settle(work: Work) -> None:
    """Bring the counts and dates of touched entities up to date; drop those nobody mentions."""
    db, key = work.db, work.key
    for entity_id, difference in work.mentions.items():
        db.run("entity_count", key, entity_id, difference)
        work.entities -= db.run("entity_delete_unused", key, entity_id)


def _entity(work: Work, wanted: Entity) -> bytes:
    """Return the id of the entity of that name, made when new, with the new aliases added."""
    row = work.db.one("entity_named", work.key, wanted.name)
    if row is None:
        aliases = rows.dump_list(wanted.aliases)
        work.db.run("entity_insert", work.key, wanted.id, wanted.name, wanted.kind, aliases)
        work.entities += 1
        return wanted.id
    stored = rows.entity(row)
    kind = wanted.kind if stored.kind == "thing" else stored.kind
    merged = tuple(dict.fromkeys(stored.aliases + wanted.aliases))
    if (kind, merged) != (stored.kind, stored.aliases):
        work.db.run("entity_describe", work.key, stored.id, kind, rows.dump_list(merged))
        work.changed = True
    return stored.id
