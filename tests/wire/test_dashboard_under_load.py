"""Under 200 requests a second, every query of the dashboard and every rule has data; rules fire.

`make prove` keeps the load up for a minute, and writes the figures.
"""

from __future__ import annotations

import json
import math
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml
from grpc_kit import Client
from load_kit import BANK, Load
from wire_kit import Server

from promql_kit import Labels, Scrape, Value, evaluate, scraped, sides

ROOT = Path(__file__).parents[2]
PANELS = json.loads((ROOT / "deploy/grafana/remembrancer.json").read_text())["panels"]
GROUPS = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_text())["groups"]
RULES: dict[str, str] = {rule["alert"]: rule["expr"] for g in GROUPS for rule in g["rules"]}
QUERIES: list[tuple[str, str]] = [(p["title"], t["expr"]) for p in PANELS for t in p["targets"]]

IDLE = (  # what a server that is not too busy shows nothing of
    "Share of requests that fail (5xx)",
    "Requests worked on and waiting",
    "Requests refused under load",
    "Waits for a place, p95",
)
RATE = 200.0  # requests a second
SPAN_S = 6  # times `prove`: a minute in full
SCRAPES = 6
TARGET = {"job": "remembrancer", "instance": "127.0.0.1:6381"}
VARIABLES = {"__rate_interval": "5m", "instance": ".*"}  # five minutes: all scrapes

Change = Callable[[dict[str, str], float], tuple[dict[str, str], float]]


@dataclass
class Seen:
    """A server's figures while it was asked, and what it was asked between first and last."""

    scrapes: list[Scrape] = field(default_factory=list)
    load: Load | None = None
    server_cpu_s: float = 0.0
    scrape_s: list[float] = field(default_factory=list)

    def ask(self, text: str) -> Value:
        return evaluate(text, self.scrapes, VARIABLES)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory, prove: int) -> Iterator[Seen]:
    told = Seen()
    # So that recalls count as slow; lines about each are not wanted here.
    quick = {"slow_recall_ms": "0.001", "log_level": "error"}
    with Server(tmp_path_factory.mktemp("load"), **quick) as server:

        def scrape(_: int = 0) -> None:
            before = time.monotonic()
            text = server.client.get("/metrics").text
            told.scrape_s.append(time.monotonic() - before)
            told.scrapes.append(scraped(time.time(), text, **TARGET))

        with grpc.insecure_channel(server.grpc) as channel:
            listening = Client(channel, "default").subscribe(entity_id=BANK, timeout=600.0)
            next(listening)
            Load(server).send(len(Load.MIX), RATE, lambda _: None, 1)  # each series begins
            scrape()
            told.load, before = Load(server), cpu_s(server)
            told.load.send(int(RATE * SPAN_S * prove), RATE, scrape, SCRAPES)
            told.server_cpu_s = cpu_s(server) - before
            scrape()
            listening.cancel()
        told.scrapes.sort(key=lambda each: each.at)
        yield told


def cpu_s(server: Server) -> float:
    """Return the seconds of processor that a server has used."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def numbers(value: Value) -> list[float]:
    return [v for v in value.values() if isinstance(v, float)] if isinstance(value, dict) else []


@pytest.mark.parametrize(("title", "query"), QUERIES, ids=lambda text: text[:40])
def test_a_panel_shows_something(seen: Seen, title: str, query: str) -> None:
    found = numbers(seen.ask(query))
    assert found, f"{title}: no data"
    assert all(math.isfinite(each) and each >= 0 for each in found), f"{title}: {found}"
    some = sum(found) > 0 or title in IDLE
    assert some, f"{title}: {found}"


@pytest.mark.parametrize("alert", RULES)
def test_a_rule_compares_real_figures(seen: Seen, alert: str) -> None:
    for side in sides(RULES[alert]):
        # A kind of failure that did not happen has no series: ask for all kinds instead.
        asked = re.sub(r'status=~"[^"]*"', 'status=~".+"', side)
        found = numbers(seen.ask(asked))
        assert found, f"{asked}: no data"
        assert all(map(math.isfinite, found)), f"{asked}: {found}"
    seen.ask(RULES[alert])


def test_every_query_has_data_at_200_requests_a_second(seen: Seen, record: Any, prove: int) -> None:
    assert seen.load is not None
    sent, first, last = seen.load.sent, seen.scrapes[0], seen.scrapes[-1]
    http, calls = (
        total(last, f"remembrancer_{each}_request_duration_seconds_count")
        - total(first, f"remembrancer_{each}_request_duration_seconds_count")
        for each in ("http", "grpc")
    )
    assert sent.http <= http <= sent.http + sent.lost
    assert calls == sent.kinds["grpc"]
    assert sent.http + sent.lost + calls == int(RATE * SPAN_S * prove)
    assert sent.lost < sent.http / 100
    items = "remembrancer_retained_items_total"
    assert total(last, items) - total(first, items) >= sent.kinds["retain"] - sent.lost
    empty = [title for title, query in QUERIES if not numbers(seen.ask(query))]
    firing = [alert for alert, rule in RULES.items() if numbers(seen.ask(rule))]
    share = next(query for title, query in QUERIES if "5xx" in title)
    record(
        {
            "requests": sent.http + calls,
            "requests_lost": sent.lost,
            "requests_a_second": round((sent.http + calls) / sent.seconds, 1),
            "server_cpu_ms_a_request": round(1000 * seen.server_cpu_s / (sent.http + calls), 2),
            "span_s": round(sent.seconds, 1),
            "series": len(last.series),
            "scrape_max_ms": round(1000 * max(seen.scrape_s), 1),
            "dashboard_queries": len(QUERIES),
            "dashboard_queries_empty": len(empty),
            "rules": len(RULES),
            "rules_firing": len(firing),  # slow recalls, which the test's setting makes of all
            "failed_share": numbers(seen.ask(share))[0],
        }
    )
    assert not empty
    assert "RemembrancerSlowRecalls" in firing


def total(scrape: Scrape, name: str) -> int:
    """Return the sum of a metric's series, but for those of the scrapes themselves."""
    named = [(dict(labels), value) for labels, value in scrape.series.items()]
    return int(
        sum(
            value
            for labels, value in named
            if labels["__name__"] == name and labels.get("route") != "/metrics"
        )
    )


def relabelled(scrapes: list[Scrape], name: str, change: Change) -> list[Scrape]:
    """Return the scrapes as they would be with some of a metric's series told otherwise."""

    def told(series: Mapping[Labels, float]) -> dict[Labels, float]:
        found: dict[Labels, float] = {}
        for key, value in series.items():
            labels, now = dict(key), value
            if labels["__name__"].startswith(name):
                labels, now = change(labels, value)
            changed = frozenset(labels.items())
            found[changed] = found.get(changed, 0.0) + now
        return found

    return [Scrape(each.at, told(each.series)) for each in scrapes]


def status(old: str, new: str, factor: float = 1) -> Change:
    """Tell what has one status as having another, and so many times as often."""
    return lambda labels, value: (
        ({**labels, "status": new}, value * factor)
        if labels.get("status") == old
        else (labels, value)
    )


def slower(labels: dict[str, str], value: float) -> tuple[dict[str, str], float]:
    """Tell everything as a million times as slow."""
    bound = labels.get("le", "+Inf")
    return (
        ({**labels, "le": bound if bound == "+Inf" else str(float(bound) * 1e6)}, value)
        if ("le" in labels)
        else (labels, value)
    )


HTTP, GRPC = "remembrancer_http_request_duration", "remembrancer_grpc_request_duration"
TROUBLE: dict[str, tuple[str, Change]] = {
    "RemembrancerDown": ("up", lambda labels, _: (labels, 0.0)),
    "RemembrancerErrors": (HTTP, status("200", "500")),
    "RemembrancerGrpcErrors": (GRPC, status("OK", "INTERNAL")),
    "RemembrancerRecallSlow": (HTTP, slower),
    "RemembrancerPrimeSlow": (HTTP, slower),
    "RemembrancerSlowRecalls": ("remembrancer_slow_recalls", lambda labels, n: (labels, n)),
    "RemembrancerOperationsFailed": ("remembrancer_operations", status("completed", "failed")),
    "RemembrancerQueueGrows": (
        "remembrancer_operations",
        status("completed", "pending", factor=1000),
    ),
    "RemembrancerMemory": ("remembrancer_process", lambda labels, n: (labels, n * 1000)),
    "RemembrancerRefused": (HTTP, status("200", "429")),
}


@pytest.mark.parametrize("alert", [each for each in RULES if each != "RemembrancerRestarting"])
def test_a_rule_fires_when_the_same_figures_tell_of_trouble(seen: Seen, alert: str) -> None:
    troubled = relabelled(seen.scrapes, *TROUBLE[alert])
    assert numbers(evaluate(RULES[alert], troubled, VARIABLES))


def test_it_tells_when_a_server_begins_again_and_again(seen: Seen) -> None:
    rule, at = RULES["RemembrancerRestarting"], seen.scrapes[-1].at
    assert not numbers(seen.ask(rule))
    ends = [seen.scrapes[0].series, seen.scrapes[-1].series]
    again = [Scrape(at + i, ends[i % 2]) for i in range(7)]
    assert numbers(evaluate(rule, again, VARIABLES))


def test_nobody_answers_for_a_server_that_is_gone(seen: Seen) -> None:
    gone = [*seen.scrapes, scraped(seen.scrapes[-1].at + 15, None, **TARGET)]
    assert numbers(evaluate(RULES["RemembrancerDown"], gone, VARIABLES))
    assert not numbers(seen.ask(RULES["RemembrancerDown"]))
