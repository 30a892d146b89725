"""Rows to units and back, with what the index needs of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, make_dataclass
from typing import Any, cast

from ...nouns.memory import (
    Kind,
    Layer,
    Modality,
    Polarity,
    Precision,
    Role,
    Unit,
    UnitRow,
    Vector,
)
from ..view import IndexRow
from .rows import Row, dump_list, dump_some, load, strings

# Looked up rather than called: an enum call costs several times as much, and runs for each row.
_LAYERS = {int(layer): layer for layer in Layer}
_KINDS = {int(kind): kind for kind in Kind}
_ROLES = {int(role): role for role in Role}
_POLARITIES = {int(polarity): polarity for polarity in Polarity}
_MODALITIES: dict[str | None, Modality] = {m.value: m for m in Modality}
_MODALITIES[None] = Modality.ASSERTED
_PRECISIONS: dict[str | None, Precision | None] = {p.value: p for p in Precision}
_PRECISIONS[None] = None

_DEFAULT_IMPORTANCE = 0.5

# A frozen dataclass makes a call for each field it sets. This twin has the same slots but is open,
# so it is filled in a third of the time; what is filled then becomes a unit.
_Open = make_dataclass("_Open", [(f.name, Any) for f in fields(Unit)], slots=True, eq=False)


def index_rows(rows: Iterable[Row]) -> list[IndexRow]:
    """Read rows of `index_columns`; this runs for every unit of a bank, so it does little."""
    none: tuple[str, ...] = ()
    return [
        IndexRow(
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
            i,
            strings(tags) if tags else none,
            k,
            m,
            n,
            o or 0.0,
            p,
            q or 0.0,
        )
        for a, b, c, d, e, f, g, h, i, tags, k, m, n, o, p, q in rows
    ]


def unit(row: Sequence[Any]) -> Unit:
    """Read a row of `unit_columns`."""
    (
        unit_id, layer, text, created_at, mentioned_at, kind, document_id, chunk_index, turn, part,
        start, end, source_id, previous_id, speaker, role, subject, polarity, modality, note,
        attributes, metadata, tags, entities, occurred_start, occurred_end, precision, offset_min,
        valid_from, valid_until, updated_at, importance, count, last_at,
    ) = row  # fmt: skip
    found = _Open(
        unit_id,
        _LAYERS[layer],
        text,
        created_at,
        mentioned_at,
        _KINDS[kind],
        document_id,
        chunk_index,
        turn,
        part,
        start,
        end,
        source_id,
        previous_id,
        speaker,
        _ROLES[role],
        subject,
        _POLARITIES[polarity],
        _MODALITIES[modality],
        note,
        load(attributes) if attributes else None,
        load(metadata) if metadata else None,
        strings(tags) if tags else (),
        strings(entities) if entities else (),
        occurred_start,
        occurred_end,
        _PRECISIONS[precision],
        offset_min,
        valid_from,
        valid_until,
        updated_at,
        _DEFAULT_IMPORTANCE if importance is None else importance,
        count or 0,
        last_at,
    )
    found.__class__ = Unit
    return cast(Unit, found)


def unit_params(key: int, u: Unit) -> Row:
    """Write a unit as the values of `unit_insert`."""
    return (
        key,
        u.id,
        int(u.layer),
        int(u.kind),
        u.source_id,
        u.speaker,
        int(u.role),
        u.mentioned_at,
        u.occurred_start,
        u.occurred_end,
        dump_list(u.tags),
        u.document_id,
        u.chunk_index,
        u.turn,
        u.part,
        u.start,
        u.end,
        u.previous_id,
        u.subject,
        int(u.polarity),
        None if u.modality is Modality.ASSERTED else str(u.modality),
        None if u.precision is None else str(u.precision),
        u.offset_min,
        u.valid_from,
        u.valid_until,
        u.created_at,
        u.updated_at,
        None if u.importance == _DEFAULT_IMPORTANCE else u.importance,
        u.note,
        dump_some(u.attributes),
        dump_some(u.metadata),
        dump_list(u.entities),
        u.text,
    )


def search_params(key: int, row: UnitRow) -> Row:
    """Write a unit's terms as the values of `search_insert`; equal ones of its window are NULL."""
    window = None if row.window_terms == row.terms else row.window_terms
    return key, row.unit.id, row.terms, window


def vector_params(
    key: int, generation: int, unit_id: bytes, vector: Vector, window: Vector | None
) -> Row:
    """Write vectors as the values of `vector_put`; an equal window vector is kept as empty."""
    head = (key, generation, unit_id, vector.codes, vector.scale)
    if window is None:
        return (*head, None, None)
    return (*head, b"" if window.codes == vector.codes else window.codes, window.scale)


def unit_row(found: Unit, row: Row) -> UnitRow:
    """Join a unit with its row of `unit_search_some`."""
    _, terms, window_terms, codes, scale, window_codes, window_scale, same = row
    return UnitRow(
        found,
        terms,
        window_terms,
        None if codes is None else Vector(codes, scale),
        None if window_codes is None else Vector(window_codes, window_scale),
        same,
    )
