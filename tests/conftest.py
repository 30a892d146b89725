"""What all tests share: how large the sized ones run, and where proofs leave their figures.

`make prove` sets REMEMBRANCER_PROVE to run the sized tests (kill rounds, soaks) in full, and
REMEMBRANCER_PROVE_OUT to the folder for their results; without them a tenth runs.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from remembrancer.faces.loopback import bring_up

sys.path.insert(0, str(Path(__file__).parent))  # for the kits that folders share
# Hundreds of servers start here: each would compile the whole package anew, half of its start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

if TYPE_CHECKING:
    from postgres_kit import Server, Space

Record = Callable[[dict[str, float]], None]


def pytest_configure() -> None:
    """Let tests reach servers also in a network namespace that was just made."""
    bring_up()


@pytest.fixture(scope="session")
def prove() -> int:
    """How many times a tenth of the full size a sized test runs: 1, or 10 when proving."""
    return int(os.environ.get("REMEMBRANCER_PROVE", "1"))


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Record:
    """Write a proof's figures as one flat JSON object, named after the test, when proving."""

    def write(figures: dict[str, float]) -> None:
        folder = os.environ.get("REMEMBRANCER_PROVE_OUT")
        if folder:
            path = Path(folder)
            path.mkdir(parents=True, exist_ok=True)
            text = json.dumps(figures, indent=2, sort_keys=True) + "\n"
            kinds = getattr(request.node, "callspec", None)
            other = kinds is not None and "postgres" in kinds.params.values()
            name = f"{request.node.originalname}{'_postgres' if other else ''}"
            (path / f"{name}.json").write_text(text)

    return write


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A PostgreSQL server, one for all workers of a run."""
    from postgres_kit import server

    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with server(shared / "postgres") as running:
        yield running


@pytest.fixture(scope="session")
def _space(postgres: Server) -> Iterator[Space]:
    made = postgres.migrated()
    yield made
    postgres.drop(made)


@pytest.fixture
def space(postgres: Server, _space: Space) -> Space:
    """An empty store in PostgreSQL, of a test's own."""
    postgres.empty(_space)
    return _space
