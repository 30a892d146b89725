"""Hindsight's own clients against a server with the settings it has when none are given.

Once also against one that has a language model.

Each client stands in an environment of its own, made by `make setup` from a lock, so that it runs
with what it brings and nothing of ours. `suite` is what it runs.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from suite_kit import environment, installed, read_report
from wire_kit import Server

from llm_kit import Endpoint, Reply, echo

ROOT = Path(__file__).parents[3]
SUITE = Path(__file__).parent / "suite"
TIMEOUT_S = 280

# The classes and the numbers of tests of the clients' own live suite.
OFFICIAL = {
    "Retain": 3, "Recall": 3, "Reflect": 4, "ListMemories": 2, "EndToEnd": 1, "BankStats": 1,
    "Operations": 1, "Documents": 2, "Entities": 3, "Tags": 7, "DeleteBank": 1, "Mission": 1,
    "AsyncRecall": 5, "AsyncReflect": 2, "AsyncDeleteBank": 1,
}  # fmt: skip

SERVE = """
import sys
from remembrancer.faces.cli.main import run
sys.argv[1:] = ["serve"]
run()
"""


MEMORY = re.compile(r'<(?:memory|observation|model) number="(\d+)"[^>]*>(.*?)</', re.DOTALL)


def thoughtful(body: dict[str, Any]) -> Reply:
    """Say of everything what it shows, word for word."""
    rules, text = (message["content"] for message in body["messages"])
    if '"facts"' in rules:
        return echo(body)
    found = [(int(number), html.unescape(said)) for number, said in MEMORY.findall(text)]
    if '"observations"' in rules:
        told = [{"text": said, "based_on": [number, 1, 2]} for number, said in found[:1]]
        return Reply(json.dumps({"observations": told}))
    if not found:
        return Reply("ready")
    reply: dict[str, Any] = {"answer": found[0][1], "used": [found[0][0]]}
    return Reply(json.dumps({**reply, "object": {}} if "<schema>" in text else reply))


@pytest.mark.parametrize(
    ("version", "parts", "kept_in", "mind"),
    [
        ("0.9.1", ["common"], "sqlite", "none"),
        ("1.1.0", ["common", "since_1_1"], "sqlite", "none"),
        ("1.1.0", ["common", "since_1_1"], "postgres", "none"),
        ("1.1.0", ["common/test_main_operations.py"], "sqlite", "model"),
    ],
)
def test_the_client_works_as_with_its_own_server(
    version: str,
    parts: list[str],
    kept_in: str,
    mind: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    python = ROOT / f".venv/clients/hindsight-{version}/bin/python"
    lock = ROOT / f"requirements/hindsight-{version}.txt"
    if not installed(python, lock):
        pytest.skip(f"hindsight-client {version} is not installed: `make setup` with a network")
    report = tmp_path / "report.xml"
    more = {"embedder": "bge-small", "webhook_allow_private": "true"}
    if kept_in == "postgres":
        more["store"] = request.getfixturevalue("space").setting
    with ExitStack() as stack:
        endpoint = stack.enter_context(Endpoint(thoughtful))
        if mind == "model":
            more |= {name: str(value) for name, value in endpoint.settings.items()}
        server = stack.enter_context(Server(tmp_path / "data", SERVE, **more))
        done = subprocess.run(
            [
                python, "-m", "pytest", "-c", SUITE / "pytest.ini", f"--junit-xml={report}",
                *(SUITE / part for part in parts),
            ],
            env={**environment("HINDSIGHT_"), "HINDSIGHT_API_URL": server.url},
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )  # fmt: skip
    assert report.exists(), f"the suite did not run:\n{done.stdout}\n{done.stderr}"
    passed, failures = read_report(report, 1)
    for failure in failures:
        print(failure)
    assert not failures, f"hindsight-client {version}: {len(failures)} failed\n" + "\n".join(
        failure.splitlines()[0] for failure in failures
    )
    assert done.returncode == 0, done.stdout
    assert {name: passed[f"Test{name}"] for name in OFFICIAL} == OFFICIAL
    assert bool(endpoint.requests) == (mind == "model")
