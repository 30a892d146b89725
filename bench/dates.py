"""Dates found in sentences: how many are resolved as given, how many are found where none is.

The file is JSONL in the form of the Recognizers-Text specs; each line is one sentence:

- `input`: the sentence; `reference`: when it was said, ISO 8601 without a zone (read as UTC);
- `results`: the expressions in it, each with `text` and `values` (`timex`, `type`, and either
  `value` or `start` and `end`; a side that is open is missing).

`resolved` counts the expressions whose value is one instant or interval of the calendar: exactly
one value, of a type that has a date. What may be several things ("Friday": the last or the next)
is told apart as `either`; times of day without a date as `times`; durations and repetitions are
no dates. An expression is resolved when the date found at its place equals the value given.

The two sides write some intervals differently, and `as_given` spells what was found in the file's
way before it is compared, by rules for all cases alike:

- a range between two named dates ends there where its last date begins (found: where it ends);
- "until May" and "before May" end where May begins, "after 2018" begins where 2018 ends, but
  "after 7 May" where that day begins;
- a date counted in months or years is the day counted to (found: the month, with that day), and
  the start or the end of a period, where it bounds something, is one moment of it;
- the hours of a part of the day are a convention: "this morning" is told by its name.

A sentence that the file holds several times with one reference (for several readers) counts once,
by its first line. `false_positive` is the share of sentences without a date in which one was found:
those of the file without results together with those of `--undated`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from rich.markup import escape
from rich.table import Table

from remembrancer.nouns.clock import from_us
from remembrancer.nouns.memory import Precision
from remembrancer.reading.dates import find_dates
from remembrancer.reading.types import DateRelation, DateSpan

from .metrics import Figures
from .report import console, parser, show, write

UNDATED: Final = Path(__file__).parent.parent / "tests" / "data" / "undated.jsonl"
_DATED: Final = frozenset({"date", "datetime", "daterange", "datetimerange"})
_TIMES: Final = frozenset({"time", "timerange"})
_POINTS: Final = frozenset({"date", "datetime", "time"})
_CLOCK: Final = frozenset({Precision.SECOND, Precision.MINUTE, Precision.HOUR})
_ROUNDS: Final = 3  # the fastest of these readings of the file counts
# Our hours of the parts of a day and the file's.
_PARTS: Final = {
    (6, 12): (8, 12),
    (6, 8): (8, 10),
    (12, 18): (12, 16),
    (16, 18): (14, 16),
    (11, 14): (11, 13),
    (17, 22): (16, 20),
    (17, 19): (16, 18),
    (20, 22): (18, 20),
}

Bounds = tuple[datetime | None, datetime | None]


def main(arguments: Sequence[str] | None = None) -> Figures:
    """Read a file, print what went wrong when asked to, and return the figures."""
    options = _options(arguments)
    rows = _once(_lines(options.file))
    undated = [row["text"] for row in _lines(options.undated)]
    table = Table("said", "given", "found", title=str(options.file))
    right = {"resolved": 0, "times": 0, "either": 0}
    counts = dict.fromkeys(right, 0)
    for row in rows:
        found = read(row["input"], row["reference"])
        for group, place, given in expressions(row):
            counts[group] += 1
            best = at_place(found, place)
            fits = best is not None and any(matches(best, value, group) for value in given)
            right[group] += fits
            if not fits and options.wrong:
                told = spell(best) if best else "-"
                table.add_row(escape(row["input"]), escape(_spell_given(given)), told)
    alarms, plain = _false_alarms(rows, undated)
    if options.wrong:
        for text, found in [*alarms[0], *alarms[1]]:
            table.add_row(escape(text), "none", "; ".join(map(spell, found)))
        console.print(table)
    figures: dict[str, float] = {
        "sentences": len(rows),
        **{name: _share(right[name], counts[name]) for name in right},
        **{f"{name}.n": counts[name] for name in right},
        "false_positive": _share(len(alarms[0]) + len(alarms[1]), plain + len(undated)),
        "false_positive.file": _share(len(alarms[0]), plain),
        "false_positive.file.n": plain,
        "false_positive.own": _share(len(alarms[1]), len(undated)),
        "false_positive.own.n": len(undated),
        "ms_per_turn": _ms_per_turn([(row["input"], row["reference"]) for row in rows]),
    }
    show("dates", figures)
    write(options.json, figures)
    return figures


def _options(arguments: Sequence[str] | None) -> Any:
    made = parser(
        "dates",
        "Dates found in sentences: resolved as given, false alarms, time.",
        "python -m bench.dates dates.jsonl --json dates.json",
    )
    made.add_argument("file", type=Path, metavar="FILE", help="JSONL: see the module's docstring")
    made.add_argument(
        "--undated", type=Path, default=UNDATED, metavar="FILE", help="JSONL of sentences: `text`"
    )
    made.add_argument("--wrong", action="store_true", help="print what went wrong")
    return made.parse_args(arguments)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _once(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the first line of each sentence and reference."""
    first: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        first.setdefault((row["input"], row["reference"]), row)
    return list(first.values())


def _moment(text: str) -> datetime:
    """Read ISO 8601 with any number of decimals; what has no zone is in UTC."""
    whole, _, decimals = text.partition(".")
    read_ = datetime.fromisoformat(f"{whole}.{decimals[:6].ljust(6, '0')}" if decimals else whole)
    return read_ if read_.tzinfo else read_.replace(tzinfo=UTC)


def read(text: str, reference: str) -> list[DateSpan]:
    """Return the dates of one sentence."""
    return find_dates(text, _moment(reference), present=True)


def expressions(
    row: Mapping[str, Any],
) -> Iterator[tuple[str, tuple[int, int], list[Mapping[str, Any]]]]:
    """Yield what is measured of one row: its group, its place in the sentence, its values."""
    lower, after = row["input"].lower(), 0
    for result in row["results"]:
        start = max(lower.find(result["text"].lower(), after), 0)
        place = (start, start + len(result["text"]))
        after = place[1]
        values = result.get("values") or []
        plain = [value for value in values if _is_given(value)]
        if not plain or len(plain) != len(values):
            continue
        kinds = {value["type"] for value in plain}
        bounds = {given_bounds(value) for value in plain}
        if kinds <= _DATED:
            yield ("resolved" if len(bounds) == 1 else "either"), place, plain
        elif kinds <= _TIMES:
            yield "times", place, plain


def _is_given(value: Mapping[str, Any]) -> bool:
    point = value.get("value")
    told = value["type"] in _POINTS and point is not None and point != "not resolved"
    return told or "start" in value or "end" in value


def given_bounds(value: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the two sides of a value as the file spells them; a point has its start alone."""
    if "start" in value or "end" in value:
        return value.get("start"), value.get("end")
    return value["value"], None


def at_place(found: Sequence[DateSpan], place: tuple[int, int]) -> DateSpan | None:
    """Return the date that shares most characters with a place, None when none shares one."""

    def shared(one: DateSpan) -> int:
        return min(one.span.end, place[1]) - max(one.span.start, place[0])

    best = max(found, key=shared, default=None)
    return best if best is not None and shared(best) > 0 else None


def matches(found: DateSpan, value: Mapping[str, Any], group: str) -> bool:
    """Tell whether a date is what the file gives."""
    start, end = as_given(found)
    low, high = given_bounds(value)
    point = "start" not in value and "end" not in value
    if group == "times":
        clock = (f"{start:%H:%M:%S}" if start else None, f"{end:%H:%M:%S}" if end else None)
        fine = found.precision in _CLOCK
        return fine and (clock[0] == low if point else clock == (low, high))
    if not point:
        return (start, end) == (_given(low), _given(high))
    if found.relation is not DateRelation.WITHIN:
        return False
    if found.nominal is not None:
        return from_us(found.nominal) == _given(low)
    if start is None or start != _given(low):
        return False
    if value["type"] == "date":
        return end == start + timedelta(days=1)
    return found.precision in _CLOCK


def _given(side: str | None) -> datetime | None:
    if side is None:
        return None
    moment = _moment(side.replace(" ", "T"))
    last = moment.time().replace(microsecond=0).isoformat() == "23:59:59"
    return moment + timedelta(seconds=1) if last else moment  # the file's end of a day


def as_given(found: DateSpan) -> Bounds:
    """Return a date as the file writes it: see the module's docstring."""
    start, end = from_us(found.start), from_us(found.end)
    if found.last is not None:
        end = from_us(found.last)
    if found.nominal is not None and found.relation is not DateRelation.WITHIN:
        moment = from_us(found.nominal)
        opens = found.relation in {DateRelation.SINCE, DateRelation.AFTER}
        return (moment, None) if opens else (None, moment)
    if found.relation in {DateRelation.BEFORE, DateRelation.UNTIL}:
        return None, start
    if found.relation is DateRelation.SINCE:
        return start, None
    if found.relation is DateRelation.AFTER:
        days = found.precision in _CLOCK or found.precision is Precision.DAY
        return (start if days else end), None
    if found.precision is Precision.HOUR and found.last is None and not start.minute:
        midnight = start.replace(hour=0)
        hours = (start.hour, (end - midnight) // timedelta(hours=1))
        low, high = _PARTS.get(hours, hours)
        start, end = midnight + timedelta(hours=low), midnight + timedelta(hours=high)
    return start, end


def _false_alarms(
    rows: Sequence[Mapping[str, Any]], undated: Sequence[str]
) -> tuple[tuple[list[tuple[str, list[DateSpan]]], list[tuple[str, list[DateSpan]]]], int]:
    """Return the false alarms of the file and of our own, and how many the file could have."""
    plain = [row for row in rows if not row["results"]]
    said = [(row["input"], read(row["input"], row["reference"])) for row in plain]
    own = [(text, read(text, "2023-05-10T15:30:00")) for text in undated]
    return ([one for one in said if one[1]], [one for one in own if one[1]]), len(plain)


def _ms_per_turn(turns: Sequence[tuple[str, str]]) -> float:
    moments = [(text, _moment(reference)) for text, reference in turns]
    best = float("inf")
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        for text, reference in moments:
            find_dates(text, reference, present=True)
        best = min(best, time.perf_counter() - started)
    return best * 1e3 / max(len(turns), 1)


def spell(found: DateSpan) -> str:
    """Spell a date: its interval, precision and relation."""
    start, end = from_us(found.start), from_us(found.end)
    last = f" last {from_us(found.last):%Y-%m-%d %H:%M}" if found.last is not None else ""
    return f"{start:%Y-%m-%d %H:%M} {end:%Y-%m-%d %H:%M} {found.precision} {found.relation}{last}"


def _spell_given(values: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(" - ".join(str(side) for side in given_bounds(value)) for value in values)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


if __name__ == "__main__":
    main(sys.argv[1:])
