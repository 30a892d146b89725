"""When an intention is due by what was changed of it, and whether it has been due then before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...nouns.intention import Intention, IntentionState, TriggerType
from .plan import MOVED

_TIMING = ("trigger_type", "trigger_at", "trigger_event", "expires_at", "state", "options")


def timing(intention: Intention) -> tuple[Any, ...]:
    """Return all that says when and whether it fires."""
    return tuple(getattr(intention, name) for name in _TIMING)


def time_of(intention: Intention) -> tuple[Any, ...]:
    """Return what says at which times it fires: what is open of it is of these."""
    kind, rule = intention.trigger_type, intention.options.get("recurrence")
    return (kind, intention.trigger_at, rule) if kind is TriggerType.TIME else (kind,)


def had(stored: Intention, made: Intention) -> bool:
    """Tell whether a one-shot has fired at this very time."""
    return (
        made.trigger_type is TriggerType.TIME
        and not made.recurring
        and stored.last_fired_at is not None
        and made.trigger_at == stored.trigger_at
    )


def looked_until(stored: Intention, made: Intention, now: int) -> int:
    """Return until when the times of an intention are seen to, after which the next one comes.

    What is due and was not asked for yet stays due while the time is left as it is.
    """
    going = stored.state is made.state is IntentionState.ACTIVE
    if stored.next_due is None or not going or time_of(made) != time_of(stored):
        return now
    return min(stored.next_due - 1, now)


def moved(stored: Intention, made: Intention, now: int) -> Intention:
    """Return an intention whose time was changed, so that it fires at the new one."""
    if stored.last_fired_at is None or made.trigger_type is not TriggerType.TIME:
        return made
    if made.standing and made.trigger_at is not None and made.trigger_at > now:
        return replace(made, last_fired_at=None)  # else it would be due whenever asked for
    if made.recurring:
        return made
    return replace(made, options={**made.options, MOVED: f"~{stored.version}"})
