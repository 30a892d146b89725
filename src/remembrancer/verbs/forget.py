"""forget: erase, not hide.

What is forgotten is invisible everywhere once the call has returned, and gone from the bytes on
disk soon after: a durable `sweep` job, written in the same transaction, rewrites the index files
that held it and empties the write-ahead log. Forgetting a fact forgets the turn that says it, and
with it all facts read from that turn: they are one memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..finding.indexes import Indexes
from ..keeping.batch import Batch
from ..keeping.records import Record
from ..keeping.store import Store
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput, RemembrancerError
from ..nouns.ids import IdMaker
from ..nouns.memory import BankRef, Job, JobState
from ..nouns.spans import traced

SWEEP = "sweep"
_REOPEN = 50


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was erased: ids of sources and of the facts read from them; documents by name.

    `missing` are ids that were asked for and are not in this bank.
    """

    erased: tuple[bytes, ...]
    documents: tuple[str, ...]
    missing: tuple[bytes, ...]
    revision: int


class Forget:
    """The verb; everything it needs is passed in."""

    def __init__(self, store: Store, indexes: Indexes, *, ids: IdMaker, clock: Clock) -> None:
        self._store = store
        self._indexes = indexes
        self._ids = ids
        self._clock = clock

    @traced("forget")
    async def __call__(
        self,
        ref: BankRef,
        *,
        unit_ids: Sequence[bytes] = (),
        documents: Sequence[str] = (),
        records: Sequence[Record] = (),
        expect_revision: int | None = None,
        moved: bool = False,
    ) -> Receipt:
        """Erase units and documents of one bank in one transaction.

        `records` are written with it, and with nothing to erase not at all. `moved`: the units are
        kept in another bank, so what was made of them and of others here as well stays.

        Raises:
            InvalidInput: neither ids nor documents are given.
            Conflict: the bank does not stand at `expect_revision`; nothing was erased.
        """
        if not unit_ids and not documents:
            raise InvalidInput(
                "name what to forget: memory ids or documents", field="memory_ids", limit=1
            )
        async with self._store.snapshot(ref) as view:
            units = await view.units(list(dict.fromkeys(unit_ids)))
            kept = {name for name in documents if await view.document(name) is not None}
        # What is queued for a document, or failed, holds its contents, too.
        kept.update(await self._store.job_documents(ref, list(documents)))
        there = [name for name in dict.fromkeys(documents) if name in kept]
        found = {u.id for u in units}
        whole = [u.source_id or u.id for u in units]
        now = self._clock.now_us()
        if not whole and not there:
            return Receipt((), (), tuple(i for i in unit_ids if i not in found), view.revision)
        sweep = Job(
            self._ids.new(), ref, SWEEP, JobState.PENDING, now, now, priority=1, listed=False
        )
        applied = await self._store.apply(
            ref,
            Batch(
                erase=[] if moved else list(dict.fromkeys(whole)),
                moved=list(dict.fromkeys(whole)) if moved else [],
                erase_documents=there,
                jobs=[sweep],
                records=records,
                expect_revision=expect_revision,
            ),
        )
        return Receipt(
            applied.erased,
            tuple(there),
            tuple(i for i in unit_ids if i not in found),
            applied.revision,
        )

    async def sweep(self, ref: BankRef) -> None:
        """Remove what was forgotten from this bank's index files and from the store's files."""
        for _ in range(_REOPEN):
            async with self._store.snapshot(ref) as view:
                if await self._indexes.compact(ref, view, purge=True):
                    break
        else:
            raise RemembrancerError("the index could not be rewritten; it will be tried again")
        await self._store.sweep(self._clock.now_us())
