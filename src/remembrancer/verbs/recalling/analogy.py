"""How alike two memories are in shape, whatever they say: HEBBS's structural similarity.

.4 * Jaccard of the names of attributes + .3 * share of the common names with values of one JSON
type + .2 * same origin + .1 * same bank; what is not known of one side counts .5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .origins import Origin

NEUTRAL = 0.5


@dataclass(frozen=True, slots=True)
class Shape:
    """What is known of the shape of a memory, or of the one that is looked for."""

    attributes: Mapping[str, Any]
    origin: Origin | None = None
    bank: str | None = None


def structural(wanted: Shape, found: Shape) -> float:
    """Return the similarity of two shapes, 0 to 1."""
    mine, theirs = set(wanted.attributes), set(found.attributes)
    common, either = mine & theirs, mine | theirs
    names = len(common) / len(either) if either else NEUTRAL
    alike = sum(_type(wanted.attributes[n]) == _type(found.attributes[n]) for n in common)
    none_alike = 0.0 if either else NEUTRAL
    types = alike / len(common) if common else none_alike
    return (
        0.4 * names
        + 0.3 * types
        + 0.2 * _same(wanted.origin, found.origin)
        + 0.1 * _same(wanted.bank, found.bank)
    )


def _same(one: str | None, other: str | None) -> float:
    return NEUTRAL if one is None or other is None else float(one == other)


def _type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "array"
    return "object"
