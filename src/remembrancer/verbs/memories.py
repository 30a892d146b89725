"""The verbs about memories that are told one by one, wired together."""

from __future__ import annotations

import asyncio
import os

from ..finding.indexes import Indexes
from ..keeping.store import Store
from ..models.embedder import Embedder
from ..nouns.clock import Clock
from ..nouns.ids import IdMaker
from .contradictions import Contradictions
from .criteria import ForgetMatching
from .curate import Curate
from .decay import Decay
from .forget import Forget
from .insights import Insights
from .listing import Listing
from .lookup import Lookup
from .policy import Policies
from .remember import Remember
from .retaining.guarding import OPEN, Guard
from .retaining.rewriting import Rewriter
from .revise import Revise
from .strategies import Knows, Strategies
from .subscriptions import Subscriptions
from .surroundings import Surroundings


class Memories:
    """The verbs as attributes, ready to call; everything they need is passed in.

    Args:
        embedder_failed: set when a memory was left for the embedder to catch up.
        knows: see `Strategies`.
        guard: keeps out what is not to be kept.
    """

    def __init__(
        self,
        store: Store,
        indexes: Indexes,
        embedder: Embedder | None,
        rewriter: Rewriter,
        curate: Curate,
        forget: Forget,
        *,
        ids: IdMaker,
        clock: Clock,
        generation: int,
        embedder_failed: asyncio.Event,
        knows: Knows | None = None,
        guard: Guard = OPEN,
    ) -> None:
        self.policies = Policies(store, clock=clock)
        self.lookup = Lookup(store, self.policies, clock=clock)
        self.listing = Listing(store)
        self.surroundings = Surroundings(store, self.lookup)
        self.remember = Remember(
            store,
            embedder,
            rewriter,
            ids=ids,
            clock=clock,
            generation=generation,
            embedder_failed=embedder_failed,
            guard=guard,
        )
        self.revise = Revise(
            store, self.lookup, curate, forget, self.policies, ids=ids, clock=clock, guard=guard
        )
        self.decay = Decay(store, forget, self.policies, ids=ids, clock=clock)
        self.forget_matching = ForgetMatching(store, forget, self.policies, clock=clock)
        self.strategies = Strategies(
            store, indexes, embedder, clock=clock, generation=generation, knows=knows
        )
        self.insights = Insights(store, self.remember, ids=ids, clock=clock, guard=guard)
        self.contradictions = Contradictions(store, indexes, clock=clock, generation=generation)
        self.subscriptions = Subscriptions(
            store,
            indexes,
            embedder,
            clock=clock,
            generation=generation,
            random_bytes=os.urandom,
        )
