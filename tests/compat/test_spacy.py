"""The real spaCy and its small English pipeline, in the environment that setup makes for them.

They bring some 20 packages (200 MB), so they are not among those that all tests share.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HOMES = sorted((HERE.parents[1] / ".venv" / "clients").glob("spacy-*"))

OPTIONS = "-q -p no:cacheprovider -W ignore::UserWarning".split()

pytestmark = pytest.mark.skipif(not HOMES, reason="no spaCy here: run make setup with a network")


@pytest.mark.parametrize("home", HOMES, ids=lambda home: home.name)
def test_the_suite_passes(home: Path) -> None:
    done = subprocess.run(
        [home / "bin" / "python", "-m", "pytest", *OPTIONS, str(HERE / "spacy_suite.py")],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SKIPPED" not in done.stdout
