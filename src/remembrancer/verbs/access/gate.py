"""gate: who calls, and whether it may: the one place that all faces ask.

While no key was ever made and none is set, nobody is asked for one (`auth` is `auto`).
"""

from __future__ import annotations

import hashlib
import hmac
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace

from ...nouns.caller import EVERYTHING, Caller, Permission, Rate
from ...nouns.errors import RateLimited, Unauthenticated
from ...nouns.memory import DEFAULT_TENANT
from ...nouns.names import tenant_name
from ...settings import Settings
from .keys import Keys

SET_KEY = "setting"
"""The id of the key that the settings name."""

_BUCKETS = 30_000  # three classes of ten thousand keys


class Gate:
    """Admits callers; everything it needs is passed in.

    Args:
        keys: the keys that there are.
        settings: `auth`, `api_key` and the rates.
        monotonic: a clock in seconds that never steps back.
    """

    def __init__(
        self,
        keys: Keys,
        settings: Settings,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._keys = keys
        self._auth = settings.auth
        key = settings.api_key.get_secret_value() if settings.api_key else ""
        self._set_key = _digest(key) if key else None
        self._rates = _rates(settings) if settings.rate_limit else None
        self._monotonic = monotonic
        self._buckets: OrderedDict[tuple[str, Permission], tuple[float, float]] = OrderedDict()

    async def asks(self) -> bool:
        """Return whether callers need a key; keys that others make count within five seconds."""
        if self._auth != "auto":
            return self._auth == "on"
        return await self.has_key()

    async def has_key(self) -> bool:
        """Return whether anybody could have a key."""
        return self._set_key is not None or await self._keys.exist()

    async def caller(self, credential: str | None, tenant: str | None = None) -> Caller:
        """Return who calls.

        Args:
            credential: the API key, without a scheme before it.
            tenant: that the call names. It counts when nobody is asked for a key, and for keys
                with the permission `cross_tenant`; else the key's own is used.

        Raises:
            Unauthenticated: there is no key, or it is not valid.
            InvalidInput: no tenant can have that name.
        """
        if not await self.asks():
            return Caller(tenant_name(tenant, "tenant_id") if tenant else DEFAULT_TENANT)
        if not credential:
            raise Unauthenticated(
                "an API key is needed: send it as the header Authorization: Bearer KEY"
            )
        if self._set_key is not None and hmac.compare_digest(_digest(credential), self._set_key):
            caller = Caller(DEFAULT_TENANT, EVERYTHING, key_id=SET_KEY, name="api_key")
        else:
            caller = await self._keys.verify(credential)
        if tenant and caller.may(Permission.CROSS_TENANT):
            caller = replace(caller, tenant=tenant_name(tenant, "tenant_id"))
        return caller

    async def recheck(self, caller: Caller) -> None:
        """Check that a caller whose call lasts may still call: before each thing told to it.

        Raises:
            Unauthenticated: its key was revoked or has expired, or the secret that it came with
                has; or a key is needed by now.
        """
        if caller.key_id is None:
            if await self.asks():
                raise Unauthenticated("an API key is needed by now: call again with one")
        elif caller.key_id != SET_KEY and not await self._keys.holds(
            caller.key_id, caller.digest or ""
        ):
            raise Unauthenticated("authentication failed: API key was revoked or has expired")

    def spend(self, caller: Caller, kind: Permission) -> None:
        """Count one request of a class (read, write or admin) against the caller's rate.

        A token bucket a key and class, in this process. Callers without a key have no rate.

        Raises:
            RateLimited: there is nothing left; says when there will be.
        """
        if self._rates is None or caller.key_id is None:
            return
        rate = caller.rates.get(kind) or self._rates[kind]
        name, now = (caller.key_id, kind), self._monotonic()
        left, at = self._buckets.pop(name, (rate.burst, now))
        left = min(rate.burst, left + (now - at) * rate.per_second)
        allowed = left >= 1
        self._buckets[name] = left - allowed, now
        while len(self._buckets) > _BUCKETS:
            self._buckets.popitem(last=False)
        if not allowed:
            wait = (1 - left) / rate.per_second
            raise RateLimited(
                f"rate limit exceeded, retry after {math.ceil(wait * 1000)}ms", retry_after_s=wait
            )


def _rates(settings: Settings) -> Mapping[Permission, Rate]:
    return {
        Permission.READ: Rate(settings.rate_read, settings.rate_read_burst),
        Permission.WRITE: Rate(settings.rate_write, settings.rate_write_burst),
        Permission.ADMIN: Rate(settings.rate_admin, settings.rate_admin_burst),
    }


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
