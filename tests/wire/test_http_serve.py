"""How a server starts, what it says of itself, and how it ends."""

from __future__ import annotations

import signal
import socket
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from wire_kit import Server

from remembrancer import __version__
from remembrancer.faces.serving import run
from remembrancer.nouns.errors import InvalidInput, StoreError
from remembrancer.settings import Settings

FEATURES = {
    "observations",
    "mcp",
    "worker",
    "bank_config_api",
    "bank_llm_health",
    "file_upload_api",
    "document_export_api",
    "document_import_api",
    "audit_log",
    "llm_trace",
    "store_document_text",
}


def test_probes_may_ask_for_the_head_alone(server: Server) -> None:
    for path in ("/health", "/health/ready", "/health/live"):
        for each in (path, f"/v1{path}" if path != "/health" else path):
            answer = server.client.head(each)
            assert (answer.status_code, answer.content) == (200, b""), each
            assert int(answer.headers["content-length"]) > 0
    for path in ("/v1/health/liveness", "/v1/health/readiness"):
        assert server.client.head(path).status_code == 200
    assert "head" not in server.client.get("/openapi.json").json()["paths"]["/health"]


def test_health(server: Server) -> None:
    for path in ("/health", "/health/ready"):
        found = server.client.get(path)
        assert found.status_code == 200
        assert found.json().keys() == {
            "status",
            "database",
            "db_acquire_ms",
            "db_pool_waiting",
        }
        assert found.json()["database"] == "connected"
    alive = server.client.get("/health/live").json()
    assert (alive["status"], alive["version"]) == ("alive", __version__)
    assert alive["uptime_seconds"] > 0
    for path, status in (
        ("live", "alive"),
        ("liveness", "alive"),
        ("ready", "ready"),
        ("readiness", "ready"),
    ):
        assert server.client.get(f"/v1/health/{path}").json() == {"status": status}


def test_version(server: Server) -> None:
    found = server.client.get("/version").json()
    assert found["api_version"] == __version__
    assert found["features"].keys() == FEATURES
    assert found["features"]["worker"] is found["features"]["store_document_text"] is True


def test_status(server: Server, bank: str) -> None:
    server.retain(bank, {"content": "Alice works at Google", "document_id": "d"})
    found = server.client.get("/v1/status").json()
    assert found["version"] == __version__
    assert found["embedder"]["model"] == "hash:64"
    assert found["pending_vectors"] == 0
    mine = next(b for b in server.banks() if b["bank_id"] == bank)
    assert (mine["units"], mine["documents"]) == (2, 1)


def test_the_index_leads_to_the_schema(server: Server) -> None:
    index = server.client.get("/").json()
    assert "POST /v1/prime" in index["routes"]
    document = server.client.get(index["openapi"]).json()
    listed = {f"{m.upper()} {p}" for p, methods in document["paths"].items() for m in methods}
    assert listed == set(index["routes"])
    for page in ("/docs", "/redoc"):  # they would load scripts from elsewhere
        assert server.client.get(page).status_code == 404


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]", "192.0.2.1", "example.org"])
def test_only_loopback_may_be_bound(folder: Path, host: str) -> None:
    with pytest.raises(InvalidInput, match="others can reach") as refused:
        run(Settings(data=folder, http=f"{host}:0", embedder="hash:64"))
    assert refused.value.field == "http"
    assert not folder.exists()


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.1:x", ":80", "127.0.0.1:70000"])
def test_an_address_must_be_one(folder: Path, address: str) -> None:
    with pytest.raises(InvalidInput, match="must be HOST:PORT"):
        run(Settings(data=folder, http=address, embedder="hash:64"))


def test_a_port_in_use_is_said_to_be(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(StoreError, match="choose another port"):
            run(Settings(data=folder, http=address, embedder="hash:64"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_after_what_runs(folder: Path, number: signal.Signals) -> None:
    answers: list[httpx.Response] = []
    with Server(folder) as server:

        def body() -> Any:
            yield b'{"items": [{"content": "The door'
            time.sleep(1.0)  # the request is under way when the signal comes
            server.process.send_signal(number)
            time.sleep(0.3)
            yield b' is red"}]}'

        def send() -> None:
            path = "/v1/default/banks/b/memories"
            headers = {"Content-Type": "application/json"}
            answers.append(server.client.post(path, content=body(), headers=headers))

        sender = threading.Thread(target=send)
        sender.start()
        sender.join()
        assert answers[0].status_code == 200
        assert server.process.wait(30) == 0
    with Server(folder) as server:
        assert server.recall("b", "door")[0]["text"] == "The door is red"
