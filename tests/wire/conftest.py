"""One server for all tests of a worker process; each test has a bank of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from hebbs_rows_kit import Hands, Other, Pair, pair_before
from served_kit import Served
from told_kit import Mind
from wire_kit import Server


@pytest.fixture(scope="session")
def kept_in(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The setting of where shared servers keep rows.

    It is their folder, or PostgreSQL when REMEMBRANCER_TEST_STORE is postgres: so all tests here
    can be run on it.
    """
    if os.environ.get("REMEMBRANCER_TEST_STORE", "sqlite") == "sqlite":
        yield {}
        return
    postgres = request.getfixturevalue("postgres")
    space = postgres.migrated()
    yield {"store": space.setting}
    postgres.drop(space)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, kept_in: dict[str, str]) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("wire"), **kept_in) as running:
        yield running


@pytest.fixture
def bank() -> str:
    return f"bank-{uuid4()}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture(scope="session")
def hands() -> Hands:
    return Hands()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, hands: Hands) -> Iterator[Served]:
    """A server in this process, at the time that `hands` shows."""
    with Served(tmp_path_factory.mktemp("served") / "data", hands) as running:
        yield running


@pytest.fixture(scope="session")
def by_words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server in this process that finds by words alone, and so knows what it does not know."""
    folder = tmp_path_factory.mktemp("by-words") / "data"
    with Served(folder, Hands(), embedder="none", rate_limit=False) as running:
        yield running


@pytest.fixture
def mind(by_words: Served) -> Mind:
    return Mind(by_words)


@pytest.fixture(scope="session")
def other(served: Served) -> Other:
    return Other(served)


@pytest.fixture
def pair(served: Served, hands: Hands, other: Other) -> Iterator[Pair]:
    """A new tenant of `served` beside another one, which must keep what it has."""
    with pair_before(served, hands, other) as made:
        yield made
