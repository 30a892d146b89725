"""`/mcp`: hands requests to the MCP face, which is loaded when the first one comes."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ...nouns.caller import Caller
from ...settings import Settings
from .access import caller_in
from .errors import Fault, Refused, answer_to

if TYPE_CHECKING:
    from ..mcp.http import McpEndpoint

AVAILABLE = find_spec("mcp") is not None


class McpRoute:
    """The endpoint of the routes.

    Args:
        face: the HTTP face, which the tools ask.
        settings: of the server.
    """

    def __init__(self, face: ASGIApp, settings: Settings) -> None:
        self._face = face
        self._settings = settings
        self._endpoint: McpEndpoint | None = None

    @property
    def routes(self) -> list[Route]:
        """The routes: with and without a bank."""
        return [Route("/mcp", self), Route("/mcp/{bank_id:path}", self)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if not AVAILABLE:
            fault = Fault(
                "this server has no MCP: install it with pip install 'remembrancer[mcp]'",
                "not_implemented",
            )
            response = await answer_to(Request(scope, receive), Refused(501, fault))
            await response(scope, receive, send)
            return
        caller: Caller = caller_in(scope)
        if self._endpoint is None:
            from ..mcp.http import McpEndpoint  # noqa: PLC0415

            self._endpoint = McpEndpoint(self._face, max_body_bytes=self._settings.max_body_bytes)
        await self._endpoint(scope, receive, send, caller)

    def close(self) -> None:
        """End all sessions."""
        if self._endpoint is not None:
            self._endpoint.stop()

    async def ended(self) -> None:
        """Wait until all sessions have ended."""
        if self._endpoint is not None:
            await self._endpoint.close()
