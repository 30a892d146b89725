"""Spans of OpenTelemetry where a process traces, nothing where it does not.

A process traces once somebody has loaded OpenTelemetry's SDK: the server, told so by variables
`OTEL_…` (see `faces.tracing`), or a program that the library is a part of. Else a span costs the
look into `sys.modules`. No span holds what was said, and no error its words: they may quote it.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from .memory import BankRef

P = ParamSpec("P")
R = TypeVar("R")
Value = str | int | float | bool

NAME = "remembrancer"
"""Of the tracer, and before the names of our own attributes."""


class Span:
    """A span that may be told more while it lasts."""

    def set(self, attributes: Mapping[str, Value]) -> None:
        """Add attributes."""

    def rename(self, name: str) -> None:
        """Give it another name."""

    def fail(self, kind: str) -> None:
        """Say that it ended with an error of this kind."""


class _Traced(Span):
    def __init__(self, trace: Any, span: Any) -> None:
        self._trace = trace
        self._span = span

    def set(self, attributes: Mapping[str, Value]) -> None:
        self._span.set_attributes(attributes)

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def fail(self, kind: str) -> None:
        self._span.set_attribute("error.type", kind)
        self._span.set_status(self._trace.Status(self._trace.StatusCode.ERROR))


_OFF = nullcontext(Span())


def tracing() -> bool:
    """Tell whether this process traces."""
    return "opentelemetry.sdk.trace" in sys.modules


def span(
    name: str,
    attributes: Mapping[str, Value] | None = None,
    *,
    carrier: Mapping[str, str] | None = None,
) -> AbstractContextManager[Span]:
    """Return a span to be entered; it ends when that is left, and failed if by an error.

    Args:
        name: what is done, of a small, closed set.
        attributes: what is known of it.
        carrier: headers of a request that this answers, whose `traceparent` it goes on from, or as
            the variable OTEL_PROPAGATORS has it; the names in lower case.
    """
    return _spanned(name, attributes or {}, carrier) if tracing() else _OFF


@contextmanager
def _spanned(
    name: str, attributes: Mapping[str, Value], carrier: Mapping[str, str] | None
) -> Iterator[Span]:
    from opentelemetry import propagate, trace  # noqa: PLC0415 - an extra, loaded already

    with trace.get_tracer(NAME).start_as_current_span(
        name,
        context=None if carrier is None else propagate.extract(carrier),
        kind=trace.SpanKind.INTERNAL if carrier is None else trace.SpanKind.SERVER,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as started:
        told = _Traced(trace, started)
        try:
            yield told
        except BaseException as error:
            told.fail(type(error).__name__)
            raise


def traced(name: str) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Awaitable[R]]]:
    """Make a method of a verb a span, which names the bank when that is the first argument."""

    def around(call: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
        @wraps(call)
        async def traced_call(*args: P.args, **more: P.kwargs) -> R:
            if not tracing():
                return await call(*args, **more)
            told: dict[str, Value] = {}
            if len(args) > 1 and isinstance(args[1], BankRef):
                told = {f"{NAME}.tenant": args[1].tenant, f"{NAME}.bank": args[1].bank}
            with span(name, told):
                return await call(*args, **more)

        return traced_call

    return around


def current_ids() -> tuple[str, str] | None:
    """Return the ids of the trace and the span that this is in, in hex; None outside of any."""
    if not tracing():
        return None
    from opentelemetry import trace  # noqa: PLC0415 - an extra, loaded already

    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return None
    return trace.format_trace_id(context.trace_id), trace.format_span_id(context.span_id)
