"""How a tool reaches the HTTP face: inside this process, or at a server's address."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import unquote, urlencode

import httpx
from starlette.types import ASGIApp, Message, Scope

from ...nouns.errors import InvalidInput, StoreError
from ...nouns.paths import path_part

Headers = Mapping[str, str]

log = logging.getLogger(__name__)

_HELD = 64  # parts of a stream that wait for its reader


@dataclass(frozen=True, slots=True)
class Ask:
    """A request of the HTTP face; what is None in `query` is left out."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None

    @property
    def query_string(self) -> str:
        """The query, spelled."""
        return urlencode({k: v for k, v in self.query.items() if v is not None}, doseq=True)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    body: Any


class Way(Protocol):
    """A way to the HTTP face. `headers` bring the credential."""

    async def call(self, ask: Ask, headers: Headers) -> Answer:
        """Send a request and return the answer."""
        ...

    def lines(self, ask: Ask, headers: Headers) -> AsyncIterator[str]:
        """Send a request and yield its answer's lines as they come.

        Raises:
            InvalidInput: it was refused.
        """
        ...

    async def close(self) -> None:
        """End it."""
        ...


def path_of(*parts: str) -> str:
    """Return a path of the bank routes, each part encoded.

    Raises:
        InvalidInput: a part would lead elsewhere, see `path_part`.
    """
    return "/v1/default/banks/" + "/".join(map(path_part, parts))


class Inside:
    """The HTTP face of this process.

    Args:
        app: the face.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def call(self, ask: Ask, headers: Headers) -> Answer:
        """Send a request and return the answer."""
        async with self._running(ask, headers) as (status, parts):
            body = b"".join([part async for part in parts])
        return Answer(status, _parsed(body))

    async def lines(self, ask: Ask, headers: Headers) -> AsyncIterator[str]:
        """Send a request and yield its answer's lines as they come."""
        async with self._running(ask, headers) as (status, parts):
            if status >= 400:
                body = b"".join([part async for part in parts])
                raise InvalidInput(error_text(Answer(status, _parsed(body))))
            left = b""
            async for part in parts:
                *whole, left = (left + part).split(b"\n")
                for line in whole:
                    yield line.decode()

    async def close(self) -> None:
        """End it; the face is the caller's."""

    @asynccontextmanager
    async def _running(
        self, ask: Ask, headers: Headers
    ) -> AsyncIterator[tuple[int, AsyncIterator[bytes]]]:
        told: asyncio.Queue[Message | None] = asyncio.Queue(_HELD)
        gone = asyncio.Event()
        body = b"" if ask.body is None else json.dumps(ask.body).encode()
        asked = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            if asked:
                return asked.pop()
            await gone.wait()
            return {"type": "http.disconnect"}

        async def run() -> None:
            try:
                await self._app(self._scope(ask, headers, len(body)), receive, told.put)
            finally:
                await told.put(None)

        async def parts() -> AsyncIterator[bytes]:
            while (message := await told.get()) is not None:
                if message["type"] == "http.response.body":
                    yield message.get("body", b"")

        task = asyncio.create_task(run())
        try:
            start = await told.get()
            if start is None:
                raise StoreError("something went wrong here; the server's log says what")
            yield start["status"], parts()
        finally:
            gone.set()
            task.cancel()
            [failed] = await asyncio.gather(task, return_exceptions=True)
            if isinstance(failed, Exception):
                log.error("%s %s failed", ask.method, ask.path, exc_info=failed)

    def _scope(self, ask: Ask, headers: Headers, length: int) -> Scope:
        given = {
            "host": "localhost",
            "content-type": "application/json",
            "content-length": str(length),
            **{name.lower(): value for name, value in headers.items()},
        }
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http",
            "method": ask.method,
            "path": unquote(ask.path),
            "raw_path": ask.path.encode(),
            "query_string": ask.query_string.encode(),
            "headers": [(k.encode(), v.encode("latin-1", "replace")) for k, v in given.items()],
            "client": ("127.0.0.1", 0),
            "server": ("localhost", 80),
            "root_path": "",
            "state": {},
        }


class Remote:
    """A server at an address, such as `http://localhost:6381`."""

    def __init__(self, url: str, timeout_s: float = 60.0) -> None:
        if not url.startswith(("http://", "https://")):
            raise InvalidInput(
                f"url must begin with http:// or https://, such as http://localhost:6381, and not "
                f"be {url[:80]!r}",
                field="url",
            )
        self._client = httpx.AsyncClient(base_url=url.rstrip("/"), timeout=timeout_s)

    async def call(self, ask: Ask, headers: Headers) -> Answer:
        """Send a request and return the answer."""
        try:
            found = await self._client.request(
                ask.method,
                ask.path + (f"?{ask.query_string}" if ask.query_string else ""),
                json=ask.body,
                headers=dict(headers),
            )
        except httpx.HTTPError as error:
            raise StoreError(
                f"the server at {self._client.base_url} cannot be reached ({error}); "
                "is `remembrancer serve` running there?"
            ) from None
        return Answer(found.status_code, _parsed(found.content))

    async def lines(self, ask: Ask, headers: Headers) -> AsyncIterator[str]:
        """Send a request and yield its answer's lines as they come."""
        async with self._client.stream(
            ask.method, ask.path, params=dict(ask.query), headers=dict(headers), timeout=None
        ) as found:
            if found.status_code >= 400:
                body = await found.aread()
                raise InvalidInput(error_text(Answer(found.status_code, _parsed(body))))
            async for line in found.aiter_lines():
                yield line

    async def close(self) -> None:
        """Close its connections."""
        await self._client.aclose()


def error_text(answer: Answer) -> str:
    """Return what an error's body says, for people."""
    body = answer.body
    if isinstance(body, dict):
        detail = body.get("detail", body.get("message", body.get("error")))
        if isinstance(detail, list):
            return "; ".join(_fault(each) for each in detail)
        if detail:
            return str(detail)
    return f"the server answered {answer.status}"


def _fault(fault: Any) -> str:
    if not isinstance(fault, dict):
        return str(fault)
    where = ".".join(str(part) for part in fault.get("loc", ())[1:])
    message = str(fault.get("msg", ""))
    return message if where in message else f"{where}: {message}"


def _parsed(body: bytes) -> Any:
    if not body:
        return None
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")
