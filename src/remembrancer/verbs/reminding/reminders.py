"""A reminder as a caller gives it, and the intention that it becomes: checked and complete."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...models.embedder import Floats
from ...nouns.clock import to_us
from ...nouns.errors import InvalidInput, TooLarge
from ...nouns.ids import IdMaker
from ...nouns.intention import Intention, IntentionState, TriggerType
from ...nouns.recurrence import Recurrence
from ...nouns.text import clean
from ...reading.recurrence import check, first_after
from ...reading.recurrence.zones import zone_of
from .conditions import CUE_CHARS, NAME_CHARS, read_condition
from .option_checks import check_options
from .options import keep_recurrence, recurrence_of
from .plan import first_look

CONTENT_CHARS = 65_536
MOST_DIMENSIONS = 8_192
WAITS = -1
"""The generation of a cue that waits for the embedder."""
SECONDS_BELOW = 10**11 * 1_000  # microseconds: a time in ms below 10^11 looks like seconds
KEPT_STATES = (IntentionState.PROPOSED, IntentionState.ACTIVE, IntentionState.PAUSED)
"""The states in which an intention may be registered."""


@dataclass(frozen=True, slots=True)
class Reminder:
    """What to register. Times in microseconds; see `nouns.intention.Intention` for the fields.

    `id`: registering one that is known again changes nothing and returns it. `vector` is the cue's
    embedding, where the caller has made it. `options` are plain JSON: misfire, cooldown_s, quiet,
    condition, where, look_back_s, channel.
    """

    content: str
    trigger_type: TriggerType
    id: bytes | None = None
    trigger_at: int | None = None
    trigger_event: str | None = None
    cue_text: str | None = None
    vector: Floats | None = None
    similarity_threshold: float | None = None
    importance: float = 0.5
    recurring: bool = False
    recurrence: Recurrence | None = None
    tier_rank: float | None = None
    source_id: bytes | None = None
    expires_at: int | None = None
    state: IntentionState = IntentionState.ACTIVE
    options: Mapping[str, Any] = field(default_factory=dict)


def intention_of(asked: Reminder, now: int, ids: IdMaker) -> Intention:
    """Check a reminder and complete it.

    Raises:
        InvalidInput, TooLarge: it could never fire, or a limit is broken; names the field.
    """
    options = dict(asked.options)
    check_options(options)
    if asked.recurrence is not None:
        check(asked.recurrence)
        options["recurrence"] = keep_recurrence(asked.recurrence)
    trigger_at = _trigger_at(asked)
    made = Intention(
        id=asked.id or ids.new(),
        content=_text(asked.content, "content", CONTENT_CHARS),
        trigger_type=asked.trigger_type,
        created_at=now,
        updated_at=now,
        importance=_finite(asked.importance, "importance"),
        recurring=asked.recurring or asked.recurrence is not None,
        trigger_at=trigger_at,
        trigger_event=_event(asked),
        cue_text=_text(asked.cue_text, "cueText", CUE_CHARS) if asked.cue_text else None,
        cue=packed(asked.vector),
        similarity_threshold=_threshold(asked.similarity_threshold),
        source_id=asked.source_id,
        tier_rank=None if asked.tier_rank is None else _finite(asked.tier_rank, "tierRank"),
        state=_state(asked.state),
        expires_at=asked.expires_at,
        options=options,
    )
    _check_cue(made)
    if made.trigger_type is TriggerType.COMPOSITE and not options.get("condition"):
        raise InvalidInput(
            "a composite intention needs a condition: all or any of time, event and context",
            field="condition",
        )
    return replace(made, next_due=first_look(made, now))


def check_possible(made: Intention, now: int, since: int | None = None) -> None:
    """Refuse what can only have fired in the past, or would expire before it fires.

    `since`: from when on the times of a rule count, where that is before now.

    Raises:
        InvalidInput: names the field.
    """
    ends = made.expires_at
    if ends is not None and ends <= now:
        raise InvalidInput("expiresAt lies in the past", field="expiresAt")
    if made.trigger_type is TriggerType.COMPOSITE:
        if not read_condition(made.options["condition"]).possible(now):
            raise InvalidInput("the condition's time is over already", field="condition")
        return
    if made.trigger_type is not TriggerType.TIME:
        return
    rule = recurrence_of(made)
    begin = now if since is None else since
    first = made.trigger_at if rule is None else first_after(rule, begin - 1)
    if first is None:
        raise InvalidInput("the recurrence has ended already", field="recurrence")
    if ends is not None and first > ends:
        raise InvalidInput("expiresAt comes before it is due", field="expiresAt")


@contextmanager
def of_item(number: int, many: bool) -> Iterator[None]:
    """Name the item at fault in errors, where there are several."""
    try:
        yield
    except InvalidInput as error:
        if not many or error.field is None:
            raise
        kind = TooLarge if isinstance(error, TooLarge) else InvalidInput
        raise kind(
            error.message, field=f"items[{number}].{error.field}", limit=error.limit
        ) from None


def as_reminder(i: Intention) -> Reminder:
    """Return the reminder that an intention was made of."""
    options = {name: value for name, value in i.options.items() if name != "recurrence"}
    vector = None
    if i.cue is not None and i.cue_generation == 0:
        vector = np.frombuffer(i.cue, dtype="<f4")
    return Reminder(
        content=i.content,
        trigger_type=i.trigger_type,
        id=i.id,
        trigger_at=i.trigger_at,
        trigger_event=i.trigger_event,
        cue_text=i.cue_text,
        vector=vector,
        similarity_threshold=i.similarity_threshold,
        importance=i.importance,
        recurring=i.recurring,
        recurrence=recurrence_of(i),
        tier_rank=i.tier_rank,
        source_id=i.source_id,
        expires_at=i.expires_at,
        state=i.state,
        options=options,
    )


def _trigger_at(asked: Reminder) -> int | None:
    if asked.trigger_type is not TriggerType.TIME:
        return asked.trigger_at
    if asked.trigger_at is None and asked.recurrence is not None:
        zone = zone_of(asked.recurrence.zone)
        return first_after(asked.recurrence, to_us(asked.recurrence.start.replace(tzinfo=zone)) - 1)
    if asked.trigger_at is None:
        raise InvalidInput(
            "a time_based intention needs triggerAt (Unix milliseconds) or a recurrence",
            field="triggerAt",
        )
    return asked.trigger_at


def _event(asked: Reminder) -> str | None:
    if asked.trigger_type is not TriggerType.EVENT:
        return asked.trigger_event
    if not asked.trigger_event:
        raise InvalidInput(
            "an event_based intention needs triggerEvent, the name to wait for",
            field="triggerEvent",
        )
    return _text(asked.trigger_event, "triggerEvent", NAME_CHARS)


def _check_cue(made: Intention) -> None:
    if made.trigger_type is TriggerType.CONTEXT and made.cue is None and not made.cue_text:
        raise InvalidInput(
            "a context_based intention needs cueText, what has to be talked about", field="cueText"
        )


def _text(text: str, name: str, most: int) -> str:
    text = clean(text)
    if not text.strip():
        raise InvalidInput(f"{name} is empty", field=name, limit=1)
    if len(text) > most:
        raise TooLarge(
            f"{name} has {len(text)} characters; the limit is {most}", field=name, limit=most
        )
    return text


def _finite(value: float, name: str) -> float:
    if not math.isfinite(value):
        raise InvalidInput(f"{name} must be a finite number", field=name)
    return float(value)


def _threshold(value: float | None) -> float | None:
    if value is not None and not -1 <= value <= 1:
        raise InvalidInput(
            "similarityThreshold must be -1 to 1", field="similarityThreshold", limit=1
        )
    return value


def _state(state: IntentionState) -> IntentionState:
    if state not in KEPT_STATES:
        raise InvalidInput(
            f"state must be {', '.join(KEPT_STATES)}; {state} is where an intention ends",
            field="state",
        )
    return state


def packed(vector: Floats | None) -> bytes | None:
    """Return a vector as float32 components, little endian.

    Raises:
        InvalidInput: it is none.
    """
    if vector is None:
        return None
    components = np.asarray(vector, dtype="<f4")
    if (
        components.ndim != 1
        or not 1 <= len(components) <= MOST_DIMENSIONS
        or not np.isfinite(components).all()
    ):
        raise InvalidInput(
            f"cueEmbedding must be a list of 1 to {MOST_DIMENSIONS} finite numbers",
            field="cueEmbedding",
            limit=MOST_DIMENSIONS,
        )
    return components.tobytes()


def odd(asked: Reminder, now: int) -> list[str]:
    """Return what looks like a mistake, for people."""
    at = asked.trigger_at
    if at is not None and 0 < at < SECONDS_BELOW < now:
        return ["triggerAt looks like seconds; it is read as Unix milliseconds"]
    return []
