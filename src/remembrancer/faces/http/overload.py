"""Gives each request a place to run in and a time to end: under load it waits or is refused.

A place is taken when a request's body is there, so that slow senders hold none, and given back when
its answer begins, so that slow readers hold none. When the time is over, the work is ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from starlette.requests import Request
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...nouns.errors import DeadlineExceeded, Overloaded, RemembrancerError
from ...nouns.turns import act_for
from ...verbs.admission.desk import Desk, Work
from ...verbs.admission.policy import Ticket
from ...verbs.meters import DEADLINES, Meters
from .access import caller_in
from .errors import Fault, Refused, answer_to
from .work_classes import WorkClasses

TIME_LEFT = "X-Timeout-Ms"
"""The header that says how many milliseconds a caller would wait."""

_TIMES = frozenset({TIME_LEFT.lower().encode(), b"x-envoy-expected-rq-timeout-ms"})
_BODIES = frozenset({b"content-length", b"transfer-encoding"})
_MOST_MS = 86_400_000


class Overload:
    """Stands between admission, which tells the caller, and the routes.

    Args:
        app: the routes.
        desk: gives out places.
        meters: count what ran out of time.
        routes: to tell the classes of requests by.
    """

    def __init__(
        self, app: ASGIApp, desk: Desk, meters: Meters, routes: Iterable[BaseRoute]
    ) -> None:
        self._app = app
        self._desk = desk
        self._meters = meters
        self._classes = WorkClasses(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on in its turn, refuse it, or end it when its time is over."""
        tenant = caller_in(scope).tenant if scope["type"] == "http" else ""
        # Nobody calls open paths: they answer under load, too.
        work = self._classes.of(scope["method"], scope["path"]) if tenant else None
        if work is None:
            act_for(tenant)
            await self._app(scope, receive, send)
            return
        try:
            left_s, has_body = _read(scope, self._desk.deadlines[work])
        except Refused as refused:
            await _answer(refused, scope, receive, send)
            return
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + left_s
        try:
            async with asyncio.timeout_at(ends_at) as limit:
                visit = _Visit(self._desk, work, tenant, limit, receive, send)
                act_for(tenant, visit.pause)  # a request is a task of its own
                await visit.run(self._app, scope, has_body)
        except TimeoutError:
            if not limit.expired():
                raise
            self._meters.add(DEADLINES, wire="http", work=work.value)
            late = DeadlineExceeded(
                f"the time for this request, {left_s:g} s, is over, and its work was ended: "
                "what it changes may be changed in part, and may be sent again"
            )
            await _answer(late, scope, receive, send)


class _Visit:
    """One request, from its body to its answer."""

    __slots__ = ("_desk", "_limit", "_receive", "_send", "_tenant", "_ticket", "_whole", "_work")

    def __init__(
        self,
        desk: Desk,
        work: Work,
        tenant: str,
        limit: asyncio.Timeout,
        receive: Receive,
        send: Send,
    ) -> None:
        self._desk = desk
        self._work = work
        self._tenant = tenant
        self._limit = limit
        self._receive = receive
        self._send = send
        self._ticket: Ticket | None = None
        self._whole = False  # the body is there, and a place was taken

    async def run(self, app: ASGIApp, scope: Scope, has_body: bool) -> None:
        try:
            try:
                if has_body:
                    await self._desk.check(self._work, self._tenant)
                else:
                    await self._enter()
            except RemembrancerError as error:
                await _answer(error, scope, self._receive, self._send)
                return
            await app(scope, self._received, self._sent)
        finally:
            self._leave()

    async def pause(self) -> None:
        """Let others have their turn."""
        if self._ticket is not None:
            await self._desk.pause(self._work, self._ticket)

    async def _enter(self) -> None:
        self._whole = True
        when = self._limit.when()
        left_s = when - asyncio.get_running_loop().time() if when is not None else 0.0
        ticket = await self._desk.enter(self._work, self._tenant, left_s)
        self._ticket = ticket
        if ticket.began_at != ticket.came_at and await _gone(self._receive):
            self._leave()
            raise Overloaded("the client has gone", retry_after_s=1)

    def _leave(self) -> None:
        if self._ticket is not None:
            ticket, self._ticket = self._ticket, None
            self._desk.leave(self._work, ticket)

    async def _received(self) -> Message:
        message = await self._receive()
        if (
            not self._whole
            and message["type"] == "http.request"
            and not message.get("more_body", False)
        ):
            await self._enter()
        return message

    async def _sent(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._leave()
            self._limit.reschedule(None)  # what is sent has a bound in `connections`
        await self._send(message)


def _read(scope: Scope, most_s: float) -> tuple[float, bool]:
    """Return how many seconds a request may take, and whether it has a body.

    Raises:
        Refused: the header is no number of milliseconds.
    """
    has_body = False
    for name, value in scope["headers"]:
        if name in _BODIES:
            has_body = has_body or value != b"0"
        elif name in _TIMES:
            text = value.decode("latin-1").strip()
            if not text.isdecimal() or not 0 < int(text[:12]) <= _MOST_MS:
                fault = Fault(
                    f"{TIME_LEFT} must be a number of milliseconds from 1 to {_MOST_MS}",
                    where="header",
                    path=(TIME_LEFT,),
                    limit=_MOST_MS,
                )
                raise Refused(422, fault)
            most_s = min(most_s, int(text) / 1_000)
    return most_s, has_body


async def _gone(receive: Receive) -> bool:
    """Tell whether the client of a request whose body was read has hung up meanwhile."""
    asking = asyncio.ensure_future(receive())
    await asyncio.sleep(0)
    if asking.done():
        return bool(asking.result()["type"] == "http.disconnect")
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    return False


async def _answer(error: RemembrancerError, scope: Scope, receive: Receive, send: Send) -> None:
    response = await answer_to(Request(scope, receive), error)
    await response(scope, receive, send)
