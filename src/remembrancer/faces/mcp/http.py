"""`/mcp` and `/mcp/{bank}`: the streamable HTTP transport, beside the routes of the HTTP face."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from urllib.parse import parse_qs, unquote

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from ...nouns.caller import Caller
from .server import Connection, Context, Memory
from .tools import tool_set
from .ways import Headers, Inside

PATH = "/mcp"
BANK_HEADER = "x-bank-id"
TOOLS_HEADER = "x-tools"

_CREDENTIALS = ("authorization", "x-api-key")
_IDLE_S = 30 * 60
_MOST_SESSIONS = 1_000


class McpEndpoint:
    """Serves the transport; who calls was found out before (by the HTTP face's admission).

    Args:
        face: the HTTP face, for the tools' own requests.
        max_body_bytes: of one message.
    """

    def __init__(self, face: ASGIApp, *, max_body_bytes: int) -> None:
        self._memory = Memory(Inside(face), _connection)
        self._manager = StreamableHTTPSessionManager(
            self._memory.server(),
            session_idle_timeout=_IDLE_S,
            max_sessions=_MOST_SESSIONS,
            max_request_body_size=max_body_bytes,
            # Host and Origin were checked by admission, for all routes alike.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        self._stop = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send, caller: Caller) -> None:
        """Serve one request of the transport."""
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        await self._ready.wait()
        # A session belongs to the key that began it.
        owner = f"{caller.tenant}/{caller.key_id or ''}"
        token = AccessToken(token="", client_id=owner, scopes=[])  # nosec B106 # was checked before
        await self._manager.handle_request(
            {**scope, "user": AuthenticatedUser(token)}, receive, send
        )

    def stop(self) -> None:
        """End all sessions."""
        self._stop.set()

    async def close(self) -> None:
        """End all sessions and wait until they have ended."""
        self.stop()
        if self._running is not None:
            await self._running

    async def _run(self) -> None:
        """Hold the sessions; the task that begins them has to end them."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._memory.close)
            await stack.enter_async_context(self._manager.run())
            self._ready.set()
            await self._stop.wait()


def _connection(ctx: Context) -> Connection:
    request = ctx.request
    assert isinstance(request, Request)
    query = parse_qs(request.url.query)
    bank = _bank_in(request.scope) or request.headers.get(BANK_HEADER) or None
    tools = query.get("tools", [request.headers.get(TOOLS_HEADER)])[0]
    return Connection(_credential(request), bank, tool_set(tools))


def _bank_in(scope: Scope) -> str | None:
    raw = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
    _, _, rest = raw.partition(f"{PATH}/")
    return unquote(rest.strip("/")) or None


def _credential(request: Request) -> Headers:
    headers = request.headers
    return {name: headers[name] for name in _CREDENTIALS if name in headers}
