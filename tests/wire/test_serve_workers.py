"""Several server processes on one address, how a server drains, and reads that wait for a write."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import httpx
from grpc_health.v1 import health_pb2, health_pb2_grpc
from wire_kit import Server, environment

PATIENCE_S = 60


@contextmanager
def serving(folder: Path, *options: str, **more: str) -> Iterator[tuple[int, str, str]]:
    """Serve; yield the process id, the URL and gRPC's address. It has to end well."""
    command = [sys.executable, "-m", "remembrancer", "serve", "--embedder", "none", *options]
    given = {**environment(folder), **more}
    with subprocess.Popen(command, env=given, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"gRPC on port (\d+), .*ready at (\S+)", process.stdout.readline())
        assert found
        try:
            yield process.pid, found[2], f"127.0.0.1:{found[1]}"
            process.terminate()
            assert process.wait(PATIENCE_S) == 0
        finally:
            process.kill()


def servers_of(parent: int) -> set[int]:
    ids = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    lines = {int(each): Path(f"/proc/{each}/cmdline") for each in ids}
    return {each for each, path in lines.items() if b"spawn_main" in path.read_bytes()}


def healthy(address: str) -> bool:
    with grpc.insecure_channel(address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        found = stub.Check(health_pb2.HealthCheckRequest(), timeout=PATIENCE_S, wait_for_ready=True)
    return bool(found.status == health_pb2.HealthCheckResponse.SERVING)


def test_a_server_process_that_dies_is_replaced(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as (pid, url, grpc_address):
        before = servers_of(pid)
        assert len(before) == 2
        os.kill(min(before), signal.SIGKILL)
        deadline = time.monotonic() + PATIENCE_S
        while len(servers_of(pid) - {min(before)}) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(servers_of(pid)) == 2
        for _ in range(4):
            assert httpx.get(f"{url}/health", timeout=PATIENCE_S).status_code == 200
            assert healthy(grpc_address)
        after = servers_of(pid)
    assert not any(Path(f"/proc/{each}").exists() for each in after)


def test_what_cannot_start_is_said_once_and_not_tried_again(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, url, _grpc):
        taken = url.removeprefix("http://")
        command = [sys.executable, "-m", "remembrancer", "serve", "--workers", "2"]
        ran = subprocess.run(
            [*command, "--data", str(tmp_path), "--http", taken, "--embedder", "none"],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    assert ran.returncode == 1
    assert "cannot be listened on" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_a_server_told_to_stop_says_that_it_is_not_ready_and_goes_on(tmp_path: Path) -> None:
    with serving(tmp_path, REMEMBRANCER_DRAIN_S="30") as (pid, url, grpc_address):
        with httpx.Client(base_url=url, timeout=PATIENCE_S) as client:
            os.kill(pid, signal.SIGTERM)
            for path, status in (("/health/ready", "draining"), ("/v1/health/ready", "not_ready")):
                deadline = time.monotonic() + PATIENCE_S
                while client.get(path).status_code == 200 and time.monotonic() < deadline:
                    time.sleep(0.02)
                found = client.get(path)
                assert (found.status_code, found.json()["status"]) == (503, status)
            assert client.get("/health/live").status_code == 200
            assert client.post("/v1/prime", json={"entity_id": "ann"}).status_code == 200
        assert not healthy(grpc_address)


def test_a_read_waits_for_the_revision_of_a_write(server: Server, bank: str) -> None:
    path = f"/v1/default/banks/{bank}/memories"
    kept = server.post(path, {"items": [{"content": "The key is under the mat."}]}).json()
    asked = {"query": "Where is the key?", "min_revision": kept["revision"]}
    assert server.post(f"{path}/recall", asked).json()["results"]
    primed = {"entity_id": bank, "min_revision": kept["revision"]}
    assert server.post("/v1/prime", primed).json()["count"] == 1
    for where, body in ((f"{path}/recall", asked), ("/v1/prime", primed)):
        late = server.client.post(where, json={**body, "min_revision": kept["revision"] + 5})
        assert late.status_code == 409
        assert "min_revision" in late.text
    gone = server.post("/v1/forget", {"entity_id": bank, "memory_ids": kept["unit_ids"][:1]}).json()
    assert gone["revision"] > kept["revision"]
