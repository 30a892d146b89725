"""Serves the console's files, and leads browsers to them.

They are the same for everybody and hold no data, so they need no key. Whatever they show they fetch
from the HTTP face, with the key of whoever looks.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/console"
_FOLDER = Path(__file__).parent / "static"
_INDEX = "index.html"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_CSP = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        # The browser itself then refuses to make markup or scripts of a text.
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": _CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-cache",
}
"""Of every answer."""


def is_console(path: str) -> bool:
    """Return whether a path belongs to the console; what stands there tells nothing of anybody."""
    return path == PATH or path.startswith(f"{PATH}/")


@dataclass(frozen=True, slots=True)
class _File:
    body: bytes
    media_type: str
    tag: str


class Pages:
    """The routes. The files are read once, when they are made; they take some 150 kB."""

    def __init__(self) -> None:
        self._files = {
            path.relative_to(_FOLDER).as_posix(): _read(path)
            for path in sorted(_FOLDER.rglob("*"))
            if path.suffix in _TYPES
        }

    @property
    def routes(self) -> list[Route]:
        """The folder and its files."""
        methods = ["GET", "HEAD"]
        return [
            Route(PATH, self._enter, methods=methods, include_in_schema=False),
            Route(f"{PATH}/{{name:path}}", self._file, methods=methods, include_in_schema=False),
        ]

    async def _enter(self, _: Request) -> Response:
        # Relative, so that it stays under the path that a proxy serves the server under.
        return RedirectResponse("console/", headers=HEADERS)

    async def _file(self, request: Request) -> Response:
        found = self._files.get(request.path_params["name"] or _INDEX)
        if found is None:
            return PlainTextResponse("no such page; the console begins at /console/", 404, HEADERS)
        headers = {**HEADERS, "ETag": found.tag}
        if found.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(found.body, headers=headers, media_type=found.media_type)


class Doorstep:
    """Leads a browser that asks for `/` to the console; every other client gets what it asked for.

    Args:
        app: the routes.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with the way to the console."""
        if (
            scope["type"] == "http"
            and scope["path"] == "/"
            and scope["method"] in {"GET", "HEAD"}
            and "text/html" in Headers(scope=scope).get("accept", "")
        ):
            answer = RedirectResponse("console/", headers={**HEADERS, "Vary": "Accept"})
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _read(path: Path) -> _File:
    body = path.read_bytes()
    digest = hashlib.sha256(body).hexdigest()[:32]
    return _File(body, _TYPES[path.suffix], f'"{digest}"')
