"""Lets requests in: finds out who sends them, before any route, whether one is there or not.

Without keys only programs of this machine may call. A page in a browser is not one of them: it is
known by the name that it was loaded under, in `Host` (had its name been bound to a loopback address
meanwhile) or in `Origin`.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...nouns.caller import Caller
from ...nouns.errors import Forbidden, RemembrancerError, Unauthenticated
from ...verbs.access.gate import Gate
from .access import MEM0, is_open, set_caller
from .errors import Fault, Refused, answer_to
from .workspaces import workspace_in

NOBODY = Caller(tenant="", permissions=frozenset())
"""Who calls an open path."""

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_POLICY_VIOLATION = 1008


class Admission:
    """Stands before the routes.

    Args:
        app: the routes.
        gate: who may call.
        hosts: names that requests may give in `Host` without a key, beside those of loopback.
    """

    def __init__(self, app: ASGIApp, gate: Gate, hosts: Iterable[str] = ()) -> None:
        self._app = app
        self._gate = gate
        self._hosts = _LOOPBACK | {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its caller, or refuse it."""
        if scope["type"] in {"http", "websocket"}:
            try:
                caller = await self._caller(HTTPConnection(scope))
            except RemembrancerError as error:
                await _refuse(error, scope, receive, send)
                return
            set_caller(scope, caller)
            if caller is not NOBODY:
                send = self._rechecked(caller, send)
        await self._app(scope, receive, send)

    def _rechecked(self, caller: Caller, send: Send) -> Send:
        """Return a `send` that ends an answer in parts when its caller may not call any more."""
        ended = False

        async def checked(message: Message) -> None:
            nonlocal ended
            if ended:
                return
            if message["type"] == "http.response.body" and message.get("more_body"):
                try:
                    await self._gate.recheck(caller)
                except RemembrancerError:
                    ended = True
                    message = {"type": "http.response.body", "body": b"", "more_body": False}
            await send(message)

        return checked

    async def _caller(self, connection: HTTPConnection) -> Caller:
        if is_open(connection.scope["path"]):
            return NOBODY
        headers = connection.headers
        workspace = workspace_in(connection.scope)
        if await self._gate.asks():
            key = _credential(headers, connection.scope["path"])
            caller = await self._gate.caller(key, workspace)
        else:
            self._check_host(headers)
            if connection.scope.get("method") not in _SAFE:
                self._check_origin(headers)
            caller = await self._gate.caller(None, workspace)
        if workspace is not None and caller.tenant != workspace:
            raise Forbidden(f"this key belongs to the workspace {caller.tenant!r} alone")
        return caller

    def _check_host(self, headers: Headers) -> None:
        named = headers.get("host")
        if named is not None and _host(f"//{named}") not in self._hosts:
            raise Refused(
                421,
                Fault(
                    "the Host header must name localhost while no key is asked for; the setting "
                    "allowed_hosts takes other names",
                    "misdirected_request",
                    where="header",
                ),
            )

    def _check_origin(self, headers: Headers) -> None:
        origin = headers.get("origin")
        if origin is not None and _host(origin) not in self._hosts:
            raise Refused(
                403,
                Fault(
                    "pages of other hosts may not change anything while no key is asked for",
                    "permission_denied",
                    where="header",
                ),
            )


def _credential(headers: Headers, path: str) -> str | None:
    """Return the key that a request brings: in `Authorization`, else in `X-API-Key`.

    mem0's client calls its scheme `Token`, which its own routes take.

    Raises:
        Unauthenticated: `Authorization` is of another scheme.
    """
    given = headers.get("authorization")
    if given is None:
        return headers.get("x-api-key")
    scheme, _, key = given.partition(" ")
    schemes = ("bearer", "token") if path.startswith(MEM0) else ("bearer",)
    if scheme.lower() not in schemes or not key.strip():
        raise Unauthenticated(
            "authentication failed: malformed Authorization header, send Authorization: Bearer KEY"
        )
    return key.strip()


def _host(url: str) -> str | None:
    try:
        name = urlsplit(url).hostname
    except ValueError:
        return None
    return name.rstrip(".") if name else None


async def _refuse(error: RemembrancerError, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": error.code})
        return
    response = await answer_to(Request(scope, receive), error)
    await response(scope, receive, send)
