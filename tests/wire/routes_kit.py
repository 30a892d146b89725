"""Every route of the HTTP face, from its own OpenAPI document, and a request for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from remembrancer.app import App
from remembrancer.faces.http.server import make_app
from remembrancer.keeping.opening import open_store
from remembrancer.nouns.clock import FixedClock
from remembrancer.settings import Settings


@dataclass(frozen=True)
class Operation:
    """One route with one method."""

    method: str
    path: str
    name: str
    params: tuple[Mapping[str, Any], ...]
    body: Mapping[str, Any] | None
    media: str | None

    def __str__(self) -> str:
        return self.name


@dataclass
class Filler:
    """Fills in parameters and bodies: by name where a value is known, else as the schema says."""

    schemas: Mapping[str, Any]
    values: dict[str, Any] = field(default_factory=dict)

    def url(self, operation: Operation) -> str:
        """Return the path with its parameters, and the query that it cannot do without."""
        path = operation.path
        query = []
        for param in operation.params:
            name = param["name"]
            if param["in"] == "path":
                value = str(self._value(name, param["schema"]))
                path = path.replace(f"{{{name}}}", quote(value, safe=""))
            elif param["in"] == "query" and param.get("required"):
                query.append(f"{name}={quote(str(self._value(name, param['schema'])))}")
        return path + ("?" + "&".join(query) if query else "")

    def request(self, operation: Operation) -> dict[str, Any]:
        """Return the arguments of a request beside its URL."""
        if operation.media is None:
            return {}
        if operation.media == "multipart/form-data":
            return {"files": [(name, ("f.txt", b"A note.", "text/plain")) for name in _files()]}
        if operation.media != "application/json":
            return {"content": b"BEGIN:VCALENDAR", "headers": {"Content-Type": operation.media}}
        return {"json": self._object(operation.body or {})}

    def _object(self, schema: Mapping[str, Any]) -> Any:
        schema = self._resolved(schema)
        known = schema.get("properties", {})
        wanted = {*schema.get("required", ()), *(known.keys() & self.values.keys())}
        return {name: self._value(name, known.get(name, {})) for name in sorted(wanted)}

    def _value(self, name: str, schema: Mapping[str, Any]) -> Any:
        if name in self.values:
            return self.values[name]
        schema = self._resolved(schema)
        if "enum" in schema:
            return schema["enum"][0]
        if "const" in schema:
            return schema["const"]
        match schema.get("type"):
            case "object":
                return self._object(schema)
            case "array":
                return [self._value("", schema["items"])] * schema.get("minItems", 0)
            case "integer" | "number":
                return schema.get("minimum", 1)
            case "boolean":
                return True
        return "kestrel"

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        while True:
            if "$ref" in schema:
                schema = self.schemas[schema["$ref"].rpartition("/")[2]]
            elif "anyOf" in schema or "oneOf" in schema:
                schema = (schema.get("anyOf") or schema["oneOf"])[0]
            else:
                return schema


def _files() -> tuple[str, ...]:
    return ("file", "files")


def document() -> dict[str, Any]:
    """Return the OpenAPI document; nothing is opened for it."""
    settings = Settings(data=Path("never-opened"), embedder="none")
    clock = FixedClock(0)
    app = App(settings, open_store(settings, clock), None, 0, clock)
    found: dict[str, Any] = make_app(app).openapi()
    return found


def operations(described: Mapping[str, Any]) -> Iterator[Operation]:
    """Yield every route with each of its methods, as described."""
    for path, methods in described["paths"].items():
        for method, told in methods.items():
            content = told.get("requestBody", {}).get("content", {})
            media = next(iter(content), None)
            yield Operation(
                method.upper(),
                path,
                told["operationId"],
                tuple(told.get("parameters", ())),
                content[media].get("schema") if media else None,
                media,
            )
