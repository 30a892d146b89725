"""What is checked of any model endpoint: its address, its key, and how long it asks to wait."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..nouns.errors import InvalidInput


def checked_url(base_url: str, library: Any, field: str) -> str:
    """Return an endpoint's address without a slash at its end.

    Args:
        base_url: as it was set.
        library: httpx, which is an extra.
        field: the setting's name.

    Raises:
        InvalidInput: it is none, or holds credentials or a query.
    """
    url = base_url.strip().rstrip("/")
    try:
        parts = library.URL(url)
        sound = parts.scheme in {"http", "https"} and parts.host
        bare = not (parts.userinfo or parts.query or parts.fragment)
    except library.InvalidURL:
        sound = bare = False
    if not (sound and bare):
        raise InvalidInput(
            f"{field} must be http(s)://host[:port]/path, without credentials or query",
            field=field,
        )
    return url


def checked_key(api_key: str | None, field: str) -> str | None:
    """Return a key as it is sent; None for an empty one.

    Raises:
        InvalidInput: it cannot stand in a header.
    """
    key = (api_key or "").strip()
    if not (key.isascii() and key.isprintable()):
        raise InvalidInput(f"{field} must be printable ASCII on one line", field=field)
    return key or None


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds that an endpoint asks to wait; 0 when it names none, or a date."""
    try:
        seconds = float(headers.get("retry-after", "").strip())
    except ValueError:
        return 0.0
    return seconds if 0 <= seconds < math.inf else 0.0
