"""Requests that hypothesis draws for a route, as its OpenAPI description has them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from routes_kit import Filler, Operation

NOBODY = "0197a3c2-0000-7000-8000-000000000000"
WORDS = ("kestrel", "", "2026-06-01T12:00:00Z", "un mot à part", "%_*", NOBODY)
NUMBERS = (0, 1, 2, 10, 0.5, -1, 1_000)
AT_ONCE = {"min_revision": 0}  # a later one is waited for
DEEPEST = 4


@dataclass
class Drawer:
    """Draws what a route takes: values known by name, all that is known, and what is none."""

    filler: Filler
    draw: Callable[[st.SearchStrategy[Any]], Any]

    def url(self, operation: Operation) -> str:
        """Return a path with its parameters, and some of the query that it may have."""
        path = operation.path
        for param in self._params(operation, "path"):
            path = path.replace(f"{{{param['name']}}}", quote(str(self._id(param)), safe=""))
        query = {
            param["name"]: self._value(param["name"], param["schema"], 0)
            for param in self._params(operation, "query")
            if param.get("required") or self._coin()
        }
        spelled = {name: _spelled(value) for name, value in query.items() if value is not None}
        return path + (f"?{urlencode(spelled, doseq=True)}" if spelled else "")

    def request(self, operation: Operation) -> dict[str, Any]:
        """Return the headers and the body."""
        more = self.filler.request(operation)
        if "json" in more:
            more["json"] = self._value("", operation.body or {}, 0)
        headers = {
            param["name"]: quote(str(self._value(param["name"], param["schema"], 0)))
            for param in self._params(operation, "header")
            if param["name"] != "authorization" and self._coin()
        }
        return more | {"headers": more.get("headers", {}) | headers}

    def _params(self, operation: Operation, where: str) -> Iterator[Mapping[str, Any]]:
        return (param for param in operation.params if param["in"] == where)

    def _coin(self) -> bool:
        return bool(self.draw(st.booleans()))

    def _one(self, values: Any) -> Any:
        return self.draw(st.sampled_from(list(values)))

    def _id(self, param: Mapping[str, Any]) -> Any:
        known = self.filler.values.get(param["name"])
        others = _texts(self.filler.values.values())
        return self._one([known, known, *others, NOBODY] if known is not None else others)

    def _value(self, name: str, schema: Mapping[str, Any], depth: int) -> Any:
        schema = self._alternative(schema)
        if name in AT_ONCE:
            return AT_ONCE[name]
        known = self.filler.values.get(name)
        if known is not None and self._coin():
            return known
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._one(schema["enum"])
        match schema.get("type"):
            case "object":
                return self._object(schema, depth)
            case "array":
                count = self._one({schema.get("minItems", 0), 1, 2}) if depth < DEEPEST else 0
                return [self._value(name, schema.get("items", {}), depth + 1) for _ in range(count)]
            case "integer":
                return self._one({int(n) for n in _bounded(schema)})
            case "number":
                return self._one(_bounded(schema))
            case "boolean":
                return self._coin()
            case "null":
                return None
        return self._one([*WORDS, *_texts(self.filler.values.values())])

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        needed = schema.get("required", ())
        made = {
            name: self._value(name, inner, depth + 1)
            for name, inner in schema.get("properties", {}).items()
            if name in needed or (depth < DEEPEST and self._coin())
        }
        return made or {self._one(("seen", "kestrel")): "kestrel"}

    def _alternative(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        while True:
            if "$ref" in schema:
                schema = self.filler.schemas[schema["$ref"].rpartition("/")[2]]
            elif "anyOf" in schema or "oneOf" in schema:
                schema = self._one(schema.get("anyOf") or schema["oneOf"])
            else:
                return schema


def _bounded(schema: Mapping[str, Any]) -> list[float]:
    low, high = schema.get("minimum", -1), schema.get("maximum", 1_000)
    return [n for n in NUMBERS if low <= n <= high] or [low]


def _spelled(value: Any) -> Any:
    if isinstance(value, list):
        return [_spelled(each) for each in value]
    if isinstance(value, bool | dict):
        return json.dumps(value)
    return value


def _texts(values: Any) -> list[str]:
    """Return all texts among values, those in lists and objects too."""
    found: list[str] = []
    for value in values:
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, list):
            found += _texts(value)
        elif isinstance(value, dict):
            found += _texts(value.values())
    return found


def each_drawn(
    filler: Filler,
    operation: Operation,
    examples: int,
    test: Callable[[str, dict[str, Any]], object],
) -> None:
    """Call a test with URLs and requests of a route, the same ones in each run."""

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],  # answers differ by what was sent before, so nothing shrinks
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def drawn(data: st.DataObject) -> None:
        drawer = Drawer(filler, data.draw)
        test(drawer.url(operation), drawer.request(operation))

    drawn()
