"""The parts of `apply` that insert and replace."""

from __future__ import annotations

from collections.abc import Sequence

from ...nouns.errors import ModelMismatch, StoreError
from ...nouns.memory import Curation, Link, UnitRow
from ..batch import Retag, Trigger, VectorPatch, WindowPatch
from . import mentions, remove, rows, truth, unit_rows
from .work import Work


def units(work: Work, new: Sequence[UnitRow]) -> None:
    """Put units; one that exists is replaced, but keeps its access counters and links.

    A replaced unit keeps its mentions of the entities that it still names.
    """
    if not new:
        return
    db, key = work.db, work.key
    by_id = {row.unit.id: row for row in _with_source(work, new)}
    known = {row[0]: row[1] for row in db.all_in("unit_known", list(by_id), key)}
    again = list(known)
    held = mentions.held(work, again) if again else []
    if again:
        db.run_in("unit_delete", again, key)
        db.run_in("search_delete", again, key)
        db.run_in("sameness_delete", again, key)
        remove.vectors(work, again)
        work.layers.subtract(known.values())
        work.deleted = True
    db.later("unit_insert", (unit_rows.unit_params(key, row.unit) for row in by_id.values()))
    searched = (r for r in by_id.values() if r.unit.source_id is None or r.terms or r.window_terms)
    db.later("search_insert", (unit_rows.search_params(key, row) for row in searched))
    db.later("sameness_insert", ((key, i, r.same) for i, r in by_id.items() if r.same is not None))
    truth.put(work, by_id, again)
    work.layers.update(int(row.unit.layer) for row in by_id.values())
    mentions.hold(work, held, by_id)
    _seed_counters(work, [row for row in by_id.values() if row.unit.id not in known])
    for generation in work.generations:
        here = generation == work.generation
        waiting = (
            i
            for i, row in by_id.items()
            if row.unit.source_id is None and not (here and row.vector is not None)
        )
        db.later("pending_insert", ((key, generation, unit_id) for unit_id in waiting))
    patches = [
        VectorPatch(i, row.vector, row.window_vector)
        for i, row in by_id.items()
        if row.vector is not None
    ]
    write_vectors(work, work.generation, patches)
    work.put.update(dict.fromkeys(by_id))
    work.changed = True


def retag(work: Work, new: Sequence[Retag]) -> None:
    """Give documents and all their units other tags."""
    db, key = work.db, work.key
    for each in new:
        tags = rows.dump_list(each.tags)
        row = db.one("document_named", key, each.document)
        if row is None:
            continue
        if db.run("document_retag", key, row[0], tags, work.now):
            work.changed = True
        changed = [r[0] for r in db.all("unit_retag", key, row[0], tags)]
        keys = db.all_in("retag_keys", changed, key)
        db.run_in("sameness_delete", changed, key)
        same = ((key, i, each.same[i]) for i, _ in keys if i in each.same)
        db.later("sameness_insert", same)
        work.put.update(dict.fromkeys(changed))
        work.changed = work.changed or bool(changed)


def _with_source(work: Work, new: Sequence[UnitRow]) -> list[UnitRow]:
    """Leave out facts whose source is gone."""
    named = {row.unit.source_id for row in new if row.unit.source_id is not None}
    named -= {row.unit.id for row in new}
    gone = named - existing(work, sorted(named)) if named else named
    return [row for row in new if row.unit.source_id not in gone] if gone else list(new)


def vectors(work: Work, patches: Sequence[VectorPatch]) -> None:
    """Write vectors of the active generation for units that exist."""
    if not patches:
        return
    present = existing(work, [patch.unit_id for patch in patches])
    patches = [patch for patch in patches if patch.unit_id in present]
    write_vectors(work, work.generation, patches)
    work.db.run_in("pending_delete", [p.unit_id for p in patches], work.key, work.generation)
    work.put.update(dict.fromkeys(patch.unit_id for patch in patches))
    work.changed = work.changed or bool(patches)


def windows(work: Work, patches: Sequence[WindowPatch]) -> None:
    """Write window vectors of the active generation for units that have a vector."""
    for unit_id, vector in patches:
        window = (vector.codes, vector.scale)
        if work.db.run("vector_window", work.key, work.generation, unit_id, *window):
            work.put[unit_id] = None
            work.changed = True


def write_vectors(work: Work, generation: int, patches: Sequence[VectorPatch]) -> None:
    """Write vector rows of a generation.

    Raises:
        StoreError: there is no generation yet.
        ModelMismatch: a vector has not as many components as the generation's fingerprint says.
    """
    if not patches:
        return
    row = work.db.one("generation_get", generation)
    if row is None:
        raise StoreError("there is no embedding generation to keep vectors under; begin one first")
    dim = rows.parsed(row[1]).get("dim")
    if isinstance(dim, int) and any(len(patch.vector.codes) != dim for patch in patches):
        raise ModelMismatch(
            f"the store's vectors have {dim} components; embed with the model they come from",
            field="vectors",
            limit=dim,
        )
    work.db.later(
        "vector_put",
        (
            unit_rows.vector_params(work.key, generation, unit_id, vector, window)
            for unit_id, vector, window in patches
        ),
    )


def existing(work: Work, ids: Sequence[bytes]) -> set[bytes]:
    """Return those of `ids` that are units of the bank."""
    return {row[0] for row in work.db.all_in("unit_known", ids, work.key)}


def curations(work: Work, new: Sequence[Curation]) -> None:
    """Put what people did to units that exist."""
    if not new:
        return
    present = existing(work, [each.unit_id for each in new])
    kept = [each for each in new if each.unit_id in present]
    truth.touch(work, [each.unit_id for each in kept])
    work.db.later(
        "curation_put", ((work.key, c.unit_id, int(c.invalid), rows.dump(c.data)) for c in kept)
    )
    truth.withdraw(work, [c.unit_id for c in kept if c.invalid])
    work.put.update(dict.fromkeys(each.unit_id for each in kept))
    work.changed = work.changed or bool(kept)


def links(work: Work, new: Sequence[Link]) -> None:
    """Put links; one that exists takes the new weight, one to a unit that is gone is dropped."""
    if not new:
        return
    present = existing(work, list({end for link in new for end in (link.source, link.target)}))
    params = [
        (work.key, link.source, rows.LINK_CODES[link.type], link.target, link.weight)
        for link in new
        if link.source in present and link.target in present
    ]
    inserted = work.db.many("link_insert", params)
    weighed = work.db.many("link_weigh", params)
    work.links += inserted
    work.changed = work.changed or inserted + weighed > 0


def triggers(work: Work, new: Sequence[Trigger]) -> None:
    """Set triggers; one whose id is known is replaced."""
    written = work.db.many(
        "due_put", ((work.key, t.id, t.due_at, rows.dump(t.payload)) for t in new)
    )
    work.changed = work.changed or written > 0


def _seed_counters(work: Work, new: Sequence[UnitRow]) -> None:
    work.db.later(
        "access_seed",
        (
            (work.key, row.unit.id, row.unit.access_count, row.unit.last_accessed_at)
            for row in new
            if row.unit.access_count or row.unit.last_accessed_at is not None
        ),
    )
