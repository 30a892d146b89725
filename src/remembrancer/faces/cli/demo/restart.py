"""A reminder that outlives the server that was told of it: one is told, stopped, another reminds.

Both are real processes over the same folder, on the real clock; nothing but the folder is shared.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from ....nouns.errors import RemembrancerError

_BANK = "kitchen"
_ROUTE = f"/v1/default/banks/{_BANK}"
_LEAST_S = 5  # until it is due
_WAIT_S = 120.0
_STOP_S = 10.0


@dataclass(frozen=True, slots=True)
class Told:
    """What the first server was told, when, and how it ended."""

    url: str
    at: datetime
    sentence: str
    stopped_at: datetime
    exit_code: int


@dataclass(frozen=True, slots=True)
class Heard:
    """What the second server sent by itself; `late_s`: how long after it was due."""

    url: str
    started_at: datetime
    at: datetime
    content: str
    due_at: datetime
    late_s: float
    state: str


class Restart:
    """Plays it; `close` ends what still runs."""

    def __init__(self, folder: Path, embedder: str) -> None:
        self._folder = folder
        self._embedder = embedder
        self._process: Process | None = None
        self._listening: asyncio.Task[Heard] | None = None

    async def tell(self) -> Told:
        """Start a server, retain a sentence there, stop it, and have another one started.

        It is due once another server has had the time to start that this one took.

        Raises:
            RemembrancerError: the server did not start.
        """
        begun = time.monotonic()
        url = await self._start()
        seconds = max(_LEAST_S, math.ceil(1.5 * (time.monotonic() - begun)) + 1)
        sentence = f"Remind me in {seconds} seconds to take the tea out."
        at = _now()
        body = {"items": [{"content": sentence, "timestamp": at.isoformat()}]}
        await asyncio.to_thread(_post, f"{url}{_ROUTE}/memories", body)
        code = await self._stop()
        told = Told(url, at, sentence, _now(), code)
        self._listening = asyncio.create_task(self._listen())
        return told

    async def hear(self) -> Heard:
        """Wait for what the second server sends, acknowledge it there, and stop that server."""
        assert self._listening is not None
        heard = await self._listening
        await self._stop()
        return heard

    async def close(self) -> None:
        """End the server, if one runs."""
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        await self._stop()

    async def _listen(self) -> Heard:
        url = await self._start()
        return await asyncio.to_thread(_first, url, _now())

    async def _start(self) -> str:
        where = ("--data", str(self._folder), "--http", "127.0.0.1:0", "--grpc", "off")
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "remembrancer", "serve", "--embedder", self._embedder, *where),
            env={k: v for k, v in os.environ.items() if not k.startswith("REMEMBRANCER_")},
            stdout=PIPE,
        )
        assert self._process.stdout is not None
        async with asyncio.timeout(_WAIT_S):
            line = (await self._process.stdout.readline()).decode()
        if "http://" not in line:
            raise RemembrancerError("the demo's server did not start")
        return line.split()[-1]

    async def _stop(self) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        if process.returncode is None:
            process.terminate()
        try:
            async with asyncio.timeout(_STOP_S):
                return await process.wait()
        except TimeoutError:
            process.kill()
            return await process.wait()


def _first(url: str, started_at: datetime) -> Heard:
    """Return the first thing that a server's stream sends, acknowledged."""
    stream_url = f"{url}{_ROUTE}/intentions/stream"
    with urlopen(stream_url, timeout=_WAIT_S) as stream:  # nosec B310 # the demo's own server
        for line in stream:
            if line.startswith(b"data: "):
                at = _now()
                told = json.loads(line.removeprefix(b"data: "))["data"]
                break
        else:
            raise RemembrancerError("the demo's server sent nothing")
    due = datetime.fromisoformat(told["due_at"])
    path = f"{url}{_ROUTE}/occurrences/{told['occurrence_id']}/ack"
    state = _post(path, {})["state"]
    late = (at - due).total_seconds()
    return Heard(url, started_at, at, told["content"], due.astimezone(), late, state)


def _post(url: str, body: Mapping[str, Any]) -> dict[str, Any]:
    headers = {"Content-Type": "application/json"}
    request = Request(url, json.dumps(body).encode(), headers)
    with urlopen(request, timeout=_WAIT_S) as answer:  # nosec B310 # the demo's own server
        read: dict[str, Any] = json.load(answer)
    return read


def _now() -> datetime:
    return datetime.now().astimezone()
