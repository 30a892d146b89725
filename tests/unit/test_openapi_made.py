"""The OpenAPI document is made once, and not by the thread that answers everybody."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from pydantic import BaseModel

from remembrancer.faces.http import schema


class Bird(BaseModel):
    name: str


class Fault(BaseModel):
    detail: str


@pytest.fixture
def api() -> FastAPI:
    router = APIRouter()

    @router.get("/birds/{name}")
    @router.delete("/birds/{name}")
    def bird(name: str) -> str:
        return name

    @router.get("/hidden", include_in_schema=False)
    def hidden() -> str:
        return ""

    api = FastAPI(openapi_url=None)
    api.include_router(router)
    api.state.methods = schema.methods_of(router.routes)
    schema.describe(api, [Bird], [Fault])
    return api


async def test_made_once_in_another_thread(api: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []
    real = schema.get_openapi

    def making(**given: Any) -> dict[str, Any]:
        threads.append(threading.current_thread())
        return real(**given)

    monkeypatch.setattr(schema, "get_openapi", making)
    transport = httpx.ASGITransport(api)
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
        first, second = await asyncio.gather(*[client.get("/openapi.json") for _ in range(2)])
        assert first.json() == second.json() == api.openapi()
        assert first.headers["content-type"] == "application/json"
        assert (await client.get("/openapi.json")).content == first.content
    (maker,) = threads
    assert maker is not threading.current_thread()


def test_methods_are_those_of_the_document(api: FastAPI) -> None:
    described = {path: frozenset(methods) for path, methods in api.openapi()["paths"].items()}
    assert api.state.methods == described == {"/birds/{name}": frozenset({"get", "delete"})}
