"""What operators see of a server: traces sent to a collector, lines of log, ids of requests."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_kit import Client
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from receiver_kit import Receiver
from wire_kit import MAIN, Server

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SAID = "The harpsichord is kept in the boathouse."
ASKED = "Where is the harpsichord kept?"
# As MAIN, with a collector told by the variables that OpenTelemetry itself has.
TRACING = (
    """
import os, sys
os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = {url!r}
sys.stderr = open({log!r}, "w")
"""
    + MAIN
)


@dataclass
class Seen:
    """What a server said while it was used, told when it had ended."""

    answers: dict[str, Any] = field(default_factory=dict)
    spans: list[Any] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)
    log: str = ""


def _attributes(span: Any) -> dict[str, Any]:
    return {
        a.key: a.value.string_value or a.value.int_value or a.value.bool_value
        for a in span.attributes
    }


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """A traced server that logs JSON, after a retain, recalls and a call over gRPC."""
    folder = tmp_path_factory.mktemp("traced")
    told = Seen()
    with Receiver() as collector:
        main = TRACING.format(url=collector.url.removesuffix("/hook"), log=str(folder / "log"))
        more = {"log_format": "json", "log_level": "info", "slow_recall_ms": "0.001"}
        with Server(folder / "data", main, **more) as server:
            server.retain("music", SAID)
            told.answers["recall"] = server.client.post(
                "/v1/default/banks/music/memories/recall",
                json={"query": ASKED},
                headers={"traceparent": f"00-{TRACE}-{PARENT}-01", "X-Request-Id": "order-7"},
            )
            bad = {"X-Request-Id": "no good id"}
            told.answers["missing"] = server.client.get("/nowhere", headers=bad)
            with grpc.insecure_channel(server.grpc) as channel:
                Client(channel, "default").call("Prime", entity_id="music")
            told.answers["metrics"] = server.client.get("/metrics").text
        for _, body in collector.calls:
            batch = ExportTraceServiceRequest.FromString(body)
            for each in batch.resource_spans:
                names = {a.key: a.value.string_value for a in each.resource.attributes}
                assert names["service.name"] == "remembrancer"
                told.spans += [span for scope in each.scope_spans for span in scope.spans]
    told.log = (folder / "log").read_text()
    told.lines = [json.loads(line) for line in told.log.splitlines()]
    return told


def test_a_recall_goes_on_from_the_trace_of_its_caller(seen: Seen) -> None:
    route = "/v1/default/banks/{bank_id}/memories/recall"
    [wire] = [s for s in seen.spans if s.name == f"POST {route}"]
    assert (wire.trace_id.hex(), wire.parent_span_id.hex()) == (TRACE, PARENT)
    told = _attributes(wire)
    assert told["http.route"] == route
    assert told["http.response.status_code"] == 200
    [verb] = [s for s in seen.spans if s.name == "recall"]
    assert (verb.trace_id, verb.parent_span_id) == (wire.trace_id, wire.span_id)
    assert _attributes(verb)["remembrancer.bank"] == "music"


def test_every_wire_and_verb_has_spans(seen: Seen) -> None:
    names = {span.name for span in seen.spans}
    assert {"retain", "recall", "prime", "GET", "hebbs.v1.MemoryService/Prime"} <= names


def test_no_span_holds_what_was_said(seen: Seen) -> None:
    assert seen.spans
    for span in seen.spans:
        assert "harpsichord" not in str(span)


def test_requests_have_ids_and_answers_tell_them(seen: Seen) -> None:
    assert seen.answers["recall"].headers["X-Request-Id"] == "order-7"
    made = seen.answers["missing"].headers["X-Request-Id"]
    assert len(made) == 16
    by_route = {line.get("route"): line for line in seen.lines if "route" in line}
    assert by_route["none"]["request_id"] == made
    recall = by_route["/v1/default/banks/{bank_id}/memories/recall"]
    assert recall["request_id"] == "order-7"
    assert (recall["status"], recall["bank"], recall["tenant"]) == (200, "music", "default")
    assert recall["trace_id"] == TRACE
    [call] = [line for line in seen.lines if line.get("service") == "hebbs.v1.MemoryService"]
    assert (call["method"], call["status"]) == ("Prime", "OK")


def test_a_slow_recall_is_explained_without_its_text(seen: Seen) -> None:
    [slow] = [line for line in seen.lines if line["message"].startswith("slow recall")]
    assert slow["level"] == "warning"
    assert slow["request_id"] == "order-7"
    assert (slow["banks"], slow["answer_count"]) == (["music"], 1)
    assert slow["total_ms"] >= slow["embed_ms"] + slow["search_ms"] + slow["rows_ms"] - 1
    assert "shares words with the question" in slow["best"][0]["why"]
    assert "harpsichord" not in seen.log
    assert "remembrancer_slow_recalls_total 1" in seen.answers["metrics"]


def test_without_variables_nothing_of_tracing_is_loaded() -> None:
    code = (
        "import sys, remembrancer.faces.serving as s; sys.exit('opentelemetry.sdk' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_text_is_logged_where_a_setting_allows_it(tmp_path: Path) -> None:
    main = f"import sys; sys.stderr = open({str(tmp_path / 'log')!r}, 'w')\n" + MAIN
    more = {"log_text": "true", "slow_recall_ms": "0.001", "grpc": "off"}
    with Server(tmp_path / "data", main, **more) as server:
        server.retain("music", SAID)
        server.recall("music", ASKED)
    log = (tmp_path / "log").read_text()
    assert "slow recall" in log
    assert ASKED in log
    assert SAID in log
