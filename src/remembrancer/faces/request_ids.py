"""The id of the request that is being answered: as its sender named it, or a new one."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextvars import ContextVar

HEADER = "x-request-id"
"""Names it in headers of HTTP and in metadata of gRPC."""

_TAKEN = re.compile(r"[\w.:/+=-]{1,128}", re.ASCII)
_BYTES = 8

current: ContextVar[str | None] = ContextVar("request_id", default=None)
"""Of the request that this task answers."""


def request_id(given: str | None, random_bytes: Callable[[int], bytes]) -> str:
    """Return the id that a request came with, or a new one where it has none that can be taken."""
    if given is not None and _TAKEN.fullmatch(given):
        return given
    return random_bytes(_BYTES).hex()
