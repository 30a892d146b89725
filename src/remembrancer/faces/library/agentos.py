"""AgentOS's own behaviour, for those who rely on it: `compat="agentos"`.

As of v0.10.14: whatever is registered is kept, also what can never fire; a query text does nothing;
vectors of different lengths have a cosine of 0; a ceiling that is no finite number withholds
nothing; a recurring item fires at each check for which it holds; without the embedder nothing is
registered. What is odd about an item is kept as it was given, beside what fires.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from ...app import App
from ...keeping.intentions import IntentionBatch
from ...keeping.view import Reader
from ...models.embedder import Floats
from ...nouns.errors import InvalidInput
from ...nouns.ids import parse_id
from ...nouns.intention import Intention, IntentionState, TriggerType
from ...nouns.memory import BankRef
from ...verbs.check import Check, CheckOptions, ContextFinder, Contexts, Due, Mode
from ...verbs.reminding.conditions import LEAST_MS, MOST_MS
from ...verbs.reminding.occurrences import withheld
from ...verbs.reminding.plan import Hit, next_look
from ...verbs.reminding.reminders import packed
from .prospective_items import DueItem, ProspectiveItem, is_number, shown, shown_due, snake

MOST_DUE = 100_000  # items of one check; further ones stay due
_GIVEN = "agentos"  # the option that keeps what an item was given
_MS = 1_000
_LAST = -1e300  # an importance that sorts behind all others
_NEVER = 2.0  # a threshold that no cosine reaches
_BEFORE_ALL = LEAST_MS * _MS
Shown = TypeVar("Shown", bound=ProspectiveItem)

_KNOWN = frozenset(f.name for f in fields(ProspectiveItem))
_SET_HERE = ("id", "cue_embedding", "triggered", "created_at")


class AgentOs:
    """Registers, checks and shows items as AgentOS does."""

    def __init__(self, app: App) -> None:
        self._app = app
        contexts = _Contexts(app.future.contexts)
        self.check: Check = app.future.checking(trusts_now=True, contexts=contexts, most=MOST_DUE)

    async def register(
        self, ref: BankRef, items: Sequence[Mapping[str, Any]]
    ) -> Sequence[Intention]:
        """Keep items, whatever they hold; when a cue cannot be embedded, none.

        Raises:
            ModelUnavailable: of the embedder.
        """
        made = [await self._intention(ref, item) for item in items]
        await self._app.store.intend(ref, IntentionBatch(put=made))
        return made

    def options(
        self, told: Mapping[str, Any], mode: Mode, lease_s: float, limit: int
    ) -> CheckOptions:
        """Read what is known; what is not as it should be counts as AgentOS has it."""
        del limit  # there is none
        ceiling = told["max_tier_rank"]
        return CheckOptions(
            now=_instant(told["now"]),
            events=[name for name in told["events"] or () if isinstance(name, str)],
            vector=_vector(told["query_embedding"]),
            ceiling=ceiling if _finite(ceiling) else None,
            mode=mode,
            lease_s=lease_s,
            limit=MOST_DUE,
        )

    def shown(self, intention: Intention) -> ProspectiveItem:
        """Return an item as it was given."""
        return _as_given(shown(intention), intention)

    def shown_due(self, due: Due) -> DueItem:
        """Return an item that is due as it was given."""
        return _as_given(shown_due(due), due.intention)

    async def _intention(self, ref: BankRef, item: Mapping[str, Any]) -> Intention:
        given = {snake(name): value for name, value in item.items() if snake(name) in _KNOWN}
        for name in _SET_HERE:
            given.pop(name, None)
        now = self._app.clock.now_us()
        kind = _kind(given.get("trigger_type"))
        event, cue_text = given.get("trigger_event"), given.get("cue_text")
        made = Intention(
            id=self._app.future.ids.new(),
            content=str(given.get("content", "")),
            trigger_type=kind or TriggerType.EVENT,  # of another kind: it waits for no event
            created_at=now,
            updated_at=now,
            importance=_finite_or(given.get("importance"), _LAST),
            recurring=bool(given.get("recurring")),
            trigger_at=_trigger_at(given.get("trigger_at")),
            trigger_event=event if kind and isinstance(event, str) and event else None,
            cue_text=cue_text if isinstance(cue_text, str) else None,
            similarity_threshold=_threshold(given.get("similarity_threshold")),
            source_id=await self._source(ref, given.get("source_trace_id")),
            tier_rank=_finite_or(given.get("tier_rank"), None),
        )
        made = replace(
            made,
            next_due=_due(made),
            options={_GIVEN: _odd(given, made)},
        )
        if kind is TriggerType.CONTEXT and made.cue_text and self._app.embedder is not None:
            vectors: Floats = await self._app.embedder.embed([made.cue_text])
            made = replace(made, cue=packed(vectors[0]), cue_generation=self._app.future.generation)
        return made

    async def _source(self, ref: BankRef, source: Any) -> bytes | None:
        """Return the id of a memory of the bank; AgentOS keeps any name, we link what is there."""
        try:
            wanted = parse_id(str(source))
        except InvalidInput:
            return None
        async with self._app.store.snapshot(ref) as view:
            return wanted if await view.units([wanted]) else None


class _Contexts:
    """Finds contexts by their vectors alone, again and again, a cosine of 0 where none can be."""

    def __init__(self, found: ContextFinder) -> None:
        self._found = found
        self._lock = threading.Lock()
        self._places: dict[BankRef, int] = {}
        self._low: dict[BankRef, dict[bytes, int]] = {}  # the length of cues that 0 brings up

    async def prepare(
        self, ref: BankRef, text: str | None, vector: Floats | None
    ) -> tuple[Floats | None, Sequence[str]]:
        """Leave a text aside."""
        del text
        return await self._found.prepare(ref, None, vector)

    def look(
        self,
        reader: Reader,
        ref: BankRef,
        text: str | None,
        vector: Floats | None,
        ceiling: float | None,
        now: int,
        unindexed: Sequence[Intention],
    ) -> Contexts:
        """Return what matches at or above its threshold."""
        del text
        if vector is None:
            return Contexts()
        found = self._found.look(reader, ref, None, vector, ceiling, now, unindexed)
        hits = [replace(hit, disarm=False) for hit in found.hits]
        dim = len(vector) if np.linalg.norm(vector) > 0 else 0
        low = [i for i, size in self._read(reader, ref).items() if size != dim]
        zero = reader.intentions_by_id(low) if low else []
        hits += [
            Hit(i, None, now, {"similarity": 0.0})
            for i in zero
            if i.state is IntentionState.ACTIVE
            and i.trigger_type is TriggerType.CONTEXT
            and not withheld(i, ceiling)
        ]
        return Contexts(hits, ahead=found.ahead)

    def _read(self, reader: Reader, ref: BankRef) -> dict[bytes, int]:
        with self._lock:
            low = self._low.setdefault(ref, {})
            while page := reader.cues(self._places.get(ref, 0)):
                for cue in page:
                    low.pop(cue.intention_id, None)
                    if cue.active and cue.threshold is not None and cue.threshold <= 0:
                        low[cue.intention_id] = len(cue.cue) // 4
                self._places[ref] = page[-1].place
            return dict(low)


def _as_given(item: Shown, intention: Intention) -> Shown:
    for name, value in intention.options.get(_GIVEN, {}).items():
        if name in _KNOWN:
            setattr(item, name, value)
    return item


def _odd(given: Mapping[str, Any], made: Intention) -> dict[str, Any]:
    """Return what was given otherwise than it is kept, as far as JSON can hold it."""
    kept = {
        "trigger_at": None if made.trigger_at is None else made.trigger_at / _MS,
        "trigger_type": str(made.trigger_type),
        "trigger_event": made.trigger_event,
        "importance": made.importance,
        "similarity_threshold": made.similarity_threshold,
        "source_trace_id": None if made.source_id is None else given.get("source_trace_id"),
        "tier_rank": made.tier_rank,
    }
    return {
        name: value if isinstance(value := given.get(name), str) or _finite(value) else None
        for name in kept
        if given.get(name) != kept[name]
    }


def _kind(value: Any) -> TriggerType | None:
    kinds = (TriggerType.TIME, TriggerType.EVENT, TriggerType.CONTEXT)
    return next((kind for kind in kinds if value == kind.value), None)


def _due(made: Intention) -> int | None:
    return next_look(made, 0) if made.trigger_type is TriggerType.TIME else None


def _trigger_at(value: Any) -> int | None:
    """Return when it fires; None for what is false to JavaScript, or compares to nothing."""
    number = _coerced(value)
    if math.isnan(number) or number in (0, math.inf):
        return None
    return None if number > MOST_MS else round(max(number, LEAST_MS) * _MS)


def _instant(value: Any) -> int | None:
    """Return the time of a check: with NaN no time has come."""
    if value is None:
        return None
    number = _coerced(value)
    return _BEFORE_ALL - 1 if math.isnan(number) else round(_within(number) * _MS)


def _within(number: float) -> float:
    return min(max(number, LEAST_MS), MOST_MS)


def _coerced(value: Any) -> float:
    """Return a value as JavaScript compares it with a number."""
    try:
        return float(value) if isinstance(value, str | bool) or is_number(value) else math.nan
    except ValueError:
        return math.nan


def _threshold(value: Any) -> float | None:
    if value is None:
        return None
    number = _coerced(value)
    return _NEVER if math.isnan(number) else number


def _vector(value: Any) -> Floats | None:
    return None if value is None else np.asarray(value, dtype=np.float32).reshape(-1)


def _finite(value: Any) -> bool:
    return is_number(value) and math.isfinite(value)


def _finite_or(value: Any, other: float | None) -> Any:
    return float(value) if _finite(value) else other
