"""What sealing texts at rest costs: the same work on two stores beside each other, one sealed.

Loading a bank, retaining one turn more, recall and prime, the first answer of a bank with its index
files and without any, sealing a plain store, and bytes on disk. Each call is made on one store and
then on the other, so that both see the same machine. Embedding is left out: the embedder is a
stand-in, and its time is taken off.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import remembrancer
from remembrancer import Memory
from remembrancer.keeping.key_text import new_key
from remembrancer.keeping.opening import seal_store
from remembrancer.nouns.memory import DEFAULT_TENANT, BankRef
from remembrancer.settings import Settings

from . import made, report
from .made_store import EMBEDDER, bank_of, load_bank
from .metrics import Figures, latency_figures

OFF, ON = "off", "on"
_WARM_UP = 50


def run(turns: int, calls: int, openings: int) -> Figures:
    """Measure on a bank of `turns`, each call `calls` times on each store."""
    keys = {OFF: None, ON: new_key()}
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        figures: Figures = {"encryption.turns": turns}
        with ExitStack() as stack:
            memories = {
                mode: stack.enter_context(_open(folder / mode, key)) for mode, key in keys.items()
            }
            figures |= _load(memories, turns)
            figures |= _retain(memories, turns, calls)
            figures |= _read(memories, turns, calls)
        for mode in keys:
            figures[f"encryption.{mode}.bytes_per_unit"] = _size(folder / mode) / turns
        figures |= _openings(folder, keys, turns, openings)
        figures |= _seal(folder / OFF, turns)
    return figures


def _open(folder: Path, key: str | None) -> Memory:
    return remembrancer.open(folder, embedder=EMBEDDER, encryption_key=key)


def _load(memories: dict[str, Memory], turns: int) -> Figures:
    seconds = dict.fromkeys(memories, 0.0)
    with report.progress() as bars:
        task = bars.add_task(f"load {turns:,} turns twice", total=2 * turns)
        loads = {
            mode: load_bank(memory, bank_of(turns), turns) for mode, memory in memories.items()
        }
        for both in zip(*loads.values(), strict=True):
            for mode, loaded in zip(loads, both, strict=True):
                seconds[mode] += loaded.seconds
                bars.advance(task, loaded.turns)
    return {f"encryption.{mode}.load.turns_per_s": turns / s for mode, s in seconds.items()}


def _retain(memories: dict[str, Memory], turns: int, calls: int) -> Figures:
    def retain(memory: Memory, text: str) -> float:
        memory.retain([{"role": "user", "name": "Ann", "content": text}], bank=bank_of(turns))
        return 0.0

    texts = made.questions(bank_of(turns), turns, calls, "retained")
    return _figures(_timed(memories, retain, texts, "retain"), "retain")


def _read(memories: dict[str, Memory], turns: int, calls: int) -> Figures:
    bank = bank_of(turns)

    def recall(memory: Memory, question: str) -> float:
        return memory.recall(question, bank=bank).timings.embed_ms

    def prime(memory: Memory, cue: str) -> float:
        return memory.prime(cue=cue, bank=bank).embed_ms

    warm_up = min(_WARM_UP, calls)
    asked = made.questions(bank, turns, calls + warm_up)
    figures: Figures = {}
    for name, call in (("recall", recall), ("prime", prime)):
        times = _timed(memories, call, asked, name)
        figures |= _figures({mode: ms[warm_up:] for mode, ms in times.items()}, name)
    return figures


def _timed(
    memories: dict[str, Memory],
    call: Callable[[Memory, str], float],
    texts: Sequence[str],
    what: str,
) -> dict[str, list[float]]:
    """Call with each text on both stores, which take turns at being first.

    Returns:
        Milliseconds by store, without those that the call says were spent on embedding.
    """
    times: dict[str, list[float]] = {mode: [] for mode in memories}
    orders = itertools.cycle(((OFF, ON), (ON, OFF)))
    with report.progress() as bars:
        for text, order in zip(bars.track(texts, description=what), orders, strict=False):
            for mode in order:
                started = time.perf_counter()
                off = call(memories[mode], text)
                times[mode].append((time.perf_counter() - started) * 1e3 - off)
    return times


def _openings(folder: Path, keys: dict[str, str | None], turns: int, openings: int) -> Figures:
    """Measure the first answer of a bank in a memory just opened: with index files, and without."""
    bank = bank_of(turns)
    question = made.questions(bank, turns, 1, "first")[0]
    times: dict[str, list[float]] = {}
    for _, kept, (mode, key) in itertools.product(range(openings), (True, False), keys.items()):
        if not kept:
            shutil.rmtree(folder / mode / "index", ignore_errors=True)
        with _open(folder / mode, key) as memory:
            started = time.perf_counter()
            answers = memory.recall(question, bank=bank)
            ms = (time.perf_counter() - started) * 1e3 - answers.timings.embed_ms
            name = f"encryption.{mode}.first.{'files' if kept else 'rows'}_ms"
            times.setdefault(name, []).append(ms)
            _settle(memory, bank)
    return {name: statistics.median(found) for name, found in times.items()}


def _settle(memory: Memory, bank: str) -> None:
    """Let the index be on disk before the memory closes."""
    app = memory.inner.app
    ref = BankRef(DEFAULT_TENANT, bank)

    async def compact() -> None:
        async with app.store.snapshot(ref) as view:
            await app.indexes.compact(ref, view)

    memory.wait(compact())


def _seal(folder: Path, turns: int) -> Figures:
    settings = Settings(data=folder, embedder=EMBEDDER, encryption_key=new_key())
    started = time.perf_counter()
    rows = asyncio.run(seal_store(settings))
    seconds = time.perf_counter() - started
    return {
        "encryption.encrypt.rows": rows,
        "encryption.encrypt.turns_per_s": turns / seconds,
        "encryption.encrypt.rows_per_s": rows / seconds,
    }


def _figures(times: dict[str, list[float]], name: str) -> Figures:
    figures: Figures = {}
    for mode, ms in times.items():
        figures |= latency_figures(f"encryption.{mode}.{name}", ms)
    return figures


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main(argv: Sequence[str] | None = None) -> Figures:
    """Run from the command line."""
    parser = report.parser(
        "encryption", __doc__ or "", "python -m bench.encryption --turns 2000 --json out.json"
    )
    parser.add_argument("--turns", type=_turns, default=50_000, help="turns of the bank")
    parser.add_argument("--calls", type=int, default=300, help="calls of each kind on each store")
    parser.add_argument("--openings", type=int, default=5, help="times that the memory is opened")
    options = parser.parse_args(argv)
    figures = run(options.turns, options.calls, options.openings)
    report.show_latency("encryption", figures)
    report.write(options.json, figures)
    return figures


def _turns(text: str) -> int:
    number = int(text.replace("_", ""))
    if number < 100:
        raise argparse.ArgumentTypeError("give at least 100 turns")
    return number


if __name__ == "__main__":
    main()
