"""The default memory speaks to nobody: not at the first start, not in use, not of itself."""

from __future__ import annotations

import socket
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import remembrancer

ROOT = Path(__file__).resolve().parents[2]
SDKS = ("openai", "anthropic", "google", "cohere", "mistralai", "litellm", "langchain", "posthog")


def test_nothing_is_looked_up_or_connected_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[object] = []

    def refused(*arguments: Any, **_: Any) -> Any:
        tried.append(arguments)
        raise OSError("there is no network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket.socket, "connect_ex", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.setattr(socket, "create_connection", refused)
    with remembrancer.open(tmp_path) as memory:
        assert len(memory.recall("Where do I live?")) == 0
        memory.retain("I live in Faro with two geese.")
        assert memory.recall("Where do I live?")[0].text == "I live in Faro with two geese."
        assert "Faro" in str(memory.prime(text=True).text)
        memory.forget(ids=[memory.recall("geese")[0].id])
    assert tried == []


def test_no_client_of_reports_is_made_or_even_loaded(tmp_path: Path) -> None:
    with remembrancer.open(tmp_path, embedder="none") as memory:
        memory.retain("I live in Faro.")
    loaded = {name.partition(".")[0] for name in sys.modules}
    assert loaded.isdisjoint({"posthog", "sentry_sdk", "segment", "mixpanel", "datadog"})


def test_the_core_needs_no_vendor_and_holds_no_version_back() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {line.split(";")[0].split(">")[0].split("[")[0].strip().lower() for line in told}
    assert not [name for name in names if name.startswith(SDKS)]
    assert not [line for line in told if "<" in line.split(";")[0] or "==" in line.split(";")[0]]
