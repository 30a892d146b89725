"""One server for all tests of a worker process; each test has a bank of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from wire_kit import Server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("wire")) as running:
        yield running


@pytest.fixture
def bank() -> str:
    return f"bank-{uuid4()}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"
