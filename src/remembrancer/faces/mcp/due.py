"""Tells subscribers when something falls due: a resource a bank, over the intentions' stream."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import quote, unquote
from weakref import WeakKeyDictionary

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated

from ...nouns.errors import RemembrancerError
from .ways import Ask, Headers, Way, path_of

_SCHEME, _END = "remembrancer://banks/", "/due"
_RETRY_S = 2.0
_EVENT = "event: intention.due"

log = logging.getLogger(__name__)

Tasks = dict[str, asyncio.Task[None]]


def due_uri(bank: str) -> str:
    """Return the address of what is due in a bank."""
    return f"{_SCHEME}{quote(bank, safe='')}{_END}"


def bank_of(uri: str) -> str | None:
    """Return the bank whose due things an address names, None if it names none."""
    if not (uri.startswith(_SCHEME) and uri.endswith(_END)):
        return None
    return unquote(uri[len(_SCHEME) : -len(_END)]) or None


class Notices:
    """Watches banks for sessions that have subscribed."""

    def __init__(self, way: Way) -> None:
        self._way = way
        self._sessions: WeakKeyDictionary[ServerSession, Tasks] = WeakKeyDictionary()

    def watch(self, session: ServerSession, bank: str, headers: Headers) -> None:
        """From now on tell a session when something falls due in a bank."""
        tasks = self._sessions.setdefault(session, {})
        if bank not in tasks or tasks[bank].done():
            tasks[bank] = asyncio.create_task(self._tell(session, bank, headers))

    async def leave(self, session: ServerSession, bank: str) -> None:
        """Tell a session no more."""
        task = self._sessions.get(session, {}).pop(bank, None)
        if task is not None:
            await _ended(task)

    async def listen(
        self,
        ctx: ServerRequestContext[Any, Any],
        params: types.SubscriptionsListenRequestParams,
        banks: Sequence[str],
        headers: Headers,
    ) -> types.SubscriptionsListenResult:
        """Serve one listen stream: it ends with its client."""
        bus = InMemorySubscriptionBus()

        async def publish(bank: str) -> None:
            async for _ in self._due(bank, headers):
                await bus.publish(ResourceUpdated(uri=due_uri(bank)))

        async with _running([publish(bank) for bank in banks]):
            return await ListenHandler(bus)(ctx, params)

    async def close(self) -> None:
        """End all."""
        for tasks in list(self._sessions.values()):
            for task in tasks.values():
                await _ended(task)
        self._sessions.clear()

    async def _tell(self, session: ServerSession, bank: str, headers: Headers) -> None:
        async for _ in self._due(bank, headers):
            await session.send_resource_updated(due_uri(bank))

    async def _due(self, bank: str, headers: Headers) -> AsyncIterator[None]:
        """Yield whenever something falls due; a stream that breaks is opened again."""
        ask = Ask("GET", path_of(bank, "intentions", "stream"))
        place: dict[str, str] = {}
        while True:
            try:
                async for line in self._way.lines(ask, {**headers, **place}):
                    if line.startswith("id: "):
                        place = {"last-event-id": line.removeprefix("id: ")}
                    elif line == _EVENT:
                        yield
            except RemembrancerError as error:
                log.warning("the stream of what falls due has ended: %s", error)
                return
            await asyncio.sleep(_RETRY_S)


@asynccontextmanager
async def _running(work: Sequence[Any]) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(each) for each in work]
    try:
        yield
    finally:
        for task in tasks:
            await _ended(task)


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
