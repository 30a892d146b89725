"""The OpenAPI document: routes read their bodies themselves, so their schemas are added here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

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


def describe(
    api: FastAPI, bodies: Sequence[type[BaseModel]], errors: Sequence[type[BaseModel]]
) -> None:
    """Make the application describe itself, with the bodies and errors that routes name."""

    def openapi() -> dict[str, Any]:
        if api.openapi_schema is None:
            document = get_openapi(
                title=api.title,
                version=api.version,
                description=api.description,
                routes=api.routes,
                servers=api.servers or None,
            )
            _, parts = models_json_schema(
                [(body, "validation") for body in bodies], ref_template=_REF
            )
            components = document.setdefault("components", {}).setdefault("schemas", {})
            _, named = models_json_schema(
                [(error, "serialization") for error in errors], ref_template=_REF
            )
            components.update(named["$defs"])
            for schema in components.values():
                _without_nulls(schema)
            components.update(parts["$defs"])
            api.openapi_schema = document
        return api.openapi_schema

    api.openapi = openapi  # type: ignore[method-assign]


def _without_nulls(schema: dict[str, Any]) -> None:
    """Require of an answer only what cannot be null: answers leave nulls out."""
    if "required" in schema:
        described = schema.get("properties", {})
        left = [name for name in schema["required"] if not _may_be_null(described.get(name, {}))]
        schema.pop("required")
        schema.update({"required": left} if left else {})


def _may_be_null(schema: dict[str, Any]) -> bool:
    return any(each.get("type") == "null" for each in schema.get("anyOf", ()))
