"""Facts that callers hand in, from plain mappings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from ...nouns.clock import to_us
from ...nouns.errors import InvalidInput
from ...verbs.retaining.given import GivenFact

_KEYS = frozenset({"text", "quote", "entities", "occurred_start", "occurred_end"})


def facts_of(facts: Iterable[Mapping[str, Any]]) -> tuple[GivenFact, ...]:
    """Return facts from mappings with `text` and further keys of `GivenFact`, times as datetimes.

    Raises:
        InvalidInput: names the fact and the key.
    """
    return tuple(_fact(each, f"facts[{number}]") for number, each in enumerate(facts))


def _fact(told: Mapping[str, Any], where: str) -> GivenFact:
    if not isinstance(told, Mapping) or not isinstance(told.get("text"), str):
        raise InvalidInput(f"{where} must be a mapping with a text", field=where)
    other = sorted(map(str, told.keys() - _KEYS))
    if other:
        raise InvalidInput(
            f"{where} has unknown keys {', '.join(other[:5])}; "
            f"known are {', '.join(sorted(_KEYS))}",
            field=where,
        )
    quote, names = told.get("quote"), told.get("entities") or ()
    if quote is not None and not isinstance(quote, str):
        raise InvalidInput(f"{where}.quote must be text", field=f"{where}.quote")
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InvalidInput(f"{where}.entities must be a list of names", field=f"{where}.entities")
    start, end = (_time(told, key, where) for key in ("occurred_start", "occurred_end"))
    return GivenFact(told["text"], quote, tuple(names), start, end)


def _time(told: Mapping[str, Any], key: str, where: str) -> int | None:
    value = told.get(key)
    if value is not None and not isinstance(value, datetime):
        raise InvalidInput(f"{where}.{key} must be a datetime", field=f"{where}.{key}")
    return None if value is None else to_us(value)
