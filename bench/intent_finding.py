"""Intentions found in text: precision, recall, and whether their triggers are right.

The file is JSONL; each line is one turn:

- `text`: what was said;
- `said_at`: when, ISO 8601 with an offset;
- `zone`: the speaker's IANA zone (optional: the offset of `said_at` is taken);
- `role`: "user" (default), "assistant" or "none"; `speaker`: who, for the reader only;
- `expected`: null where nothing is to be found, else an object with `trigger_type`
  ("time_based", "event_based", "context_based") and, each optional, `content`, `at` (ISO 8601 with
  an offset), `recurrence` (an RRULE, or "every N" in seconds), `event`, `cue`.

A turn counts as found when anything is found in it. Its trigger is right when the type is, and what
is expected of it: the instant to the minute; of the rule every part; of event, cue and content at
least half of the content words, by F1.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from remembrancer.nouns.clock import from_us, to_us
from remembrancer.nouns.memory import Role
from remembrancer.nouns.recurrence import Recurrence
from remembrancer.reading.intending import FoundIntention, find_intentions
from remembrancer.reading.lexicon import STOP

from .metrics import Figures
from .report import console, parser, write

_MINUTE_US = 60_000_000
_NEAR = 0.5


def main(arguments: Sequence[str] | None = None) -> Figures:
    """Read a file, print what went wrong, and return the figures."""
    options = _options(arguments)
    rows = [json.loads(line) for line in options.file.read_text("utf-8").splitlines() if line]
    table = Table("said", "expected", "found", title=str(options.file))
    found_right = found_wrong = missed = right = content_right = contents = 0
    for row in rows:
        found = find(row)
        expected = row.get("expected")
        wrong = ""
        if expected and found:
            best = max(found, key=lambda one: trigger_right(expected, one, row))
            found_right += 1
            told = trigger_right(expected, best, row)
            right += told
            wrong = "" if told else "trigger"
            if expected.get("content"):
                contents += 1
                same = near(expected["content"], best.content)
                content_right += same
                wrong = wrong or ("" if same else "content")
        elif expected:
            missed += 1
            wrong = "missed"
        elif found:
            found_wrong += 1
            wrong = "false alarm"
        if wrong or options.all:
            shown = "; ".join(spell(one, row) for one in found) or "-"
            cells = (row["text"], _spell_expected(expected), f"{wrong}: {shown}")
            table.add_row(*map(escape, cells))
    if table.row_count:
        console.print(table)
    figures = {
        "turns": len(rows),
        "precision": _share(found_right, found_right + found_wrong),
        "recall": _share(found_right, found_right + missed),
        "trigger_right": _share(right, found_right),
        "content_right": _share(content_right, contents),
        "false_alarms": found_wrong,
        "missed": missed,
    }
    for name, value in figures.items():
        console.print(
            f"{name:14} {value:.3f}" if isinstance(value, float) else f"{name:14} {value}"
        )
    write(options.json, figures)
    return figures


def _options(arguments: Sequence[str] | None) -> Any:
    made = parser(
        "intent_finding",
        "Intentions found in turns: precision, recall, triggers.",
        "python -m bench.intent_finding tests/data/intentions.jsonl",
    )
    made.add_argument("file", type=Path, metavar="FILE", help="JSONL: see the module's docstring")
    made.add_argument("--all", action="store_true", help="show every turn, not only the wrong ones")
    return made.parse_args(arguments)


def find(row: Mapping[str, Any]) -> list[FoundIntention]:
    """Return what is found in one row."""
    said = datetime.fromisoformat(row["said_at"])
    offset = said.utcoffset()
    return find_intentions(
        row["text"],
        said_at=to_us(said),
        role=Role[str(row.get("role") or "user").upper()],
        zone=row.get("zone"),
        offset_min=int(offset.total_seconds() // 60) if offset is not None else 0,
    )


def trigger_right(
    expected: Mapping[str, Any], found: FoundIntention, row: Mapping[str, Any]
) -> bool:
    """Tell whether a trigger is of the expected type and says what is expected of it."""
    del row
    if expected.get("trigger_type") != found.trigger_type.value:
        return False
    if expected.get("at"):
        at = to_us(datetime.fromisoformat(expected["at"]))
        if found.when is None or abs(found.when.at - at) >= _MINUTE_US:
            return False
    rule = expected.get("recurrence")
    if rule:
        own = found.when.recurrence if found.when else None
        if own is None or not _same_rule(rule, own):
            return False
    elif found.when is not None and found.when.recurrence is not None:
        return False
    for name, own_words in (("event", found.event), ("cue", found.cue)):
        if expected.get(name) and not near(expected[name], own_words or ""):
            return False
    return True


def _same_rule(expected: str, found: Recurrence) -> bool:
    if expected.startswith("every "):
        return found.every_s == int(expected.split()[1])
    return _parts(expected) == _parts(found.rrule or "")


def _parts(rule: str) -> set[tuple[str, frozenset[str]]]:
    pieces = (piece.partition("=") for piece in rule.upper().split(";") if piece)
    return {
        (name, frozenset(value.split(",")))
        for name, _, value in pieces
        if name not in {"BYHOUR", "BYMINUTE", "BYSECOND", "WKST"}
    }


def near(expected: str, found: str) -> bool:
    """Tell whether two phrases share at least half of their content words, by F1."""
    first, second = _words(expected), _words(found)
    shared = len(first & second)
    return bool(shared) and 2 * shared / (len(first) + len(second)) >= _NEAR


def _words(phrase: str) -> set[str]:
    words = re.findall(r"\w+", phrase.lower())
    return {w for w in words if w not in STOP} or set(words)


def spell(found: FoundIntention, row: Mapping[str, Any]) -> str:
    """Spell what was found, times at the offset at which the turn was said."""
    trigger = found.event or found.cue or ""
    if found.when is not None:
        at = from_us(found.when.at).astimezone(datetime.fromisoformat(row["said_at"]).tzinfo)
        rule = found.when.recurrence
        again = f" {rule.rrule or rule.every_s}" if rule else ""
        trigger = f"{at:%a %Y-%m-%d %H:%M%z}{again}"
    return f"[{found.content}] {found.trigger_type.value} <{trigger}> {found.confidence}"


def _spell_expected(expected: Mapping[str, Any] | None) -> str:
    return ", ".join(str(value) for value in expected.values()) if expected else "-"


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


if __name__ == "__main__":
    main(sys.argv[1:])
