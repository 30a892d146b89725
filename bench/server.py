"""A server in a process of its own, and a client that keeps one connection open."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

COMMAND = Path(sys.executable).with_name("remembrancer")
_START_S = 60.0
_STOP_S = 20.0
_DURATION = re.compile(r"([\w-]+);dur=([\d.]+)")


class Server:
    """`remembrancer serve` on a free port; use it in a `with` block."""

    def __init__(self, folder: Path, embedder: str, *, grpc: bool = False, **settings: str) -> None:
        self.port = _free_port()
        self.grpc_port = _free_port() if grpc else 0
        self._log = folder.with_name(f"{folder.name}-server.log")
        self._env = os.environ | {
            "REMEMBRANCER_DATA": str(folder),
            "REMEMBRANCER_HTTP": f"127.0.0.1:{self.port}",
            "REMEMBRANCER_GRPC": f"127.0.0.1:{self.grpc_port}" if grpc else "off",
            "REMEMBRANCER_EMBEDDER": embedder,
            **{f"REMEMBRANCER_{name.upper()}": value for name, value in settings.items()},
        }
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The server's process."""
        if self._process is None:
            raise RuntimeError("the server is not started")
        return self._process.pid

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [COMMAND, "serve"], env=self._env, stdout=log, stderr=subprocess.STDOUT
            )
        try:
            self._wait()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._stop()

    def _wait(self) -> None:
        """Wait until the server says that it is well."""
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            if self._process is None or self._process.poll() is not None:
                break
            try:
                with Client(self.port) as client:
                    client.get("/health")
            except OSError:
                time.sleep(0.05)
            else:
                return
        tail = self._log.read_text(encoding="utf-8", errors="replace")[-2000:]
        raise RuntimeError(f"the server did not start; it said:\n{tail}")

    def _stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Client:
    """One connection that is kept open, as an agent's client does."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._connection.close()

    def get(self, path: str) -> bytes:
        """Get a path.

        Raises:
            OSError: no answer, or one that is not 200.
        """
        self._connection.request("GET", path)
        return self._body(self._connection.getresponse())

    def recall(self, bank: str, question: str) -> Timed:
        """Recall ten answers, as in the process; they are read and parsed inside the time."""
        path = f"/v1/default/banks/{quote(bank)}/memories/recall"
        return self._post(path, {"query": question, "budget": "low"})

    def prime(self, bank: str, cue: str) -> Timed:
        """Prime from a bank with a cue."""
        return self._post("/v1/prime", {"entity_id": bank, "similarity_cue": cue})

    def _post(self, path: str, body: Mapping[str, Any]) -> Timed:
        content = json.dumps(body).encode()
        started = time.perf_counter()
        self._connection.request("POST", path, content, {"Content-Type": "application/json"})
        response = self._connection.getresponse()
        answer = json.loads(self._body(response))
        seconds = time.perf_counter() - started
        header = response.getheader("Server-Timing") or ""
        return Timed(seconds * 1e3, answer["results"], server_timing(header))

    def _body(self, response: http.client.HTTPResponse) -> bytes:
        body = response.read()
        if response.status != 200:
            raise OSError(f"the server answered {response.status}: {body[:500]!r}")
        return body


class Timed:
    """An answer, how long the client waited for it, and where the server's time went."""

    def __init__(self, ms: float, results: list[Any], server: Mapping[str, float]) -> None:
        self.ms = ms
        self.results = results
        self.server = server

    @property
    def server_ms(self) -> float | None:
        """The server's time without embedding; None when it did not tell."""
        if "total" not in self.server:
            return None
        return self.server["total"] - self.server.get("embed", 0.0)


def server_timing(header: str) -> dict[str, float]:
    """Read a Server-Timing header: name to milliseconds."""
    return {name: float(ms) for name, ms in _DURATION.findall(header)}


def rss_mb(pid: int | str = "self") -> float:
    """Return a process's resident memory in MB (VmRSS, as Linux tells it)."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"process {pid} tells no VmRSS")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
