"""What the proofs over many servers share: processes to kill, and clients that keep book."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

LINES = 5  # of each edition of a document
START_S = 120
PAUSE_S = 0.05
RETRIED = (502, 503, 504)


class Fleet:
    """A supervised server of several processes, and workers; all on one store."""

    def __init__(self, folder: Path, store: str, servers: int, workers: int, **more: str) -> None:
        self._folder = folder
        self._servers = servers
        self._environment = {
            **os.environ,
            "REMEMBRANCER_STORE": store,
            "REMEMBRANCER_DATA": str(folder / "data"),
            "REMEMBRANCER_EMBEDDER": "none",
            "REMEMBRANCER_WORKER_LEASE_S": "2",
            "REMEMBRANCER_WEBHOOK_ALLOW_PRIVATE": "true",
            "REMEMBRANCER_RATE_LIMIT": "false",
            **more,
        }
        self._log = (folder / "log").open("w")
        self._parent = self._start(
            *f"serve --http 127.0.0.1:0 --grpc 127.0.0.1:0 --workers {servers}".split(),
            REMEMBRANCER_WORKER="false" if workers else "true",
        )
        assert self._parent.stdout is not None
        line = self._parent.stdout.readline()
        found = re.search(r"gRPC on port (\d+), .*ready at (\S+)", line)
        assert found, line + self.log()
        self.grpc, self.url = f"127.0.0.1:{found[1]}", found[2]
        self._workers = [self._start("worker") for _ in range(workers)]

    def log(self) -> str:
        self._log.flush()
        return (self._folder / "log").read_text()

    def kill_one(self, number: int) -> None:
        """Kill one of the processes; the supervisor replaces a server, this a worker."""
        servers = self._children()
        which = number % (self._servers + len(self._workers))
        if which < self._servers:
            if servers:
                os.kill(servers[which % len(servers)], signal.SIGKILL)
            return
        at = which - self._servers
        self._workers[at].kill()
        self._ended(self._workers[at])
        self._workers[at] = self._start("worker")

    def close(self) -> int:
        """Stop everything; return the server's exit code."""
        every = [self._parent, *self._workers]
        for process in every:
            process.terminate()
        for process in every:
            self._ended(process)
        self._log.close()
        return self._parent.returncode

    def _children(self) -> list[int]:
        """Return the server processes."""
        parent = self._parent.pid
        ids = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        found = []
        for each in ids:
            try:
                line = Path(f"/proc/{each}/cmdline").read_bytes()
            except OSError:  # it has just ended
                continue
            if b"spawn_main" in line:
                found.append(int(each))
        return found

    def _start(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "remembrancer", *arguments],
            env={**self._environment, **more},
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    @staticmethod
    def _ended(process: subprocess.Popen[str]) -> None:
        process.wait(60)
        if process.stdout is not None:
            process.stdout.close()


@contextmanager
def fleet(*arguments: Any, **more: str) -> Iterator[Fleet]:
    """Start a fleet and stop it."""
    running = Fleet(*arguments, **more)
    try:
        yield running
    finally:
        running.close()


@dataclass
class Book:
    """What clients were told."""

    acked: dict[str, int] = field(default_factory=dict)
    pages: dict[str, list[str]] = field(default_factory=dict)
    operations: list[tuple[str, str]] = field(default_factory=list)
    answers: int = 0
    writes: int = 0
    retried: int = 0
    inconsistent: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    last_retried: float = 0.0


class Clients:
    """Writers and readers; each asks again what was refused for now or was cut off."""

    def __init__(self, url: str, until: float) -> None:
        self.book = Book()
        self._until = until
        self._http = httpx.AsyncClient(base_url=url, timeout=30)

    async def close(self) -> None:
        await self._http.aclose()

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        """Send until it is answered; what may not be asked again is noted."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                answer = await self._http.post(path, json=body)
            except httpx.TransportError:
                self._again()
            else:
                if answer.status_code < 300:
                    return answer.json()
                if answer.status_code not in RETRIED:
                    self.book.refused.append(f"{answer.status_code} {answer.text[:300]}")
                    return None
                self._again()
            await asyncio.sleep(PAUSE_S)
        self.book.refused.append(f"{path}: no answer for a minute")
        return None

    async def write(self, bank: str, *, pages: bool = True) -> None:
        """Replace a document again and again; beside it, queue a page of its own."""
        path, edition = f"/v1/default/banks/{bank}/memories", 0
        while time.monotonic() < self._until:
            edition += 1
            text = json.dumps(
                [
                    {"role": "user", "content": f"Edition {edition} of the logbook has line {n}."}
                    for n in range(LINES)
                ]
            )
            item = {"content": text, "document_id": "logbook"}
            if await self.post(path, {"items": [item]}) is None:
                return
            self.book.acked[bank] = edition
            self.book.writes += 1
            if pages and edition % 5 == 0:
                name = f"page-{edition}"
                page = {"content": f"Mate: the harbour fee was {edition}.", "document_id": name}
                queued = await self.post(path, {"items": [page], "async": True})
                if queued is not None:
                    self.book.pages.setdefault(bank, []).append(name)
                    self.book.operations.append((bank, queued["operation_id"]))
            await asyncio.sleep(0.01)

    async def read(self, bank: str) -> None:
        """Ask for the document; an answer is of one edition, whole, and none older than known."""
        path = f"/v1/default/banks/{bank}/memories/recall"
        while time.monotonic() < self._until:
            known = self.book.acked.get(bank, 0)
            body = {"query": "edition of the logbook, each line", "max_tokens": 8_000}
            found = await self.post(path, body)
            if found is None:
                return
            self.book.answers += 1
            texts = [r["text"] for r in found["results"] if "logbook" in r["text"]]
            seen = [re.search(r"[Ee]dition (\d+) .* line (\d+)", text) for text in texts]
            editions = {int(match[1]) for match in seen if match}
            lines = {int(match[2]) for match in seen if match}
            whole = len(editions) == 1 and len(lines) == LINES and min(editions) >= known
            if known and not whole:
                self.book.inconsistent.append(f"{known}: {sorted(texts)}")
            await asyncio.sleep(0.01)

    async def finished(self, within_s: float) -> int:
        """Wait for what was queued; return how many operations have not ended well."""
        deadline, left = time.monotonic() + within_s, list(self.book.operations)
        while left and time.monotonic() < deadline:
            still = []
            for bank, operation in left:
                path = f"/v1/default/banks/{bank}/operations/{operation}"
                try:
                    state = (await self._http.get(path)).json().get("status")
                except (httpx.TransportError, ValueError):
                    state = None
                if state != "completed":
                    still.append((bank, operation))
            left = still
            if left:
                await asyncio.sleep(0.2)
        return len(left)

    async def lost(self) -> list[str]:
        """Return what was acknowledged and is not there."""
        gone = []
        for bank, edition in self.book.acked.items():
            document = (await self._http.get(f"/v1/default/banks/{bank}/documents/logbook")).json()
            if f"Edition {edition} of" not in document.get("original_text", ""):
                gone.append(f"{bank}: edition {edition}")
            for name in self.book.pages.get(bank, ()):
                found = await self._http.get(f"/v1/default/banks/{bank}/documents/{name}")
                if found.status_code != 200:
                    gone.append(f"{bank}: {name}")
        return gone

    def _again(self) -> None:
        self.book.retried += 1
        self.book.last_retried = time.monotonic()


async def every(seconds: float, until: float, work: Callable[[int], Awaitable[None]]) -> int:
    """Do something again and again until a time; return how often."""
    number = 0
    while time.monotonic() + seconds < until:
        await asyncio.sleep(seconds)
        await work(number)
        number += 1
    return number
