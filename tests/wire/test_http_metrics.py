"""Figures for Prometheus, probes, features, and the path that everything may stand under."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from wire_kit import Server

_LINE = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="[^"]*",?)*)\})? (-?[0-9.e+-]+|\+Inf)')


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of its own, for its figures are those of all banks."""
    with Server(tmp_path_factory.mktemp("metrics")) as server:
        yield server


def _figures(server: Server) -> dict[str, float]:
    """Return every figure by name and labels, after checking that all lines are well formed."""
    answer = server.client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.text.endswith("\n")
    found: dict[str, float] = {}
    typed: dict[str, str] = {}
    for line in answer.text.splitlines():
        if line.startswith("#"):
            _, what, name, rest = line.split(" ", 3)
            assert what in {"HELP", "TYPE"}
            if what == "TYPE":
                assert name not in typed
                typed[name] = rest
            continue
        match = _LINE.fullmatch(line)
        assert match, line
        name, labels, value = match.groups()
        assert name in typed or re.sub("_(bucket|sum|count)$", "", name) in typed
        key = f"{name}{{{labels or ''}}}"
        assert key not in found
        found[key] = float(value)
    return found


def _more(server: Server, before: dict[str, float]) -> dict[str, float]:
    """Return by how much figures have risen."""
    return {key: value - before.get(key, 0) for key, value in _figures(server).items()}


def test_what_was_done_is_counted(alone: Server) -> None:
    before = _figures(alone)
    alone.retain("b", "Alice works at Google.", "Bob likes tea.")
    alone.recall("b", "Where does Alice work?")
    alone.recall("b", "What does Bob like?")
    assert alone.client.get("/v1/default/banks/none/profile").status_code == 404
    assert alone.client.get("/nowhere").status_code == 404
    figures = _more(alone, before)
    name = "remembrancer_http_request_duration_seconds"
    bank = 'route="/v1/default/banks/{bank_id}'
    for labels, count in [
        (f'method="POST",{bank}/memories",status="200"', 1),
        (f'method="POST",{bank}/memories/recall",status="200"', 2),
        (f'method="GET",{bank}/profile",status="404"', 1),
        ('method="GET",route="none",status="404"', 1),
    ]:
        assert figures[f"{name}_count{{{labels}}}"] == count
        assert figures[f'{name}_bucket{{{labels},le="+Inf"}}'] == count
        assert figures[f"{name}_sum{{{labels}}}"] > 0
        buckets = [v for k, v in figures.items() if k.startswith(f"{name}_bucket{{{labels},")]
        assert buckets == sorted(buckets)
        assert len(buckets) == 21
    assert figures["remembrancer_banks{}"] == 1
    assert figures['remembrancer_units{layer="source"}'] == 2
    facts = figures['remembrancer_units{layer="fact"}']
    assert figures["remembrancer_retained_items_total{}"] == 2
    assert figures["remembrancer_retained_facts_total{}"] == facts
    assert figures['hindsight_operation_total{operation="recall",success="true"}'] == 2
    assert figures["remembrancer_uptime_seconds{}"] > 0
    assert before["remembrancer_process_resident_memory_bytes{}"] > 1e6


def test_operations_are_counted_by_state(alone: Server) -> None:
    before = _figures(alone)
    queued = alone.retain("queued", "Alice works at Google.", **{"async": True})
    alone.finished("queued", queued["operation_id"])
    figures = _more(alone, before)
    assert figures['remembrancer_operations{status="completed"}'] == 1
    assert figures['hindsight_async_operations{status="completed"}'] == 1
    assert figures['remembrancer_operations{status="failed"}'] == 0
    assert figures["remembrancer_retained_items_total{}"] == 1


def test_names_of_callers_make_no_series(alone: Server) -> None:
    def ask(n: int) -> None:
        alone.client.get(f"/v1/default/banks/bank-{n}/stats")
        alone.client.get(f"/nowhere/{n}")
        alone.client.request("TRACE", "/health")
        alone.client.request("PROPFIND", "/health")

    ask(0)
    _figures(alone)
    before = _figures(alone)
    for n in range(1, 10):
        ask(n)
    rise = _more(alone, before)
    assert rise.keys() == before.keys()
    name = "remembrancer_http_request_duration_seconds_count"
    assert rise[f'{name}{{method="other",route="/health",status="405"}}'] == 18
    assert rise[f'{name}{{method="GET",route="none",status="404"}}'] == 9


def test_features_are_those_there_are(server: Server) -> None:
    features = server.client.get("/version").json()["features"]
    routes = server.client.get("/openapi.json").json()["paths"]
    bank = "/v1/default/banks/{bank_id}"
    assert features["bank_config_api"] is features["audit_log"] is features["worker"] is True
    for name, path in [
        ("bank_config_api", f"{bank}/config"),
        ("audit_log", f"{bank}/audit-logs"),
        ("file_upload_api", f"{bank}/files/retain"),
        ("document_export_api", f"{bank}/document-transfer/export"),
        ("observations", f"{bank}/consolidate"),
        ("bank_llm_health", f"{bank}/health/llm"),
    ]:
        assert features[name] is (path in routes), name


def test_everything_stands_under_a_base_path(folder: Path) -> None:
    under = "/a/b"
    with Server(folder, base_path="/a/b/", worker="false") as server:
        path = f"{under}/v1/default/banks/one%2Ftwo"
        item = {"items": [{"content": "The door is red."}]}
        assert server.post(f"{path}/memories", item).json()["bank_id"] == "one/two"
        found = server.post(f"{path}/memories/recall", {"query": "What is red?"}).json()
        assert [r["text"] for r in found["results"]] == ["The door is red."]
        missing = server.client.get(f"{under}/v1/default/banks/none/profile")
        assert (missing.status_code, missing.json().keys()) == (404, {"detail"})
        wrong = server.post(f"{under}/v1/prime", {})
        assert wrong.json()["code"] == "INVALID_ARGUMENT"
        assert server.client.get(f"{under}/health").status_code == 200
        assert server.client.get("/health").status_code == 200
        assert server.client.get(f"{under}x/health").status_code == 404
        assert server.client.get(f"{under}/version").json()["features"]["worker"] is False
        document = server.client.get(f"{under}/openapi.json").json()
        assert document["servers"] == [{"url": under}]
