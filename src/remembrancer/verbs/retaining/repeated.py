"""Tells what only says again what is registered: "Sure, I'll remind you to call mum at 5"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ...keeping.browse import BrowseReader
from ...nouns.intention import IntentionState
from ...nouns.memory import Unit
from ...nouns.recurrence import Recurrence
from .derived import Told

NEAR_TURNS = 4
"""How many turns on an answer may still say what was asked: one that used tools comes later."""
_SAME_TIME_US = 60_000_000
_WORD = re.compile(r"[^\W_]+")
_SAY_NOTHING = frozenset("a an the my your our me you us i we to that about please also".split())


def said_near(reader: BrowseReader, told: Iterable[Told]) -> dict[bytes, list[Unit]]:
    """Return for the unit of each what was said up to it in its document, in order."""
    near: dict[bytes, list[Unit]] = {}
    for unit in {each.unit.id: each.unit for each in told}.values():
        if unit.document_id is None:
            continue
        found = reader.said_between(unit.document_id, unit.turn - NEAR_TURNS, unit.turn)
        near[unit.id] = [u for u in found if (u.turn, u.part) < (unit.turn, unit.part)]
    return near


def firsts(told: Sequence[Told], near: Sequence[Told]) -> Iterator[Told]:
    """Yield what is told of one unit, without what was told before.

    Args:
        told: of the unit, in order.
        near: what was told a few turns before.
    """
    before = [*near]
    for each in told:
        if not any(_repeats(each, other) for other in before):
            yield each
        before.append(each)


def _repeats(told: Told, other: Told) -> bool:
    """Tell whether one is no news after another; what is surer than it is."""
    mine, theirs = told.reminder, other.reminder
    surer = mine.state is IntentionState.ACTIVE and theirs.state is not mine.state
    if surer or mine.trigger_type is not theirs.trigger_type:
        return False
    if mine.trigger_event != theirs.trigger_event or not _at_one_time(told, other):
        return False
    return _alike(mine.content, theirs.content) and _alike(mine.cue_text, theirs.cue_text)


def _at_one_time(told: Told, other: Told) -> bool:
    """Compare times; "in an hour", said again a minute later, is a minute later."""
    mine, theirs = told.reminder, other.reminder
    if _rule(mine.recurrence) != _rule(theirs.recurrence):
        return False
    if mine.trigger_at is None or theirs.trigger_at is None:
        return mine.trigger_at is theirs.trigger_at
    later = mine.trigger_at - theirs.trigger_at
    passed = told.unit.mentioned_at - other.unit.mentioned_at
    return any(abs(later - shift) <= _SAME_TIME_US for shift in (0, passed))


def _rule(rule: Recurrence | None) -> tuple[object, ...] | None:
    if rule is None:
        return None
    return rule.zone, rule.rrule, rule.every_s, rule.count, rule.until


def _alike(one: str | None, other: str | None) -> bool:
    """Tell whether two texts say the same, one of them with more words perhaps."""
    mine, theirs = _words(one), _words(other)
    return mine == theirs or bool(mine and theirs and (mine <= theirs or theirs <= mine))


def _words(text: str | None) -> set[str]:
    return {*_WORD.findall((text or "").lower())} - _SAY_NOTHING
