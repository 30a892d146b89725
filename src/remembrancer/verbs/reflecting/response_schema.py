"""The JSON Schema that a structured answer should follow, read within limits.

Read are `type`, `properties`, `required`, `items`, `enum`, `const`, `format`, `description`, the
bounds of numbers, texts and lists, `anyOf`, `oneOf`, `allOf` and `$ref` inside the document. Other
keywords (`pattern`, `if`, ...) are not looked at.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...nouns.errors import InvalidInput, TooLarge

MAX_DEPTH = 10
MAX_PARTS = 300
MAX_BYTES = 65_536

TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_FIELD = "response_schema"


@dataclass(frozen=True, slots=True)
class Shape:
    """One part of a schema. `type` is one of `TYPES`, or empty when any will do."""

    type: str
    nullable: bool = False
    description: str = ""
    format: str = ""
    enum: tuple[Any, ...] | None = None
    properties: Mapping[str, Shape] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    items: Shape | None = None
    minimum: float = -math.inf
    maximum: float = math.inf
    shortest: int = 0  # of a text or list
    longest: int | None = None


def read_schema(raw: Any) -> Shape:
    """Read a schema whose values are objects.

    Raises:
        InvalidInput: it is no such schema, or too large or deep; the field says where.
    """
    if not isinstance(raw, Mapping):
        raise _wrong("", "must be a JSON Schema: an object such as {'type': 'object', ...}")
    size = len(json.dumps(raw, ensure_ascii=False).encode(errors="replace"))
    if size > MAX_BYTES:
        raise TooLarge(
            f"{_FIELD} has {size} bytes; the limit is {MAX_BYTES}", field=_FIELD, limit=MAX_BYTES
        )
    shape = _Reader(raw).part(raw, "", 0)
    if shape.type not in ("object", ""):
        raise _wrong("", f"must describe an object, not type {shape.type}: put it in a property")
    return shape


class _Reader:
    """Reads one document; counts its parts."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._parts = 0

    def part(self, raw: Any, where: str, depth: int) -> Shape:
        """Read a part that stands at `where`."""
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise TooLarge(f"{_FIELD} has too many parts", field=_FIELD, limit=MAX_PARTS)
        if depth > MAX_DEPTH:
            raise _wrong(where, f"is nested more than {MAX_DEPTH} deep", MAX_DEPTH)
        if raw is True:
            return Shape("")
        if not isinstance(raw, Mapping):
            raise _wrong(where, "must be a schema: an object")
        raw, nullable = self._resolved(raw, where)
        name, also_null = _type_of(raw, where)
        enum = _enum_of(raw, where)
        properties = _mapping(raw, "properties", where)
        items = raw.get("items")
        if isinstance(items, list):
            items = items[0] if items else None
        if not name:
            name = "object" if properties else "array" if items is not None else ""
        lists = name == "array"
        return Shape(
            type=name,
            nullable=nullable or also_null or (enum is not None and None in enum),
            description=_text(raw, "description", where) or _text(raw, "title", where),
            format=_text(raw, "format", where),
            enum=enum,
            properties={
                key: self.part(inner, f"{where}.properties.{key}", depth + 1)
                for key, inner in properties.items()
            },
            required=_names(raw, "required", where),
            items=None if items is None else self.part(items, f"{where}.items", depth + 1),
            minimum=_number(raw, ("minimum", "exclusiveMinimum"), where, -math.inf),
            maximum=_number(raw, ("maximum", "exclusiveMaximum"), where, math.inf),
            shortest=int(_number(raw, ("minItems",) if lists else ("minLength",), where, 0)),
            longest=_bound(_number(raw, ("maxItems",) if lists else ("maxLength",), where, -1)),
        )

    def _resolved(self, raw: Mapping[str, Any], where: str) -> tuple[Mapping[str, Any], bool]:
        """Follow references and choices until a plain part is left; and whether null will do."""
        nullable = raw.get("nullable") is True
        for _ in range(MAX_DEPTH):
            if "$ref" in raw:
                rest = {k: v for k, v in raw.items() if k != "$ref"}
                raw = {**self._named(raw["$ref"], where), **rest}
                continue
            key = next((k for k in ("anyOf", "oneOf") if k in raw), None)
            if key is not None:
                choices = _choices(raw, key, where)
                plain = [c for c in choices if c.get("type") != "null"]
                nullable = nullable or len(plain) < len(choices)
                rest = {k: v for k, v in raw.items() if k != key}
                raw = {**(plain[0] if plain else {"type": "null"}), **rest}
                continue
            if "allOf" in raw:
                raw = self._merged(raw, where)
                continue
            return raw, nullable
        raise _wrong(where, f"is nested more than {MAX_DEPTH} deep", MAX_DEPTH)

    def _merged(self, raw: Mapping[str, Any], where: str) -> Mapping[str, Any]:
        merged: dict[str, Any] = {}
        rest = {k: v for k, v in raw.items() if k != "allOf"}
        for each in (*_choices(raw, "allOf", where), rest):
            part = self._named(each["$ref"], where) if "$ref" in each else each
            properties = {**merged.get("properties", {}), **_mapping(part, "properties", where)}
            required = sorted({*merged.get("required", ()), *_names(part, "required", where)})
            merged |= part
            if properties:
                merged |= {"properties": properties, "required": required}
        return merged

    def _named(self, reference: Any, where: str) -> Mapping[str, Any]:
        found: Any = self._root
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise _wrong(where, "has a $ref that does not stay inside the schema")
        for step in reference.removeprefix("#").split("/"):
            if step:
                key = step.replace("~1", "/").replace("~0", "~")
                found = found.get(key) if isinstance(found, Mapping) else None
        if not isinstance(found, Mapping):
            raise _wrong(where, "has a $ref that leads nowhere")
        return found


def _type_of(raw: Mapping[str, Any], where: str) -> tuple[str, bool]:
    """Return a part's type, and whether null will do, too."""
    given = raw.get("type", [])
    names = given if isinstance(given, list) else [given]
    for name in names:
        if name not in TYPES:
            raise _wrong(f"{where}.type", f"must be one of {', '.join(TYPES)}")
    plain = [name for name in names if name != "null"]
    if names and not plain:
        return "null", True
    return (plain[0] if plain else ""), len(plain) < len(names)


def _enum_of(raw: Mapping[str, Any], where: str) -> tuple[Any, ...] | None:
    if "const" in raw:
        return (raw["const"],)
    if "enum" not in raw:
        return None
    values = raw["enum"]
    if not isinstance(values, list) or not values:
        raise _wrong(f"{where}.enum", "must be a list of at least one value")
    return tuple(values)


def _choices(raw: Mapping[str, Any], key: str, where: str) -> list[Mapping[str, Any]]:
    found = raw[key]
    if not isinstance(found, list) or not found or not all(isinstance(c, Mapping) for c in found):
        raise _wrong(f"{where}.{key}", "must be a list of schemas")
    return found


def _mapping(raw: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    found = raw.get(key, {})
    if not isinstance(found, Mapping):
        raise _wrong(f"{where}.{key}", "must be an object")
    return found


def _names(raw: Mapping[str, Any], key: str, where: str) -> frozenset[str]:
    found = raw.get(key, [])
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise _wrong(f"{where}.{key}", "must be a list of names")
    return frozenset(found)


def _text(raw: Mapping[str, Any], key: str, where: str) -> str:
    found = raw.get(key, "")
    if not isinstance(found, str):
        raise _wrong(f"{where}.{key}", "must be text")
    return found


def _number(raw: Mapping[str, Any], keys: tuple[str, ...], where: str, default: float) -> float:
    for key in keys:
        found = raw.get(key)
        if found is None or isinstance(found, bool):  # booleans are of an old draft
            continue
        if not isinstance(found, int | float) or not abs(found) < math.inf:
            raise _wrong(f"{where}.{key}", "must be a number")
        return float(found)
    return default


def _bound(value: float) -> int | None:
    return None if value < 0 else int(value)


def _wrong(where: str, what: str, limit: int | None = None) -> InvalidInput:
    name = f"{_FIELD}{where}"
    return InvalidInput(f"{name} {what}", field=name, limit=limit)
