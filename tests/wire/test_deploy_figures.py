"""The dashboard and the alerts use only metrics that a server tells, and the docs name them all."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from wire_kit import Server

ROOT = Path(__file__).parents[2]
DASHBOARD = ROOT / "deploy/grafana/remembrancer.json"
ALERTS = ROOT / "deploy/prometheus/alerts.yml"
PAGE = ROOT / "docs/observability.md"

_NAME = re.compile(r"\b(?:remembrancer|hindsight|hebbs)_[a-z_]+\b")
_SELECTOR = re.compile(r'(\w+)(=~|!=|!~|=)"((?:[^"\\]|\\.)*)"')
_SERIES = re.compile(r"([a-z_]+)(?:\{(.*)\})? \S+")
_PROMETHEUS_OWN = {"job", "instance"}


class Told:
    """The figures of a server after some traffic: names, and the values of each name's labels."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.labels: dict[str, dict[str, set[str]]] = {}
        self.families = set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            match = _SERIES.fullmatch(line)
            assert match, line
            labels = self.labels.setdefault(match[1], {})
            for key, value in re.findall(r'(\w+)="([^"]*)"', match[2] or ""):
                labels.setdefault(key, set()).add(value)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    few = {"admit_reads": "1", "admit_tenant_queue": "1", "admit_penalty_s": "0"}
    with Server(tmp_path_factory.mktemp("deploy"), **few) as server:
        server.retain("b", "The lamp is green.")
        server.recall("b", "Which colour has the lamp?")
        server.post("/v1/prime", {"entity_id": "b"})
        server.post("/v1/default/banks/b/reflect", {"query": "Which colour has the lamp?"})
        server.post("/v1/default/banks/b/intentions/check", {})
        server.post("/v1/recall", {})
        call(server)
        crowd(server)
        yield Told(server.client.get("/metrics").text)


def call(server: Server) -> None:
    """Make a call over gRPC, so that its histogram has series."""
    import grpc
    from grpc_kit import Client

    with grpc.insecure_channel(server.grpc) as channel:
        Client(channel, "default").call("Prime", entity_id="b")


def crowd(server: Server) -> None:
    """Ask too much at once, so that something waits and something is refused."""
    ends = time.monotonic() + 30

    def ask(_: int) -> int:
        return int(server.client.post("/v1/prime", json={"entity_id": "b"}).status_code)

    with ThreadPoolExecutor(8) as pool:
        while 429 not in set(pool.map(ask, range(24))):
            assert time.monotonic() < ends, "nothing was refused"


def expressions() -> list[str]:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    shown = [target["expr"] for panel in panels for target in panel["targets"]]
    rules = [r for g in yaml.safe_load(ALERTS.read_text())["groups"] for r in g["rules"]]
    return shown + [rule["expr"] for rule in rules]


def test_every_expression_names_what_there_is(told: Told) -> None:
    assert len(expressions()) > 25
    for text in expressions():
        names = set(_NAME.findall(text)) or {"up"} & set(re.findall(r"\w+", text))
        assert names, text
        for name in names - {"up"}:
            assert name in told.labels, f"no metric {name}: {text}"


def test_every_label_asked_for_is_one_of_its_metric(told: Told) -> None:
    for text in expressions():
        for name, selectors in re.findall(r'\b(\w+)\{((?:[^"{}]|"[^"]*")*)\}', text):
            for key, how, value in _SELECTOR.findall(selectors):
                if key in _PROMETHEUS_OWN:
                    continue
                assert key in told.labels[name], f"{name} has no label {key}: {text}"
                if how == "=":
                    assert value in told.labels[name][key], f"{key}={value}: {text}"
        for inner in re.findall(r"by \(([^)]*)\)", text):
            wanted = {key.strip() for key in inner.split(",")} - _PROMETHEUS_OWN
            known = {key for name in _NAME.findall(text) for key in told.labels[name]}
            assert wanted <= known, text


def test_parentheses_and_braces_are_closed() -> None:
    for text in expressions():
        bare = re.sub(r'"[^"]*"', "", text)
        for opens, closes in ("()", "{}", "[]"):
            assert bare.count(opens) == bare.count(closes), text


def test_the_page_names_every_metric_and_no_other(told: Told) -> None:
    assert set(_NAME.findall(PAGE.read_text())) == told.families


def test_the_rules_can_be_read() -> None:
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    assert len({rule["alert"] for rule in rules}) == len(rules) >= 8
    for rule in rules:
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert rule["annotations"]["summary"]
    scrape = yaml.safe_load((ALERTS.parent / "prometheus.yml").read_text())
    assert scrape["rule_files"] == [ALERTS.name]


def test_the_dashboard_is_the_generated_one() -> None:
    script = ROOT / "scripts/make_dashboard.py"
    assert subprocess.run([sys.executable, str(script), "--check"], check=False).returncode == 0
