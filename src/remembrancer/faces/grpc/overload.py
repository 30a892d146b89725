"""Gives calls a place and a time to end, and tells those that are refused when to try again."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc

from ...nouns.caller import Permission
from ...nouns.errors import DeadlineExceeded, RemembrancerError
from ...verbs.admission.desk import Desk, Work
from ...verbs.meters import DEADLINES, Meters

HEAVY = frozenset({"reflect", "reflect_prepare", "contradiction_prepare"})
"""Calls that read much of a tenant's memories, as `Calls` names them."""

PUSHBACK = "grpc-retry-pushback-ms"
"""The metadata by which a server tells gRPC's own retries how long to wait (gRFC A6)."""

_DETAILS = "grpc-status-details-bin"
_RETRY_INFO = b"type.googleapis.com/google.rpc.RetryInfo"
_RETRY_S = 2.0  # where an error says nothing itself
_RETRIED = frozenset({grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE})

Metadata = Sequence[tuple[str, str | bytes]]


class Turnstile:
    """What calls pass before they are done.

    Args:
        desk: gives out places.
        meters: count what ran out of time here; when a client's deadline passes first, gRPC itself
            ends the call.
    """

    def __init__(self, desk: Desk, meters: Meters) -> None:
        self._desk = desk
        self._meters = meters

    @asynccontextmanager
    async def place(
        self, op: str, needs: Permission, tenant: str, context: Any
    ) -> AsyncIterator[None]:
        """Hold a place for the length of the block, which ends when the time is over.

        Raises:
            RateLimited, Overloaded: see `Desk.enter`.
            DeadlineExceeded: the block was ended.
        """
        work = _work(op, needs)
        most_s = self._desk.deadlines[work]
        remaining = context.time_remaining()
        left_s = most_s if remaining is None else min(most_s, max(0.0, remaining))
        try:
            async with asyncio.timeout(left_s) as limit:
                ticket = await self._desk.enter(work, tenant, left_s)
                with self._desk.inside(work, ticket):
                    yield
        except TimeoutError:
            if not limit.expired():
                raise
            self._meters.add(DEADLINES, wire="grpc", work=work.value)
            raise DeadlineExceeded(
                f"the time for this call, {left_s:g} s, is over, and its work was ended"
            ) from None


def retry_metadata(error: RemembrancerError, status: grpc.StatusCode, text: str) -> Metadata:
    """Return trailing metadata that says when a call is worth another try; none: it is not said.

    The same twice: for gRPC's own retries, and as google.rpc.RetryInfo within a google.rpc.Status.
    """
    if status not in _RETRIED:
        return ()
    seconds = getattr(error, "retry_after_s", _RETRY_S)
    delay = max(1, math.ceil(seconds * 1_000))
    info = _bytes(1, _number(1, delay // 1_000) + _number(2, delay % 1_000 * 1_000_000))
    detail = _bytes(1, _RETRY_INFO) + _bytes(2, info)
    code: int = status.value[0]
    details = _number(1, code) + _bytes(2, text.encode("utf-8", "replace")) + _bytes(3, detail)
    return (PUSHBACK, str(delay)), (_DETAILS, details)


def _work(op: str, needs: Permission) -> Work:
    if op in HEAVY:
        return Work.HEAVY
    return Work.READ if needs is Permission.READ else Work.WRITE


# Four fields of two messages: not worth another package.
def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value
