"""Nouns as JSON and back, field by field: what stands at its default is left out.

Bytes of 16 (ids) are spelled as hex, others as `b64:` and base64.
"""

from __future__ import annotations

import base64
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")

_ID_BYTES = 16
_B64 = "b64:"


def spell(noun: Any) -> dict[str, Any]:
    """Return a dataclass as a JSON object."""
    told: dict[str, Any] = {}
    for each in fields(noun):
        value = getattr(noun, each.name)
        default = each.default_factory() if each.default_factory is not MISSING else each.default
        if value != default:
            told[each.name] = _spelled(value)
    return told


def read(kind: type[T], told: Any) -> T:
    """Read a dataclass as `spell` writes it, and trust nothing in it.

    Raises:
        ValueError: a field is missing, unknown, or not what it should be.
    """
    if not isinstance(told, dict):
        raise ValueError(f"{kind.__name__} should be an object")
    hints = _hints(cast(Any, kind))
    unknown = told.keys() - hints.keys()
    if unknown:
        raise ValueError(f"{kind.__name__} has no {min(unknown)}")
    try:
        return kind(**{name: _read(hints[name], value, name) for name, value in told.items()})
    except TypeError:
        raise ValueError(f"{kind.__name__} lacks a field") from None


@lru_cache(maxsize=64)
def _hints(kind: Any) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _spelled(value: Any) -> Any:
    if isinstance(value, bytes):
        if len(value) == _ID_BYTES:
            return value.hex()
        return _B64 + base64.b64encode(value).decode()
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        return spell(value)
    if isinstance(value, Mapping):
        return {str(key): _spelled(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_spelled(each) for each in value]
    return value


def _read(hint: Any, value: Any, name: str) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _read_any(get_args(hint), value, name)
    if origin is tuple:
        if not isinstance(value, list):
            raise ValueError(f"{name} should be a list")
        return tuple(_read(get_args(hint)[0], each, name) for each in value)
    if origin is not None:  # a mapping of JSON values
        return _mapping(get_args(hint), value, name)
    if hint is Any:
        return value
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(value)
    if is_dataclass(hint) and isinstance(hint, type):
        return read(hint, value)
    if hint is bytes:
        return _bytes(value, name)
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise ValueError(f"{name} should be {getattr(hint, '__name__', hint)}")
    return value


def _read_any(kinds: tuple[Any, ...], value: Any, name: str) -> Any:
    if value is None and type(None) in kinds:
        return None
    for kind in kinds:
        try:
            return _read(kind, value, name)
        except ValueError:
            continue
    raise ValueError(f"{name} is not what it should be")


def _mapping(kinds: tuple[Any, ...], value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name} should be an object")
    return {key: _read(kinds[1], each, name) for key, each in value.items()}


def _bytes(value: Any, name: str) -> bytes:
    if not isinstance(value, str):
        raise ValueError(f"{name} should be bytes")
    if value.startswith(_B64):
        return base64.b64decode(value[len(_B64) :], validate=True)
    return bytes.fromhex(value)
