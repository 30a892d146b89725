"""dry run: show which facts retain would read from a content, and store nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from ..keeping.store import Store
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput, TooLarge
from ..nouns.memory import BankRef, Unit
from ..nouns.text import clean
from ..reading.names import prepare
from ..reading.slots import Table
from .retaining.facts import KNOWN_NAMES, FactReader
from .retaining.layout import lay_out
from .retaining.units import Drafter, Item


class DryRun:
    """The verb; everything it needs is passed in."""

    def __init__(
        self, store: Store, drafter: Drafter, facts: FactReader, *, clock: Clock, max_bytes: int
    ) -> None:
        self._store = store
        self._drafter = drafter
        self._facts = facts
        self._clock = clock
        self._max_bytes = max_bytes

    async def __call__(self, ref: BankRef, item: Item) -> list[Unit]:
        """Return the facts, in order. The bank lends its names; it need not exist.

        Raises:
            InvalidInput, TooLarge: the content cannot be taken; names `content`.
        """
        size = len(item.content.encode("utf-8", "replace"))
        if size > self._max_bytes:
            raise TooLarge(
                f"content has {size} bytes; the limit is {self._max_bytes}: send it in parts",
                field="content",
                limit=self._max_bytes,
            )
        content = clean(item.content)
        if not content.strip():
            raise InvalidInput("content is empty: give some text to read", field="content", limit=1)
        async with self._store.snapshot(ref) as view:
            known = [entity.name for entity in await view.entities(limit=KNOWN_NAMES)]
        table = await self._facts.table(ref)
        return await asyncio.to_thread(self._read, replace(item, content=content), known, table)

    def _read(self, item: Item, known: Sequence[str], table: Table) -> list[Unit]:
        said = lay_out([item.content]).said
        draft = self._drafter.draft(b"", [item], said, self._clock.now_us())
        speakers = [s.row.unit.speaker for s in draft.sources if s.row.unit.speaker]
        read = self._facts.read(draft.sources, prepare([*known, *speakers]), table)
        return [row.unit for row in read.facts]
