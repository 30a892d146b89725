"""remember: keep one memory as it is told.

Exactly one unit is written; nothing is read from it. Its vector is in the same transaction, so that
it can be found by meaning as soon as it is acknowledged; when the embedder fails, it can be found
by words until the embedder has caught up.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..keeping.batch import Batch, VectorPatch
from ..keeping.store import Store
from ..models.embedder import Embedder
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput, NotFound, RemembrancerError, TooLarge
from ..nouns.ids import IdMaker
from ..nouns.memory import BankRef, Kind, Layer, Link, LinkType, Unit, UnitRow
from ..nouns.spans import traced
from ..nouns.text import clean
from .attributes import merged_attributes
from .retaining.enrich import embed_sources
from .retaining.guarding import OPEN, Guard
from .retaining.rewriting import Rewriter, dated
from .retaining.units import Source

MAX_CONTENT_BYTES = 65_536
"""Of one memory, in UTF-8."""

log = logging.getLogger(__name__)


class Tie(NamedTuple):
    """A link from a memory to another one of its bank; `weight` in [0, 1]."""

    target: bytes
    type: LinkType
    weight: float = 1.0


def checked_content(content: str) -> str:
    """Return a text as it is kept.

    Raises:
        InvalidInput: it is empty.
        TooLarge: it is above `MAX_CONTENT_BYTES`.
    """
    content = clean(content)
    if not content.strip():
        raise InvalidInput("content must not be empty", field="content", limit=1)
    size = len(content.encode())
    if size > MAX_CONTENT_BYTES:
        raise TooLarge(
            f"content has {size} bytes; the limit is {MAX_CONTENT_BYTES}",
            field="content",
            limit=MAX_CONTENT_BYTES,
        )
    return content


def checked_share(value: float, field: str) -> float:
    """Return a number from 0 to 1.

    Raises:
        InvalidInput: it is not; names `field`.
    """
    if not math.isfinite(value) or not 0 <= value <= 1:
        raise InvalidInput(f"{field} must be from 0 to 1", field=field, limit=1)
    return value


async def links_from(store: Store, ref: BankRef, unit_id: bytes, ties: Sequence[Tie]) -> list[Link]:
    """Return the links of a memory to others of its bank.

    Raises:
        NotFound: a target is not in the bank.
        InvalidInput: a weight is not from 0 to 1, or a memory is linked to itself.
    """
    if not ties:
        return []
    targets = list(dict.fromkeys(tie.target for tie in ties))
    async with store.snapshot(ref) as view:
        there = {unit.id for unit in await view.units(targets)}
    for tie in ties:
        checked_share(tie.weight, "edges.confidence")
        if tie.target == unit_id:
            raise InvalidInput("a memory cannot be linked to itself", field="edges.target_id")
        if tie.target not in there:
            raise NotFound(
                f"there is no memory {tie.target.hex()} in this entity to link to",
                field="edges.target_id",
            )
    return [Link(unit_id, tie.target, tie.type, tie.weight) for tie in ties]


class Remember:
    """The verb; everything it needs is passed in.

    Args:
        embedder_failed: set when a memory was left for the embedder to catch up.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        rewriter: Rewriter,
        *,
        ids: IdMaker,
        clock: Clock,
        generation: int,
        embedder_failed: asyncio.Event,
        guard: Guard = OPEN,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._rewriter = rewriter
        self._ids = ids
        self._clock = clock
        self._generation = generation
        self._embedder_failed = embedder_failed
        self._guard = guard

    @traced("remember")
    async def __call__(
        self,
        ref: BankRef,
        content: str,
        *,
        importance: float | None = None,
        attributes: Mapping[str, Any] | None = None,
        ties: Sequence[Tie] = (),
        derived: bool = False,
    ) -> Unit:
        """Keep one memory and return it; the bank is made when it is new.

        Args:
            ref: the bank.
            content: up to `MAX_CONTENT_BYTES`.
            importance: 0 to 1; .5 when not given.
            attributes: any JSON, kept with it.
            ties: links to memories that are there.
            derived: it is an observation made from others (those it has `INSIGHT_FROM` ties to).

        Raises:
            InvalidInput, TooLarge, NotFound: nothing was written.
        """
        now = self._clock.now_us()
        unit = Unit(
            id=self._ids.new(),
            layer=Layer.OBSERVATION if derived else Layer.SOURCE,
            text=self._guard.text(checked_content(content), "content"),
            created_at=now,
            mentioned_at=now,
            kind=Kind.OBSERVATION if derived else Kind.WORLD,
            attributes=merged_attributes(None, self._guard.attributes(attributes, "context")),
            importance=checked_share(0.5 if importance is None else importance, "importance"),
        )
        links = await links_from(self._store, ref, unit.id, ties)
        source = self.source(unit)
        await self._store.apply(ref, await self.batch([source], links))
        return source.row.unit

    def source(self, unit: Unit) -> Source:
        """Return a unit with its words and the date that its text names."""
        unit = dated(unit, self._rewriter.dates(unit))
        return self._rewriter.source(unit, {})

    async def batch(self, sources: Sequence[Source], links: Sequence[Link], **more: Any) -> Batch:
        """Return what writes units with their vectors; without, when the embedder fails."""
        rows: list[UnitRow] = [source.row for source in sources]
        vectors: list[VectorPatch] = []
        if self._embedder is not None and sources:
            try:
                vectors, _ = await embed_sources(self._embedder, sources)
            except RemembrancerError:
                log.warning("embedding failed; the memory stays findable by words", exc_info=True)
                self._embedder_failed.set()
        return Batch(units=rows, vectors=vectors, links=links, generation=self._generation, **more)
