"""Intentions of a memory that people took out: they rest until it is brought back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...nouns.intention import Intention, IntentionState, TriggerType
from .plan import MOVED, first_look, next_look

_HELD = "held"
"""In the options: the state that one had, and whether it was open; both are to come back."""
_AT_WORK = (IntentionState.PROPOSED, IntentionState.ACTIVE)


def held(i: Intention, now: int, *, opened: bool) -> Intention:
    """Return an intention that rests with its memory; `opened`: one of its occurrences was open."""
    if i.state not in _AT_WORK:
        return i
    options = {**i.options, _HELD: {"state": str(i.state), "open": opened}}
    return replace(i, state=IntentionState.PAUSED, updated_at=now, options=options)


def resumed(i: Intention, now: int) -> Intention:
    """Return an intention as it is when its memory is brought back."""
    kept: Mapping[str, Any] | None = i.options.get(_HELD)
    if kept is None:
        return i
    options = {name: value for name, value in i.options.items() if name != _HELD}
    if i.state is not IntentionState.PAUSED:  # people have settled it themselves
        return replace(i, options=options)
    state = IntentionState(kept["state"])
    back = replace(i, state=state, updated_at=now, options=options)
    if back.trigger_type is TriggerType.COMPOSITE:
        return replace(back, next_due=first_look(back, now))
    if back.recurring:
        return replace(back, next_due=next_look(back, now))
    if kept["open"] and back.trigger_type is TriggerType.TIME:
        again = replace(back, options={**options, MOVED: f"~{i.version}"})
        return replace(again, next_due=next_look(again, now))
    return back
