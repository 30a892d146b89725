"""Calls that last: a stream ends soon after its caller's key was revoked or has expired."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar

from ...nouns.caller import Caller
from ...nouns.errors import Unauthenticated
from .gate import Gate

RECHECK_S = 1.0
"""How often it is asked whether a caller may still call, while nothing is told to it."""

T = TypeVar("T")


async def while_permitted(
    gate: Gate, caller: Caller, source: AsyncIterator[T], every_s: float = RECHECK_S
) -> AsyncGenerator[T, None]:
    """Yield what `source` does, and check the caller before each of it and every `every_s`.

    However it ends, `source` is ended with it.

    Raises:
        Unauthenticated: the caller may not call any more; what came since is not yielded.
    """
    coming: asyncio.Future[T] | None = None
    try:
        while True:
            coming = coming or asyncio.ensure_future(_next(source))
            await asyncio.wait({coming}, timeout=every_s)
            await gate.recheck(caller)
            if not coming.done():
                continue
            done, coming = coming, None
            try:
                told = done.result()
            except StopAsyncIteration:
                return
            yield told
    finally:
        if coming is not None:
            coming.cancel()
            with contextlib.suppress(asyncio.CancelledError, StopAsyncIteration):
                await coming
        close = getattr(source, "aclose", None)
        if close is not None:
            await close()


async def until_refused(
    gate: Gate, caller: Caller, source: AsyncIterator[T], every_s: float = RECHECK_S
) -> AsyncGenerator[T, None]:
    """As `while_permitted`, but end quietly when the caller may not call any more."""
    async with contextlib.aclosing(while_permitted(gate, caller, source, every_s)) as told:
        with contextlib.suppress(Unauthenticated):
            async for each in told:
                yield each


async def _next(source: AsyncIterator[T]) -> T:
    return await anext(source)
