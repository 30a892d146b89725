"""The official `hebbs` client from PyPI: in one process with our messages, and as documented.

What it does with our server is in `hebbs/`. The client is installed by `scripts/setup.sh`; without
it these tests say what is missing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from wire_kit import Server

HERE = Path(__file__).parent
CLIENTS = sorted((HERE.parents[1] / ".venv" / "clients").glob("hebbs-*"))

pytestmark = pytest.mark.skipif(not CLIENTS, reason="no hebbs client here: run make setup")

# Both descriptors of one message, used side by side in one process.
TOGETHER = """
from hebbs._generated import hebbs_pb2
from remembrancer.faces.grpc import proto
ours = proto.message("PrimeRequest")(entity_id="one", max_memories=3, temporal_ratio=0.5)
theirs = hebbs_pb2.PrimeRequest.FromString(ours.SerializeToString())
assert (theirs.entity_id, theirs.max_memories) == ("one", 3)
again = proto.message("PrimeRequest").FromString(theirs.SerializeToString())
assert again == ours
for name, descriptor in hebbs_pb2.DESCRIPTOR.message_types_by_name.items():
    mine = proto.message(name).DESCRIPTOR.fields_by_number
    for field in descriptor.fields:
        other = mine[field.number]
        for what in ("name", "type", "is_repeated", "has_presence"):
            assert getattr(field, what) == getattr(other, what), (name, field.name, what)
        assert field.number < 100
    added = set(mine) - set(descriptor.fields_by_number)
    assert all(number >= 100 for number in added), name
print("together")
"""


def python_of(client: Path) -> Path:
    return client / "bin" / "python"


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_the_official_client_and_ours_live_in_one_process(client: Path) -> None:
    (packages,) = client.glob("lib/python*/site-packages")
    done = subprocess.run(
        [sys.executable, "-c", TOGETHER],
        env={**os.environ, "PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "together"


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_the_documented_example_prints_what_it_says(server: Server, client: Path) -> None:
    text = (HERE.parents[1] / "docs" / "grpc.md").read_text()
    found = re.search(r"<!-- runs with hebbs -->\n```python\n(.*?)```\n\n```\n(.*?)```", text, re.S)
    assert found is not None
    code, output = found.groups()
    assert "localhost:6380" in code
    done = subprocess.run(
        [python_of(client), "-c", code.replace("localhost:6380", server.grpc)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == output
