"""Values between the wire and the house: ids, structs, numbers, kinds, link types, banks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...finding.composite import ScoringWeights
from ...nouns.caller import Caller
from ...nouns.errors import Forbidden, InvalidInput
from ...nouns.ids import parse_id
from ...nouns.memory import BankRef, LinkType
from ...nouns.names import UNNAMED
from ...verbs.recalling.origins import Origin
from ...verbs.remember import Tie

MAX_TIME = (1 << 63) - 1
_EXACT = 1 << 53  # whole numbers up to here are exact as doubles

KINDS = {
    Origin.REMEMBERED: 1,  # MEMORY_KIND_EPISODE
    Origin.DERIVED: 2,  # MEMORY_KIND_INSIGHT
    Origin.REVISED: 3,  # MEMORY_KIND_REVISION
    Origin.RETAINED: 4,  # MEMORY_KIND_DOCUMENT
    Origin.READ: 5,  # MEMORY_KIND_PROPOSITION
}
_ORIGINS = {number: origin for origin, number in KINDS.items()}
_KIND_NAMES = {
    "episode": Origin.REMEMBERED,
    "insight": Origin.DERIVED,
    "revision": Origin.REVISED,
    "document": Origin.RETAINED,
    "proposition": Origin.READ,
}

EDGE_TYPES = {
    LinkType.CAUSED_BY: 1,
    LinkType.RELATED_TO: 2,
    LinkType.FOLLOWED_BY: 3,
    LinkType.REVISED_FROM: 4,
    LinkType.INSIGHT_FROM: 5,
    LinkType.CONTRADICTS: 6,
    LinkType.PROPOSITION_OF: 9,
    LinkType.SUPERSEDES: 100,
}
_LINK_TYPES = {number: link_type for link_type, number in EDGE_TYPES.items()}


def unit_id(value: bytes, field: str = "memory_id") -> bytes:
    """Return a memory's id.

    Raises:
        InvalidInput: it has not 16 bytes.
    """
    if len(value) != 16:
        raise InvalidInput(f"{field} must be 16 bytes, got {len(value)}", field=field, limit=16)
    return value


def text_id(value: str, field: str) -> bytes:
    """Return an id that is spelled in text."""
    return parse_id(value, field)


def optional(request: Any, name: str) -> Any:
    """Return a field that has presence, or None when it is not set."""
    return getattr(request, name) if request.HasField(name) else None


def time_of(value: int | None, field: str) -> int | None:
    """Return a time in microseconds that a store can keep.

    Raises:
        InvalidInput: it is beyond 63 bits.
    """
    if value is not None and value > MAX_TIME:
        raise InvalidInput(f"{field} must be at most {MAX_TIME}", field=field, limit=MAX_TIME)
    return value


def plain(value: float) -> float:
    """Return a 32-bit float as the double that is written alike: .8 and not .80000001192."""
    return float(str(np.float32(value))) if math.isfinite(value) else value


def optional_plain(request: Any, name: str) -> float | None:
    """Return a float that has presence, or None when it is not set."""
    value = optional(request, name)
    return None if value is None else plain(value)


def bank_of(caller: Caller, entity: str | None) -> BankRef | None:
    """Return the bank of an entity; None for none, or an empty one."""
    return caller.bank(entity, "entity_id") if entity else None


def home_of(caller: Caller, entity: str | None) -> BankRef:
    """Return the bank to keep a memory in: that of its entity, or that of those without.

    Raises:
        Forbidden: the key does not reach it.
    """
    if not entity and not caller.reaches(UNNAMED):
        raise Forbidden(
            f"this key reaches entities named {', '.join(caller.banks)} alone: give entity_id",
            field="entity_id",
        )
    return bank_of(caller, entity) or BankRef(caller.tenant, UNNAMED)


def entity_of(ref: BankRef) -> str | None:
    """Return the entity that a bank is; None for that of memories without."""
    return None if ref.bank == UNNAMED else ref.bank


def origin_of(kind: int) -> Origin | None:
    """Return the origin that a MemoryKind means; None for the unspecified one.

    Raises:
        InvalidInput: there is no such kind.
    """
    if kind and kind not in _ORIGINS:
        raise InvalidInput(f"there is no memory kind {kind}", field="memory_kind")
    return _ORIGINS.get(kind)


def origin_named(value: Any) -> Origin | None:
    """Return the origin that a kind's name means, as contexts spell it; None for any other."""
    return _KIND_NAMES.get(value.lower()) if isinstance(value, str) else None


def link_type(number: int) -> LinkType:
    """Return the link type that an EdgeType means.

    Raises:
        InvalidInput: memories are not linked so.
    """
    if number not in _LINK_TYPES:
        known = ", ".join(sorted(each.value for each in EDGE_TYPES))
        raise InvalidInput(
            f"edge_type {number} does not lead from memory to memory: use {known}",
            field="edge_type",
        )
    return _LINK_TYPES[number]


def ties(edges: Sequence[Any]) -> list[Tie]:
    """Return links as edges give them."""
    return [
        Tie(
            unit_id(edge.target_id, "edges.target_id"),
            link_type(edge.edge_type),
            plain(edge.confidence) if edge.HasField("confidence") else 1.0,
        )
        for edge in edges
    ]


def weights_of(request: Any) -> ScoringWeights:
    """Return the weights of a request; as they are given, and the default ones when none are."""
    if not request.HasField("scoring_weights"):
        return ScoringWeights()
    given = request.scoring_weights
    return ScoringWeights(
        w_relevance=plain(given.w_relevance),
        w_recency=plain(given.w_recency),
        w_importance=plain(given.w_importance),
        w_reinforcement=plain(given.w_reinforcement),
        max_age_us=given.max_age_us,
        reinforcement_cap=given.reinforcement_cap,
    )


def from_struct(struct: Any, field: str = "context") -> dict[str, Any]:
    """Read a Struct as JSON values; whole numbers become integers.

    Raises:
        InvalidInput: a number is not finite.
    """
    return {name: _value(value, field) for name, value in struct.fields.items()}


def _value(value: Any, field: str) -> Any:
    match value.WhichOneof("kind"):
        case "number_value":
            number = value.number_value
            if not math.isfinite(number):
                raise InvalidInput(f"{field} must hold finite numbers", field=field)
            return int(number) if number.is_integer() and abs(number) < _EXACT else number
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
        case "struct_value":
            return from_struct(value.struct_value, field)
        case "list_value":
            return [_value(each, field) for each in value.list_value.values]
    return None


def fill_struct(struct: Any, values: Mapping[str, Any]) -> None:
    """Write JSON values to a Struct; an empty one is set, too."""
    struct.SetInParent()
    for name, value in values.items():
        _fill(struct.fields[name], value)


def _fill(target: Any, value: Any) -> None:
    match value:
        case None:
            target.null_value = 0
        case bool():
            target.bool_value = value
        case int() | float():
            target.number_value = value
        case str():
            target.string_value = value
        case Mapping():
            fill_struct(target.struct_value, value)
        case _:
            target.list_value.SetInParent()
            for each in value:
                _fill(target.list_value.values.add(), each)
