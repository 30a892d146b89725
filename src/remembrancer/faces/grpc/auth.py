"""From the metadata of a call to its caller; errors have the codes that statuses are mapped by."""

from __future__ import annotations

from collections.abc import Iterable

from ...nouns.caller import Caller
from ...nouns.errors import Unauthenticated
from ...verbs.access.gate import Gate

_BEARER = "bearer "


async def caller_of(
    gate: Gate, metadata: Iterable[tuple[str, str | bytes]] | None, tenant_id: str | None = None
) -> Caller:
    """Return who makes a call.

    Args:
        gate: who may call.
        metadata: of the call; `authorization` holds the key, with or without `Bearer` before it.
        tenant_id: of the request. It counts when nobody is asked for a key, and for keys with the
            permission `cross_tenant`; else the key's own tenant is used.

    Raises:
        Unauthenticated: there is no key, or it is not valid.
        InvalidInput: `tenant_id` is no name of a tenant.
    """
    credential = _credential(metadata or ())
    if credential is None and await gate.asks():
        raise Unauthenticated("missing authorization metadata (send authorization: Bearer KEY)")
    return await gate.caller(credential, tenant_id or None)


def _credential(metadata: Iterable[tuple[str, str | bytes]]) -> str | None:
    for name, value in metadata:
        if name.lower() == "authorization" and isinstance(value, str):
            bare = value[len(_BEARER) :] if value.lower().startswith(_BEARER) else value
            return bare.strip() or None
    return None
