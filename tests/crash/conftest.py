"""Where rows are kept while processes are killed: some tests run over both stores."""

from __future__ import annotations

import os

import pytest

# Kill rounds over PostgreSQL take minutes: `make prove` runs them. So it does the proofs with many
# servers. The contract suite and the moves run over it always.
_PROVING = bool(os.environ.get("REMEMBRANCER_PROVE"))
_KEPT_IN = ["sqlite", "postgres"] if _PROVING else ["sqlite"]

collect_ignore = [] if _PROVING else ["test_many_servers.py", "test_postgres_kill.py"]


@pytest.fixture(params=_KEPT_IN)
def kept_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let this process and those that it starts keep rows in the data folder, or in PostgreSQL."""
    if request.param == "postgres":
        space = request.getfixturevalue("space")
        monkeypatch.setenv("REMEMBRANCER_STORE", space.setting)
    kind: str = request.param
    return kind
