"""Which permission a route needs, and the one place where routes learn who calls.

A route that is named nowhere here needs `read` when its method changes nothing, else `write`.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from starlette.types import Scope

from ...app import App
from ...nouns.caller import Caller, Permission
from ..console.pages import is_console

OPEN = frozenset(
    {
        "/health",
        "/health/live",
        "/health/ready",
        "/version",
        "/v1/health/live",
        "/v1/health/liveness",
        "/v1/health/ready",
        "/v1/health/readiness",
        "/v1/system/health",
    }
)
"""Paths that answer without a key. They must tell nothing of anybody: no names, no counts."""

MEM0 = "/compat/mem0/"
"""How the paths of mem0's routes begin."""

NEEDS: dict[str, Permission | None] = {
    # These post a question.
    "recall_memories": Permission.READ,
    "reflect": Permission.READ,
    "prime": Permission.READ,
    "dry_run_extract": Permission.READ,
    "recall": Permission.READ,
    "get_memories": Permission.READ,
    "walk_graph": Permission.READ,
    "prepare_contradictions": Permission.READ,
    "subscribe": Permission.READ,
    "feed_subscription": Permission.READ,
    "close_subscription": Permission.READ,
    "check_intentions": Permission.READ,  # with mode peek; the route checks
    **dict.fromkeys(
        ("mem0_search", "mem0_search_v1", "mem0_search_v2", "mem0_search_v3"), Permission.READ
    ),
    **dict.fromkeys(("mem0_list_v2", "mem0_list_v3"), Permission.READ),
    # These reach settings that a bank's profile does not, such as whether changes are logged.
    "update_bank_config": Permission.ADMIN,
    "reset_bank_config": Permission.ADMIN,
    "import_bank_template": Permission.ADMIN,
    "set_policy": Permission.ADMIN,
    "post_policy": Permission.ADMIN,
    "run_policy": Permission.ADMIN,
    "mem0_reset": Permission.ADMIN,
    # These read memories of all banks by the hundred.
    "find_clusters": Permission.ADMIN,
    "prepare_insights": Permission.ADMIN,
    "commit_insights": Permission.ADMIN,
    # Its figures are of all tenants.
    "metrics": Permission.CROSS_TENANT,
    "whoami": None,
    "mem0_ping": None,
}
"""By operation id: what does not follow from the method. None: any key will do."""

_ADMIN = "/v1/keys"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_CALLER = "caller"


def is_open(path: str) -> bool:
    """Return whether a path answers without a key: those of `OPEN`, and the console's files."""
    return path in OPEN or is_console(path)


def needed(method: str, path: str, operation: str | None) -> Permission | None:
    """Return what a route needs; None: any key will do.

    Args:
        method: of the request.
        path: of the route, with its parameters' names.
        operation: the route's operation id.
    """
    if operation in NEEDS:
        return NEEDS[operation]
    if path == _ADMIN or path.startswith(f"{_ADMIN}/"):
        return Permission.ADMIN
    return Permission.READ if method in _SAFE else Permission.WRITE


async def permitted(request: Request) -> None:
    """Check the caller's permission and rate; every route depends on this.

    Raises:
        Forbidden, RateLimited: it is not to be answered now.
    """
    if is_open(request.scope["path"]):
        return
    route = request.scope.get("route")
    permission = needed(
        request.method, getattr(route, "path", ""), getattr(route, "operation_id", None)
    )
    caller = caller_of(request)
    if permission is not None:
        caller.needs(permission)
    if permission is not Permission.CROSS_TENANT:  # figures are fetched by the clock
        app: App = request.app.state.app
        app.gate.spend(caller, permission or Permission.READ)


def caller_of(request: Request) -> Caller:
    """Return who sent a request."""
    return caller_in(request.scope)


def caller_in(scope: Scope) -> Caller:
    """Return who sent a request, by its scope."""
    caller: Caller = scope["state"][_CALLER]
    return caller


def told_caller(scope: Scope) -> Caller | None:
    """Return who sent a request, by its scope; None before that is known."""
    caller: Caller | None = scope.get("state", {}).get(_CALLER)
    return caller


def set_caller(scope: Scope, caller: Caller) -> None:
    """Tell a request who sent it."""
    scope.setdefault("state", {})[_CALLER] = caller


async def _caller(request: Request) -> Caller:  # async: FastAPI hands plain functions to a thread
    return caller_of(request)


Calling = Annotated[Caller, Depends(_caller)]
