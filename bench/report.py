"""What a bench shows and writes: progress bars, tables, the figures file and its meta file."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from .metrics import KS, Figures

_PIPE_COLUMNS = 110

console = Console(width=None if sys.stdout.isatty() else _PIPE_COLUMNS)


def parser(name: str, about: str, example: str) -> argparse.ArgumentParser:
    """Return a parser with the options that every bench has."""
    made = argparse.ArgumentParser(
        prog=f"python -m bench.{name}",
        description=about,
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--json", type=Path, metavar="OUT", help="write the figures to this file")
    return made


def progress() -> Progress:
    """Return a progress display; it is quiet where there is no terminal."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


def write(path: Path | None, figures: Figures) -> None:
    """Write the figures (name to number), and how they came about to `NAME.meta.json`."""
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    flat = {name: round(float(value), 6) for name, value in figures.items()}
    path.write_text(json.dumps(flat, indent=1) + "\n", encoding="utf-8")
    meta = path.with_suffix(".meta.json")
    meta.write_text(json.dumps(_meta(), indent=1) + "\n", encoding="utf-8")
    console.print(f"figures: {path}")


def show(title: str, figures: Mapping[str, float]) -> None:
    """Print figures as a table of names and values."""
    table = Table(title=title, title_justify="left")
    table.add_column("figure")
    table.add_column("value", justify="right")
    for name, value in figures.items():
        table.add_row(name, number(value))
    console.print(table)


def show_latency(title: str, figures: Mapping[str, float]) -> None:
    """Print `NAME.p50_ms` and its like as one row a NAME, the rest below as names and values."""
    columns = ("p50_ms", "p95_ms", "p99_ms")
    rows: dict[str, dict[str, float]] = {}
    rest: dict[str, float] = {}
    for name, value in figures.items():
        row, _, last = name.rpartition(".")
        if last in columns:
            rows.setdefault(row, {})[last] = value
        else:
            rest[name] = value
    if rows:
        table = Table(title=title, title_justify="left")
        table.add_column("figure")
        for column in columns:
            table.add_column(column, justify="right")
        for name, row_values in rows.items():
            cells = (number(row_values[c]) if c in row_values else "" for c in columns)
            table.add_row(name, *cells)
        console.print(table)
    if rest:
        show("" if rows else title, rest)


def show_retrieval(title: str, figures: Figures, systems: Iterable[str]) -> None:
    """Print retrieval figures: a table for each system, a row for each group of questions."""
    measures = [f"{name}@{k}" for name in ("frac", "any", "all") for k in KS]
    groups = [name.removeprefix("n") for name in figures if name == "n" or name.startswith("n.")]
    for prefix in systems:
        table = Table(
            title=f"{title}: {prefix.rstrip('.') or 'remembrancer'}",
            title_justify="left",
            box=None,
            padding=(0, 1, 0, 0),
            pad_edge=False,
        )
        table.add_column("questions", no_wrap=True)
        table.add_column("n", justify="right", min_width=4)
        for measure in measures:
            table.add_column(measure.replace("@", "\n@"), justify="right", min_width=4)
        for group in groups:
            cells = [share(figures[f"{prefix}{m}{group}"]) for m in measures]
            table.add_row(group.lstrip(".") or "all", f"{figures[f'n{group}']:.0f}", *cells)
        console.print(table)


def share(value: float) -> str:
    """Spell a share in four characters: .584, 1.00."""
    return f"{value:.2f}" if value >= 0.9995 else f"{value:.3f}".removeprefix("0")


def number(value: float) -> str:
    """Spell a number with three significant digits, whole above 100."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _meta(argv: Sequence[str] | None = None) -> dict[str, str | int]:
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": _command(sys.argv if argv is None else argv),
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "python": platform.python_version(),
        "system": platform.platform(),
    }


def _command(argv: Sequence[str]) -> str:
    """Spell the command without the folders of this machine."""
    program, *arguments = argv
    name = Path(program).stem
    module = "bench" if name == "__main__" else f"bench.{name}"
    shown = [Path(a).name if a.startswith("/") else a for a in arguments]
    return " ".join(["python -m", module, *shown])


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((x.partition(":")[2].strip() for x in lines if x.startswith("model name")), "")
