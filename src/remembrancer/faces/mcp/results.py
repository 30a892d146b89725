"""The schemas of tools' results, taken from the description of the HTTP face."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .ways import Ask, Headers, Way

ANY_OBJECT: Mapping[str, Any] = {"type": "object"}

_PROSE = {"title", "example", "examples"}
_AT = "#/components/schemas/"


class Results:
    """Schemas by operation id; the description is read once."""

    def __init__(self, way: Way) -> None:
        self._way = way
        self._schemas: Mapping[str, Any] = {}
        self._answers: dict[str, Any] | None = None
        self._made: dict[str, Mapping[str, Any]] = {}

    async def of(self, operation: str | None, headers: Headers) -> Mapping[str, Any]:
        """Return the JSON Schema of what an operation answers with."""
        if operation is None:
            return ANY_OBJECT
        if self._answers is None:
            await self._read(headers)
        if operation not in self._made:
            self._made[operation] = self._schema(operation)
        return self._made[operation]

    async def _read(self, headers: Headers) -> None:
        answer = await self._way.call(Ask("GET", "/openapi.json"), headers)
        described = answer.body if answer.status == 200 else {}
        self._schemas = described.get("components", {}).get("schemas", {})
        self._answers = {
            each["operationId"]: each["responses"].get("200", {})
            for methods in described.get("paths", {}).values()
            for each in methods.values()
        }

    def _schema(self, operation: str) -> Mapping[str, Any]:
        answer = (self._answers or {}).get(operation, {})
        schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
        name = schema.get("$ref", "").removeprefix(_AT)
        found = self._schemas.get(name, {})
        if found.get("type") != "object":
            return ANY_OBJECT  # lists are wrapped, see `tool.whole`
        used: dict[str, Any] = {}
        self._collect(found, used)
        whole = _bare(found)
        return {**whole, "$defs": {n: _bare(s) for n, s in used.items()}} if used else whole

    def _collect(self, part: Any, used: dict[str, Any]) -> None:
        if isinstance(part, Mapping):
            name = str(part.get("$ref", "")).removeprefix(_AT)
            if name in self._schemas and name not in used:
                used[name] = self._schemas[name]
                self._collect(used[name], used)
            for each in part.values():
                self._collect(each, used)
        elif isinstance(part, list):
            for each in part:
                self._collect(each, used)


def _bare(part: Any) -> Any:
    """Return a schema without examples and titles, its references turned to `$defs`."""
    if isinstance(part, Mapping):
        return {
            key: value.replace(_AT, "#/$defs/") if key == "$ref" else _bare(value)
            for key, value in part.items()
            if key not in _PROSE or isinstance(value, Mapping)
        }
    return [_bare(each) for each in part] if isinstance(part, list) else part
