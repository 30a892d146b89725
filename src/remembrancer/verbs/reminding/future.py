"""Puts the verbs of the future together: remind, check, events and what belongs to them."""

from __future__ import annotations

from ...finding.terms import Analyzer
from ...keeping.store import Store
from ...models.embedder import Embedder
from ...nouns.clock import Clock
from ...nouns.ids import IdMaker
from ..check import MOST_OFFERS, Check, ContextFinder
from ..remind import Remind
from ..retaining.intending import Intending
from .composites import Composites
from .contexts import ContextIndex
from .due import DueNow
from .events import Events
from .ics import Calendars
from .occurrences import Occurrences
from .once import Once


class Future:
    """The verbs over one store. `event_days`: how long events are kept."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        analyzer: Analyzer,
        *,
        ids: IdMaker,
        clock: Clock,
        generation: int,
        event_days: float,
    ) -> None:
        self._store = store
        self.ids = ids
        self._clock = clock
        self.generation = generation
        self.contexts = ContextIndex(store, embedder, analyzer, generation=generation)
        self.composites = Composites(store, self.contexts, embedder)
        self.events = Events(store, self.composites, ids=ids, clock=clock, days=event_days)
        self.remind = Remind(
            store,
            embedder,
            ids=ids,
            clock=clock,
            generation=generation,
            look_back=self.events.look_back,
        )
        self.check = self.checking(trusts_now=False)
        self.due = DueNow(store, self.check)
        self.occurrences = Occurrences(store, clock=clock)
        self.once = Once(store, ids=ids, clock=clock)
        self.calendars = Calendars(store, self.remind, ids=ids, clock=clock)
        self.intending = Intending(store, self.remind, ids=ids, clock=clock)

    def checking(
        self,
        *,
        trusts_now: bool,
        contexts: ContextFinder | None = None,
        most: int = MOST_OFFERS,
    ) -> Check:
        """Return a verb to check with; see `Check`. `contexts`: finds them otherwise."""
        return Check(
            self._store,
            contexts or self.contexts,
            self.composites,
            ids=self.ids,
            clock=self._clock,
            trusts_now=trusts_now,
            most=most,
        )
