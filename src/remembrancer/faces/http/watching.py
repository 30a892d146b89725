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
from ..logs import FIELDS
from ..request_ids import HEADER, current, request_id
from .access import told_caller
from .auditing import tell

REQUESTS = "http_request_duration_seconds"
"""Names the histogram of requests by method, route and status."""

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_FAILED = 500
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count it when it has been answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = _header(scope, _HEADER)
        named = request_id(given.decode("latin-1") if given else None, self._random_bytes)
        before = current.set(named)
        try:
            with span(_method(scope), carrier=_carrier(scope)) as told:
                await self._watch(scope, receive, send, named.encode(), told)
        finally:
            current.reset(before)

    async def _watch(
        self, scope: Scope, receive: Receive, send: Send, named: bytes, told: Span
    ) -> None:
        started, started_at = time.perf_counter(), self._memory.clock.now_us()
        status = _FAILED

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], (_HEADER, named)]}
                tell(self._memory, scope, status, started_at)
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            seconds = time.perf_counter() - started
            method, route = _method(scope), getattr(scope.get("route"), "path", "none")
            self._memory.meters.time(
                REQUESTS, seconds, method=method, route=route, status=str(status)
            )
            if tracing():
                _describe(told, scope, method, route, status)
            if log.isEnabledFor(logging.INFO):
                _log(scope, method, route, status, seconds)


def _method(scope: Scope) -> str:
    method: str = scope["method"]
    return method if method in _METHODS else "other"


def _header(scope: Scope, name: bytes) -> bytes | None:
    return next((value for key, value in scope["headers"] if key == name), None)


def _carrier(scope: Scope) -> Mapping[str, str]:
    if not tracing():
        return {}
    return {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}


def _describe(told: Span, scope: Scope, method: str, route: str, status: int) -> None:
    """Name a span and describe it in the words of OpenTelemetry's conventions for HTTP."""
    told.rename(f"{method} {route}" if route != "none" else method)
    told.set(
        {
            "http.request.method": method,
            "http.response.status_code": status,
            "url.scheme": scope.get("scheme", "http"),
            **({"http.route": route} if route != "none" else {}),
        }
    )
    if status >= _FAILED:
        told.fail(str(status))


def _log(scope: Scope, method: str, route: str, status: int, seconds: float) -> None:
    fields: dict[str, Any] = {
        "method": method,
        "route": route,
        "status": status,
        "ms": round(seconds * 1e3, 2),
    }
    caller = told_caller(scope)
    if caller is not None and caller.tenant:
        fields["tenant"] = caller.tenant
    bank = scope.get("path_params", {}).get("bank_id")
    if bank is not None:
        fields["bank"] = bank
    log.info("%s %s", method, route, extra={FIELDS: fields})
