"""How every call is answered: parse, find out who calls, do it, and map errors to statuses."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from ...nouns.caller import Caller, Permission
from ...nouns.clock import Clock
from ...nouns.errors import (
    Conflict,
    DeadlineExceeded,
    Exhausted,
    Forbidden,
    InvalidInput,
    ModelUnavailable,
    NotFound,
    Overloaded,
    RateLimited,
    RemembrancerError,
    StoreError,
    StoreFull,
    Unauthenticated,
)
from ...verbs.access.gate import Gate
from ...verbs.access.lasting import while_permitted
from ...verbs.audit import AuditLog
from .auditing import noting, tell
from .auth import caller_of
from .overload import Turnstile, retry_metadata
from .proto import PACKAGE, message

Work = Callable[[Caller, Any], Awaitable[Any]]
Stream = Callable[[Caller, Any], AsyncIterator[Any]]


_STATUSES: tuple[tuple[type[RemembrancerError], grpc.StatusCode], ...] = (
    (InvalidInput, grpc.StatusCode.INVALID_ARGUMENT),
    (NotFound, grpc.StatusCode.NOT_FOUND),
    (Conflict, grpc.StatusCode.ABORTED),
    (Unauthenticated, grpc.StatusCode.UNAUTHENTICATED),
    (Forbidden, grpc.StatusCode.PERMISSION_DENIED),
    (RateLimited, grpc.StatusCode.RESOURCE_EXHAUSTED),
    (Overloaded, grpc.StatusCode.UNAVAILABLE),
    (DeadlineExceeded, grpc.StatusCode.DEADLINE_EXCEEDED),
    (Exhausted, grpc.StatusCode.RESOURCE_EXHAUSTED),
    (ModelUnavailable, grpc.StatusCode.UNAVAILABLE),
    (StoreFull, grpc.StatusCode.RESOURCE_EXHAUSTED),
    (StoreError, grpc.StatusCode.UNAVAILABLE),
)

log = logging.getLogger(__name__)


class Calls:
    """Makes the handlers of a package's calls.

    Args:
        gate: who may call.
        log: is told what calls have changed.
        clock: when.
        turnstile: gives calls with one answer their places.
        package: of the messages.
    """

    def __init__(
        self,
        gate: Gate,
        log: AuditLog,
        clock: Clock,
        turnstile: Turnstile,
        package: str = PACKAGE,
    ) -> None:
        self._gate = gate
        self._log = log
        self._clock = clock
        self._turnstile = turnstile
        self._package = package

    def unary(self, op: str, request: str, needs: Permission, work: Work) -> Any:
        """Return the handler of a call with one answer.

        Args:
            op: what it is called in messages.
            request: name of its message.
            needs: the permission.
            work: from caller and request to the answer.
        """

        async def handle(data: bytes, context: Any) -> bytes:
            async with _answering(op, context):
                started_at = self._clock.now_us()
                caller, asked = await self._asked(request, needs, data, context)
                async with self._turnstile.place(op, needs, caller.tenant, context):
                    with noting() as changes:
                        try:
                            answer: bytes = (await work(caller, asked)).SerializeToString()
                        finally:  # what was changed before it failed stays changed
                            tell(self._log, caller, f"{self._package}/{op}", started_at, changes)
                return answer
            raise AssertionError("abort has not raised")

        return grpc.unary_unary_rpc_method_handler(handle)

    def stream(self, op: str, request: str, needs: Permission, work: Stream) -> Any:
        """Return the handler of a call with a stream of answers; see `unary`."""

        async def handle(data: bytes, context: Any) -> AsyncIterator[bytes]:
            async with _answering(op, context):
                caller, asked = await self._asked(request, needs, data, context)
                answers = while_permitted(self._gate, caller, work(caller, asked))
                async with aclosing(answers):
                    async for answer in answers:
                        yield answer.SerializeToString()

        return grpc.unary_stream_rpc_method_handler(handle)

    def open(self, op: str, request: str, work: Callable[[Caller | None], Awaitable[Any]]) -> Any:
        """Return the handler of a call that needs no key; `work` gets None from who has none."""

        async def handle(data: bytes, context: Any) -> bytes:
            async with _answering(op, context):
                _parsed(request, self._package, data)
                try:
                    caller = await caller_of(self._gate, context.invocation_metadata())
                except Unauthenticated:
                    caller = None
                answer: bytes = (await work(caller)).SerializeToString()
                return answer
            raise AssertionError("abort has not raised")

        return grpc.unary_unary_rpc_method_handler(handle)

    async def _asked(
        self, name: str, needs: Permission, data: bytes, context: Any
    ) -> tuple[Caller, Any]:
        request = _parsed(name, self._package, data)
        tenant = getattr(request, "tenant_id", None)
        caller = await caller_of(self._gate, context.invocation_metadata(), tenant)
        caller.needs(needs)
        self._gate.spend(caller, needs)
        return caller, request


def _parsed(name: str, package: str, data: bytes) -> Any:
    try:
        return message(name, package).FromString(data)
    except DecodeError:
        raise InvalidInput(f"the request is no {name}") from None


@asynccontextmanager
async def _answering(op: str, context: Any) -> AsyncIterator[None]:
    """Turn what is raised into a status. Cancellation, by client or deadline, passes through."""
    try:
        yield
    except RemembrancerError as error:
        status, text = _status(op, error)
        if status is grpc.StatusCode.INTERNAL:
            log.error("%s failed", op, exc_info=error)
        brought = context.trailing_metadata() or ()
        await context.abort(status, text, (*brought, *retry_metadata(error, status, text)))
    except grpc.aio.BaseError:
        raise
    except Exception:
        log.exception("%s failed", op)
        await context.abort(grpc.StatusCode.INTERNAL, f"internal error in {op}")


def _status(op: str, error: RemembrancerError) -> tuple[grpc.StatusCode, str]:
    for kind, status in _STATUSES:
        if isinstance(error, kind):
            told = status is grpc.StatusCode.INVALID_ARGUMENT
            return status, f"invalid input for {op}: {error.message}" if told else error.message
    return grpc.StatusCode.INTERNAL, f"internal error in {op}"
