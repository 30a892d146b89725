"""Refuses to serve where others can reach it and nobody needs a key."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping

from ..app import App
from ..keeping.opening import may_exist
from ..nouns.errors import InvalidInput
from ..settings import Settings

LEAST_KEY_CHARS = 16
"""Of a key in the settings, where others can try to guess it."""

Addresses = Mapping[str, tuple[str, int]]
"""Host and port by the name of the setting."""


def check_before(settings: Settings, addresses: Addresses) -> None:
    """Refuse what can be refused before anything is opened or made.

    Raises:
        InvalidInput: says how to mend; names the address that others reach, or a setting.
    """
    field, host = _reachable(addresses)
    reach = f"{field} is set to {host}, which others can reach"
    if settings.auth == "off" and field is not None:
        raise InvalidInput(
            f"{reach}, and auth is off: set REMEMBRANCER_AUTH=on, or bind to 127.0.0.1",
            field=field,
        )
    key = settings.api_key
    if field is not None and key is not None and len(key.get_secret_value()) < LEAST_KEY_CHARS:
        raise InvalidInput(
            f"api_key has fewer than {LEAST_KEY_CHARS} characters, and {reach}: take a longer "
            "one, such as of `openssl rand -hex 32`",
            field="api_key",
            limit=LEAST_KEY_CHARS,
        )
    if key is None and not may_exist(settings):
        _need_key(settings, addresses)


async def check_keys(app: App, addresses: Addresses) -> None:
    """Refuse to serve where keys are needed and there is none.

    Raises:
        InvalidInput: says how to make one; names the address that others reach, or `auth`.
    """
    if not await app.gate.has_key():
        _need_key(app.settings, addresses)


def _need_key(settings: Settings, addresses: Addresses) -> None:
    field, host = _reachable(addresses)
    if field is None and settings.auth != "on":
        return
    why = f"{field} is set to {host}, which others can reach" if field else "auth is on"
    raise InvalidInput(
        f"{why}, and there is no API key yet: make one with `remembrancer keys create NAME "
        "--permission admin`, or set REMEMBRANCER_API_KEY",
        field=field or "auth",
    )


def _reachable(addresses: Addresses) -> tuple[str | None, str]:
    """Return the first address that is none of loopback: its name and host."""
    found = ((name, host) for name, (host, _) in addresses.items() if not _is_loopback(host))
    return next(found, (None, ""))


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
