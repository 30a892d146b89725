"""Where rows are kept while processes are killed: some tests run over both stores."""

from __future__ import annotations

import os

import pytest

# What takes long runs over PostgreSQL only when proving: queues of operations, servers in pairs.
_PROVING = bool(os.environ.get("REMEMBRANCER_PROVE"))
_BOTH = ["sqlite", "postgres"]

collect_ignore = [] if _PROVING else ["test_many_servers.py", "test_postgres_kill.py"]


def _keep(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let this process and those that it starts keep rows in the data folder, or in PostgreSQL."""
    if request.param == "postgres":
        space = request.getfixturevalue("space")
        monkeypatch.setenv("REMEMBRANCER_STORE", space.setting)
    kind: str = request.param
    return kind


@pytest.fixture(params=_BOTH)
def kept_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run over both stores."""
    return _keep(request, monkeypatch)


@pytest.fixture(params=_BOTH if _PROVING else _BOTH[:1])
def kept_in_when_proving(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run over both stores when proving, else over SQLite."""
    return _keep(request, monkeypatch)
