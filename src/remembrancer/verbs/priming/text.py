"""The text of a prime: one string that an agent can put into its prompt as it is.

Standing instructions, then what is known, then what was said lately, then what is due. The same
memories give the same bytes: nothing in it depends on scores or on the time of asking, and each
section runs from the oldest to the newest, so that what is new comes at the end of its section and
a cached prompt stays good up to there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta, timezone, tzinfo
from enum import IntEnum

from ...nouns.clock import from_us
from ...nouns.memory import Layer, Modality, Precision, Role, Unit
from ..check import Due
from .types import Context, Primed, Strategy

_TOKEN_BYTES = 4  # see `nouns.text.estimate_tokens`
_SUPERSEDED = " (no longer so)"
_MARKS = {Modality.ASSERTED: "", Modality.PLANNED: "planned", Modality.WISHED: "wished"}
_ROLES = {Role.USER: "user", Role.ASSISTANT: "assistant", Role.SYSTEM: "system", Role.TOOL: "tool"}
_FINE = {Precision.SECOND, Precision.MINUTE, Precision.HOUR}


class Section(IntEnum):
    """The parts of the text, in their order."""

    STANDING = 0
    KNOWN = 1
    RECENT = 2
    DUE = 3


_TITLES = {
    Section.STANDING: "Standing instructions:",
    Section.KNOWN: "Known:",
    Section.RECENT: "Recently said:",
    Section.DUE: "Due:",
}


@dataclass(slots=True)
class _Page:
    """Lines by section, within a budget of bytes; None: no bound."""

    left: int | None
    lines: dict[Section, dict[str, tuple[int, bytes]]] = field(default_factory=dict)

    def add(self, section: Section, line: str, place: tuple[int, bytes]) -> None:
        """Take a line if it fits; `place` says where it stands in its section."""
        mine = self.lines.get(section, {})
        if line in mine:
            return
        size = len(line.encode()) + 1
        if not mine:
            size += len(_TITLES[section]) + 2  # with the blank line before it
        if self.left is not None:
            if size > self.left:
                return
            self.left -= size
        mine[line] = place
        self.lines[section] = mine

    def text(self) -> str:
        """Return the sections, the oldest line of each first."""
        blocks = []
        for section in sorted(self.lines):
            mine = self.lines[section]
            lines = sorted(mine, key=lambda line: (mine[line], line))
            blocks.append("\n".join([_TITLES[section], *lines]))
        return "\n\n".join(blocks)


def compose(
    context: Context,
    due: Sequence[Due] = (),
    *,
    zone: tzinfo | None = None,
    max_tokens: int | None = None,
) -> str:
    """Write a context as text; empty when there is nothing.

    Args:
        context: what `Prime` answered when it was asked for `facts`, too.
        due: what is to be done.
        zone: in which dates are spelled; None: that of each memory's own caller, UTC for `due`.
        max_tokens: estimated tokens of the whole at most. What is pinned or standing is taken
            first, then what is due, then the others in the order of their scores; what does not
            fit is passed over.
    """
    page = _Page(None if max_tokens is None else max_tokens * _TOKEN_BYTES)
    ranked = sorted(context.memories, key=lambda m: (not m.pinned, -m.score))
    for memory in (m for m in ranked if m.lasts):
        page.add(Section.STANDING, f"- {_said(memory.unit)}", _place(memory.unit))
    for each in due:
        at = each.occurrence.due_at
        line = f"- [{_minute(at, None, zone)}] {_flat(each.intention.content)}"
        page.add(Section.DUE, line, (at, each.occurrence.id))
    for memory in (m for m in ranked if not m.lasts):
        facts = context.facts.get(memory.unit.id, ())
        _tell(page, memory, facts, context.now, zone)
    return page.text()


def _tell(
    page: _Page, memory: Primed, facts: Sequence[Unit], now: int, zone: tzinfo | None
) -> None:
    """Add what a memory says: the facts in it that hold, and its words if it is recent."""
    unit = memory.unit
    holding = [f for f in facts if _holds(f, now)]
    if unit.layer is Layer.OBSERVATION or (
        memory.strategy is Strategy.SIMILARITY and not facts and _holds(unit, now)
    ):
        holding = [unit]
    for fact in holding:
        page.add(Section.KNOWN, _fact(fact, unit, zone), _place(fact))
    if memory.strategy is Strategy.TEMPORAL and unit.layer is not Layer.OBSERVATION:
        repeated = {_plain(f.text) for f in holding}
        if _plain(unit.text) not in repeated:
            day = _day(unit.mentioned_at, unit.offset_min, zone)
            mark = "" if memory.truth.holds else _SUPERSEDED
            page.add(Section.RECENT, f"- [{day}] {_said(unit)}{mark}", _place(unit))


def _holds(fact: Unit, now: int) -> bool:
    """Tell whether something is meant as true, and true by now."""
    begun = fact.valid_from is None or fact.valid_from <= now
    ended = fact.valid_until is not None and fact.valid_until <= now
    return fact.modality in _MARKS and begun and not ended


def _fact(fact: Unit, source: Unit, zone: tzinfo | None) -> str:
    marks = (_MARKS.get(fact.modality, ""), _when(fact, source.offset_min, zone))
    shown = ", ".join(filter(None, marks))
    who = _flat(fact.speaker or source.speaker or "")
    return f"- {f'{who}: ' if who else ''}{_flat(fact.text)} ({shown})"


def _when(fact: Unit, offset_min: int | None, zone: tzinfo | None) -> str:
    """Return the time that a fact speaks of, else when it was said."""
    start, end = fact.occurred_start, fact.occurred_end
    if start is None:
        return f"said {_day(fact.mentioned_at, offset_min, zone)}"
    if fact.precision in _FINE:
        return _minute(start, offset_min, zone)
    first = _day(start, offset_min, zone)
    # Ends are exclusive; the last moment before names the last day.
    last = first if end is None else _day(max(start, end - 1), offset_min, zone)
    return first if last == first else f"{first} to {last}"


def _said(unit: Unit) -> str:
    who = _flat(unit.speaker or _ROLES.get(unit.role, ""))
    return f"{f'{who}: ' if who else ''}{_flat(unit.text)}"


def _place(unit: Unit) -> tuple[int, bytes]:
    return unit.mentioned_at, unit.id


def _flat(text: str) -> str:
    return " ".join(text.split())


def _plain(text: str) -> str:
    return "".join(_letters(text.casefold()))


def _letters(text: str) -> Iterable[str]:
    return (c for c in text if c.isalnum())


def _day(us: int, offset_min: int | None, zone: tzinfo | None) -> str:
    return _spelled(us, offset_min, zone, 10)


def _minute(us: int, offset_min: int | None, zone: tzinfo | None) -> str:
    return _spelled(us, offset_min, zone, 16)


def _spelled(us: int, offset_min: int | None, zone: tzinfo | None, chars: int) -> str:
    where = zone or timezone(timedelta(minutes=offset_min or 0))
    try:
        moment = from_us(us).astimezone(where)
    except OverflowError:  # outside the calendar
        return "?"
    return moment.isoformat(sep=" ")[:chars]
