#!/usr/bin/env python3
"""Write deploy/grafana/remembrancer.json; with --check only say whether it is up to date."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "deploy" / "grafana" / "remembrancer.json"

_HTTP = "remembrancer_http_request_duration_seconds"
_GRPC = "remembrancer_grpc_request_duration_seconds"
_STAGE = "remembrancer_recall_stage_duration_seconds"
_OF = '{instance=~"$instance"'
_WAIT = "remembrancer_admission_wait_seconds"
_FAILED = ',status=~"5.."'
_BANK = "/v1/default/banks/{bank_id}"
_VERBS = {
    "retain": f"{_BANK}/memories",
    "recall": f"{_BANK}/memories/recall",
    "prime": "/v1/prime",
    "reflect": f"{_BANK}/reflect",
    "check": f"{_BANK}/intentions/check",
}


def _rate(metric: str, labels: str = "") -> str:
    return f"rate({metric}{_OF}{labels}}}[$__rate_interval])"


def _quantile(share: float, metric: str, by: str, labels: str = "") -> str:
    return f"histogram_quantile({share}, sum by (le{by}) ({_rate(f'{metric}_bucket', labels)}))"


def _route(route: str) -> str:
    return f',method="POST",route="{route}"'


Panel = tuple[str, str, list[tuple[str, str]]]  # title, unit, (expression, legend)

PANELS: tuple[Panel, ...] = (
    ("Version", "none", [(f"remembrancer_info{_OF}}}", "{{version}}")]),
    ("Up for", "s", [(f"remembrancer_uptime_seconds{_OF}}}", "{{instance}}")]),
    ("Banks", "short", [(f"remembrancer_banks{_OF}}}", "{{instance}}")]),
    ("Memories", "short", [(f"remembrancer_units{_OF}}}", "{{layer}}")]),
    (
        "Requests by status",
        "reqps",
        [
            (f"sum by (status) ({_rate(f'{_HTTP}_count')})", "{{status}}"),
            (f"sum by (status) ({_rate(f'{_GRPC}_count')})", "gRPC {{status}}"),
        ],
    ),
    (
        "Share of requests that fail (5xx)",
        "percentunit",
        [
            (
                # A server that never failed has no series of failures: that is a share of 0.
                f"(sum({_rate(f'{_HTTP}_count', _FAILED)}) or vector(0))"
                f" / sum({_rate(f'{_HTTP}_count')})",
                "HTTP",
            )
        ],
    ),
    (
        "Verbs, p95",
        "s",
        [(_quantile(0.95, _HTTP, "", _route(route)), verb) for verb, route in _VERBS.items()],
    ),
    (
        "Verbs, p50",
        "s",
        [(_quantile(0.5, _HTTP, "", _route(route)), verb) for verb, route in _VERBS.items()],
    ),
    ("Recall by stage, p95", "s", [(_quantile(0.95, _STAGE, ", stage"), "{{stage}}")]),
    (
        "Slow recalls a minute",
        "short",
        [(f"60 * {_rate('remembrancer_slow_recalls_total')}", "{{instance}}")],
    ),
    ("gRPC calls, p95", "s", [(_quantile(0.95, _GRPC, ", method"), "{{method}}")]),
    (
        "Retained a minute",
        "short",
        [
            (f"60 * {_rate('remembrancer_retained_items_total')}", "items"),
            (f"60 * {_rate('remembrancer_retained_facts_total')}", "facts"),
        ],
    ),
    ("Operations", "short", [(f"remembrancer_operations{_OF}}}", "{{status}}")]),
    ("Documents", "short", [(f"remembrancer_documents{_OF}}}", "{{instance}}")]),
    (
        "Memory of the process",
        "bytes",
        [
            (f"remembrancer_process_resident_memory_bytes{_OF}}}", "resident"),
            (f"remembrancer_index_memory_bytes{_OF}}}", "indexes"),
        ],
    ),
    (
        "Requests worked on and waiting",
        "short",
        [
            (f"sum by (work) (remembrancer_admission_running{_OF}}})", "{{work}}"),
            (f"sum by (work) (remembrancer_admission_queued{_OF}}})", "{{work}} waiting"),
        ],
    ),
    (
        "Requests refused under load",
        "reqps",
        [
            (
                f"sum by (work, reason) ({_rate('remembrancer_admission_shed_total')})"
                " or vector(0)",  # nothing was refused yet
                "{{work}} {{reason}}",
            )
        ],
    ),
    (
        "Waits for a place, p95",
        "s",
        # Nobody had to wait, or nobody lately, of whom a quantile is no number.
        [(f"{_quantile(0.95, _WAIT, ', work')} >= 0 or vector(0)", "{{work}}")],
    ),
    ("Open subscriptions", "short", [(f"hebbs_active_subscriptions{_OF}}}", "{{instance}}")]),
)
_STATS = 4  # of the panels, shown as one figure


def dashboard() -> dict[str, Any]:
    """Return the dashboard as Grafana imports it; it asks for the data source."""
    return {
        "__inputs": [
            {
                "name": "DS_PROMETHEUS",
                "label": "Prometheus",
                "type": "datasource",
                "pluginId": "prometheus",
            }
        ],
        "uid": "remembrancer",
        "title": "Remembrancer",
        "tags": ["remembrancer"],
        "timezone": "browser",
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [_variable()]},
        "panels": [_panel(i, *panel) for i, panel in enumerate(PANELS)],
    }


def _variable() -> dict[str, Any]:
    query = "label_values(remembrancer_info, instance)"
    return {
        "name": "instance",
        "type": "query",
        "datasource": _source(),
        "query": {"query": query, "refId": "instance"},
        "definition": query,
        "refresh": 2,
        "includeAll": True,
        "multi": True,
        "current": {"text": "All", "value": "$__all"},
    }


def _source() -> dict[str, str]:
    return {"type": "prometheus", "uid": "${DS_PROMETHEUS}"}


def _panel(i: int, title: str, unit: str, targets: list[tuple[str, str]]) -> dict[str, Any]:
    if i < _STATS:
        kind, place = "stat", {"h": 4, "w": 6, "x": 6 * i, "y": 0}
    else:
        row, column = divmod(i - _STATS, 2)
        kind, place = "timeseries", {"h": 8, "w": 12, "x": 12 * column, "y": 4 + 8 * row}
    return {
        "id": i + 1,
        "type": kind,
        "title": title,
        "datasource": _source(),
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
        "options": {"textMode": "name"} if title == "Version" else {},
        "targets": [
            {"refId": chr(ord("A") + n), "expr": expr, "legendFormat": legend}
            for n, (expr, legend) in enumerate(targets)
        ],
    }


def main() -> int:
    """Write it or check it; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when it differs")
    options = parser.parse_args()
    wanted = json.dumps(dashboard(), indent=2) + "\n"
    if not options.check:
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        TARGET.write_text(wanted, encoding="utf-8")
        return 0
    if TARGET.is_file() and TARGET.read_text(encoding="utf-8") == wanted:
        return 0
    print(f"{TARGET.name} is out of date: run `make docs`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
