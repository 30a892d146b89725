"""A receiver of webhooks that takes many calls a second, and notes when each came."""

from __future__ import annotations

import asyncio
import json
import random
import threading
import time
from datetime import datetime
from typing import NamedTuple, Self

from remembrancer.nouns.clock import to_us


class Call(NamedTuple):
    """What was told, and when, in microseconds."""

    occurrence: str
    intention: str
    content: str
    due_at: int
    at: int


class Sink:
    """Listens on loopback in a thread; answers each call 200 after up to `slow_s` seconds."""

    def __init__(self, slow_s: float = 0.0) -> None:
        self.calls: list[Call] = []
        self._slow_s = slow_s
        self._dice = random.Random(7)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait(10)

    @property
    def url(self) -> str:
        port = self._server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}/due"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(self._end())
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        rest = asyncio.all_tasks(self._loop) - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1_000)
        )
        self._ready.set()
        self._loop.run_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            size = int(head.partition("content-length:")[2].split()[0])
            body = await reader.readexactly(size)
            at = time.time_ns() // 1_000
            data = json.loads(body)["data"]
            due = to_us(datetime.fromisoformat(data["due_at"]))
            call = (data["occurrence_id"], data["intention_id"], data["content"], due, at)
            self.calls.append(Call(*call))
            if self._slow_s:
                await asyncio.sleep(self._dice.uniform(0, self._slow_s))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the sender was killed
        finally:
            writer.close()
