"""The OpenAPI document: routes read their bodies themselves, so their schemas are added here."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.routing import BaseRoute

_REF = "#/components/schemas/{model}"


def reads(model: type[BaseModel]) -> dict[str, Any]:
    """Return the part of a route's description that says which body it reads."""
    schema = {"$ref": _REF.format(model=model.__name__)}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def fails_with(model: type[BaseModel]) -> dict[str, Any]:
    """Return the part of a route's description that says what an error answers.

    FastAPI's own `{"model": ...}` builds a validator for each status of each route, a fifth of
    the time that a server takes to start.
    """
    schema = {"$ref": _REF.format(model=model.__name__)}
    return {"content": {"application/json": {"schema": schema}}}


def methods_of(routes: Iterable[BaseRoute]) -> dict[str, frozenset[str]]:
    """Return the methods of the routes that are described, in lower case, by their paths.

    What a document would tell, without making one.
    """
    found: dict[str, frozenset[str]] = {}
    for route in routes:
        if isinstance(route, APIRoute) and route.include_in_schema:
            methods = frozenset(method.lower() for method in route.methods or ())
            found[route.path_format] = found.get(route.path_format, frozenset()) | methods
    return found


def describe(
    api: FastAPI, bodies: Sequence[type[BaseModel]], errors: Sequence[type[BaseModel]]
) -> None:
    """Make the application describe itself, with the bodies and errors that routes name."""
    described = _Description(api, bodies, errors)
    api.openapi = described.document  # type: ignore[method-assign]
    api.add_route("/openapi.json", described.answer, include_in_schema=False)


class _Description:
    """The document, made when it is first asked for: seconds in which others are answered."""

    def __init__(
        self, api: FastAPI, bodies: Sequence[type[BaseModel]], errors: Sequence[type[BaseModel]]
    ) -> None:
        self._api = api
        self._bodies = bodies
        self._errors = errors
        self._making = Lock()
        self._sent: bytes | None = None

    async def answer(self, request: Request) -> Response:  # noqa: ARG002 - as Starlette calls it
        """Answer with the document."""
        body = self._sent or await asyncio.to_thread(self._made)
        return Response(body, media_type="application/json")

    def document(self) -> dict[str, Any]:
        """Return the document."""
        with self._making:
            if self._api.openapi_schema is None:
                self._api.openapi_schema = self._make()
            return self._api.openapi_schema

    def _made(self) -> bytes:
        self._sent = bytes(JSONResponse(self.document()).body)
        return self._sent

    def _make(self) -> dict[str, Any]:
        api = self._api
        document = get_openapi(
            title=api.title,
            version=api.version,
            description=api.description,
            routes=api.routes,
            servers=api.servers or None,
        )
        _, parts = models_json_schema(
            [(body, "validation") for body in self._bodies], ref_template=_REF
        )
        components = document.setdefault("components", {}).setdefault("schemas", {})
        _, named = models_json_schema(
            [(error, "serialization") for error in self._errors], ref_template=_REF
        )
        components.update(named["$defs"])
        for schema in components.values():
            _without_nulls(schema)
        components.update(parts["$defs"])
        return document


def _without_nulls(schema: dict[str, Any]) -> None:
    """Require of an answer only what cannot be null: answers leave nulls out."""
    if "required" in schema:
        described = schema.get("properties", {})
        left = [name for name in schema["required"] if not _may_be_null(described.get(name, {}))]
        schema.pop("required")
        schema.update({"required": left} if left else {})


def _may_be_null(schema: dict[str, Any]) -> bool:
    return any(each.get("type") == "null" for each in schema.get("anyOf", ()))
