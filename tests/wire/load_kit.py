"""Sends a server a mix of what agents ask, so many requests a second while it keeps up."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

import grpc
from grpc_kit import Client
from wire_kit import WAIT_S, Server

BANK = "load"
_AT_ONCE = 16  # requests under way
_PATH = f"/v1/default/banks/{BANK}"
_WORDS = ("harbour", "lamp", "piano", "ferry", "orchard", "violin", "garden", "kettle")


@dataclass
class Sent:
    """What was sent and what came back, by kind and by status; how long sending took.

    `lost` counts requests whose connection ended before an answer: they may have been served.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    lost: int = 0
    seconds: float = 0.0

    @property
    def http(self) -> int:
        return sum(self.statuses.values())


class Load:
    """The mix: of forty requests 16 recalls, 10 primes, five more over gRPC, five checks, two
    reflects and two retains, of which one is queued."""

    MIX = (
        *("recall",) * 16,
        *("prime",) * 10,
        *("grpc",) * 5,
        *("check",) * 5,
        *("reflect",) * 2,
        *("retain", "queue"),
    )

    def __init__(self, server: Server) -> None:
        self._server = server
        self.sent = Sent()
        self._lock = threading.Lock()
        self._asks: dict[str, Callable[[int], tuple[str, Any]]] = {
            "recall": lambda i: (
                f"{_PATH}/memories/recall",
                {"query": f"Who bought {_what(i)}?", "budget": "low"},
            ),
            "prime": lambda i: ("/v1/prime", {"entity_id": BANK, "similarity_cue": _what(i)}),
            "retain": lambda i: (f"{_PATH}/memories", _items(i)),
            "queue": lambda i: (f"{_PATH}/memories", {**_items(i), "async": True}),
            "check": lambda i: (f"{_PATH}/intentions/check", {"text": _what(i)}),
            "reflect": lambda i: (f"{_PATH}/reflect", {"query": f"Who bought {_what(i)}?"}),
        }

    def send(self, count: int, rate: float, meanwhile: Callable[[int], None], times: int) -> None:
        """Send `count` requests at a rate, and call `meanwhile` that many times, evenly spread."""
        began = time.monotonic()
        with (
            ThreadPoolExecutor(_AT_ONCE) as pool,
            grpc.insecure_channel(self._server.grpc) as channel,
        ):

            def work(first: int) -> None:
                line = HTTPConnection(urlsplit(self._server.url).netloc, timeout=WAIT_S)
                for i in range(first, count, _AT_ONCE):
                    time.sleep(max(0.0, began + i / rate - time.monotonic()))
                    kind = self.MIX[i * 7 % len(self.MIX)]  # 7: kinds in turns, not in blocks
                    if kind == "grpc":
                        Client(channel, "default").call("Prime", entity_id=BANK)
                    else:
                        self._ask(line, kind, i)
                    with self._lock:
                        self.sent.kinds[kind] += 1
                    if i and i % (count // times) == 0:
                        meanwhile(i)
                line.close()

            for done in [pool.submit(work, first) for first in range(_AT_ONCE)]:
                done.result()
        self.sent.seconds += time.monotonic() - began

    def _ask(self, line: HTTPConnection, kind: str, i: int) -> None:
        path, body = self._asks[kind](i)
        try:
            line.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            answer = line.getresponse()
            answer.read()
        except (OSError, HTTPException):
            line.close()
            with self._lock:
                self.sent.lost += 1
            return
        with self._lock:
            self.sent.statuses[answer.status] += 1


def _what(i: int) -> str:
    return f"the {_WORDS[i % 8]} by the {_WORDS[i // 8 % 8]}"


def _items(i: int) -> dict[str, Any]:
    return {
        "items": [
            {"content": f"Nora: I bought {_what(i)} on day {i}.", "document_id": f"d{i % 60}"}
        ]
    }
