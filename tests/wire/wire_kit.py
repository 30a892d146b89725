"""A real server in a process of its own, and how to talk to it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

import httpx

from stores_kit import stored

MAIN = """
from remembrancer.faces.loading import uncollected
with uncollected():
    from remembrancer.faces.serving import run
from remembrancer.settings import Settings
run(Settings())
"""

# As MAIN, but nothing works on what is queued.
IDLE = """
import asyncio
from remembrancer.faces.serving import serve
from remembrancer.settings import Settings
asyncio.run(serve(Settings(), background=False))
"""

# As MAIN, but an hour later, when every lease has run out.
LATER = """
import asyncio, time
from remembrancer.faces.serving import serve
from remembrancer.settings import Settings

class Later:
    def now_us(self):
        return time.time_ns() // 1000 + 3_600_000_000

asyncio.run(serve(Settings(), clock=Later()))
"""

WAIT_S = 60.0


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """Return the environment that makes a server use a folder and these settings.

    Rows are in the store that this run is about, unless the settings name one.
    """
    given = {"data": str(folder), "http": "127.0.0.1:0", "grpc": "127.0.0.1:0"}
    given |= {"embedder": "hash:64", **stored(folder), **settings}
    kept = {k: v for k, v in os.environ.items() if not k.startswith("REMEMBRANCER_")}
    return kept | {f"REMEMBRANCER_{k.upper()}": v for k, v in given.items()}


class Server:
    """A server process. It is ready when the constructor returns."""

    def __init__(self, folder: Path, main: str = MAIN, **settings: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", main],
            env=environment(folder, **settings),
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert "://" in line, f"the server did not start: {line!r}"
        self.url = line.split()[-1]
        found = re.search(r"gRPC on port (\d+)", line)
        self.grpc = f"127.0.0.1:{found.group(1)}" if found else ""
        self.client = httpx.Client(base_url=self.url, timeout=WAIT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(WAIT_S)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def kill(self) -> None:
        """Kill the process with no chance to tidy up."""
        self.process.kill()
        self.process.wait(WAIT_S)

    def memory_mb(self, what: str = "VmHWM") -> float:
        """Return the most memory that the process has held so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith(what))
        return int(line.split()[1]) / 1024

    def post(self, path: str, body: Any, **more: Any) -> httpx.Response:
        return self.client.post(path, json=body, **more)

    def retain(self, bank: str, *items: Any, **more: Any) -> dict[str, Any]:
        """Retain texts or items and return the answer."""
        full = [i if isinstance(i, dict) else {"content": i} for i in items]
        answer = self.post(f"/v1/default/banks/{bank}/memories", {"items": full, **more})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def recall(self, bank: str, query: str, **more: Any) -> list[dict[str, Any]]:
        """Return the results of a recall."""
        path = f"/v1/default/banks/{bank}/memories/recall"
        answer = self.post(path, {"query": query, **more})
        assert answer.status_code == 200, answer.text
        results: list[dict[str, Any]] = answer.json()["results"]
        return results

    def banks(self) -> list[dict[str, Any]]:
        """Return what the server's status says of all its banks."""
        banks: list[dict[str, Any]] = []
        while True:
            page = self.client.get("/v1/status", params={"limit": 500, "offset": len(banks)}).json()
            banks += page["banks"]
            if not page["banks"] or len(banks) >= page["bank_count"]:
                return banks

    def finished(self, bank: str, operation: str) -> dict[str, Any]:
        """Wait for an operation to end and return how it stands."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            path = f"/v1/default/banks/{bank}/operations/{operation}"
            found: dict[str, Any] = self.client.get(path).json()
            if found["status"] not in {"pending", "processing"}:
                return found
            time.sleep(0.02)
        raise AssertionError("the operation did not end")
