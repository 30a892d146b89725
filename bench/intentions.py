"""Intentions: checking among many, registering, and how soon what falls due is sent.

Checking: one bank, of whose intentions 60 % wait for a time, 20 % for an event, 20 % for a context
(384 components, in a cone as embeddings of texts are: a cosine of .4 between unrelated ones). Each
check names an event for which a few wait, and gives the vector and the text of a context that is
like one cue; what it returns is leased, and acknowledged outside the time. Embedding is apart:
`embed.hash.p50_ms` is that of the stand-in. Sending: to a receiver on this machine, from a server
in a process of its own, while intentions fall due evenly over a span.
"""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

import remembrancer
from remembrancer.app import App
from remembrancer.nouns.intention import TriggerType
from remembrancer.nouns.memory import BankRef
from remembrancer.verbs.check import CheckOptions, Mode
from remembrancer.verbs.remind import Reminder
from remembrancer.verbs.telling.webhooks import INTENTION_DUE, Webhook

from . import report
from .metrics import Figures, percentile
from .server import Server

DATA = Path(__file__).parent / "data"
EMBEDDER = "hash:384"
DIM = 384
CONE = 0.82  # how much of the common direction: a cosine of .4 between unrelated vectors
NOISE = 0.5  # of what is talked about, beside the cue
EVENT_SHARE, CONTEXT_SHARE = 0.2, 0.2
WAITING = 3  # intentions for one event
BATCH = 2_000
REF = BankRef("default", "bank")
_US = 1_000_000
_YEAR_US = 366 * 86_400 * _US
_WAIT_S = 120

T = TypeVar("T")
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Made:
    """Made intentions, each the same whenever it is made."""

    count: int
    now: int  # microseconds; times lie after it

    def kind(self, number: int) -> TriggerType:
        """Return what an intention waits for."""
        share = number % 10 / 10
        if share < EVENT_SHARE:
            return TriggerType.EVENT
        return TriggerType.CONTEXT if share < EVENT_SHARE + CONTEXT_SHARE else TriggerType.TIME

    def event(self, number: int) -> str:
        """Return the event that an intention waits for: of each a few wait."""
        return f"event-{number % max(1, int(self.count * EVENT_SHARE / WAITING))}"

    def batch(self, start: int, end: int) -> list[Reminder]:
        """Return the intentions of some numbers."""
        vectors = cues(start, end)
        return [self._reminder(n, vectors[n - start]) for n in range(start, end)]

    def _reminder(self, number: int, vector: Floats) -> Reminder:
        kind = self.kind(number)
        importance = (number * 7 % 100) / 100
        content = f"Tell Ann about parcel {number} of street {number % 997}"
        if kind is TriggerType.EVENT:
            event = self.event(number)
            return Reminder(content, kind, trigger_event=event, importance=importance)
        if kind is TriggerType.CONTEXT:
            cue = f"parcels of street {number % 997}, number {number}"
            return Reminder(content, kind, cue_text=cue, vector=vector, importance=importance)
        at = self.now + _YEAR_US // 10 + _YEAR_US * (number * 7919 % self.count) // self.count
        return Reminder(content, kind, trigger_at=at, importance=importance)


def cues(start: int, end: int) -> Floats:
    """Return the vectors (n, DIM) of some numbers; those of a number are always the same."""
    common = np.random.default_rng(1).normal(size=DIM)
    rng = [np.random.default_rng((2, n)) for n in range(start, end)]
    vectors = np.stack([r.normal(size=DIM) for r in rng]) + CONE * common
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32)


def load(memory: remembrancer.Memory, count: int) -> Figures:
    """Make sure that the bank holds so many intentions; return how fast they were registered."""
    app = memory.inner.app
    _, there = memory.wait(app.remind.listing(REF, None, 1))
    made = Made(count, app.clock.now_us())
    seconds, done = 0.0, 0
    with report.progress() as bars:
        task = bars.add_task(f"register {count:,}", total=count, completed=there)
        for start in range(there, count, BATCH):
            batch = made.batch(start, min(count, start + BATCH))
            started = time.perf_counter()
            memory.wait(app.remind(REF, batch))
            seconds += time.perf_counter() - started
            done += len(batch)
            bars.update(task, completed=start + len(batch))
    return {f"register.to_{count}.per_s": done / seconds} if done else {}


def register(count: int) -> Figures:
    """Measure registering in batches, durable, in a new store."""
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        remembrancer.open(folder, embedder="none") as memory,
    ):
        app = memory.inner.app
        made = Made(count, app.clock.now_us())
        seconds = 0.0
        for start in range(0, count, BATCH):
            batch = made.batch(start, start + BATCH)
            started = time.perf_counter()
            memory.wait(app.remind(REF, batch))
            seconds += time.perf_counter() - started
    return {"register.per_s": count / seconds}


def check(memory: remembrancer.Memory, count: int, checks: int) -> Figures:
    """Measure checks that lease what they return."""
    app = memory.inner.app
    made = Made(count, app.clock.now_us())
    seed = len(memory.wait(app.store.offers(REF, limit=1_000_000)))  # others each time
    rng = np.random.default_rng((3, seed))
    begun = time.perf_counter()
    memory.wait(_checked(app, made, rng, checks=10))
    first = time.perf_counter() - begun
    times, busy, found = memory.wait(_checked(app, made, rng, checks))
    name = f"check.{count}"
    return {
        f"{name}.p50_ms": percentile(times, 50),
        f"{name}.p99_ms": percentile(times, 99),
        f"{name}.cpu.p50_ms": percentile(busy, 50),
        f"{name}.cpu.p99_ms": percentile(busy, 99),
        f"{name}.returned": found / checks,
        f"{name}.load_s": first,
    }


async def _checked(
    app: App, made: Made, rng: np.random.Generator, checks: int
) -> tuple[list[float], list[float], int]:
    """Return the milliseconds of each check, of all threads' work in it, and what it found."""
    times: list[float] = []
    busy: list[float] = []
    found = 0
    for _ in range(checks):
        number = int(rng.integers(made.count // 10)) * 10
        context = number + 3  # waits for a context, `number` for an event
        cue = cues(context, context + 1)[0]
        vector = cue + NOISE * rng.normal(size=DIM).astype(np.float32) / DIM**0.5
        options = CheckOptions(
            events=[made.event(number), "another-event"],
            text="What about the parcels of the street by the mill?",
            vector=vector,
            mode=Mode.LEASE,
        )
        started, worked = time.perf_counter(), time.process_time()
        checked = await app.check(REF, options)
        times.append((time.perf_counter() - started) * 1e3)
        busy.append((time.process_time() - worked) * 1e3)
        found += len(checked.due)
        for due in checked.due:
            await app.occurrences.ack(REF, due.occurrence.id, due.occurrence.token, None)
    return times, busy, found


def embed(memory: remembrancer.Memory, runs: int = 200) -> Figures:
    """Measure what embedding a text adds with the stand-in."""
    embedder = memory.inner.app.embedder
    assert embedder is not None

    async def timed() -> list[float]:
        times = []
        for number in range(runs):
            started = time.perf_counter()
            await embedder.embed([f"What about parcel {number} of the street by the mill?"])
            times.append((time.perf_counter() - started) * 1e3)
        return sorted(times)

    return {"embed.hash.p50_ms": memory.wait(timed())[runs // 2]}


class Receiver:
    """Takes webhooks on loopback, and notes how long after their time they came, in seconds."""

    def __init__(self) -> None:
        self.lags: dict[str, float] = {}
        lags = self.lags

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                data = json.loads(body)["data"]
                due = np.datetime64(data["due_at"].removesuffix("Z"), "us").astype(np.int64)
                lag = time.time() - int(due) / _US
                lags.setdefault(data["occurrence_id"], lag)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        class Listener(ThreadingHTTPServer):
            request_queue_size = 1_000

        self._server = Listener(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/due"
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def push(count: int, span_s: float) -> Figures:
    """Measure how long after their time intentions reach a receiver."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, Receiver() as receiver:
        with (
            Server(Path(folder) / "data", "none", webhook_allow_private="true"),
            remembrancer.open(
                Path(folder) / "data", embedder="none", webhook_allow_private=True
            ) as memory,
        ):
            app = memory.inner.app
            webhook = Webhook("", receiver.url, "key", (INTENTION_DUE,))
            memory.wait(app.webhooks.create(REF, webhook))
            ahead = 2.0 + count / 2_000
            first = app.clock.now_us() + int(ahead * _US)
            at = [first + int(span_s * _US) * n // count for n in range(count)]
            told = [Reminder(f"n{n}", TriggerType.TIME, trigger_at=t) for n, t in enumerate(at)]
            for start in range(0, count, BATCH):
                memory.wait(app.remind(REF, told[start : start + BATCH]))
            deadline = time.monotonic() + ahead + span_s + _WAIT_S
            while len(receiver.lags) < count and time.monotonic() < deadline:
                time.sleep(0.2)
        lags = sorted(receiver.lags.values())
    if len(lags) < count:
        raise RuntimeError(f"{len(lags)} of {count} were sent")
    return {
        f"push.{count}.span_s": span_s,
        f"push.{count}.lag_p50_s": lags[count // 2],
        f"push.{count}.lag_p99_s": lags[count * 99 // 100],
    }


def run(folder: Path, count: int, checks: int, pushes: int, parts: Sequence[str]) -> Figures:
    """Measure the parts asked for; the bank with many is made in `folder` unless it is there."""
    figures: Figures = {}
    if "register" in parts:
        figures |= register(min(20_000, max(BATCH, count // 10)))
    if "check" in parts:
        place = folder / f"intentions-{count}"
        place.mkdir(parents=True, exist_ok=True)
        with remembrancer.open(place, embedder=EMBEDDER) as memory:
            figures |= load(memory, count)
            figures |= check(memory, count, checks)
            figures |= embed(memory)
    if "push" in parts:
        figures |= push(pushes, 60 * pushes / 10_000)
    return figures


def main(argv: Sequence[str] | None = None) -> Figures:
    """Run from the command line."""
    parser = report.parser(
        "intentions",
        __doc__ or "",
        "python -m bench.intentions --count 1000000 --json intentions.json",
    )
    parser.add_argument("--count", type=int, default=1_000_000, help="intentions to check among")
    parser.add_argument("--checks", type=int, default=1_000, help="how many checks")
    parser.add_argument("--pushes", type=int, default=10_000, help="due within a minute's share")
    parser.add_argument("--data", type=Path, default=DATA, help="where the bank is kept")
    parser.add_argument(
        "--parts", type=lambda text: text.split(","), default=["register", "check", "push"]
    )
    options = parser.parse_args(argv)
    figures = run(options.data, options.count, options.checks, options.pushes, options.parts)
    report.show_latency("intentions", figures)
    report.write(options.json, figures)
    return figures


if __name__ == "__main__":
    main()
