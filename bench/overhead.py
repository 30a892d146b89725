"""What metrics, request ids and a line of JSON for each request cost: the same recalls and primes
over the HTTP face in this process, with and without, in turns.

Without: no middleware that watches requests, none that watches recalls, no line of log. The network
is left out. Two memories are opened on one folder, so that neither side finds a question in a cache
of the other; they change sides with every block of questions, so that nothing of a memory's own
counts. `overhead.metrics_logs.ratio` is the processor's time, in all threads, of a recall and a
prime of a question with all of it, by that without: the median of all questions, for each way
round, and the geometric mean of the two. What another thread writes later is part of it, shared out
among the requests of a block. `overhead.waited.ratio` is the same of what a caller waits, which
says as much on an idle machine alone. With `--same` both sides go without: how far the ratios are
from 1 then, is how far they err.
"""

from __future__ import annotations

import asyncio
import json
import logging
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fastapi import FastAPI

from remembrancer.app import App
from remembrancer.faces.http.server import make_app
from remembrancer.faces.http.watching import Watched
from remembrancer.faces.logs import logging_to
from remembrancer.settings import Settings

from . import made, report
from .made_store import EMBEDDER, bank_of, load_sizes
from .metrics import Figures, percentile

_BLOCK = 10  # questions before the other side has its turn
_WARM_UP = 20
_WATCHED: Any = Watched


class Spent(NamedTuple):
    """What a request took: milliseconds of waiting, and of the processor's, in all threads."""

    wall_ms: float
    work_ms: float


Ask = Callable[[FastAPI, str, str], Awaitable[Spent]]
Way = dict[tuple[str, str], list[Spent]]
"""What requests took by verb and side, in the order of questions; each memory on one side."""


class _Served:
    """A memory, served with and without being watched."""

    def __init__(self, memory: App, *, same: bool) -> None:
        self._recall = memory.recall
        self._watch = {"on": None if same else memory.recall._watch, "off": None}
        self._apis = {"on": make_app(memory), "off": make_app(memory)}
        for name, api in self._apis.items():
            if same or name == "off":
                kept = [each for each in api.user_middleware if each.cls is not _WATCHED]
                api.user_middleware = kept

    def side(self, name: str) -> FastAPI:
        """Return what answers on a side; recalls are watched, or not, from now on."""
        self._recall._watch = self._watch[name]
        return self._apis[name]


def run(folder: Path, turns: int, count: int, *, same: bool = False) -> Figures:
    """Measure; `folder` holds a bank of so many made turns, which is made if it does not.

    Args:
        folder: of the store and the log.
        turns: of the bank.
        count: questions; each side is asked all of them.
        same: both sides go without.
    """
    load_sizes(folder, [turns])
    settings = Settings(
        data=folder, embedder=EMBEDDER, log_level="info", log_format="json", grpc="off"
    )
    with (folder / "log").open("w+", encoding="utf-8") as log:
        with logging_to(settings, log):
            ways = asyncio.run(_measured(settings, turns, count, same=same))
        log.seek(0)
        logged = [json.loads(line)["status"] for line in log]
    watched = 0 if same else 2 * (2 * _WARM_UP + count)
    if logged != [200] * watched:
        raise RuntimeError(f"{len(logged)} lines were logged of {watched} requests")
    return figures(ways)


async def _measured(settings: Settings, turns: int, count: int, *, same: bool) -> list[Way]:
    memories = [await App.open(settings, background=False) for _ in range(2)]
    try:
        pair = [_Served(memory, same=same) for memory in memories]
        bank = bank_of(turns)
        asks: dict[str, Ask] = {"recall": _recall, "prime": _prime}
        warm_up = made.questions(bank, turns, _WARM_UP, "warm-up")
        for served in pair:
            for side in ("on", "off"):
                for ask in asks.values():
                    await _block(served.side(side), ask, bank, warm_up)
        ways: list[Way] = [{}, {}]
        asked = made.questions(bank, turns, count)
        for block, start in enumerate(range(0, count, _BLOCK)):
            questions = asked[start : start + _BLOCK]
            way, swapped = block % 2, block // 2 % 2
            sides = list(zip(("on", "off"), pair if way == 0 else pair[::-1], strict=True))
            for side, served in sides[::-1] if swapped else sides:
                for name, ask in asks.items():
                    took = await _block(served.side(side), ask, bank, questions)
                    ways[way].setdefault((name, side), []).extend(took)
    finally:
        for memory in memories:
            await memory.close()
    return [way for way in ways if way]


async def _block(api: FastAPI, ask: Ask, bank: str, questions: Sequence[str]) -> list[Spent]:
    """Ask questions, then write what is to be logged; return what each took, and its share."""
    took = [await ask(api, bank, question) for question in questions]
    worked = time.process_time()
    for handler in logging.getLogger().handlers:
        handler.flush()
    share_ms = (time.process_time() - worked) * 1e3 / len(questions)
    return [Spent(each.wall_ms, each.work_ms + share_ms) for each in took]


def figures(ways: Sequence[Way]) -> Figures:
    """Return medians by verb and side, and ratios."""
    found: Figures = {}
    for name, side in ways[0]:
        wall = [each.wall_ms for way in ways for each in way[name, side]]
        found[f"overhead.{name}_{side}.p50_ms"] = percentile(wall, 50)
    names = sorted({name for name, _ in ways[0]})
    for name in names:
        found[f"overhead.{name}.ratio"] = _ratio(ways, [name], "work_ms")
    found["overhead.waited.ratio"] = _ratio(ways, names, "wall_ms")
    found["overhead.metrics_logs.ratio"] = _ratio(ways, names, "work_ms")
    return found


def _ratio(ways: Sequence[Way], names: Sequence[str], what: str) -> float:
    """Return what some verbs took for a question with, by that without."""
    medians = []
    for way in ways:
        on, off = (
            [
                sum(getattr(spent, what) for spent in verbs)
                for verbs in zip(*(way[name, side] for name in names), strict=True)
            ]
            for side in ("on", "off")
        )
        medians.append(statistics.median(a / b for a, b in zip(on, off, strict=True)))
    return statistics.geometric_mean(medians)


async def _recall(api: FastAPI, bank: str, question: str) -> Spent:
    path = f"/v1/default/banks/{bank}/memories/recall"
    return await _post(api, path, {"query": question, "budget": "low"})


async def _prime(api: FastAPI, bank: str, question: str) -> Spent:
    body = {"entity_id": bank, "similarity_cue": question, "reinforce": False}
    return await _post(api, "/v1/prime", body)


async def _post(api: FastAPI, path: str, body: Any) -> Spent:
    """Send a request straight to the application; return what it took."""
    sent = json.dumps(body).encode()
    status = 0

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": sent, "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status
        status = message.get("status", status)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [
            (b"host", b"localhost"),
            (b"content-type", b"application/json"),
            (b"content-length", str(len(sent)).encode()),
        ],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 6381),
    }
    worked, started = time.process_time(), time.perf_counter()
    await api(scope, receive, send)
    wall_ms, work_ms = (time.perf_counter() - started) * 1e3, (time.process_time() - worked) * 1e3
    if status != 200:
        raise RuntimeError(f"{path} was answered with {status}")
    return Spent(wall_ms, work_ms)


def main(argv: Sequence[str] | None = None) -> Figures:
    """Run from the command line."""
    parser = report.parser(
        "overhead", __doc__ or "", "python -m bench.overhead --turns 10000 --queries 500"
    )
    parser.add_argument("--turns", type=int, default=10_000, help="turns of the bank")
    parser.add_argument("--queries", type=int, default=500, help="questions, each on both sides")
    parser.add_argument("--data", type=Path, help="keep the made store here")
    parser.add_argument("--same", action="store_true", help="both sides without, as a check")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="overhead-") as made_here:
        folder = (options.data or Path(made_here)) / "overhead"
        folder.mkdir(parents=True, exist_ok=True)
        found = run(folder, options.turns, options.queries, same=options.same)
    report.show_latency("overhead", found)
    report.write(options.json, found)
    return found


if __name__ == "__main__":
    main()
