"""LlamaIndex's memory with our block, in the environment that `scripts/setup.sh` makes for it.

LlamaIndex brings some 30 packages (100 MB), so it is not among those that all tests share.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CLIENTS = sorted((HERE.parents[1] / ".venv" / "clients").glob("llama-index-core-*"))

# LlamaIndex leaves connections of its own store open.
OPTIONS = "-q -p no:cacheprovider -W ignore::pytest.PytestUnraisableExceptionWarning".split()

pytestmark = pytest.mark.skipif(not CLIENTS, reason="no LlamaIndex here: run make setup")


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_the_suite_passes(client: Path) -> None:
    done = subprocess.run(
        [client / "bin" / "python", "-m", "pytest", *OPTIONS, str(HERE / "llamaindex_suite.py")],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SKIPPED" not in done.stdout
