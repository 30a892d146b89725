"""Takes a burst of requests a few at a time, in turn by who sends them.

A request costs the event loop some time before it is known who calls. Of hundreds that come at
once, one of somebody else would wait for all before it; here it waits for a few.
"""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Receive, Scope, Send

from ...nouns.turns import RoundRobin

AT_ONCE = 1
"""Requests taken in one turn of the event loop."""

_KEYS = frozenset({b"authorization", b"x-api-key"})


class Intake:
    """Stands before everything else.

    Args:
        app: what answers.
        at_once: see `AT_ONCE`.
    """

    def __init__(self, app: ASGIApp, at_once: int = AT_ONCE) -> None:
        self._app = app
        self._at_once = at_once
        self._taken = 0  # in this turn of the loop
        self._turning = False
        self._waiting: RoundRobin[asyncio.Future[None]] = RoundRobin()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, now or in one of the next turns."""
        if scope["type"] == "http":
            if self._taken < self._at_once and not self._waiting:
                self._taken += 1
                self._turn_later()
            else:
                await self._wait(_sender(scope))
        await self._app(scope, receive, send)

    async def _wait(self, sender: str) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.push(sender, future)
        self._turn_later()
        try:
            await future
        except asyncio.CancelledError:
            self._waiting.remove(sender, future)
            raise

    def _turn_later(self) -> None:
        if not self._turning:
            self._turning = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._turning, self._taken = False, 0
        while self._taken < self._at_once and (future := self._waiting.pop()) is not None:
            if not future.done():
                future.set_result(None)
                self._taken += 1
        if self._taken:
            self._turn_later()


def _sender(scope: Scope) -> str:
    """Return what tells senders apart, unchecked: their key, else their address."""
    for name, value in scope["headers"]:
        if name in _KEYS:
            return str(value, "latin-1")
    client = scope.get("client")
    return str(client[0]) if client else ""
