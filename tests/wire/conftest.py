"""One server for all tests of a worker process; each test has a bank of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hebbs_rows_kit import Hands, Other, Pair, pair_before
from served_kit import Served
from told_kit import Mind
from wire_kit import Server

import stores_kit
from stores_kit import KeptIn


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "both_stores: run over each kind of store, by the fixture `kept_in`"
    )
    config.addinivalue_line("markers", "of_folders: about files of the store in a folder alone")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("of_folders") and stores_kit.chosen() != "sqlite":
        pytest.skip("is about files of the store in a folder")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what is marked so over each kind of store; a run that is about one, over that alone."""
    marked = metafunc.definition.get_closest_marker("both_stores")
    if marked and "kept_in" in metafunc.fixturenames:
        kinds = stores_kit.KINDS if stores_kit.STORE not in os.environ else [stores_kit.chosen()]
        metafunc.parametrize("kept_in", kinds, indirect=True, scope="session")


@pytest.fixture(scope="session")
def spaces(postgres: Any) -> Iterator[None]:
    """Let data folders have schemas in PostgreSQL."""
    with stores_kit.spaces(postgres):
        yield


@pytest.fixture(scope="session", autouse=True)
def chosen(request: pytest.FixtureRequest) -> None:
    """Have what this run's kind of store needs, for all servers of all tests."""
    if stores_kit.chosen() == "postgres":
        request.getfixturevalue("spaces")


@pytest.fixture(scope="session")
def kept_in(request: pytest.FixtureRequest) -> KeptIn:
    """The settings of where a server over a folder keeps rows; of what is marked, each kind's."""
    kind = getattr(request, "param", stores_kit.chosen())
    if kind == "postgres":
        request.getfixturevalue("spaces")
    return KeptIn(kind)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, kept_in: KeptIn) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("wire")
    with Server(folder, **kept_in(folder)) as running:
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
