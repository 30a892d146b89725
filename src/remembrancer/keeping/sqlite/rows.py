"""Rows to dataclasses and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ...nouns.memory import (
    Bank,
    BankRef,
    Change,
    Document,
    Entity,
    Job,
    JobState,
    Kind,
    Layer,
    Link,
    LinkType,
    Modality,
    Op,
    Polarity,
    Precision,
    Role,
    Unit,
    UnitRow,
    Vector,
)
from ..store import Generation, IndexRow, Trigger

Row = tuple[Any, ...]

# Looked up rather than called: an enum call costs several times as much, and runs for each row.
_LAYERS = {int(layer): layer for layer in Layer}
_KINDS = {int(kind): kind for kind in Kind}
_ROLES = {int(role): role for role in Role}
_POLARITIES = {int(polarity): polarity for polarity in Polarity}
_MODALITIES: dict[str | None, Modality] = {m.value: m for m in Modality}
_MODALITIES[None] = Modality.ASSERTED
_PRECISIONS: dict[str | None, Precision | None] = {p.value: p for p in Precision}
_PRECISIONS[None] = None
_OPS = {int(op): op for op in Op}

LINK_CODES = {
    LinkType.TEMPORAL: 1,
    LinkType.SEMANTIC: 2,
    LinkType.CAUSED_BY: 3,
    LinkType.RELATED_TO: 4,
    LinkType.FOLLOWED_BY: 5,
    LinkType.REVISED_FROM: 6,
    LinkType.INSIGHT_FROM: 7,
    LinkType.CONTRADICTS: 8,
    LinkType.SUPERSEDES: 9,
    LinkType.PROPOSITION_OF: 10,
}
"""How link types are kept; a number once given is never given again."""
_LINK_TYPES = {code: link_type for link_type, code in LINK_CODES.items()}

_DEFAULT_IMPORTANCE = 0.5


def dump(value: Any) -> str:
    """Spell a JSON value shortly."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} cannot be kept as JSON")


def dump_some(value: Any) -> str | None:
    """Spell a JSON value; None stays NULL."""
    return None if value is None else dump(value)


def dump_list(value: tuple[str, ...]) -> str | None:
    """Spell a list of strings; the empty one is NULL."""
    return dump(value) if value else None


def _load(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _strings(text: str | None) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text else ()


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
            _strings(tags) if tags else none,
            k,
            m,
            n,
            o or 0.0,
            p,
            q or 0.0,
        )
        for a, b, c, d, e, f, g, h, i, tags, k, m, n, o, p, q in rows
    ]


def unit(row: Row) -> Unit:
    """Read a row of `unit_columns`."""
    (
        unit_id, layer, text, created_at, mentioned_at, kind, document_id, chunk_index, turn, part,
        start, end, source_id, previous_id, speaker, role, subject, polarity, modality, note,
        attributes, metadata, tags, entities, occurred_start, occurred_end, precision, offset_min,
        valid_from, valid_until, updated_at, importance, count, last_at,
    ) = row  # fmt: skip
    return Unit(
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
        _load(attributes) if attributes else None,
        _load(metadata) if metadata else None,
        _strings(tags) if tags else (),
        _strings(entities) if entities else (),
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


def unit_params(key: int, row: UnitRow) -> Row:
    """Write a unit with its terms as the values of `unit_insert`."""
    u = row.unit
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
        row.terms,
        None if row.window_terms == row.terms else row.window_terms,
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
    _, terms, window_terms, codes, scale, window_codes, window_scale = row
    return UnitRow(
        found,
        terms,
        window_terms,
        None if codes is None else Vector(codes, scale),
        None if window_codes is None else Vector(window_codes, window_scale),
    )


def document(row: Row) -> Document:
    """Read a row of `document_columns`."""
    document_id, name, content_hash, created_at, updated_at, length, tags, metadata, params = row
    return Document(
        document_id,
        name,
        content_hash,
        created_at,
        updated_at,
        length,
        _strings(tags),
        _load(metadata),
        _load(params),
    )


def document_params(key: int, d: Document) -> Row:
    """Write a document as the values of `document_insert`."""
    return (
        key,
        d.id,
        d.name,
        d.content_hash,
        d.created_at,
        d.updated_at,
        d.length,
        dump_list(d.tags),
        dump_some(d.metadata),
        dump_some(d.params),
    )


def entity(row: Row) -> Entity:
    """Read a row of `entity_columns`."""
    entity_id, name, kind, aliases, *counts = row
    return Entity(entity_id, name, kind, _strings(aliases), *counts)


def link(source: bytes, target: bytes, code: int, weight: float) -> Link:
    """Read a link."""
    return Link(source, target, _LINK_TYPES[code], weight)


def change(row: Row) -> Change:
    """Read a feed entry."""
    revision, op, unit_id = row
    return Change(revision, _OPS[op], unit_id)


def bank(row: Row) -> Bank:
    """Read a row of `bank_columns`."""
    tenant, name, revision, created_at, updated_at, profile, units, documents = row
    return Bank(
        BankRef(tenant, name),
        revision,
        created_at,
        updated_at,
        json.loads(profile),
        units,
        documents,
    )


def job(ref: BankRef, row: Row) -> Job:
    """Read a row of `job_columns`."""
    job_id, kind, state, created_at, updated_at, payload, result, error, *rest = row
    return Job(
        job_id,
        ref,
        kind,
        JobState(state),
        created_at,
        updated_at,
        json.loads(payload),
        _load(result),
        error,
        *rest,
    )


def job_params(key: int, j: Job) -> Row:
    """Write a job as the values of `job_insert`."""
    ready_at = {JobState.PENDING: j.run_after, JobState.PROCESSING: j.lease_until}.get(j.state)
    return (
        key,
        j.id,
        j.kind,
        str(j.state),
        j.created_at,
        j.updated_at,
        dump(j.payload),
        dump_some(j.result),
        j.error,
        j.attempts,
        j.run_after,
        j.lease_until,
        j.fence,
        ready_at,
    )


def trigger(row: Row) -> Trigger:
    """Read a row of `due_list`."""
    trigger_id, tenant, name, due_at, payload = row
    return Trigger(trigger_id, BankRef(tenant, name), due_at, json.loads(payload))


def parsed(text: str) -> dict[str, Any]:
    """Read a JSON object."""
    value: dict[str, Any] = json.loads(text)
    return value


def generation(row: Row) -> Generation:
    """Read a row of `generation_list`."""
    number, text, active = row
    return Generation(number, parsed(text), bool(active))


def fingerprint(value: Mapping[str, Any]) -> str:
    """Spell a fingerprint so that equal ones are spelled the same."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_plain)
