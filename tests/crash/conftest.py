"""Where rows are kept while processes are killed: some tests run over both stores."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["sqlite", "postgres"])
def kept_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let this process and those that it starts keep rows in the data folder, or in PostgreSQL."""
    if request.param == "postgres":
        space = request.getfixturevalue("space")
        monkeypatch.setenv("REMEMBRANCER_STORE", space.setting)
    kind: str = request.param
    return kind
