"""HealthService: that it serves, which version, since when; to who has a key, how many memories."""

from __future__ import annotations

import time
from typing import Any

from ..._version import __version__
from ...app import App
from ...keeping.store import Store
from ...nouns.caller import Caller
from ...verbs.tenant_banks import memory_count_of
from .calls import Calls
from .shapes import answer

_SERVING = 1


class HealthService:
    """The call of the service; see `hebbs.proto`."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._started = time.monotonic()

    def handlers(self, calls: Calls) -> dict[str, Any]:
        """Return the handler by method."""
        return {"Check": calls.open("check", "HealthCheckRequest", self._check)}

    async def _check(self, caller: Caller | None) -> Any:
        told = answer("HealthCheckResponse")
        told.status = _SERVING
        told.version = __version__
        told.uptime_seconds = int(time.monotonic() - self._started)
        if caller is not None:
            told.memory_count = await _counted(self._app.store, caller)
        return told


async def _counted(store: Store, caller: Caller) -> int:
    """Count the memories that a caller reaches; all, where nobody has a key."""
    return await (store.memory_count() if caller.key_id is None else memory_count_of(store, caller))
