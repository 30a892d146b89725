"""Which composite intentions hold: all or any of a time window, an event, a context."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...finding.cues import ROUNDING, THRESHOLD
from ...keeping.store import Store
from ...models.embedder import Embedder, Floats
from ...nouns.errors import ModelUnavailable
from ...nouns.intention import Event, Intention, TriggerType
from ...nouns.memory import BankRef
from ..check import CheckOptions, Contexts
from .conditions import Condition, ContextSeen, EventSeen, TimeWindow, matches, read_condition
from .contexts import ContextIndex
from .plan import Hit

SECOND_US = 1_000_000
_PAGE = 1_000
_MOST_EVENTS = 100_000  # kept events looked at in one check
_MOST_CUES = 2_000  # vectors of conditions held

_Key = tuple[bytes, int, int]  # an intention, its version, the place of a condition


class Told(NamedTuple):
    """An event that is told now; a bare name has no id and no payload."""

    name: str
    id: str | None = None
    data: Mapping[str, Any] | None = None


@dataclass(slots=True)
class _Known:
    """What is known now, for all conditions of a bank."""

    now: int
    told: Sequence[Told]
    text: str | None
    vector: Floats | None
    cues: dict[_Key, Floats] = field(default_factory=dict)
    kept: dict[tuple[bytes, int], Event] = field(default_factory=dict)  # the latest that matches
    mismatched: int = 0

    @property
    def context(self) -> bool:
        """Whether it is known what is talked about."""
        return self.text is not None or self.vector is not None


class Composites:
    """Finds composite intentions; everything it needs is passed in.

    An event counts when it is told now, or when it is kept and happened within the intention's
    look-back; without one, since the intention was registered. For a recurring one, only what
    happened after it fired last counts. A recurring one that has fired fires again once its
    condition has ceased to hold in between.
    """

    def __init__(self, store: Store, contexts: ContextIndex, embedder: Embedder | None) -> None:
        self._store = store
        self._contexts = contexts
        self._embedder = embedder
        self._cues: OrderedDict[_Key, Floats] = OrderedDict()

    async def __call__(
        self, ref: BankRef, options: CheckOptions, now: int, unindexed: Sequence[Intention]
    ) -> Contexts:
        """Return those that hold now, and the recurring ones that do not any more."""
        told = [Told(name) for name in dict.fromkeys(options.events)]
        return await self.holding(
            ref, told, now, unindexed, text=options.text, vector=options.vector
        )

    async def holding(
        self,
        ref: BankRef,
        told: Sequence[Told],
        now: int,
        unindexed: Sequence[Intention],
        *,
        text: str | None = None,
        vector: Floats | None = None,
    ) -> Contexts:
        """Return those that hold at a time, given what is told."""
        found = [
            (i, read_condition(i.options["condition"]))
            for i in unindexed
            if i.trigger_type is TriggerType.COMPOSITE
        ]
        if not found:
            return Contexts()
        known = _Known(now, told, text, vector)
        await self._see_context(found, known)
        await self._see_events(ref, found, known)
        hits: list[Hit] = []
        ended: list[Intention] = []
        for intention, condition in found:
            data = self._holds(intention, condition, known)
            if data is None:
                over = known.context or not condition.contexts
                ended += [intention] if over and not intention.armed else []
            elif intention.armed:
                hits.append(Hit(intention, None, now, data, disarm=intention.recurring))
        warnings = []
        if known.mismatched:
            warnings.append(
                f"{known.mismatched} conditions have cues of another dimension than the context; "
                "they cannot hold"
            )
        return Contexts(hits, ended, warnings)

    async def _see_context(
        self, found: Sequence[tuple[Intention, Condition]], known: _Known
    ) -> None:
        """Embed the text and the cues that have no vector yet; without an embedder words count."""
        wanted = {
            (i.id, i.version, place): part.text
            for i, condition in found
            for place, part in enumerate(condition.parts)
            if isinstance(part, ContextSeen)
        }
        if not wanted or not known.context or self._embedder is None:
            return
        if known.vector is None and known.text is not None:
            known.vector = await self._contexts.embed(known.text)
        fresh = [key for key in wanted if key not in self._cues]
        if fresh and known.vector is not None:
            try:
                vectors = await self._embedder.embed([wanted[key] for key in fresh])
            except ModelUnavailable:
                return
            known.cues.update(zip(fresh, vectors, strict=True))
        known.cues |= {key: self._cues[key] for key in wanted if key in self._cues}
        for key, cue in known.cues.items():
            self._cues[key] = cue
            self._cues.move_to_end(key)
        while len(self._cues) > _MOST_CUES:
            self._cues.popitem(last=False)

    async def _see_events(
        self, ref: BankRef, found: Sequence[tuple[Intention, Condition]], known: _Known
    ) -> None:
        """Look up the latest kept event that each condition asks for."""
        asked: dict[str, list[tuple[Intention, int, EventSeen]]] = {}
        for intention, condition in found:
            for place, part in enumerate(condition.parts):
                if isinstance(part, EventSeen):
                    asked.setdefault(part.name, []).append((intention, place, part))
        if not asked:
            return
        since = min(_since(i, known.now) for each in asked.values() for i, _, _ in each)
        async for event in kept_events(self._store, ref, list(asked), since):
            for intention, place, part in asked[event.name]:
                recent = _since(intention, known.now) <= event.at <= known.now
                if recent and matches(part.where, event.data):
                    known.kept[intention.id, place] = event

    def _holds(
        self, intention: Intention, condition: Condition, known: _Known
    ) -> dict[str, Any] | None:
        """Return what it holds by, or None when it does not hold."""
        data: dict[str, Any] = {}
        held: list[int] = []
        for place, part in enumerate(condition.parts):
            match part:
                case TimeWindow():
                    why: dict[str, Any] | None = {} if part.holds(known.now) else None
                case EventSeen():
                    why = _by_event(intention, place, part, known)
                case ContextSeen():
                    why = self._by_context(intention, place, part, known)
            if why is None and condition.every:
                return None
            if why is not None:
                held.append(place)
                data |= why
        return {**data, "conditions": held} if held else None

    def _by_context(
        self, intention: Intention, place: int, part: ContextSeen, known: _Known
    ) -> dict[str, Any] | None:
        floor = THRESHOLD if part.threshold is None else part.threshold
        cue = known.cues.get((intention.id, intention.version, place))
        if cue is not None and known.vector is not None:
            if len(cue) != len(known.vector):
                known.mismatched += 1
                return None
            similarity = _cosine(cue, known.vector)
        elif known.text is not None:
            similarity = self._contexts.overlap(part.text, known.text)
            floor = max(floor, 0.01)  # of no word in common nothing follows
        else:
            return None
        return {"similarity": round(similarity, 6)} if similarity >= floor - ROUNDING else None


async def kept_events(
    store: Store, ref: BankRef, names: Sequence[str], since: int
) -> AsyncIterator[Event]:
    """Yield kept events of some names from a time on, oldest first, a page at a time."""
    seen: set[str] = set()  # of the page before: pages overlap in one moment
    for _ in range(_MOST_EVENTS // _PAGE):
        page = await store.events(ref, names, since, _PAGE)
        for event in page:
            if event.id not in seen:
                yield event
        if len(page) < _PAGE:
            return
        seen = {event.id for event in page}
        since = page[-1].at + (page[-1].at == page[0].at)


def _since(intention: Intention, now: int) -> int:
    """Return from when on events count."""
    span = intention.options.get("look_back_s")
    first = intention.created_at if span is None else now - int(span * SECOND_US)
    if intention.recurring and intention.last_fired_at is not None:
        return max(first, intention.last_fired_at + 1)
    return first


def _by_event(
    intention: Intention, place: int, part: EventSeen, known: _Known
) -> dict[str, Any] | None:
    for told in known.told:
        # A bare name says nothing of a payload.
        if told.name == part.name and (not part.where or matches(part.where, told.data or {})):
            return {"event": told.name} | ({"event_id": told.id} if told.id else {})
    event = known.kept.get((intention.id, place))
    return None if event is None else {"event": event.name, "event_id": event.id}


def _cosine(one: Floats, other: Floats) -> float:
    first, second = one.astype(np.float64), other.astype(np.float64)
    norms = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) / norms if norms else 0.0
