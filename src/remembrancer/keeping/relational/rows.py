"""Rows to dataclasses and back, but for units."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ...nouns.memory import (
    Bank,
    BankRef,
    Change,
    Document,
    Entity,
    Link,
    LinkType,
    Op,
)
from ..batch import Trigger
from ..generations import Generation
from ..records import Record

Row = tuple[Any, ...]

_DECODER = json.JSONDecoder()  # asked directly, in half the time of `json.loads`

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


def link_type(code: int) -> LinkType:
    """Read the number of a link type."""
    return _LINK_TYPES[code]


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


def load(text: str | None) -> Any:
    """Read a JSON value; NULL stays None."""
    return None if text is None else json.loads(text)


def strings(text: str | None) -> tuple[str, ...]:
    """Read a list of strings, as `dump_list` spells it; NULL is the empty one."""
    return tuple(_DECODER.raw_decode(text)[0]) if text else ()


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
        strings(tags),
        load(metadata),
        load(params),
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
    return Entity(entity_id, name, kind, strings(aliases), *counts)


def link(source: bytes, target: bytes, code: int, weight: float) -> Link:
    """Read a link."""
    return Link(source, target, _LINK_TYPES[code], weight)


def change(row: Row) -> Change:
    """Read a feed entry."""
    revision, op, unit_id = row
    return Change(revision, _OPS[op], unit_id)


def bank(row: Row) -> Bank:
    """Read a row of `bank_columns`."""
    tenant, name, revision, created_at, updated_at, profile, *rest = row
    return Bank(
        BankRef(tenant, name),
        revision,
        created_at,
        updated_at,
        json.loads(profile),
        *rest,
    )


def record(row: Sequence[Any]) -> Record:
    """Read a row of `record_columns`."""
    kind, key, created_at, updated_at, data = row
    return Record(kind, key, created_at, updated_at, json.loads(data))


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
