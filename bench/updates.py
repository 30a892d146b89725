"""What is true now: histories of values that change, told turn by turn, then asked about.

A line of the file is one history: `told` (each with `at`, a day, and `text`), `ask` a question,
`current` the number of what answers it now (or several), `as_of` a day and the number of what
answered it then, `history` the numbers in the order of time, `open` those that must still hold. All
else must be marked as holding no more wherever it is returned. Each history has a bank of its own;
it is told in the order of the file and, in another bank, the other way round.

    current         what holds is the first answer, and nothing that does not is returned unmarked
    as_of           what held then is the first answer
    history         the values come back in order
    order_free      both orders of telling come to the same
    wrongly_closed  memories marked as holding no more that still hold
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import remembrancer
from remembrancer import Memory

from . import report
from .metrics import Figures, percentile

DATA = Path(__file__).parents[1] / "tests" / "data"
FILES = (DATA / "updates.jsonl", DATA / "updates_held.jsonl")
_ANSWERS = 20
_MARKS = ("current", "as_of", "history", "order_free")

Row = Mapping[str, Any]


def load(path: Path) -> list[Row]:
    """Read histories from a file of JSON lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


class Told:
    """One history told to a bank of its own, in some order."""

    def __init__(self, memory: Memory, row: Row, bank: str, order: Sequence[int]) -> None:
        self._memory = memory
        self._row = row
        self._bank = bank
        self.times: list[float] = []
        self._numbers: dict[str, int] = {}
        for number in order:
            told = row["told"][number]
            started = time.perf_counter()
            kept = memory.retain(told["text"], bank=bank, timestamp=_day(told["at"]))
            self.times.append((time.perf_counter() - started) * 1e3)
            self._numbers |= dict.fromkeys(kept.ids, number)

    def current(self) -> bool:
        """Tell whether what holds comes first, and nothing else passes for it."""
        found = self._found(None)
        wanted = _several(self._row["current"])
        if self._row["kind"] == "contradiction" and not all(a.contradicts for _, a in found[:2]):
            return False
        first = [number for number, _ in found[: len(wanted)]]
        if sorted(first) != sorted(wanted) or not all(a.holds for _, a in found[: len(wanted)]):
            return False
        return not any(a.holds and n not in self._row["open"] for n, a in found)

    def as_of(self) -> bool:
        """Tell whether what held then comes first."""
        then = self._row["as_of"]
        found = self._found(_day(then["at"]))
        return bool(found) and found[0][0] in _several(then["told"]) and found[0][1].holds

    def history(self) -> bool:
        """Tell whether the values come back in order."""
        held = self._memory.history(self._row["ask"], bank=self._bank)
        numbers = [self._numbers[value.memory_id] for value in held]
        return list(dict.fromkeys(numbers)) == self._row["history"]

    def closed(self) -> list[int]:
        """Return the numbers of what is marked as holding no more, though it does."""
        return [n for n, a in self._found(None) if not a.holds and n in self._row["open"]]

    def state(self) -> list[tuple[int, str]]:
        """Return what is known of each memory, for comparison."""
        return sorted(
            (number, f"{v.slot} {v.value} {v.valid_from} {v.valid_until} {bool(v.contradicts)}")
            for unit_id, number in self._numbers.items()
            for v in self._memory.history(unit_id, bank=self._bank)
            if v.memory_id == unit_id
        )

    def spell(self) -> Iterator[str]:
        """Spell what was told and how it stands."""
        found = dict(self._found(None))
        first = next(iter(found), None)
        for number, told in enumerate(self._row["told"]):
            answer = found.get(number)
            stands = "-" if answer is None else "holds" if answer.holds else "ended"
            mark = ">" if number == first else " "
            slots = {
                f"{v.slot}={v.value}"
                for i, n in self._numbers.items()
                if n == number
                for v in self._memory.history(i, bank=self._bank)
                if v.memory_id == i
            }
            yield f"  {mark}{number} {told['at']} {told['text']} [{stands}] {sorted(slots)}"

    def _found(self, as_of: datetime | None) -> list[tuple[int, Any]]:
        answers = self._memory.recall(
            self._row["ask"], bank=self._bank, limit=_ANSWERS, as_of=as_of
        )
        return [(self._numbers[answer.id], answer) for answer in answers]


def _several(numbers: int | list[int]) -> list[int]:
    return [numbers] if isinstance(numbers, int) else numbers


def _day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC, hour=12)


def run(memory: Memory, rows: Sequence[Row], name: str, *, misses: bool) -> Figures:
    """Tell and ask all histories; return the figures under a name."""
    marks: dict[str, list[bool]] = defaultdict(list)
    kinds: dict[str, list[bool]] = defaultdict(list)
    wrongly = 0
    times: list[float] = []
    for row in rows:
        order = range(len(row["told"]))
        told = Told(memory, row, f"{name}-{row['id']}", order)
        other = Told(memory, row, f"{name}-{row['id']}-back", order[::-1])
        times += [*told.times, *other.times]
        passed = {"current": told.current(), "order_free": told.state() == other.state()}
        if row["as_of"]:
            passed["as_of"] = told.as_of()
        if row["history"]:
            passed["history"] = told.history()
        closed = told.closed()
        wrongly += len(closed)
        for mark, good in passed.items():
            marks[mark].append(good)
        kinds[row["kind"]].append(all(passed.values()))
        if misses and (closed or not all(passed.values())):
            bad = [mark for mark, good in passed.items() if not good]
            report.console.print(
                f"{row['id']} {row['kind']}: {', '.join(bad)} {closed or ''} {row['ask']}",
                highlight=False,
                markup=False,
            )
            for line in told.spell():
                report.console.print(line, highlight=False, markup=False, soft_wrap=True)
    figures: Figures = {f"{name}.histories": float(len(rows))}
    for mark in _MARKS:
        figures[f"{name}.{mark}"] = _share(marks[mark])
    figures[f"{name}.wrongly_closed"] = float(wrongly)
    for kind, good in sorted(kinds.items()):
        figures[f"{name}.{kind.replace(' ', '_')}"] = _share(good)
    figures[f"{name}.retain.p50_ms"] = percentile(times, 50)
    figures[f"{name}.retain.p95_ms"] = percentile(times, 95)
    return figures


def _share(good: Sequence[bool]) -> float:
    return sum(good) / len(good) if good else 1.0


def main(arguments: Sequence[str]) -> Figures:
    """Run the bench; see the module."""
    parser = report.parser(
        "updates",
        "What is true now, then, and in between, over histories of values that change.",
        "python -m bench.updates tests/data/updates.jsonl",
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="histories to tell")
    parser.add_argument("--misses", action="store_true", help="show what went wrong")
    parser.add_argument("--embedder", default="bge-small", help="bge-small by default")
    chosen = parser.parse_args(arguments)
    figures: Figures = {}
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        remembrancer.open(folder, embedder=chosen.embedder) as memory,
    ):
        for path in chosen.files or FILES:
            figures |= run(memory, load(path), path.stem, misses=chosen.misses)
    report.show("what is true now", figures)
    report.write(chosen.json, figures)
    return figures


if __name__ == "__main__":
    main(sys.argv[1:])
