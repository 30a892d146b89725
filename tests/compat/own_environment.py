"""Suites that run in the environment that `scripts/setup.sh` makes for a package of others.

What such a package brings along is too much to be among what all tests share.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
_HOMES = HERE.parents[1] / ".venv" / "clients"
_TIMEOUT_S = 240


def homes(package: str) -> list[Path]:
    """Return the environments of the versions of a package; none where setup had no network."""
    return sorted(_HOMES.glob(f"{package}-*"))


def needs(package: str) -> pytest.MarkDecorator:
    """Skip where no environment was made for a package."""
    return pytest.mark.skipif(
        not homes(package), reason=f"no {package} here: run make setup with a network"
    )


def run_suite(home: Path, suite: str, ignored: str) -> None:
    """Run a suite of this folder in an environment; each of its tests must pass.

    Args:
        home: the environment.
        suite: the file's name.
        ignored: the warnings that the package brings about, as `-W` takes them.
    """
    options = ["-q", "-p", "no:cacheprovider", "-W", f"ignore::{ignored}"]
    done = subprocess.run(
        [home / "bin" / "python", "-m", "pytest", *options, str(HERE / suite)],
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SKIPPED" not in done.stdout
