"""Watches every call with one answer: its id, its span, how long it took, and how it ended."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from typing import Any

import grpc

from ...nouns.spans import span
from ...verbs.meters import GRPC_REQUESTS, Meters
from .. import log_queue
from ..request_ids import HEADER, current, request_id

log = logging.getLogger(__name__)


def watched(
    meters: Meters,
    service: str,
    method: str,
    handler: Any,
    random_bytes: Callable[[int], bytes] = os.urandom,
) -> Any:
    """Return a handler that does as another one, and counts what it did.

    A stream is not counted: its time is that of its client. `random_bytes` make the ids of calls
    that bring none.
    """
    work = handler.unary_unary
    if work is None:
        return handler

    async def handle(data: bytes, context: Any) -> bytes:
        brought = {
            key: value
            for key, value in context.invocation_metadata() or ()
            if isinstance(value, str)
        }
        named = request_id(brought.get(HEADER), random_bytes)
        context.set_trailing_metadata(((HEADER, named),))
        before = current.set(named)
        about = {"rpc.system": "grpc", "rpc.service": service, "rpc.method": method}
        started, status = time.perf_counter(), "OK"
        try:
            with span(f"{service}/{method}", about, carrier=brought) as told:
                try:
                    answer: bytes = await work(data, context)
                except BaseException:
                    code = context.code()  # 0 where nobody has set one
                    status = code.name if isinstance(code, grpc.StatusCode) else "CANCELLED"
                    told.set({"rpc.grpc.status": status})
                    raise
        finally:
            taken = time.perf_counter() - started
            meters.time(GRPC_REQUESTS, taken, service=service, method=method, status=status)
            log_queue.tell(log, _line, service, method, status, taken)
            current.reset(before)
        return answer

    return grpc.unary_unary_rpc_method_handler(handle)


def _line(service: str, method: str, status: str, seconds: float) -> tuple[str, dict[str, Any]]:
    """Return the message and the values of the line of a call."""
    fields = {"service": service, "method": method, "status": status}
    fields["ms"] = f"{seconds * 1e3:.2f}"
    return f"{service}/{method}", fields
