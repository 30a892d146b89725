"""What all tests share: how large the sized ones run, and where proofs leave their figures.

`make prove` sets REMEMBRANCER_PROVE to run the sized tests (kill rounds, soaks) in full, and
REMEMBRANCER_PROVE_OUT to the folder for their results; without them a tenth runs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

Record = Callable[[dict[str, float]], None]


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
            (path / f"{request.node.originalname}.json").write_text(text)

    return write
