"""Request bodies: read within limits, parsed, cleaned of what is no text, and validated.

Every step has a bound: the bytes of one body, of all bodies in work at once, the time they may
take to come, and the JSON values in one. Large bodies are worked on in a thread.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import ClientDisconnect

from ...nouns.text import clean
from ...nouns.turns import Turns, tenant_at_work
from . import large_json
from .errors import Fault, Refused, faults_of

SMALL_BYTES = 64 * 1024  # bodies up to this do not count against the budget
THREAD_BYTES = 256 * 1024  # bodies above are parsed in a thread
MAX_VALUES = 1_000_000  # JSON values of one body; each takes some 70 bytes of memory
_BUDGET_BODIES = 3  # of the largest size, in work at once
_TENANT_BODIES = 2  # of these, those of one tenant
_WAIT_S = 30.0  # for a place in the budget
_CHUNK_S = 30.0  # for the next piece of a body
_BODY_S = 300.0  # for a whole body
_PACE_S = 0.002  # between two pieces of a large body, of up to 256 KB
_DRAIN_S = 5.0
_DRAIN_TIMES = 4  # a body that is too large is read on, unkept, up to this many times the limit


class Wire(BaseModel):
    """Base of what comes in: unknown keys are taken, and told back in a header."""

    model_config = ConfigDict(extra="allow", strict=True, populate_by_name=True)

    def ignored(self) -> Iterator[str]:
        """Yield the names of keys that have no meaning here, inner ones after their outer ones."""
        yield from self.model_extra or ()
        for name in self.model_fields_set & type(self).model_fields.keys():
            value = getattr(self, name)
            for inner in value if isinstance(value, list) else (value,):
                if isinstance(inner, Wire):
                    yield from (f"{name}.{key}" for key in inner.ignored())


W = TypeVar("W", bound=Wire)


class Bodies:
    """Reads bodies, and keeps those in work at once within a budget.

    Args:
        max_bytes: of one body.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._free = _BUDGET_BODIES * max_bytes
        self._held: Counter[str] = Counter()  # bytes of the budget, by tenant
        self._changed = asyncio.Condition()
        self.large = Turns(1)
        """For parsing large ones: more at once take as long, and make answers wait longer."""

    @asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytearray]:
        """Read a request's body; its place in the budget is kept until the block ends.

        Raises:
            Refused: 413 too large, 408 too slow, 503 too much at once, 400 broken off.
        """
        declared = _declared(request)
        if declared is not None and declared > self._max_bytes:
            raise await self._too_large(request, 0)
        held = 0
        try:
            if declared is not None and declared > SMALL_BYTES:
                held = await self._take(declared)
            data = bytearray()
            pieces = _Pieces(request)
            loop = asyncio.get_running_loop()
            deadline = loop.time() + _BODY_S
            while pieces.more:
                chunk = await pieces.next(min(_CHUNK_S, deadline - loop.time()))
                if len(data) + len(chunk) > self._max_bytes:
                    seen = len(data) + len(chunk)
                    data.clear()
                    raise await self._too_large(request, seen, pieces)
                if not held and len(data) + len(chunk) > SMALL_BYTES:
                    held = await self._take(self._max_bytes)
                data += chunk
                if pieces.more and len(data) > THREAD_BYTES:
                    await asyncio.sleep(_PACE_S)  # else it takes the loop as fast as it comes
            yield data
        finally:
            if held:
                await self._give(held)

    async def _take(self, size: int) -> int:
        tenant, most = tenant_at_work(), _TENANT_BODIES * self._max_bytes - size

        def free() -> bool:
            return self._free >= size and self._held[tenant] <= most

        async with self._changed:
            try:
                async with asyncio.timeout(_WAIT_S):
                    await self._changed.wait_for(free)
            except TimeoutError:
                raise Refused(
                    503, Fault("too many large requests at once; try again", "busy")
                ) from None
            self._free -= size
            self._held[tenant] += size
        return size

    async def _give(self, size: int) -> None:
        async with self._changed:
            self._free += size
            tenant = tenant_at_work()
            self._held[tenant] -= size
            if not self._held[tenant]:
                del self._held[tenant]
            self._changed.notify_all()

    async def _too_large(
        self, request: Request, seen: int, pieces: _Pieces | None = None
    ) -> Refused:
        """Return the refusal, after reading on for a while.

        A client that is still sending would else find its connection reset, and no answer. One
        that waits for leave to send (`Expect: 100-continue`) has nothing on the way.
        """
        if request.headers.get("expect", "").lower() != "100-continue":
            pieces = pieces or _Pieces(request)
            try:
                async with asyncio.timeout(_DRAIN_S):
                    while pieces.more and seen <= _DRAIN_TIMES * self._max_bytes:
                        seen += len(await pieces.any())
            except (TimeoutError, ClientDisconnect):
                pass
        return Refused(
            413,
            Fault(
                f"the body is larger than {self._max_bytes} bytes: send it in several requests",
                "too_large",
                limit=self._max_bytes,
            ),
            close=True,
        )


def body_of(model: type[W]) -> Callable[[Request], AsyncIterator[W]]:
    """Return a dependency that reads the body as `model`; see `document` for its schema."""

    async def read(request: Request) -> AsyncIterator[W]:
        async with reading(request, model) as value:
            yield value

    return read


@asynccontextmanager
async def reading(request: Request, model: type[W]) -> AsyncIterator[W]:
    """Read the body as `model`; its place in the budget is kept until the block ends.

    Raises:
        Refused: says what is wrong with it.
    """
    _check_type(request)
    bodies: Bodies = request.app.state.bodies
    async with bodies.read(request) as data:
        if len(data) > THREAD_BYTES:
            async with bodies.large:
                value, names = await asyncio.to_thread(_read, model, data)
        else:
            value, names = _read(model, data)
        data.clear()
        request.state.ignored = names
        yield value


def _read(model: type[W], data: bytearray) -> tuple[W, list[str]]:
    try:
        value = model.model_validate(parse(data))
    except ValidationError as error:
        raise Refused(422, *faults_of(error, "body")) from None
    return value, list(dict.fromkeys(value.ignored()))


def parse(data: bytes | bytearray) -> Any:
    """Parse JSON; lone surrogates are taken out of its strings. A bytearray is emptied.

    Raises:
        Refused: 422 with what is wrong.
    """
    # Counted before it is decoded: what counting needs is gone by then.
    if large_json.values_in(data, MAX_VALUES) > MAX_VALUES:
        raise Refused(
            422,
            Fault(
                f"the body holds more than {MAX_VALUES} JSON values: send it in several requests",
                "too_large",
                limit=MAX_VALUES,
            ),
        )
    # Only escapes can spell a lone surrogate in UTF-8.
    scrubs = large_json.spells_surrogate(data)
    large = len(data) > THREAD_BYTES
    try:
        if large and isinstance(data, bytearray):
            text = large_json.decoded(data)
        else:
            text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_json(f"the body is not UTF-8 text: see byte {error.start}") from None
    if isinstance(data, bytearray):
        data.clear()  # not to hold it twice
    try:
        if large:
            value = large_json.loads(text, _constant)
        else:
            value = json.loads(text, strict=False, parse_constant=_constant)
        return _scrubbed(value) if scrubs else value
    except json.JSONDecodeError as error:
        raise _not_json(f"the body is not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise _not_json("the body is nested too deeply: at most some hundred levels") from None
    except ValueError as error:
        raise _not_json(f"the body is not JSON: {error}") from None


def _check_type(request: Request) -> None:
    """Refuse what is not declared to be JSON.

    A page in a browser may send such a request to any server without asking it first; JSON it may
    not. So nobody's page can write to a memory that listens on this machine without a key.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and "+json" in kind):
        raise Refused(
            415, Fault("send JSON, with the header Content-Type: application/json", "media_type")
        )
    coding = request.headers.get("content-encoding", "").strip().lower()
    if coding not in ("", "identity"):
        why = "send the body as it is, without Content-Encoding: compressed ones are not read"
        raise Refused(415, Fault(why, "content_encoding"))


def _declared(request: Request) -> int | None:
    value = request.headers.get("content-length", "")
    return int(value) if value.isdecimal() else None


class _Pieces:
    """A body as it comes. `more`: whether any of it may still come."""

    def __init__(self, request: Request) -> None:
        self._receive = request.receive
        self.more = True

    async def next(self, seconds: float) -> bytes:
        """Return the next piece that is not empty; nothing at the end.

        Raises:
            Refused: 408 it takes longer, 400 it broke off.
        """
        try:
            async with asyncio.timeout(max(seconds, 0)):
                return await self.any()
        except ClientDisconnect:
            raise Refused(400, Fault("the body broke off", "disconnected"), close=True) from None
        except TimeoutError:
            raise Refused(
                408, Fault("the body came too slowly; try again", "timeout"), close=True
            ) from None

    async def any(self) -> bytes:
        """Return the next piece that is not empty, however long it takes; nothing at the end.

        Raises:
            ClientDisconnect: it broke off.
        """
        while self.more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            self.more = message.get("more_body", False)
            piece: bytes = message.get("body", b"")
            if piece:
                return piece
        return b""


def _scrubbed(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_scrubbed(each) for each in value]
    if isinstance(value, dict):
        return {clean(key): _scrubbed(each) for key, each in value.items()}
    return value


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _not_json(message: str) -> Refused:
    return Refused(422, Fault(message, "json_invalid"))
