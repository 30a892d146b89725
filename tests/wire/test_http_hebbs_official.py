"""The official `HebbsRestClient` from PyPI against our server.

The client is installed by `scripts/setup.sh`; without it these tests say what is missing.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from wire_kit import Server

HERE = Path(__file__).parent
INSTALLED = HERE.parents[1] / ".venv" / "clients"
CLIENTS = sorted(INSTALLED.glob("hebbs-*"))
# The hebbs client talks REST through aiohttp and does not install it; other clients do.
AIOHTTP = sorted(INSTALLED.glob("*/lib/python*/site-packages/aiohttp"))

pytestmark = pytest.mark.skipif(
    not (CLIENTS and AIOHTTP), reason="no hebbs client, or no aiohttp, here: run make setup"
)


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_the_official_rest_client_gets_what_it_expects(server: Server, client: Path) -> None:
    done = subprocess.run(
        [
            client / "bin" / "python",
            HERE / "hebbs_rest_process.py",
            server.url,
            AIOHTTP[0].parent,
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "all of it"
