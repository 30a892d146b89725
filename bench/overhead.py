"""What metrics, request ids and a line of JSON for each request cost: the same recalls and primes
over the HTTP face in this process, with and without, in turns.

Without: no middleware that watches requests, none that watches recalls, no log. The network is left
out. `overhead.metrics_logs.ratio` is the processor's time of a recall and a prime (medians) with
them by that without; `overhead.waited.ratio` is the same of what a caller waits, which says as much
on an idle machine alone.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, TextIO

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


class Spent(NamedTuple):
    """What a request took: milliseconds of waiting, and of the processor's, in all threads."""

    wall_ms: float
    work_ms: float


def run(folder: Path, turns: int, count: int) -> Figures:
    """Measure; `folder` holds a bank of so many made turns, which is made if it does not."""
    load_sizes(folder, [turns])
    with (folder / "log").open("w", encoding="utf-8") as log:
        return asyncio.run(_measured(folder, turns, count, log))


async def _measured(folder: Path, turns: int, count: int, log: TextIO) -> Figures:
    settings = Settings(
        data=folder, embedder=EMBEDDER, log_level="info", log_format="json", grpc="off"
    )
    watched = await App.open(settings, background=False)
    plain = await App.open(settings, background=False)  # two indexes: neither side warms the other
    try:
        plain.recall._watch = None
        without = make_app(plain)
        without.user_middleware = [m for m in without.user_middleware if m.cls is not Watched]
        sides = {"on": make_app(watched), "off": without}
        bank = bank_of(turns)
        asked = made.questions(bank, turns, count)
        spent: dict[tuple[str, str], list[Spent]] = {}
        for question in made.questions(bank, turns, _WARM_UP, "warm-up"):
            for api in sides.values():
                await _recall(api, bank, question)
                await _prime(api, bank, question)
        for block, start in enumerate(range(0, count, _BLOCK)):
            order = ("on", "off") if block % 2 == 0 else ("off", "on")
            for side in order:
                with ExitStack() as stack:
                    if side == "on":
                        stack.enter_context(logging_to(settings, log))
                    for question in asked[start : start + _BLOCK]:
                        for name, ask in (("recall", _recall), ("prime", _prime)):
                            took = await ask(sides[side], bank, question)
                            spent.setdefault((name, side), []).append(took)
    finally:
        await plain.close()
        await watched.close()
    if not log.tell():
        raise RuntimeError("nothing was logged")
    return figures(spent)


def figures(spent: dict[tuple[str, str], list[Spent]]) -> Figures:
    """Return medians by verb and side, and ratios."""
    found: Figures = {
        f"overhead.{name}_{side}.p50_ms": percentile([each.wall_ms for each in times], 50)
        for (name, side), times in spent.items()
    }
    names = sorted({name for name, _ in spent})
    wall = {key: [each.wall_ms for each in times] for key, times in spent.items()}
    work = {key: [each.work_ms for each in times] for key, times in spent.items()}
    for name in names:
        found[f"overhead.{name}.ratio"] = _ratio(work, [name])
    found["overhead.waited.ratio"] = _ratio(wall, names)
    found["overhead.metrics_logs.ratio"] = _ratio(work, names)
    return found


def _ratio(spent: dict[tuple[str, str], list[float]], names: Sequence[str]) -> float:
    """Return the sum of the medians of some verbs with, by that without."""
    on, off = (
        sum(statistics.median(spent[name, side]) for name in names) for side in ("on", "off")
    )
    return on / off


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
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="overhead-") as made_here:
        folder = (options.data or Path(made_here)) / "overhead"
        folder.mkdir(parents=True, exist_ok=True)
        found = run(folder, options.turns, options.queries)
    report.show_latency("overhead", found)
    report.write(options.json, found)
    return found


if __name__ == "__main__":
    main()
