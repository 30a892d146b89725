"""The window of a source: the short turns before a short turn, which it is found with as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...finding.terms import STANDING
from ...nouns.memory import Unit
from ...reading.standing import is_standing

WINDOW_WORDS = 60  # a turn above this stands alone
WINDOW_TURNS = 2  # turns before, in the keyword window


@dataclass(slots=True)
class Spoken:
    """What a window needs of an earlier turn."""

    unit_id: bytes
    turn: int
    text: str
    words: int
    terms: list[int] | None = None  # once they are needed


def spoken_text(unit: Unit) -> str:
    """Return what was said, after who said it."""
    return f"{unit.speaker}: {unit.text}" if unit.speaker else unit.text


def labels(unit: Unit) -> list[int]:
    """Return what is kept among a source's terms beside its words."""
    return [STANDING] if is_standing(unit) else []


def window_of(spoken: Spoken, before: Sequence[Spoken]) -> list[Spoken]:
    """Return the short turns among the two before a short turn."""
    if spoken.words > WINDOW_WORDS:
        return []
    first = spoken.turn - WINDOW_TURNS
    return [b for b in before[-WINDOW_TURNS:] if b.words <= WINDOW_WORDS and b.turn >= first]


def follows_last(spoken: Spoken, window: Sequence[Spoken]) -> bool:
    """Tell whether the turn just before is in the window."""
    return bool(window) and window[-1].turn == spoken.turn - 1


def said_before(before: Sequence[Spoken], turn: int) -> str:
    """Return what was said just before a turn; nothing where words were erased."""
    return before[-1].text if before and before[-1].turn >= turn - 1 else ""


def old_window(unit: Unit, by_id: Mapping[bytes, Unit]) -> tuple[tuple[bytes, ...], bool]:
    """Return what the window of a stored source is made of, as ids, and whether it follows."""
    near = by_id.get(unit.previous_id) if unit.previous_id else None
    if near is None:
        return (), False
    follows = near.turn == unit.turn - 1
    far = by_id.get(near.previous_id) if follows and near.previous_id else None
    if far is None or far.turn != unit.turn - WINDOW_TURNS:
        return (near.id,), follows
    return (far.id, near.id), follows
