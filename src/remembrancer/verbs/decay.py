"""decay: forget what a tenant's policy says is not worth keeping.

A run is a job of the tenant. It walks the tenant's banks and erases in transactions of some
hundred memories; each holds the receipt of what it erases and how far the run has come. So a run
that was broken off goes on where it stood, and counts nothing twice. Pinned memories are never
forgotten, nor what an intention that may still fire was read from.

Memories are judged by `finding.decay`, when a run looks at them; no score is stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from ..keeping.batch import Batch
from ..keeping.intentions import IntentionFilter
from ..keeping.records import Record
from ..keeping.store import Store
from ..keeping.view import Reader
from ..keeping.worker import JobContext
from ..nouns.caller import Caller
from ..nouns.clock import Clock
from ..nouns.errors import Conflict
from ..nouns.ids import IdMaker, to_uuid
from ..nouns.intention import IntentionState
from ..nouns.memory import BankRef, Job, JobState, LinkType
from ..nouns.names import OF_TENANT
from .decaying.choosing import Doomed, Least, Why, counted, doomed, pinned
from .forget import Forget
from .lookup import Kept, kept_of
from .policy import POLICY, Policies, Policy
from .tenant_banks import all_banks_of

DECAY = "decay"
"""The kind of its jobs, and of the records of how far a run has come."""

RECEIPT = "decay_receipt"
"""The kind of the records of what was erased: ids and why, no text."""

_LAST = "last"  # key of a tenant's last run
_RUN = "run"  # key of a bank's part of a run
_STEP = 500  # memories looked at, and erased, at once
_MOST_LEAST = 10_000  # ids held while the least worthy are looked for
_DERIVED = 1_000  # insights of one memory that are counted before it is erased
_RECEIPTS = 1_000  # of a bank; the oldest go first
_TRIES = 50
_TENANTS = 100_000
_ENDED = 100  # jobs of earlier runs that are cleared away at once
_LASTING = frozenset({IntentionState.PROPOSED, IntentionState.ACTIVE, IntentionState.PAUSED})


@dataclass(frozen=True, slots=True)
class Tally:
    """What a run did: memories looked at and forgotten, by why; `banks`: looked at."""

    examined: int = 0
    below_threshold: int = 0
    over_age: int = 0
    over_count: int = 0
    banks: int = 0

    @property
    def forgotten(self) -> int:
        """How many memories went, not counting what was read or derived from them."""
        return self.below_threshold + self.over_age + self.over_count

    def plus(self, other: Tally) -> Tally:
        """Return both together."""
        mine, theirs = asdict(self), asdict(other)
        return Tally(**{name: mine[name] + theirs[name] for name in mine})


@dataclass(frozen=True, slots=True)
class Run:
    """A run that has ended. Times in microseconds."""

    run_id: str
    started_at: int
    ended_at: int
    tally: Tally


@dataclass(frozen=True, slots=True)
class Decayed:
    """What `state` tells: the policy, the last run that has ended, and whether one is to come."""

    policy: Policy
    last: Run | None
    running: bool


@dataclass(frozen=True, slots=True)
class _Part:
    """How far a run has come in one bank: looked at up to `after`."""

    tally: Tally
    after: bytes = b""


class Decay:
    """The verb; everything it needs is passed in."""

    def __init__(
        self, store: Store, forget: Forget, policies: Policies, *, ids: IdMaker, clock: Clock
    ) -> None:
        self._store = store
        self._forget = forget
        self._policies = policies
        self._ids = ids
        self._clock = clock

    async def request(self, tenant: str) -> str:
        """Queue a run and return its id; that of the one that waits, if there is one."""
        ref = BankRef(tenant, OF_TENANT)
        waiting = await self._store.jobs(ref, kind=DECAY, state=JobState.PENDING, limit=1)
        if waiting:
            return to_uuid(waiting[0].id)
        job_id = self._ids.new()
        await self._enqueue(ref, job_id)
        return to_uuid(job_id)

    async def schedule(self, interval_us: int) -> int:
        """Queue the runs of this interval for all tenants whose policy forgets; return how many.

        However many processes do it, each tenant has one run an interval.
        """
        slot = self._clock.now_us() // interval_us * interval_us
        queued = 0
        for ref, record in await self._store.records_of(POLICY, _TENANTS):
            if Policy.read(record).acts:
                await self._enqueue(ref, _slot_id(ref.tenant, slot))
                queued += 1
        return queued

    async def state(self, tenant: str) -> Decayed:
        """Return the policy and how its runs stand."""
        ref = BankRef(tenant, OF_TENANT)
        record = await self._store.record(ref, DECAY, _LAST)
        last = None
        if record is not None:
            data = record.data
            tally = Tally(**data["tally"])
            last = Run(data["run_id"], data["started_at"], data["ended_at"], tally)
        states = (JobState.PENDING, JobState.PROCESSING)
        running = [await self._store.job_count(ref, kind=DECAY, state=each) for each in states]
        return Decayed(await self._policies.of(tenant), last, any(running))

    async def receipts(
        self, ref: BankRef, limit: int = 100, offset: int = 0
    ) -> tuple[list[Record], int]:
        """Return what runs have erased of a bank, newest first, and how many receipts there are.

        Each has `run_id` and `memories`: pairs of id (hex) and why.
        """
        found = await self._store.records(ref, RECEIPT, limit=limit, offset=offset)
        return found, await self._store.record_count(ref, RECEIPT)

    async def run(self, job: Job, context: JobContext) -> Mapping[str, Any]:
        """Do a run, as the handler of its job; run again, it goes on where it stood."""
        started, tenant = self._clock.now_us(), job.ref.tenant
        whole = Tally()
        async for ref in all_banks_of(self._store, Caller(tenant)):
            policy = await self._policies.of(tenant)  # it may be changed while a run goes on
            if not policy.acts:
                break
            part = await self._bank(ref, policy, job, context)
            whole = whole.plus(replace(part, banks=1))
            await context.progress("forgetting", whole.forgotten, None, _detail(whole))
        now = self._clock.now_us()
        data = {
            "run_id": to_uuid(job.id),
            "started_at": min(started, job.created_at) if job.attempts > 1 else started,
            "ended_at": now,
            "tally": asdict(whole),
        }
        record = Record(DECAY, _LAST, now, now, data)
        await self._store.apply(job.ref, Batch(records=[record], fence=context.fence))
        await self._clear(job)
        return {"forgotten_count": whole.forgotten, **_detail(whole)}

    async def _bank(self, ref: BankRef, policy: Policy, job: Job, context: JobContext) -> Tally:
        """Forget what is to be forgotten of one bank."""
        await self._store.settle_uses()
        part = await self._part(ref, job)
        begun = part.tally.forgotten
        tally = part.tally
        async for kept, after in self._pages(ref, part.after):
            tally = replace(tally, examined=tally.examined + len(kept))
            chosen = doomed(kept, policy, self._clock.now_us())
            if chosen:
                tally = await self._erase(ref, chosen, policy, job, tally, after)
                await context.progress("forgetting", tally.forgotten, None, _detail(tally))
        if policy.max_memories:
            tally = await self._thin(ref, policy, job, context, tally)
        if tally.forgotten > begun:
            await self._store.record_trim(ref, RECEIPT, _RECEIPTS)
        return tally

    async def _thin(
        self, ref: BankRef, policy: Policy, job: Job, context: JobContext, tally: Tally
    ) -> Tally:
        """Forget the least worthy memories of a bank that holds too many."""
        while (excess := await self._excess(ref, policy)) > 0:
            least = Least(min(excess, _MOST_LEAST), policy, self._clock.now_us())
            async for kept, _ in self._pages(ref, b""):
                least.show(kept)
            before = tally.forgotten
            found = least.found()
            for start in range(0, len(found), _STEP):
                excess = await self._excess(ref, policy)
                work = partial(_enough, chosen=found[start : start + _STEP], excess=excess)
                if some := await self._store.read(ref, work):
                    tally = await self._erase(ref, some, policy, job, tally, None)
                    await context.progress("forgetting", tally.forgotten, None, _detail(tally))
            if tally.forgotten == before:  # the others may not be forgotten
                break
        return tally

    async def _excess(self, ref: BankRef, policy: Policy) -> int:
        async with self._store.snapshot(ref) as view:
            counts = await view.counts()
        return counts["sources"] + counts["observations"] - policy.max_memories

    async def _erase(
        self,
        ref: BankRef,
        chosen: Sequence[Doomed],
        policy: Policy,
        job: Job,
        tally: Tally,
        after: bytes | None,
    ) -> Tally:
        """Erase memories on the bank as it is read; those that are spared by then stay.

        `after`: up to where the bank was looked at, when that is to be kept.
        """
        why = {each.unit_id: each.why for each in chosen}
        for _ in range(_TRIES):
            work = partial(_look, ref=ref, ids=list(why))
            kept, revision, facts = await self._store.read(ref, work)
            if (await self._part(ref, job)).tally.forgotten != tally.forgotten:
                raise Conflict("the run was taken over by another worker")
            now = self._clock.now_us()
            still = {each.unit_id for each in doomed(kept, policy, now)}
            free = await self._free(ref, [k.unit.id for k in kept], facts)
            going = [
                Doomed(k.unit.id, why[k.unit.id])
                for k in kept
                if k.unit.id in free
                and (k.unit.id in still or (why[k.unit.id] is Why.OVER and not pinned(k.unit)))
            ]
            if not going:
                return tally
            counts = counted(going)
            new = replace(tally, **{n: getattr(tally, n) + c for n, c in counts.items()})
            records = [
                Record(RECEIPT, _receipt_key(job, going), now, now, _receipt(job, going)),
                self._progress(job, new, after, now),
            ]
            try:
                await self._forget(
                    ref,
                    unit_ids=[each.unit_id for each in going],
                    records=records,
                    expect_revision=revision,
                )
            except Conflict:
                continue
            return new
        return tally  # others write to it all the time; the next run will see to it

    async def _free(
        self, ref: BankRef, ids: Sequence[bytes], facts: Mapping[bytes, bytes]
    ) -> set[bytes]:
        """Return those memories that no intention which may still fire was read from."""
        wanted = IntentionFilter(states=_LASTING, source_ids=[*ids, *facts])
        free, offset = set(ids), 0
        while page := await self._store.intentions(ref, wanted, _STEP, offset):
            named = [i.source_id for i in page if i.source_id is not None]
            free -= {facts.get(each, each) for each in named}
            offset += len(page)
        return free

    async def _pages(
        self, ref: BankRef, after: bytes
    ) -> AsyncIterator[tuple[Sequence[Kept], bytes]]:
        """Yield the memories of a bank in the order of their ids, and where each page ends."""
        while True:
            async with self._store.snapshot(ref) as view:
                ids = await view.unit_ids(None, after, _STEP)
                kept = await view.run(partial(_kept, ref=ref, ids=ids)) if ids else []
            if not ids:
                return
            after = ids[-1]
            yield kept, after

    async def _part(self, ref: BankRef, job: Job) -> _Part:
        record = await self._store.record(ref, DECAY, _RUN)
        if record is None or record.data["run_id"] != to_uuid(job.id):
            return _Part(Tally())
        return _Part(Tally(**record.data["tally"]), bytes.fromhex(record.data["after"]))

    def _progress(self, job: Job, tally: Tally, after: bytes | None, now: int) -> Record:
        end = b"\xff" * 16 if after is None else after
        data = {"run_id": to_uuid(job.id), "tally": asdict(tally), "after": end.hex()}
        return Record(DECAY, _RUN, now, now, data)

    async def _enqueue(self, ref: BankRef, job_id: bytes) -> None:
        now = self._clock.now_us()
        job = Job(job_id, ref, DECAY, JobState.PENDING, now, now, document=DECAY, listed=False)
        await self._store.apply(ref, Batch(jobs=[job]))

    async def _clear(self, job: Job) -> None:
        """Drop the jobs of earlier runs."""
        for state in (JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED):
            for old in await self._store.jobs(job.ref, kind=DECAY, state=state, limit=_ENDED):
                await self._store.job_delete(job.ref, old.id, self._clock.now_us())


def _kept(reader: Reader, ref: BankRef, ids: Sequence[bytes]) -> list[Kept]:
    return kept_of(reader, ref, reader.units(ids))


def _look(
    reader: Reader, ref: BankRef, ids: Sequence[bytes]
) -> tuple[list[Kept], int, Mapping[bytes, bytes]]:
    """Return memories, the bank's revision, and the facts read from them with their sources."""
    facts = {u.id: u.source_id for u in reader.read_from(ids) if u.source_id is not None}
    return _kept(reader, ref, ids), reader.revision, facts


def _enough(reader: Reader, chosen: Sequence[Doomed], excess: int) -> list[Doomed]:
    """Return as many of what is chosen as it takes: what was derived from it goes with it."""
    derived: dict[bytes, set[bytes]] = {}
    ids = [each.unit_id for each in chosen]
    for link in reader.neighbours(ids, (LinkType.INSIGHT_FROM,), 1, _DERIVED):
        derived.setdefault(link.target, set()).add(link.source)
    gone: set[bytes] = set()
    taken = []
    for each in chosen:
        if len(gone) >= excess:
            break
        if each.unit_id not in gone:
            gone |= {each.unit_id, *derived.get(each.unit_id, ())}
            taken.append(each)
    return taken


def _slot_id(tenant: str, slot: int) -> bytes:
    """Return the id of a tenant's run of an interval: a UUIDv7 that all processes agree on."""
    tail = hashlib.blake2b(f"{tenant}\x1f{slot}".encode(), digest_size=10).digest()
    value = int.from_bytes((slot // 1000).to_bytes(6, "big") + tail, "big")
    value = value & ~(0xF << 76) | (0x7 << 76)
    return (value & ~(0b11 << 62) | (0b10 << 62)).to_bytes(16, "big")


def _receipt_key(job: Job, going: Sequence[Doomed]) -> str:
    return f"{job.id.hex()}/{going[0].unit_id.hex()}"


def _receipt(job: Job, going: Sequence[Doomed]) -> dict[str, Any]:
    memories = [[each.unit_id.hex(), each.why.value] for each in going]
    return {"run_id": to_uuid(job.id), "memories": memories}


def _detail(tally: Tally) -> dict[str, int]:
    return {f"{name}_count": value for name, value in asdict(tally).items()}
