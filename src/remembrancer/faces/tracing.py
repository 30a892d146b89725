"""Sends traces where OpenTelemetry's own variables say; without them nothing is loaded or sent."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .._version import __version__
from ..nouns.errors import InvalidInput
from ..nouns.spans import NAME

_EXPORTER = "OTEL_TRACES_EXPORTER"
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_HTTP = "http/protobuf"


def wanted(variables: Mapping[str, str]) -> str | None:
    """Return which exporter is asked for, otlp or console; None: no traces.

    Raises:
        InvalidInput: another exporter, or another protocol, than there is.
    """
    if variables.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    exporter = variables.get(_EXPORTER, "").strip().lower()
    if exporter == "none" or not (exporter or any(variables.get(name) for name in _ENDPOINTS)):
        return None
    exporter = exporter or "otlp"
    if exporter not in ("otlp", "console"):
        raise InvalidInput(
            f"{_EXPORTER} is {exporter!r}; use otlp, console or none", field=_EXPORTER
        )
    protocol = next((variables[name] for name in _PROTOCOLS if variables.get(name)), _HTTP)
    if exporter == "otlp" and protocol != _HTTP:
        raise InvalidInput(
            f"traces are sent by {_HTTP}, and not by {protocol!r}; the collector's port for it is "
            "4318 as a rule",
            field=_PROTOCOLS[1],
        )
    return exporter


@contextmanager
def traces_sent() -> Iterator[None]:
    """Send traces meanwhile if the environment asks for it, and what is left at the end.

    Raises:
        InvalidInput: it asks for what there is not, or the extra `otel` is not installed.
    """
    exporter = wanted(os.environ)
    if exporter is None:
        yield
        return
    provider = _provider(exporter)
    try:
        yield
    finally:
        provider.shutdown()


def _provider(exporter: str) -> Any:
    """Return the provider of tracers, made that of the process."""
    try:
        from opentelemetry import trace  # noqa: PLC0415 - an extra
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

        sender = _sender(exporter)
    except ImportError as error:
        raise InvalidInput(
            "traces are asked for by OTEL_ variables, which needs OpenTelemetry: "
            "pip install 'remembrancer[otel]', or set OTEL_SDK_DISABLED=true",
            field=_EXPORTER,
        ) from error
    resource = Resource({"service.name": NAME, "service.version": __version__})
    # Those of the environment win: OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES.
    named = {k: v for k, v in Resource.create().attributes.items() if not _unknown(k, v)}
    provider = TracerProvider(resource=resource.merge(Resource(named)))
    provider.add_span_processor(BatchSpanProcessor(sender))
    trace.set_tracer_provider(provider)
    return provider


def _unknown(key: str, value: object) -> bool:
    """Tell whether an attribute is the SDK's word for a service without a name."""
    return key == "service.name" and str(value).startswith("unknown_service")


def _sender(exporter: str) -> Any:
    if exporter == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter  # noqa: PLC0415

        return ConsoleSpanExporter()
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
        OTLPSpanExporter,
    )

    return OTLPSpanExporter()
