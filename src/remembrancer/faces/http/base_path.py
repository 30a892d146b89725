"""Serves everything under a path of its own as well, for proxies that pass the path on."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send


class BasePath:
    """Takes a path off the front of requests; those without it are passed on as they are.

    Args:
        app: what is served.
        base: such as `/memory`; without a slash at its end.
    """

    def __init__(self, app: ASGIApp, base: str) -> None:
        self._app = app
        self._base = base
        self._raw = base.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http" and scope["path"].startswith(f"{self._base}/"):
            raw: bytes = scope.get("raw_path") or b""
            scope = {
                **scope,
                "path": scope["path"].removeprefix(self._base),
                "raw_path": raw.removeprefix(self._raw),
            }
        await self._app(scope, receive, send)
