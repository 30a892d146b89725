"""Give memory that a model run freed back to the system."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any


def trim() -> None:
    """Ask the C library to return free memory; does nothing where it is not glibc.

    glibc keeps what a thread frees for that thread: after full windows in two threads some 250 MB.
    Costs 0.5 ms, or 15 ms when there is that much to return; the interpreter runs on meanwhile.
    """
    malloc_trim = _malloc_trim()
    if malloc_trim is not None:
        malloc_trim(0)


@cache
def _malloc_trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
