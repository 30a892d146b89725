"""Lines of log: their shape, and that they hold no words of errors unless a setting allows it."""

from __future__ import annotations

import io
import json
import logging
from typing import Any

import pytest

from remembrancer.faces.logs import FIELDS, logging_to
from remembrancer.faces.request_ids import current, request_id
from remembrancer.faces.tracing import wanted
from remembrancer.nouns.errors import InvalidInput, StoreError, StoreRefused
from remembrancer.settings import Settings

log = logging.getLogger("remembrancer.tests")


def _written(error: Exception, **settings: Any) -> str:
    stream = io.StringIO()
    with logging_to(Settings(**settings), stream):
        try:
            raise error
        except type(error):
            log.exception("reading failed", extra={FIELDS: {"bank": "ann"}})
    return stream.getvalue()


def test_json_lines_can_be_read() -> None:
    line = json.loads(_written(ValueError("secret words"), log_format="json"))
    assert (line["level"], line["message"], line["bank"]) == ("error", "reading failed", "ann")
    assert line["error"]["type"] == "ValueError"
    assert "message" not in line["error"]
    assert "_written" in line["error"]["at"][-1]
    assert line["time"].endswith("Z")


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_words_of_errors_need_permission(log_format: str) -> None:
    assert "secret words" not in _written(ValueError("secret words"), log_format=log_format)
    allowed = _written(ValueError("secret words"), log_format=log_format, log_text=True)
    assert "secret words" in allowed
    # Those of the system hold nothing that was said, and are what an operator needs.
    assert "disk full" in _written(OSError("disk full"), log_format=log_format)
    assert "the disk is full" in _written(StoreError("the disk is full"), log_format=log_format)
    assert "cello" not in _written(StoreRefused("no number: 'cello'"), log_format=log_format)


def test_the_level_is_the_setting() -> None:
    stream = io.StringIO()
    with logging_to(Settings(log_level="error"), stream):
        log.warning("unseen")
    with logging_to(Settings(log_level="info"), stream):
        log.info("seen")
    log.error("after")
    assert [line.split(": ")[1] for line in stream.getvalue().splitlines()] == ["seen"]


def test_a_request_names_its_lines() -> None:
    stream = io.StringIO()
    token = current.set("order-7")
    with logging_to(Settings(), stream):
        log.warning("one")
    current.reset(token)
    assert stream.getvalue().endswith("one request_id=order-7\n")


@pytest.mark.parametrize("given", [None, "", "two words", "x" * 129, "naïve", "a\nb"])
def test_bad_ids_are_replaced(given: str | None) -> None:
    assert request_id(given, bytes) == "00" * 8


def test_traces_are_asked_for_by_the_standard_variables() -> None:
    url = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}
    assert wanted({}) is None
    assert wanted(url) == "otlp"
    assert wanted({"OTEL_TRACES_EXPORTER": "console"}) == "console"
    assert wanted({**url, "OTEL_TRACES_EXPORTER": "none"}) is None
    assert wanted({**url, "OTEL_SDK_DISABLED": "TRUE"}) is None
    with pytest.raises(InvalidInput, match="zipkin"):
        wanted({"OTEL_TRACES_EXPORTER": "zipkin"})
    with pytest.raises(InvalidInput, match="4318"):
        wanted({**url, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"})
