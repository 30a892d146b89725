"""Makes `tests/data/updates.jsonl`: hand-written histories, some with a choice of values each.

python -m bench.made_updates
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

OUT = Path(__file__).parents[1] / "tests" / "data" / "updates.jsonl"
_FIRST = date(2021, 1, 11)
_HISTORIES = Path(__file__).with_name("update_histories.txt")


def histories() -> Iterator[dict[str, Any]]:
    """Return the histories, each with its number."""
    number = 0
    for line in _HISTORIES.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        kind, lang, ask, told, current, then, history, *rest = line.split("|")
        still, choices = rest[0], rest[1] if len(rest) > 1 else ""
        for choice in choices.split(";") if choices else [""]:
            number += 1
            names = dict(zip("abc", _values(choice), strict=False))
            yield _history(
                f"{number:03}",
                kind,
                lang,
                ask.format_map(_Kept(names)),
                [t.format_map(_Kept(names)) for t in told.split(";")],
                _numbers(current),
                _numbers(then),
                _numbers(history),
                _numbers(still),
            )


class _Kept(dict[str, str]):
    def __missing__(self, key: str) -> str:
        """Return a place that has no value as it stands."""
        return "{" + key + "}"


def _values(choice: str) -> list[str]:
    if choice.startswith("$"):  # amounts with a comma of their own
        first, second = choice.split(",$")
        return [first, f"${second}"]
    return choice.split(",")


def _numbers(text: str) -> list[int]:
    return [int(n) for n in text.split()]


def _history(
    name: str,
    kind: str,
    lang: str,
    ask: str,
    told: Sequence[str],
    current: list[int],
    then: list[int],
    history: list[int],
    still: list[int],
) -> dict[str, Any]:
    days: list[date] = []
    texts: list[str] = []
    for number, line in enumerate(told):
        days_on, text = 140 * number + 9, line
        if line.startswith("@"):
            first, _, text = line.partition(" ")
            days_on = int(first[1:])
        days.append(_FIRST + timedelta(days=days_on))
        texts.append(text)
    as_of = None
    if then:
        after = [d for d in days if d > days[then[0]]]
        day = min(after) - timedelta(days=30) if after else days[then[0]] + timedelta(days=30)
        day = max(day, days[then[0]] + timedelta(days=1))
        as_of = {"at": day.isoformat(), "told": then[0]}
    return {
        "id": name,
        "kind": kind,
        "lang": lang,
        "told": [{"at": d.isoformat(), "text": t} for d, t in zip(days, texts, strict=True)],
        "ask": ask,
        "current": current if len(current) > 1 else current[0],
        "as_of": as_of,
        "history": history or None,
        "open": sorted({*current, *still}),
    }


def main() -> None:
    """Write the file."""
    rows = [json.dumps(row, ensure_ascii=False) for row in histories()]
    OUT.write_text("\n".join(rows) + "\n", encoding="utf-8")
    print(len(rows), OUT)


if __name__ == "__main__":
    main()
