"""Whether an object follows a response schema, as far as `response_schema` reads it."""

from __future__ import annotations

import math
from typing import Any

from .response_schema import Shape

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


def misfit(shape: Shape, value: Any, where: str = "object") -> str | None:
    """Return what is wrong with a value, or None."""
    if value is None:
        return None if shape.nullable or shape.type in ("null", "") else f"{where} is null"
    if shape.enum is not None:
        return None if value in shape.enum else f"{where} is none of the values allowed"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if shape.type and (
        not isinstance(value, _TYPES[shape.type])
        or (isinstance(value, bool) and shape.type != "boolean")
    ):
        return f"{where} is no {shape.type}"
    if number and not (math.isfinite(value) and shape.minimum <= value <= shape.maximum):
        return f"{where} is out of bounds"
    if isinstance(value, str | list) and not (
        shape.shortest <= len(value) and (shape.longest is None or len(value) <= shape.longest)
    ):
        return f"{where} is too short or too long"
    if isinstance(value, list) and shape.items is not None:
        faults = (misfit(shape.items, v, f"{where}[{n}]") for n, v in enumerate(value))
        return next(filter(None, faults), None)
    if isinstance(value, dict):
        for name in sorted(shape.required):
            if name not in value:
                return f"{where}.{name} is missing"
        for name, inner in shape.properties.items():
            if name not in value:
                continue
            optional = value[name] is None and name not in shape.required
            fault = None if optional else misfit(inner, value[name], f"{where}.{name}")
            if fault is not None:
                return fault
    return None


def missing(shape: Shape, value: dict[str, Any]) -> tuple[str, ...]:
    """Return the required properties that are null or left out, sorted."""
    return tuple(name for name in sorted(shape.required) if value.get(name) is None)
