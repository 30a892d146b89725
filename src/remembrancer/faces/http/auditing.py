"""Tells the audit log of every request that changed something in a bank."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import unquote

from fastapi import Request
from starlette.types import Scope

from ...app import App
from ...nouns.errors import Forbidden, InvalidInput
from ...nouns.memory import BankRef
from ...verbs.noting import Note
from .access import caller_in
from .banks import PREFIX, named_bank

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_READ = frozenset({"recall_memories", "reflect", "dry_run_extract", "bank_llm_health"})
"""Operations that post a question and change nothing."""
_TOLD = frozenset({"type", "dry_run", "on_conflict"})
"""Query parameters that are told; others may hold texts."""
_ACTIONS = {
    "create_or_update_bank": "bank.update",
    "update_bank_disposition": "bank.update",
    "add_bank_background": "bank.update",
    "update_bank_config": "bank_config.update",
    "reset_bank_config": "bank_config.reset",
    "import_bank_template": "bank_template.import",
    "file_retain": "files.retain",
    "upload_files": "files.retain",
    "remember": "memory.remember",
    "revise": "memory.revise",
    "forget": "memory.forget",
    "set_policy": "policy.update",
    "post_policy": "policy.update",
    "run_policy": "policy.run",
    "commit_insights": "insights.commit",
    "commit_contradictions": "contradictions.commit",
}
_CHARS = 512  # of a name told

_KEY = "audit"
_PLACES = "audited_banks"


def audited(request: Request, **metadata: Any) -> None:
    """Add ids, counts or options to the entry of this request; no text of a memory."""
    held = request.scope.setdefault("state", {}).setdefault(_KEY, {})
    if held is not None:
        held.update(metadata)


def audited_in(request: Request, ref: BankRef, **metadata: Any) -> None:
    """Write an entry in a bank that the path of this request does not name; see `audited`."""
    request.scope.setdefault("state", {}).setdefault(_PLACES, []).append((ref, metadata))


def noter(request: Request) -> Note:
    """Return what writes an entry of each change that a verb tells of."""
    return partial(audited_in, request)


def unaudited(request: Request) -> None:
    """Write no entry of this request: it changed nothing, or its verb writes one itself."""
    request.scope.setdefault("state", {})[_KEY] = None


def tell(app: App, scope: Scope, status: int, started_at: int) -> None:
    """Give the audit log an entry of a request, if it changed something.

    One that was refused has an entry where it had changed something before.

    Args:
        app: the open memory.
        scope: of the request, after routing.
        status: of the answer; that of a failure when there was none.
        started_at: when the request came, in microseconds.
    """
    if scope["method"] in _SAFE:
        return
    route, state = scope.get("route"), scope.get("state", {})
    path, operation = getattr(route, "path", ""), getattr(route, "operation_id", None)
    metadata = state.get(_KEY, {})
    if not operation or operation in _READ or metadata is None:
        return
    in_path = path.startswith(PREFIX) and status < 400
    if not in_path and _PLACES not in state:
        return
    caller = caller_in(scope)
    params = dict(scope["path_params"])
    places: list[tuple[BankRef, dict[str, Any]]] = list(state.get(_PLACES, ()))
    if in_path:
        try:
            places.append((named_bank(caller, params.pop("bank_id")), metadata))
        except (InvalidInput, Forbidden):  # no bank can have it, so nothing was changed
            return
    asked = {"method": scope["method"], "path": path}
    asked |= {name: unquote(str(value))[:_CHARS] for name, value in params.items()}
    asked |= {
        name: value[:_CHARS] for name, value in Request(scope).query_params.items() if name in _TOLD
    }
    if caller.key_id is not None:
        asked["key_id"] = caller.key_id
    log = app.audit_log
    for ref, told in places:
        entry = log.audit.entry(
            action_of(operation), told, transport="http", started_at=started_at, request=asked
        )
        log.add(ref, entry)


def action_of(operation: str) -> str:
    """Name an action, noun first: `update_webhook` is `webhook.update`."""
    if operation in _ACTIONS:
        return _ACTIONS[operation]
    verb, _, noun = operation.partition("_")
    return f"{noun or 'bank'}.{verb}"
