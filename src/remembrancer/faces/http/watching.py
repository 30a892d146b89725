"""Watches every request: its id, its span, how long it took, and whether the audit log is told."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...app import App
from ...nouns.spans import Span, span, tracing
from ...verbs.meters import Histogram
from .. import log_queue
from ..request_ids import HEADER, current, request_id
from .access import told_caller
from .auditing import tell

REQUESTS = "http_request_duration_seconds"
"""Names the histogram of requests by method, route and status."""

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_FAILED = 500
_CHARS = 512  # of a bank's name that are logged; none is as long
_NO_ROUTE = "none"
_NONE: Mapping[str, Any] = {}
_HEADER = HEADER.encode()

log = logging.getLogger(__name__)


class Watched:
    """Stands before admission, so that what is refused counts, too.

    Args:
        app: what answers.
        memory: whose meters and audit log are told.
        random_bytes: make the ids of requests that bring none.
    """

    def __init__(
        self, app: ASGIApp, memory: App, random_bytes: Callable[[int], bytes] = os.urandom
    ) -> None:
        self._app = app
        self._memory = memory
        self._random_bytes = random_bytes
        self._times: dict[tuple[str, str, int], Histogram] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count it when it has been answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if tracing():
            with span(_method(scope), carrier=_carrier(scope)) as told:
                await self._watch(scope, receive, send, told)
        else:
            await self._watch(scope, receive, send, None)

    async def _watch(self, scope: Scope, receive: Receive, send: Send, told: Span | None) -> None:
        started, started_at = time.perf_counter(), self._memory.clock.now_us()
        named = request_id(_given(scope), self._random_bytes)
        header = _HEADER, named.encode()
        before = current.set(named)
        status, answered = _FAILED, False

        async def watched(message: Message) -> None:
            nonlocal status, answered
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], header]}
                tell(self._memory, scope, status, started_at)
                answered = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            if not answered:
                tell(self._memory, scope, status, started_at)
            seconds = time.perf_counter() - started
            method, route = _method(scope), getattr(scope.get("route"), "path", _NO_ROUTE)
            self._count(method, route, status, seconds)
            if told is not None:
                _describe(told, scope, method, route, status)
            caller, bank = told_caller(scope), scope.get("path_params", _NONE).get("bank_id")
            tenant = caller.tenant if caller is not None else None
            bank = bank[:_CHARS] if bank is not None else None
            log_queue.tell(log, _line, method, route, status, seconds, tenant, bank)
            current.reset(before)

    def _count(self, method: str, route: str, status: int, seconds: float) -> None:
        times = self._times.get((method, route, status))
        if times is None:
            times = self._memory.meters.timer(
                REQUESTS, method=method, route=route, status=str(status)
            )
            self._times[method, route, status] = times
        times.add(seconds)


def _method(scope: Scope) -> str:
    method: str = scope["method"]
    return method if method in _METHODS else "other"


def _given(scope: Scope) -> str | None:
    """Return the id that a request brings."""
    for key, value in scope["headers"]:
        if key == _HEADER:
            given: str = value.decode("latin-1")
            return given
    return None


def _carrier(scope: Scope) -> Mapping[str, str]:
    return {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}


def _describe(told: Span, scope: Scope, method: str, route: str, status: int) -> None:
    """Name a span and describe it in the words of OpenTelemetry's conventions for HTTP."""
    told.rename(f"{method} {route}" if route != _NO_ROUTE else method)
    told.set(
        {
            "http.request.method": method,
            "http.response.status_code": status,
            "url.scheme": scope.get("scheme", "http"),
            **({"http.route": route} if route != _NO_ROUTE else {}),
        }
    )
    if status >= _FAILED:
        told.fail(str(status))


def _line(
    method: str, route: str, status: int, seconds: float, tenant: str | None, bank: str | None
) -> tuple[str, dict[str, Any]]:
    """Return the message and the values of the line of a request."""
    fields: dict[str, Any] = {
        "method": method,
        "route": route,
        "status": status,
        "ms": round(seconds * 1e3, 2),
    }
    if tenant:
        fields["tenant"] = tenant
    if bank is not None:
        fields["bank"] = bank
    return f"{method} {route}", fields
