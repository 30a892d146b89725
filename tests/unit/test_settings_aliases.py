"""Hindsight's environment variables stand for settings of ours, and give way to ours."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from remembrancer.settings import ALIASES, Settings


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ALIASES:
        monkeypatch.delenv(name, raising=False)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"REMEMBRANCER_{name.upper()}", raising=False)


@pytest.mark.parametrize(
    ("variables", "http"),
    [
        ({}, "127.0.0.1:6381"),
        ({"HINDSIGHT_API_PORT": "8888"}, "127.0.0.1:8888"),
        ({"HINDSIGHT_API_HOST": "localhost"}, "localhost:6381"),
        ({"HINDSIGHT_API_HOST": "::1", "HINDSIGHT_API_PORT": "8888"}, "[::1]:8888"),
        ({"HINDSIGHT_API_HOST": "", "HINDSIGHT_API_PORT": ""}, "127.0.0.1:6381"),
        ({"HINDSIGHT_API_PORT": "8888", "REMEMBRANCER_HTTP": "127.0.0.1:1"}, "127.0.0.1:1"),
    ],
)
def test_host_and_port(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], http: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert Settings().http == http
    assert Settings(http="localhost:2").http == "localhost:2"


def test_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "HINDSIGHT_API_BASE_PATH": "/memory/",
        "HINDSIGHT_API_DATABASE_URL": "sqlite:////var/lib/memory",
        "HINDSIGHT_API_WORKER_ENABLED": "false",
        "HINDSIGHT_API_WORKER_MAX_SLOTS": "7",
        "HINDSIGHT_API_EMBEDDINGS_OPENAI_API_KEY": "k",
        "HINDSIGHT_API_EMBEDDINGS_OPENAI_BASE_URL": "http://localhost:1",
    }.items():
        monkeypatch.setenv(name, value)
    found = Settings()
    assert (found.base_path, found.store) == ("/memory", "sqlite:////var/lib/memory")
    assert (found.worker, found.worker_slots) == (False, 7)
    assert (found.embedder_key, found.embedder_url) == (SecretStr("k"), "http://localhost:1")
    assert {ALIASES[name] for name in ALIASES} <= Settings.model_fields.keys()


@pytest.mark.parametrize("url", ["mysql://me:hush@db/memory", "pg0", "oracle://x"])
def test_another_database_is_refused_without_its_password(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("HINDSIGHT_API_DATABASE_URL", url)
    with pytest.raises(ValueError, match="HINDSIGHT_API_DATABASE_URL") as refused:
        Settings()
    assert "sqlite:///FOLDER" in str(refused.value)
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize("path", ["memory", "/a b", "/a//b", "/{x}", "//host"])
def test_base_paths_that_cannot_be(path: str) -> None:
    with pytest.raises(ValueError, match="must be a path"):
        Settings(base_path=path)
