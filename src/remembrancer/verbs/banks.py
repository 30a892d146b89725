"""Banks: list, describe, configure, clear and delete them.

A profile holds the name that people see, and what the bank sets (`bank_config`): its mission is
the setting `reflect_mission`, its disposition three settings from 1 to 5.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..finding.indexes import Indexes
from ..keeping.batch import Batch
from ..keeping.store import Store
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput, NotFound, TooLarge
from ..nouns.ids import IdMaker
from ..nouns.memory import Bank, BankRef, Job, JobState, Kind
from ..nouns.text import clean
from ..settings import Settings
from .bank_config import CONFIG, MISSION_CHARS, BankConfigs, Effective, checked, effective, merged
from .forget import SWEEP

SWEEP_DROPPED = "sweep_dropped"
"""The kind of job that removes from disk what a deleted bank has left."""

HOUSE = BankRef("", "")
"""Work that outlives its bank belongs to this one, which no caller can name."""

NAME_CHARS = 512
_CLEAR_UNITS = 1_000  # erased in one transaction
_ID_BYTES = 16
_PAGE = 1_000
_LATER_US = 1_000_000  # snapshots that still show a deleted bank have ended by then
_MUCH_LATER_US = 30_000_000

log = logging.getLogger(__name__)

Change = Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Described:
    """A bank, what it is called, and what holds for it."""

    bank: Bank
    name: str
    config: Effective


class Banks:
    """The verbs; everything they need is passed in."""

    def __init__(
        self,
        store: Store,
        indexes: Indexes,
        configs: BankConfigs,
        settings: Settings,
        *,
        ids: IdMaker,
        clock: Clock,
    ) -> None:
        self._store = store
        self._indexes = indexes
        self._configs = configs
        self._settings = settings
        self._ids = ids
        self._clock = clock

    async def get(self, ref: BankRef) -> Described:
        """Describe a bank.

        Raises:
            NotFound: there is none of that name.
        """
        bank = await self._store.bank(ref)
        if bank is None:
            raise NotFound(f"there is no bank {ref.bank!r}", field="bank_id")
        return self._described(bank)

    async def listed(
        self,
        tenant: str,
        *,
        containing: str | None = None,
        limit: int = 100,
        offset: int = 0,
        reaches: Callable[[str], bool] | None = None,
    ) -> tuple[list[Described], int]:
        """Return a tenant's banks by name and how many there are.

        Args:
            tenant: whose banks.
            containing: a part of their name.
            limit: at most.
            offset: leave out so many.
            reaches: which of them, by name; all by default.
        """
        containing = clean(containing).strip() or None if containing else None
        if reaches is not None:
            return await self._reached(tenant, containing, limit, offset, reaches)
        banks = await self._store.banks(tenant, limit, offset, containing=containing)
        total = await self._store.bank_count(tenant, containing=containing)
        return [self._described(bank) for bank in banks], total

    async def _reached(
        self,
        tenant: str,
        containing: str | None,
        limit: int,
        offset: int,
        reaches: Callable[[str], bool],
    ) -> tuple[list[Described], int]:
        found: list[Described] = []
        total = start = 0
        while page := await self._store.banks(tenant, _PAGE, start, containing=containing):
            start += len(page)
            for bank in page:
                if reaches(bank.ref.bank):
                    if offset <= total < offset + limit:
                        found.append(self._described(bank))
                    total += 1
        return found, total

    async def update(
        self,
        ref: BankRef,
        *,
        name: str | None = None,
        updates: Mapping[str, Any] | None = None,
        where: str = "updates",
    ) -> Described:
        """Create a bank or change it; settings given as None are unset, others stay.

        Raises:
            InvalidInput, TooLarge: nothing was changed; names a field, within `where`.
        """
        config = checked(updates or {}, where)
        for key, value in config.items():
            config[key] = clean(value) if isinstance(value, str) else value
        if name is not None:
            name = self._name(name)

        def change(profile: Mapping[str, Any]) -> Mapping[str, Any]:
            named = profile if name is None else {**profile, "name": name}
            return merged(named, config)

        return await self._change(ref, change)

    async def config(self, ref: BankRef) -> Effective:
        """Return what holds for a bank; one that does not exist has the server's settings."""
        bank = await self._store.bank(ref)
        return effective(self._settings, bank.profile if bank else {})

    async def reset(self, ref: BankRef) -> Effective:
        """Unset everything that a bank sets; return what holds now."""
        if await self._store.bank(ref) is None:
            return effective(self._settings, {})
        found = await self._change(ref, lambda profile: merged({**profile, CONFIG: {}}, {}))
        return found.config

    async def add_to_mission(self, ref: BankRef, text: str) -> Described:
        """Add lines to a bank's mission; those that stand there already are left out.

        Raises:
            InvalidInput, TooLarge: nothing was changed.
        """
        lines = [line.strip() for line in clean(text).splitlines() if line.strip()]
        if not lines:
            raise InvalidInput("content is empty: give some text to add", field="content", limit=1)

        def change(profile: Mapping[str, Any]) -> Mapping[str, Any]:
            old = effective(self._settings, profile).reflect_mission
            known = {line.strip() for line in old.splitlines()}
            new = [line for line in dict.fromkeys(lines) if line not in known]
            mission = "\n".join([*([old] if old else []), *new])
            if len(mission) > MISSION_CHARS:
                raise TooLarge(
                    f"the mission would have {len(mission)} characters; the limit is "
                    f"{MISSION_CHARS}: set it anew, shorter",
                    field="content",
                    limit=MISSION_CHARS,
                )
            return merged(profile, {"reflect_mission": mission})

        return await self._change(ref, change)

    async def delete(self, ref: BankRef) -> int:
        """Delete a bank with everything in it; return how many units went (0: no such bank).

        It is gone from the rows when this returns; a job removes what is left of it on disk.
        """
        now = self._clock.now_us()
        payload = {"tenant": ref.tenant, "bank": ref.bank}
        later = now + _LATER_US
        sweep = Job(
            self._ids.new(),
            HOUSE,
            SWEEP_DROPPED,
            JobState.PENDING,
            now,
            now,
            payload=payload,
            run_after=later,
            priority=1,
            listed=False,
        )
        gone = await self._store.bank_drop(ref, sweep)
        self._configs.forget(ref)
        try:
            await self._indexes.drop(ref)
        except OSError as error:  # the bank is gone all the same, and the job tries again
            log.warning("the index of a deleted bank stays on disk until it can go: %s", error)
        return gone

    async def sweep_dropped(self, job: Job) -> Mapping[str, Any]:
        """Remove a deleted bank's index and what it left in the store's files."""
        # A bank that was made anew under this name builds its index again.
        await self._indexes.drop(BankRef(job.payload["tenant"], job.payload["bank"]))
        await self._store.sweep(self._clock.now_us())
        return {}

    async def clear(self, ref: BankRef, kind: Kind | None = None) -> int:
        """Erase all memories of a bank, or those of a kind; return how many units went.

        Documents left empty go too; the bank and its settings stay. It is done in transactions of
        a thousand units: what was retained before it began is gone when it returns.
        """
        ids = await self._ids_of(ref, kind)
        erased = 0
        step = _CLEAR_UNITS * _ID_BYTES
        for start in range(0, len(ids), step):
            part = ids[start : start + step]
            now = self._clock.now_us()
            jobs = []
            if start + step >= len(ids):
                jobs = [self._sweep(ref, now, now)]
            elif start == 0:  # should this be broken off
                jobs = [self._sweep(ref, now, now + _MUCH_LATER_US)]
            erase = [bytes(part[i : i + _ID_BYTES]) for i in range(0, len(part), _ID_BYTES)]
            applied = await self._store.apply(ref, Batch(erase=erase, jobs=jobs))
            erased += len(applied.erased)
        return erased

    async def _ids_of(self, ref: BankRef, kind: Kind | None) -> bytearray:
        """Return the ids of one snapshot, end to end: 16 bytes each, however many there are."""
        ids = bytearray()
        async with self._store.snapshot(ref) as view:
            while page := await view.unit_ids(kind, bytes(ids[-_ID_BYTES:])):
                ids += b"".join(page)
        return ids

    def _sweep(self, ref: BankRef, now: int, after: int) -> Job:
        return Job(
            self._ids.new(),
            ref,
            SWEEP,
            JobState.PENDING,
            now,
            now,
            run_after=after,
            priority=1,
            listed=False,
        )

    async def _change(self, ref: BankRef, change: Change) -> Described:
        bank = await self._store.bank_change(ref, change)
        self._configs.forget(ref)
        return self._described(bank)

    def _described(self, bank: Bank) -> Described:
        name = bank.profile.get("name") or bank.ref.bank
        return Described(bank, name, effective(self._settings, bank.profile))

    def _name(self, name: str) -> str:
        name = clean(name).strip()
        if len(name) > NAME_CHARS:
            raise TooLarge(
                f"name has {len(name)} characters; the limit is {NAME_CHARS}",
                field="name",
                limit=NAME_CHARS,
            )
        return name
