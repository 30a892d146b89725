"""revise: change a memory that was told; it keeps its id, and what it was is kept with it.

A move to another bank is two transactions: it is written there, then erased here. A job that is
written with the first one does the second, should a crash come in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..keeping.batch import Batch, VectorPatch
from ..keeping.store import Store
from ..nouns.caller import Caller
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput
from ..nouns.ids import IdMaker
from ..nouns.memory import BankRef, Job, JobState, Layer
from ..nouns.spans import traced
from .attributes import merged_attributes
from .curate import LEAVE, Curate, Edit
from .forget import Forget
from .lookup import Kept, Lookup
from .noting import Note, some_ids, unnoted
from .policy import Policies
from .remember import Tie, checked_content, checked_share, links_from
from .retaining.guarding import OPEN, Guard
from .tenant_banks import no_memory

MOVED_OUT = "moved_out"
_LATER_US = 30_000_000  # by then the move itself has erased what it left behind


@dataclass(frozen=True, slots=True)
class Revision:
    """What to change; None stays. `attributes` come over the old ones, or with `replaces` instead.

    `ties` come beside the old ones. `bank`: where it shall be kept from now on.
    """

    content: str | None = None
    importance: float | None = None
    attributes: Mapping[str, Any] | None = None
    replaces: bool = False
    ties: Sequence[Tie] = ()
    bank: BankRef | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing is to be changed."""
        given = (self.content, self.importance, self.attributes, self.bank)
        return all(value is None for value in given) and not self.ties


class Revise:
    """The verb; everything it needs is passed in."""

    def __init__(
        self,
        store: Store,
        lookup: Lookup,
        curate: Curate,
        forget: Forget,
        policies: Policies,
        *,
        ids: IdMaker,
        clock: Clock,
        guard: Guard = OPEN,
    ) -> None:
        self._store = store
        self._lookup = lookup
        self._curate = curate
        self._forget = forget
        self._policies = policies
        self._guard = guard
        self._ids = ids
        self._clock = clock
        self._moving = asyncio.Lock()  # else two moves of one memory could erase both copies

    @traced("revise")
    async def __call__(
        self, caller: Caller, unit_id: bytes, revision: Revision, note: Note = unnoted
    ) -> Kept:
        """Change a memory and return it. The same change twice is made once.

        `note` is told of the bank that it moved out of as well, also when the rest fails.

        Raises:
            NotFound: the caller reaches none of that id, or a tie leads nowhere.
            InvalidInput: nothing is to be changed, or a value cannot be taken.
            ModelUnavailable: the new text cannot be embedded; at most it was moved.
            Conflict: the bank changed too often meanwhile; at most it was moved.
        """
        if revision.empty:
            raise InvalidInput("at least one revisable field must be provided", field="content")
        edit = await self._edit(caller.tenant, revision)
        ref = revision.bank or await self._lookup.find(caller, unit_id)
        links = await links_from(self._store, ref, unit_id, revision.ties)
        told: dict[str, Any] = {"memory_id": unit_id.hex()}
        if revision.bank is not None and await self._moved(caller, unit_id, ref, note):
            told["moved"] = "in"
        changed = "moved" in told
        try:
            await self._curate(ref, unit_id, replace(edit, links=links))
            changed = True
            found = await self._lookup.several(ref, [unit_id])
            if not found:
                raise no_memory(unit_id)
            told["edits"] = found[0].edits
        finally:
            if changed:
                note(ref, **told)
        return found[0]

    async def _edit(self, tenant: str, revision: Revision) -> Edit:
        content, importance = revision.content, revision.importance
        attributes = self._guard.attributes(revision.attributes, "context")
        return Edit(
            text=None if content is None else self._guard.text(checked_content(content), "content"),
            importance=None if importance is None else checked_share(importance, "importance"),
            attributes=LEAVE if attributes is None else merged_attributes(None, attributes),
            merge=not revision.replaces,
            keep_links=True,
            history=(await self._policies.of(tenant)).max_snapshots,
        )

    async def finish_move(self, job: Job) -> Mapping[str, Any]:
        """Erase what a move left behind; `job` is of the bank where the memory is now."""
        unit_id = bytes.fromhex(job.payload["unit"])
        async with self._moving:
            if await self._lookup.several(job.ref, [unit_id]):
                old = BankRef(job.ref.tenant, job.payload["bank"])
                await self._forget(old, unit_ids=[unit_id], moved=True)
        return {}

    async def _moved(self, caller: Caller, unit_id: bytes, new: BankRef, note: Note) -> bool:
        """Move a memory to a bank; return False when it was there."""
        async with self._moving:
            old = await self._lookup.find(caller, unit_id)
            if old == new:
                return False
            gone = await self._move(old, new, unit_id)
        note(old, memory_id=unit_id.hex(), moved="out", **some_ids(gone))
        return True

    async def _move(self, old: BankRef, new: BankRef, unit_id: bytes) -> Sequence[bytes]:
        """Move a memory with its vector, its counters and what it was; its links stay behind.

        Return what went from the old bank.
        """
        async with self._store.snapshot(old) as view:
            rows = await view.rows([unit_id])
            curations = await view.curations([unit_id])
            facts = await view.facts_of([unit_id])
            generation = view.generation
        if not rows:
            raise no_memory(unit_id)
        row = rows[0]
        if row.unit.layer is not Layer.SOURCE or row.unit.document_id is not None or facts:
            raise InvalidInput(
                "entity_id can be changed of a remembered memory only, not of a part of a "
                "document or of what was derived",
                field="entity_id",
            )
        now = self._clock.now_us()
        job = Job(
            self._ids.new(),
            new,
            MOVED_OUT,
            JobState.PENDING,
            now,
            now,
            payload={"unit": unit_id.hex(), "bank": old.bank},
            run_after=now + _LATER_US,
            listed=False,
        )
        vectors = [] if row.vector is None else [VectorPatch(unit_id, row.vector, None)]
        await self._store.apply(
            new,
            Batch(
                units=[replace(row, vector=None, window_vector=None)],
                vectors=vectors,
                curations=list(curations.values()),
                jobs=[job],
                generation=generation,
            ),
        )
        gone = await self._forget(old, unit_ids=[unit_id], moved=True)
        if not gone.erased:  # it was forgotten meanwhile
            await self._forget(new, unit_ids=[unit_id])
            raise no_memory(unit_id)
        return gone.erased
