"""What the units of a document say once they have other tags: their keys of sameness, made anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...keeping.view import Reader
from ...nouns.memory import Document, Unit
from ..retaining.rewriting import Rewriter, fact_same, is_undated


def units_of(reader: Reader, sources: Sequence[Unit]) -> tuple[dict[bytes, Unit], list[Unit]]:
    """Return a document's sources with the turns before them, by id, and the facts of it."""
    near = {unit.id: unit for unit in sources}
    for _ in range(2):  # a window holds two turns
        missing = {u.previous_id for u in near.values() if u.previous_id} - near.keys()
        near |= {unit.id: unit for unit in reader.units(sorted(missing))}
    return near, list(reader.read_from([unit.id for unit in sources]))


def retagged_keys(
    rewriter: Rewriter,
    document: Document,
    sources: Sequence[Unit],
    near: Mapping[bytes, Unit],
    facts: Sequence[Unit],
    tags: Sequence[str],
) -> dict[bytes, bytes]:
    """Return the key of what each unit says (see `UnitRow.same`), by id, once it has these tags."""
    keys: dict[bytes, bytes | None] = {}
    by_source: dict[bytes | None, list[Unit]] = {}
    for fact in facts:
        by_source.setdefault(fact.source_id, []).append(fact)
    for unit in sources:
        new = replace(unit, tags=tuple(tags))
        source = rewriter.source(new, near, undated=is_undated(document, unit))
        keys[unit.id] = source.row.same
        for fact in by_source.get(unit.id, ()):
            keys[fact.id] = fact_same(replace(fact, tags=tuple(tags)), source)
    return {unit_id: key for unit_id, key in keys.items() if key is not None}
