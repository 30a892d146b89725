"""Ingest: how fast chats are retained, what they leave on disk, how much of it is embedding."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import remembrancer

from . import report
from .datasets import Chat, load_chats
from .metrics import Figures
from .retrieval import retain_chats


@dataclass(frozen=True, slots=True)
class Ingested:
    """One run: turns, units in the store, seconds, and bytes on disk once closed."""

    turns: int
    units: int
    seconds: float
    size: int


def run(chats: Sequence[Chat], embedder: str) -> Figures:
    """Retain the chats with the embedder and once more without one."""
    with_it, without = ingest(chats, embedder), ingest(chats, "none")
    return {
        "ingest.turns": with_it.turns,
        "ingest.turns_per_s": with_it.turns / with_it.seconds,
        "ingest.none.turns_per_s": without.turns / without.seconds,
        # Reading goes on while texts are embedded: this is the time that embedding adds.
        "ingest.embedding_share": 1 - without.seconds / with_it.seconds,
        "ingest.facts_per_turn": with_it.units / with_it.turns - 1,
        "ingest.bytes_per_unit": with_it.size / with_it.units,
        "ingest.none.bytes_per_unit": without.size / without.units,
    }


def ingest(chats: Sequence[Chat], embedder: str) -> Ingested:
    """Retain the chats in a new store."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        with remembrancer.open(folder, embedder=embedder) as memory, report.progress() as bars:
            if embedder != "none":
                memory.retain("warm", bank="warm-up")
                memory.recall("warm", bank="warm-up")
            task = bars.add_task(f"retain, {embedder}", total=sum(len(c.sessions) for c in chats))
            turns, seconds = retain_chats(memory, chats, lambda: bars.advance(task))
            units = sum(b.unit_count for b in memory.status().banks)
        size = sum(f.stat().st_size for f in Path(folder).rglob("*") if f.is_file())
    return Ingested(turns, units, seconds, size)


def main(argv: Sequence[str] | None = None) -> Figures:
    """Run from the command line."""
    parser = report.parser(
        "ingest", __doc__ or "", "python -m bench.ingest locomo10.json --json ingest.json"
    )
    parser.add_argument("data", type=Path, nargs="+", help="LoCoMo or BEAM files")
    parser.add_argument("--embedder", default="bge-small", help="as the setting of that name")
    options = parser.parse_args(argv)
    chats = [chat for path in options.data for chat in load_chats(path)]
    figures = run(chats, options.embedder)
    report.show("ingest", figures)
    report.write(options.json, figures)
    return figures


if __name__ == "__main__":
    main()
