#!/usr/bin/env python3
"""Write docs/benchmarks.md from bench/results; with --check only say whether it is up to date."""

from __future__ import annotations

import ast
import json
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generated_doc import main, table

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results"
TARGET = ROOT / "docs" / "benchmarks.md"

HEAD = """\
# Benchmarks

The figures of the files in `bench/results/`, each with the machine, the day and the command that
made it. `make bench` runs all benches, small, on made data; `python -m bench.NAME --help` tells how
to run one in full.
"""

NONE = "No results are here yet.\n"

# What the names of figures mean, told where they occur.
ABOUT_RETRIEVAL = """\
*frac@k*: the share of a question's gold passages among the first k answers; *any@k*, *all@k*: how
often at least one, or every one, is there; means over *n* questions.
"""
SYSTEMS = {
    "": "Remembrancer",
    "bm25": "Plain BM25, with Lucene's stop words (`bm25`)",
    "bm25-longstop": "Plain BM25, with our stop words (`bm25-longstop`)",
    "loo": "Remembrancer, with weights chosen on the other conversations only (`loo`)",
}
ABOUT_TIMES = "Times in milliseconds: half, 95 % and 99 % of the calls take at most so long.\n"

_FOUND = re.compile(
    r"(?:(?P<system>[^@]+)\.)?(?P<measure>(?:any|all|frac)@\d+)(?:\.(?P<group>.+))?"
)
_COUNT = re.compile(r"n(?:\.(?P<group>.+))?")
_TIMES = ("p50_ms", "p95_ms", "p99_ms")

Figures = dict[str, float]


@dataclass(frozen=True)
class Result:
    """One file of figures, and what its meta file tells of the run."""

    name: str
    figures: Figures
    meta: dict[str, Any]


def results(folder: Path) -> list[Result]:
    """Return all results in a folder and those below, by name."""
    files = sorted(p for p in folder.rglob("*.json") if not p.name.endswith(".meta.json"))
    return [
        Result(
            path.relative_to(folder).with_suffix("").as_posix(),
            _figures(_json(path)),
            _json(path.with_suffix(".meta.json")),
        )
        for path in files
    ]


def page() -> str:
    """Return the page."""
    sections = [section(result) for result in results(RESULTS)]
    return "\n".join([HEAD, *sections]) if sections else f"{HEAD}\n{NONE}"


def section(result: Result) -> str:
    """Return one result's part of the page."""
    found, times, rest = split(result.figures)
    parts = [f"## {result.name}\n", _about(result.name), _run(result.meta)]
    if found:
        parts += [ABOUT_RETRIEVAL, *_retrieval(found, result.figures)]
    if times:
        parts += [ABOUT_TIMES, table(("Figure", *_TIMES), _time_rows(times), numbers=1)]
    if rest:
        rows = [(f"`{name}`", number(value)) for name, value in rest.items()]
        parts.append(table(("Figure", "Value"), rows, numbers=1))
    return "\n".join(part for part in parts if part)


def split(figures: Figures) -> tuple[Figures, dict[str, Figures], Figures]:
    """Sort figures into those of retrieval, times by what was timed, and the rest."""
    found: Figures = {}
    times: dict[str, Figures] = {}
    rest: Figures = {}
    counts = any(_FOUND.fullmatch(name) for name in figures)
    for name, value in figures.items():
        what, _, last = name.rpartition(".")
        if _FOUND.fullmatch(name):
            found[name] = value
        elif last in _TIMES:
            times.setdefault(what, {})[last] = value
        elif not (counts and _COUNT.fullmatch(name)):
            rest[name] = value
    return found, times, rest


def number(value: float) -> str:
    """Spell a number with three significant digits, whole above 100."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def command(told: str) -> str:
    """Spell a run's command so that it can be typed in a checkout: no paths of one machine."""
    words = shlex.split(told)
    if not words:
        return ""
    module = re.search(r"(?:^|/)bench/(\w+)\.py$", words[0])
    if module:
        name = module[1]
        words[:1] = ["python", "-m", "bench" if name == "__main__" else f"bench.{name}"]
    return shlex.join(_short(word) for word in words)


def _short(word: str) -> str:
    """Shorten an absolute path to what is inside the checkout, or to its name."""
    option, equals, value = word.partition("=")
    head, path = (f"{option}=", value) if equals and option.startswith("-") else ("", word)
    if not path.startswith("/"):
        return word
    inside = re.search(r"/(bench/(?:results|data)/.*)", path)
    return head + (inside[1] if inside else Path(path).name)


def _retrieval(found: Figures, figures: Figures) -> list[str]:
    """Return a table for each system: a row a group of questions, a column a measure."""
    systems: dict[str, dict[str, dict[str, float]]] = {}
    for name, value in found.items():
        match = _FOUND.fullmatch(name)
        assert match is not None
        groups = systems.setdefault(match["system"] or "", {})
        groups.setdefault(match["group"] or "", {})[match["measure"]] = value
    tables = []
    for system, groups in systems.items():
        measures = sorted({m for row in groups.values() for m in row}, key=_order)
        rows = [
            [
                group or "all",
                _count(figures.get(f"n.{group}" if group else "n")),
                *(f"{row[m]:.3f}" if m in row else "" for m in measures),
            ]
            for group, row in groups.items()
        ]
        title = SYSTEMS.get(system, f"`{system}`")
        tables += [f"**{title}**\n", table(("Questions", "n", *measures), rows, numbers=1)]
    return tables


def _order(measure: str) -> tuple[int, int]:
    kind, _, k = measure.partition("@")
    return ("frac", "any", "all").index(kind), int(k)


def _count(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


def _time_rows(times: dict[str, Figures]) -> list[list[str]]:
    return [
        [f"`{name}`", *(number(row[t]) if t in row else "" for t in _TIMES)]
        for name, row in times.items()
    ]


def _about(name: str) -> str:
    """Return the first paragraph of the docstring of the bench that a result is named after."""
    path = ROOT / "bench" / f"{re.split(r'[-_./]', name)[0]}.py"
    if not path.is_file():
        return ""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first = text.partition("\n\n")[0]
    return f"{first}\n" if first else ""


def _run(meta: dict[str, Any]) -> str:
    """Return how a result came about, as a list."""
    if not meta:
        return ""
    machine = [str(meta[key]) for key in ("processor", "machine") if meta.get(key)]
    cores = f"{meta['cores']} cores" if meta.get("cores") else ""
    python = f"Python {meta['python']}" if meta.get("python") else ""
    lines = [
        ("Command", f"`{command(str(meta['command']))}`" if meta.get("command") else ""),
        ("Day", str(meta.get("date", ""))[:10]),
        ("Machine", ", ".join(part for part in (*machine, cores, python) if part)),
    ]
    return "".join(f"- {name}: {value}\n" for name, value in lines if value)


def _figures(read: dict[str, Any]) -> Figures:
    return {name: float(value) for name, value in read.items() if isinstance(value, int | float)}


def _json(path: Path) -> dict[str, Any]:
    read = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return read if isinstance(read, dict) else {}


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", TARGET, page))
