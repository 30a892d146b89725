"""The Store protocol: everything the rest of the house may ask of a database.

A store keeps rows; it knows nothing of reading, ranking or models. Three rules hold for each:

* Every call about memories names a `BankRef`; no row of another bank or tenant can be reached
  through it. That is enforced here, not by callers.
* `apply` is the only write of memories: one `Batch`, one transaction, one new bank revision,
  durable (fsynced) when it returns.
* Reads of one question go through one `View`, a snapshot: what it shows belongs together.

`tests/contract/` is the one suite that any Store must pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from ..nouns.memory import Bank, BankRef, Job, JobState
from .batch import Applied, Batch
from .generations import GenerationStore
from .intentions import IntentionStore
from .jobs import JobStore
from .records import RecordStore
from .sealing import SealedStore
from .view import Reader, View

T = TypeVar("T")


class Totals(NamedTuple):
    """What a whole store holds. Banks of the tenant without a name are the house's own."""

    banks: int
    sources: int
    facts: int
    observations: int
    documents: int
    jobs: Mapping[JobState, int]


class Tenant(NamedTuple):
    """Somebody whose data it is: how many memories and documents there are."""

    name: str
    memories: int
    documents: int


class BankMark(NamedTuple):
    """How a bank stands: when it was written last, and how many sources and observations it has."""

    ref: BankRef
    key: int
    revision: int
    updated_at: int
    memories: int


class BanksState(NamedTuple):
    """A tenant's banks as a number that is another one whenever memories of one have changed.

    A new bank begins above every revision that a dropped one has had, so the sum tells.
    """

    banks: int
    revisions: int


class Store(GenerationStore, IntentionStore, JobStore, RecordStore, SealedStore, Protocol):
    """A database that keeps banks. See the module's rules."""

    @property
    def identity(self) -> str:
        """What tells this data from any other, for caches that do not lie beside it; else empty.

        Known once the store is open.
        """
        ...

    async def schema(self) -> tuple[int, int]:
        """Return the schema that the data has (0: none yet), and that which `open` brings it to.

        May be asked before `open`; changes nothing.
        """
        ...

    async def open(self) -> None:
        """Open, creating and migrating what is needed.

        Raises:
            StoreTooNew: the data was written by a newer version.
            StoreError: the place cannot be used; the message says how to mend.
        """
        ...

    async def close(self) -> None:
        """Flush access counters and close; safe to call twice."""
        ...

    def snapshot(self, ref: BankRef) -> AbstractAsyncContextManager[View]:
        """Open a snapshot of one bank for the length of a `with` block."""
        ...

    async def read(self, ref: BankRef, work: Callable[[Reader], T]) -> T:
        """Run work on a snapshot of its own, in the thread that holds it.

        A whole question in one hop between threads: on small machines each hop costs as much as a
        look-up of many rows.
        """
        ...

    async def apply(self, ref: BankRef, batch: Batch) -> Applied:
        """Write one batch durably; creates the bank when it is new.

        Raises:
            Conflict: an expectation of the batch does not hold; nothing was written.
            StoreBusy: the write lock was not free within the store's limit.
        """
        ...

    async def bank(self, ref: BankRef) -> Bank | None:
        """Return a bank, or None."""
        ...

    async def banks(
        self, tenant: str, limit: int = 100, offset: int = 0, *, containing: str | None = None
    ) -> list[Bank]:
        """Return a tenant's banks by name; the house's own are left out (see `nouns.names`).

        `containing` keeps those whose name, or `name` in their profile, holds that text; the case
        of ASCII letters does not count.
        """
        ...

    async def bank_count(self, tenant: str, *, containing: str | None = None) -> int:
        """Count a tenant's banks."""
        ...

    async def banks_state(self, tenant: str) -> BanksState:
        """Return what tells whether anything of a tenant's memories has changed."""
        ...

    async def bank_marks(self, tenant: str, limit: int) -> list[BankMark]:
        """Return how a tenant's banks stand, by name as bytes.

        Of the house's own that of memories that belong to no bank is among them.
        """
        ...

    async def bank_vectors(
        self, generation: int, refs: Sequence[BankRef]
    ) -> list[tuple[int, bytes, float]]:
        """Return all vectors of banks in no order: the bank's key, codes, scale."""
        ...

    async def bank_put(self, ref: BankRef, profile: Mapping[str, Any]) -> Bank:
        """Create a bank or replace its profile."""
        ...

    async def bank_change(
        self, ref: BankRef, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    ) -> Bank:
        """Create a bank or change its profile in one transaction.

        `change` turns the profile into the new one, in another thread; what it raises leaves
        everything as it was. The revision stays.
        """
        ...

    async def bank_drop(self, ref: BankRef, then: Job | None = None) -> int:
        """Delete a bank with everything in it; return how many units went (0: no such bank).

        `then` is queued in the same transaction, if there was a bank; it names another one.
        """
        ...

    async def totals(self) -> Totals:
        """Count over all tenants and banks."""
        ...

    async def memory_count(self, tenant: str | None = None) -> int:
        """Count sources and observations of a tenant, None: of all; no memory is read for it."""
        ...

    async def tenants(self, after: str = "", limit: int = 1_000) -> list[Tenant]:
        """Return the next tenants by name (as bytes) after one, with what they hold.

        The house's own, whose name is empty, is left out.
        """
        ...

    async def tenant(self, name: str) -> Tenant:
        """Return what a tenant holds: nothing, when nobody has written to it."""
        ...

    async def locate(self, tenant: str, unit_ids: Sequence[bytes]) -> dict[bytes, BankRef]:
        """Find the banks of units by id alone, within one tenant."""
        ...

    async def touch(self, ref: BankRef, unit_ids: Sequence[bytes], at: int) -> None:
        """Count an access of each unit, outside revision and feed.

        Added up in memory and flushed every 100 ms and on close: a kill -9 can lose the counts of
        the last 100 ms, never content. Counts of units that are gone are dropped.
        """
        ...

    async def settle_uses(self) -> None:
        """Write the accesses that this process has counted until now.

        For who is about to erase what was not used: it reads the counters of what was.
        """
        ...

    async def trim_changes(self, ref: BankRef, up_to: int) -> int:
        """Drop feed entries up to a revision; return how many went."""
        ...

    async def drop_expired(self, now: int) -> None:
        """Delete blobs that have expired, but for those of a job that is there."""
        ...

    async def sweep(self, now: int) -> None:
        """Remove from disk what was deleted: expired blobs, free pages, the write-ahead log."""
        ...

    async def health(self) -> Mapping[str, Any]:
        """Return `ok`, `engine`, `schema`, `path` or `url`, `size_bytes`; constant time."""
        ...

    async def backup(
        self,
        target: Path,
        *,
        verify: bool = False,
        incremental: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Mapping[str, Any]:
        """Write a consistent copy while the store is in use; return `path`, `bytes`, `units`.

        Args:
            target: a file or folder.
            verify: read the copy again and compare it whole.
            incremental: a folder of copies, into which only what is new is written.
            progress: told how much is done, and how much there is to do.

        Raises:
            Corrupt: it is not what the store held.
            InvalidInput: this store has no incremental copies; says what there is instead.
        """
        ...
