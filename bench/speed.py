"""The timed loops of the latency bench: in the process, over HTTP, brute force, upkeep."""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np

import remembrancer

from . import made
from .made_store import EMBEDDER, bank_of, load_bank
from .metrics import Figures, latency_figures, percentile
from .report import progress
from .server import COMMAND, Client, Server, rss_mb

DIM = 384
TOP = 50
_WARM_UP = 50
_SETTLE_S = 3.0
_ROUNDS = 20
_BRUTE_A_ROUND = 10
_WARM_AGAIN = 5


class BruteForce:
    """All vectors in one float32 matrix: a dot product and the best 50."""

    def __init__(self, count: int) -> None:
        rng = np.random.default_rng(count)
        self._vectors = rng.standard_normal((count, DIM), dtype=np.float32)
        self._vectors /= np.linalg.norm(self._vectors, axis=1, keepdims=True)
        self._query = self._vectors[0].copy()

    def search_ms(self) -> float:
        """Search once and return the milliseconds; the answer is checked."""
        started = time.perf_counter()
        scores = self._vectors @ self._query
        best = np.argpartition(scores, len(scores) - TOP)[-TOP:]
        best = best[np.argsort(-scores[best])]
        ms = (time.perf_counter() - started) * 1e3
        if best[0] != 0:
            raise RuntimeError("brute force did not find the vector itself")
        return ms


def in_process(folder: Path, turns: int, count: int) -> Figures:
    """Measure recall, prime and brute force in this process; embedding is not counted."""
    return asyncio.run(_in_process(folder, turns, count))


async def _in_process(folder: Path, turns: int, count: int) -> Figures:
    bank = bank_of(turns)
    brute = BruteForce(2 * turns)
    recalls: list[float] = []
    primes: list[float] = []
    brutes: list[float] = []
    async with remembrancer.open_async(folder, embedder=EMBEDDER) as memory:

        async def recall(question: str) -> None:
            started = time.perf_counter()
            answers = await memory.recall(question, bank=bank)
            recalls.append((time.perf_counter() - started) * 1e3 - answers.timings.embed_ms)

        async def prime(cue: str) -> None:
            started = time.perf_counter()
            primed = await memory.prime(cue=cue, bank=bank)
            primes.append((time.perf_counter() - started) * 1e3 - primed.embed_ms)

        warming = made.questions(bank, turns, _WARM_UP, "warm-up")
        asked = made.questions(bank, turns, count)
        cues = made.questions(bank, turns, count, "primed")
        size = -(-count // _ROUNDS)
        with progress() as bars:
            # In rounds, so that all three meet the same moods of the machine, and not one by one:
            # each brute force empties the processor's caches, which a few recalls fill again.
            for start in bars.track(range(0, count, size), description=f"recall, {turns:,} turns"):
                brutes += [brute.search_ms() for _ in range(_BRUTE_A_ROUND)]
                for question in warming if start == 0 else warming[:_WARM_AGAIN]:
                    await memory.recall(question, bank=bank)
                    await memory.prime(cue=question, bank=bank)
                for question in asked[start : start + size]:
                    await recall(question)
                for cue in cues[start : start + size]:
                    await prime(cue)
    return {
        **latency_figures(f"recall.inproc.{turns}", recalls),
        **latency_figures(f"prime.inproc.{turns}", primes),
        f"brute.{turns}.p50_ms": percentile(brutes, 50),
        f"ratio.inproc.{turns}": percentile(recalls, 50) / percentile(brutes, 50),
    }


def over_http(folder: Path, sizes: Sequence[int], count: int) -> Figures:
    """Measure recall and prime over HTTP, as the client sees them, embedding included."""
    figures: Figures = {}
    with Server(folder, EMBEDDER) as server, Client(server.port) as client, progress() as bars:
        for turns in sizes:
            bank = bank_of(turns)
            task = bars.add_task(f"HTTP, {turns:,} turns", total=2 * count)
            for question in made.questions(bank, turns, _WARM_UP, "warm-up"):
                client.recall(bank, question)
                client.prime(bank, question)
            for verb, ask, purpose in (
                ("recall", client.recall, "asked"),
                ("prime", client.prime, "primed"),
            ):
                waited, inside = [], []
                for question in made.questions(bank, turns, count, purpose):
                    timed = ask(bank, question)
                    waited.append(timed.ms)
                    if timed.server_ms is not None:
                        inside.append(timed.server_ms)
                    bars.advance(task)
                figures |= latency_figures(f"{verb}.http.{turns}", waited)
                if inside:
                    figures[f"{verb}.http.{turns}.server_p50_ms"] = percentile(inside, 50)
    return figures


def embed_alone(embedder: str, count: int) -> Figures:
    """Measure embedding English questions, each new to the cache."""
    times = []
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        remembrancer.open(folder, embedder=embedder) as memory,
    ):
        memory.retain("Ada: I moved to Berlin in May.")
        memory.recall("Is this warm?")
        for question in made.plain_questions(count):
            times.append(memory.recall(question).timings.embed_ms)
    return latency_figures("embed", times)


def retain_one(embedder: str, turns: int, count: int) -> Figures:
    """Measure retaining one turn, durable and embedded, in a bank of `turns`."""
    bank = "one"
    times = []
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        remembrancer.open(folder, embedder=embedder) as memory,
        progress() as bars,
    ):
        task = bars.add_task("retain one", total=turns + count)
        for loaded in load_bank(memory, bank, turns):
            bars.advance(task, loaded.turns)
        for turn in itertools.islice(itertools.cycle(_real_turns()), count):
            started = time.perf_counter()
            memory.retain([turn], bank=bank)
            times.append((time.perf_counter() - started) * 1e3)
            bars.advance(task)
    return latency_figures("retain.one", times)


def _real_turns() -> list[dict[str, str]]:
    """Return the turns of the demo's conversation: made words are not what the model is fast at."""
    text = resources.files("remembrancer.faces.cli.demo").joinpath("conversation.json").read_text()
    return [turn for session in json.loads(text)["sessions"] for turn in session["messages"]]


def forget_many(folder: Path, turns: int, count: int, rounds: int = 3) -> Figures:
    """Measure forgetting `count` memories, spread over a bank, on a copy of the store."""
    bank = bank_of(turns)
    times = []
    with tempfile.TemporaryDirectory(prefix="bench-", dir=folder.parent) as beside:
        copy = Path(beside) / "copy"
        shutil.copytree(folder, copy)
        with remembrancer.open(copy, embedder=EMBEDDER) as memory:
            for number in range(rounds):
                ids = _spread_ids(memory, bank, turns, count, f"forget {number}")
                started = time.perf_counter()
                receipt = memory.forget(ids, bank=bank)
                times.append(time.perf_counter() - started)
                if receipt.missing:
                    raise RuntimeError("a memory that recall gave could not be forgotten")
    return {f"forget.{count}.s": statistics.median(times)}


def _spread_ids(
    memory: remembrancer.Memory, bank: str, turns: int, count: int, purpose: str
) -> list[str]:
    """Return ids of memories that questions find."""
    ids: dict[str, None] = {}
    for question in made.questions(bank, turns, count, purpose):
        ids.update((a.id, None) for a in memory.recall(question, bank=bank))
        if len(ids) >= count:
            return list(ids)[:count]
    raise RuntimeError(f"only {len(ids)} of {count} memories were found")


def help_s(repeat: int = 5) -> Figures:
    """Measure `remembrancer --help`."""
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        subprocess.run([COMMAND, "--help"], check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - started)
    return {"help.s": statistics.median(times)}


def idle_rss(embedder: str) -> Figures:
    """Measure the memory of a server that does nothing: just started, and with its model in use."""
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        Server(Path(folder) / "data", embedder) as server,
    ):
        time.sleep(_SETTLE_S)
        started = rss_mb(server.pid)
        with Client(server.port) as client:
            client.recall("nobody", "Is the model loaded?")
        time.sleep(_SETTLE_S)
        return {"idle.rss.mb": started, "idle.warm.rss.mb": rss_mb(server.pid)}
