"""Watches every request: how long it took, and whether the audit log is to be told."""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...app import App
from .auditing import tell

REQUESTS = "http_request_duration_seconds"
"""Names the histogram of requests by method, route and status."""

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_FAILED = 500


class Watched:
    """Stands before admission, so that what is refused counts, too."""

    def __init__(self, app: ASGIApp, memory: App) -> None:
        self._app = app
        self._memory = memory

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count it when it has been answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, started_at = time.perf_counter(), self._memory.clock.now_us()
        status = _FAILED

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                tell(self._memory, scope, status, started_at)
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            self._memory.meters.time(
                REQUESTS,
                time.perf_counter() - started,
                method=scope["method"] if scope["method"] in _METHODS else "other",
                route=getattr(scope.get("route"), "path", "none"),
                status=str(status),
            )
