"""Serves every route under `/v1/workspaces/{slug}/…` as well: a workspace is a tenant.

`/v1/workspaces/acme/prime` is `/v1/prime` of the tenant acme. Who may name it is what admission
says: a key of that tenant, one with the permission cross_tenant, or anybody where no key is asked
for.
"""

from __future__ import annotations

from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

PREFIX = "/v1/workspaces/"
_KEY = "workspace"


class Workspaces:
    """Takes the workspace out of paths, and keeps it with the request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http":
            slug, slash, rest = scope["path"].removeprefix(PREFIX).partition("/")
            if slash and rest and scope["path"].startswith(PREFIX):
                scope = {
                    **scope,
                    "path": f"/v1/{rest}",
                    "raw_path": _shorter(scope.get("raw_path") or b""),
                    "state": {**scope.get("state", {}), _KEY: slug},
                }
        await self._app(scope, receive, send)


def workspace_in(scope: Scope) -> str | None:
    """Return the workspace that the path of a request has named."""
    found: str | None = scope.get("state", {}).get(_KEY)
    return found


def _shorter(raw: bytes) -> bytes:
    """Take the workspace out of a path as it was sent, percent-encoded."""
    head, slash, rest = raw.removeprefix(PREFIX.encode()).partition(b"/")
    if not slash or unquote(head.decode("ascii", "replace")).count("/"):
        return raw
    return b"/v1/" + rest
