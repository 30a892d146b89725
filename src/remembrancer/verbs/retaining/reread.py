"""Facts read a second time: those that are still said keep their ids, and what hangs on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...keeping.batch import EntityMention
from ...nouns.folding import fold_name
from ...nouns.memory import Curation, Link, Unit, UnitRow
from .facts import ReadFacts

NAMED = "named"
"""In a curation's data: people have set which entities the memory mentions."""


@dataclass(frozen=True, slots=True)
class Reread:
    """What to write of facts read again. `gone` are those that are said no more."""

    rows: tuple[UnitRow, ...]
    mentions: tuple[EntityMention, ...]
    links: tuple[Link, ...]
    gone: tuple[bytes, ...]


def reread(
    read: ReadFacts,
    old: Sequence[Unit],
    texts: Mapping[bytes, str],
    curations: Mapping[bytes, Curation],
    named: Mapping[bytes, Sequence[str]],
) -> Reread:
    """Match facts just read to those that are kept.

    Two are the same fact when their source says them in the same words. One that people corrected
    stays as they made it, at its new place.

    Args:
        read: what was read now; its ids are new.
        old: the facts kept of these sources.
        texts: the sources' texts that `old` was read from, by id.
        curations: what people did to `old`.
        named: by source, whose entities people have set: all names that it and its facts mention.
    """
    known = {_said(fact, texts): fact for fact in reversed(old)}
    ids: dict[bytes, bytes] = {}
    rows = []
    for row in read.facts:
        new = row.unit
        before = known.pop((new.source_id, new.text), None)
        if before is None:
            rows.append(row)
            continue
        ids[new.id] = before.id
        rows.append(_kept(row, before, curations.get(before.id)))
    mentions = [replace(m, unit_ids=[ids.get(i, i) for i in m.unit_ids]) for m in read.mentions]
    for source_id, names in named.items():
        rows, mentions = _only(rows, mentions, source_id, {fold_name(name) for name in names})
    return Reread(
        rows=tuple(rows),
        mentions=tuple(m for m in mentions if m.unit_ids),
        links=tuple(
            replace(k, source=ids.get(k.source, k.source), target=ids.get(k.target, k.target))
            for k in read.links
        ),
        gone=tuple(fact.id for fact in old if fact.id not in set(ids.values())),
    )


def _only(
    rows: list[UnitRow], mentions: list[EntityMention], source_id: bytes, folds: set[str]
) -> tuple[list[UnitRow], list[EntityMention]]:
    """Take all other names from a source and its facts."""
    family = {source_id, *(row.unit.id for row in rows if row.unit.source_id == source_id)}
    return [_named(row, folds) if row.unit.id in family else row for row in rows], [
        m
        if fold_name(m.entity.name) in folds
        else replace(m, unit_ids=[i for i in m.unit_ids if i not in family])
        for m in mentions
    ]


def _named(row: UnitRow, folds: set[str]) -> UnitRow:
    names = tuple(name for name in row.unit.entities if fold_name(name) in folds)
    return replace(row, unit=replace(row.unit, entities=names))


def _said(fact: Unit, texts: Mapping[bytes, str]) -> tuple[bytes | None, str]:
    text = texts.get(fact.source_id or b"", "")
    return fact.source_id, text[fact.start : fact.end] or fact.text


def _kept(row: UnitRow, before: Unit, curation: Curation | None) -> UnitRow:
    new = row.unit
    if curation is not None and "edited_at" in curation.data:
        moved = replace(
            before,
            chunk_index=new.chunk_index,
            turn=new.turn,
            part=new.part,
            start=new.start,
            end=new.end,
            document_id=new.document_id,
        )
        return UnitRow(moved)
    return replace(row, unit=replace(new, id=before.id, created_at=before.created_at))
