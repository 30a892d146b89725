"""`python tests/fuzz`: feed readers, importers and date rules, and print how much they took."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import guided

import made

_HERE = Path(__file__).parent
_SHOWN = 12  # lines of a fault


def main() -> int:
    """Return 1 when any input broke a target."""
    told = _arguments().parse_args()
    found = importlib.util.find_spec("atheris") is not None
    if told.engine == "atheris" and not found:
        sys.exit("fuzz: no atheris here: `make fuzz` installs it; or leave out --engine")
    by_coverage = found and told.engine != "hypothesis"
    with guided.watched() if by_coverage else contextlib.nullcontext():
        import targets
    if told.input:
        targets.TARGETS[told.only or sys.exit("fuzz: --input needs --only")](
            told.input.read_bytes()
        )
        return 0
    guided.prepare(told.folder / "corpus")
    names = [told.only] if told.only else list(targets.TARGETS)
    if told.only and told.only not in targets.TARGETS:
        sys.exit(f"fuzz: no target {told.only!r}; there are: {', '.join(targets.TARGETS)}")
    seconds = told.minutes * 60 * min(told.jobs, len(names)) / len(names)
    engine = "atheris, guided by coverage" if by_coverage else made.name()
    print(f"{len(names)} targets, {seconds:.1f} s each, {told.jobs} at a time, by {engine}")
    return _run(told, {n: targets.TARGETS[n] for n in names}, seconds, by_coverage)


def _run(
    told: argparse.Namespace,
    chosen: dict[str, Callable[[bytes], None]],
    seconds: float,
    by_coverage: bool,
) -> int:
    from children import Run, run_all

    began = time.monotonic()
    runs = [Run(name, target, told.folder, seconds) for name, target in chosen.items()]
    run_all(runs, guided.feed_until if by_coverage else _made, told.seed, told.jobs)
    rows: dict[str, dict[str, Any]] = {}
    for run in runs:
        rows[run.name] = run.told()
        if by_coverage:
            rows[run.name]["edges"] = guided.covered(run.log)
    total = _print(rows)
    if told.out:
        _write(told.out, rows, total, by_coverage, time.monotonic() - began)
    for run in runs:
        for fault in run.faults():
            print(f"\n{run.name}: inputs in {run.broken}")
            print("\n".join(fault.strip().splitlines()[-_SHOWN:]))
    return int(total["faults"] > 0)


def _made(
    feed: Callable[[bytes], None], seconds: float, seed: int, corpus: Path, _broken: Path
) -> None:
    for known in sorted(corpus.iterdir()):
        feed(known.read_bytes())
    made.feed_until(feed, seconds, seed)


def _print(rows: dict[str, dict[str, Any]]) -> Counter[str]:
    print(
        f"{'':22}{'inputs':>11}{'taken':>11}{'refused':>11}{'faults':>8}{'slowest':>10}{'edges':>8}"
    )
    total: Counter[str] = Counter()
    for name, row in rows.items():
        total += Counter({k: row[k] for k in ("inputs", "taken", "refused", "faults")})
        cells = "".join(f"{row[k]:>11,}" for k in ("inputs", "taken", "refused"))
        edges = row.get("edges") or ""
        print(f"{name:22}{cells}{row['faults']:>8}{row['slowest_ms']:>7} ms{edges:>8}")
    cells = "".join(f"{total[k]:>11,}" for k in ("inputs", "taken", "refused"))
    print(f"{'all':22}{cells}{total['faults']:>8}")
    return total


def _write(
    out: Path, rows: dict[str, Any], total: Counter[str], by_coverage: bool, took: float
) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    text = {
        "engine": "atheris" if by_coverage else "hypothesis",
        "minutes": round(took / 60, 1),
        "total": {k: total[k] for k in ("inputs", "taken", "refused", "faults")},
        "targets": rows,
    }
    out.write_text(json.dumps(text, indent=1) + "\n")


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0, help="of the clock, for all targets")
    parser.add_argument("--engine", choices=["atheris", "hypothesis"], help="atheris if it is here")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="TARGET")
    parser.add_argument("--input", type=Path, help="feed this file to --only alone, unguarded")
    parser.add_argument("--folder", type=Path, default=_HERE.parents[1] / "build" / "fuzz")
    parser.add_argument("--out", type=Path, help="write the totals there, too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
