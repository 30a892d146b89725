"""Reads mem0's filters: conditions on fields, with operators, joined by AND, OR, NOT."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ....nouns.errors import InvalidInput
from .scope import ENTITIES, entity_id

MAX_DEPTH = 10
MAX_CONDITIONS = 1_000
MAX_VALUES = 1_000  # of `in` and `nin`

Fields = Mapping[str, Any]
"""The fields of a memory by name: its ids, its dates, and what its metadata holds."""

Test = Callable[[Fields], bool]

Wanted = Mapping[str, frozenset[str]]
"""For each id that a filter narrows, the values that a memory may have."""

_ANY = "*"
_JOINS = {"AND": "AND", "OR": "OR", "NOT": "NOT", "$and": "AND", "$or": "OR", "$not": "NOT"}


class Filter:
    """One filter, read.

    Attributes:
        wanted: ids that every memory which passes must have; what is not named is free.
        names_entity: whether it says anything of a user, an agent, a run or an app.

    Raises:
        InvalidInput: it is no such filter, too deep, or too large.
    """

    def __init__(self, value: Mapping[str, Any] | None) -> None:
        reader = _Reader()
        self._test = reader.group(value or {}, "filters", 1)
        self.names_entity = reader.names_entity
        self.wanted: Wanted = _wanted(value or {})

    def __call__(self, fields: Fields) -> bool:
        """Tell whether a memory passes."""
        return self._test(fields)


class _Reader:
    """Reads one filter and counts its conditions."""

    def __init__(self) -> None:
        self._seen = 0
        self.names_entity = False

    def group(self, value: Any, where: str, depth: int) -> Test:
        """Read an object, all of whose conditions must hold."""
        if not isinstance(value, Mapping):
            raise InvalidInput(f"{where} must be an object", field=where)
        if depth > MAX_DEPTH:
            raise InvalidInput(
                f"{where} is nested more than {MAX_DEPTH} deep", field=where, limit=MAX_DEPTH
            )
        return _all([self._part(str(k), v, f"{where}.{k}", depth) for k, v in value.items()])

    def _part(self, key: str, value: Any, where: str, depth: int) -> Test:
        self._seen += 1
        if self._seen > MAX_CONDITIONS:
            raise InvalidInput(
                f"filters holds more than {MAX_CONDITIONS} conditions",
                field="filters",
                limit=MAX_CONDITIONS,
            )
        if key not in _JOINS:
            self.names_entity = self.names_entity or key in ENTITIES
            return self._condition(key, value, where)
        several = [value] if isinstance(value, Mapping) else value
        if not isinstance(several, list) or not several:
            raise InvalidInput(f"{where} must be a list of at least one filter", field=where)
        tests = [self.group(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(several)]
        match _JOINS[key]:
            case "AND":
                return _all(tests)
            case "OR":
                return lambda fields: any(test(fields) for test in tests)
            case _:
                return lambda fields: not any(test(fields) for test in tests)

    def _condition(self, key: str, value: Any, where: str) -> Test:
        if isinstance(value, Mapping):
            if not value:
                raise InvalidInput(f"{where} names no operator", field=where)
            tests = [_operator(key, str(k), v, f"{where}.{k}") for k, v in value.items()]
            return _all(tests)
        if isinstance(value, list):
            return _operator(key, "in", value, where)
        if value == _ANY:
            return lambda fields: fields.get(key) is not None
        return _operator(key, "eq", value, where)


def _operator(key: str, name: str, value: Any, where: str) -> Test:
    value = _trimmed(key, value, where)
    if name in ("in", "nin"):
        if not isinstance(value, list) or len(value) > MAX_VALUES:
            raise InvalidInput(
                f"{where} must be a list of at most {MAX_VALUES} values",
                field=where,
                limit=MAX_VALUES,
            )
        within: Test = lambda fields: any(_same(fields.get(key), each) for each in value)  # noqa: E731
        return within if name == "in" else lambda fields: not within(fields)
    match name.removeprefix("$"):
        case "eq":
            return lambda fields: _same(fields.get(key), value)
        case "ne":
            return lambda fields: not _same(fields.get(key), value)
        case "gt":
            return lambda fields: (_order(fields.get(key), value) or 0) > 0
        case "gte":
            return lambda fields: (_order(fields.get(key), value, -1) or 0) >= 0
        case "lt":
            return lambda fields: (_order(fields.get(key), value) or 0) < 0
        case "lte":
            return lambda fields: (_order(fields.get(key), value, 1) or 0) <= 0
        case "contains":
            return lambda fields: _holds(fields.get(key), value, fold=False)
        case "icontains":
            return lambda fields: _holds(fields.get(key), value, fold=True)
    raise InvalidInput(
        f"{where}: unknown operator {name!r}; choose eq, ne, in, nin, gt, gte, lt, lte, contains, "
        "icontains",
        field=where,
    )


def _trimmed(key: str, value: Any, where: str) -> Any:
    """Return what an id is compared with as ids are kept."""
    if key not in ENTITIES:
        return value
    if isinstance(value, list):
        return [_trimmed(key, each, where) for each in value]
    return value if value is None else entity_id(value, where)


def _all(tests: Sequence[Test]) -> Test:
    return lambda fields: all(test(fields) for test in tests)


def _same(kept: Any, value: Any) -> bool:
    """Compare as JSON does: true is not 1, a list that holds the value has it."""
    if isinstance(kept, list) and not isinstance(value, list):
        return any(_same(each, value) for each in kept)
    if isinstance(kept, bool) is not isinstance(value, bool):
        return False
    return bool(kept == value)


def _order(kept: Any, value: Any, other: int = 0) -> int | None:
    """Return -1, 0 or 1; `other` where the two cannot be compared."""
    pair = _comparable(kept, value)
    if pair is None:
        return other
    return int(pair[0] > pair[1]) - int(pair[0] < pair[1])


def _comparable(kept: Any, value: Any) -> tuple[Any, Any] | None:
    if _number(kept) and _number(value):
        return kept, value
    if isinstance(kept, str) and isinstance(value, str):
        first, second = _moment(kept), _moment(value)
        return (first, second) if first and second else (kept, value)
    return None


def _number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value)


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _holds(kept: Any, value: Any, *, fold: bool) -> bool:
    if isinstance(kept, list):
        return any(_same(_folded(each, fold), _folded(value, fold)) for each in kept)
    if isinstance(kept, str) and isinstance(value, str):
        return str(_folded(value, fold)) in str(_folded(kept, fold))
    return False


def _folded(value: Any, fold: bool) -> Any:
    return value.casefold() if fold and isinstance(value, str) else value


def _wanted(value: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Return the ids that whatever passes must have."""
    found: dict[str, frozenset[str]] = {}
    for key, part in value.items():
        for name, ids in _narrowed(str(key), part).items():
            found[name] = found[name] & ids if name in found else ids
    return found


def _narrowed(key: str, part: Any) -> Mapping[str, frozenset[str]]:
    join = _JOINS.get(key)
    if join in ("AND", "OR"):
        several = [_wanted(p) for p in ([part] if isinstance(part, Mapping) else part)]
        if join == "AND":
            merged: dict[str, frozenset[str]] = {}
            for each in several:
                for name, ids in each.items():
                    merged[name] = merged[name] & ids if name in merged else ids
            return merged
        shared = set.intersection(*(set(each) for each in several))
        return {name: frozenset().union(*(each[name] for each in several)) for name in shared}
    if key not in ENTITIES:
        return {}
    only = _ids_of(part)
    return {} if only is None else {key: only}


def _ids_of(part: Any) -> frozenset[str] | None:
    """Return the values that a condition on an id leaves, or None."""
    if isinstance(part, Mapping):
        part = part.get("eq", part.get("in"))
    elif part == _ANY:
        return None
    several = part if isinstance(part, list) else [part]
    if any(each is None for each in several):
        return None
    return frozenset(entity_id(each, "filters") for each in several)
