"""The desk where all faces ask for a place: waiting, deadlines and figures around the policy."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from functools import partial

from ...nouns.errors import Overloaded, RateLimited
from ...nouns.turns import acting_for, pausing
from ...settings import Settings
from ..meters import ADMISSION_SHED, ADMISSION_WAITS, Meters
from .policy import Bounds, Policy, Reason, Recent, Refusal, Ticket

_HELD = 1_000  # refusals held back at once; more are told at once
_TOLD_PER_S = 25  # refusals told to one tenant, about
_LONGEST_S = 10.0
_LOOK_S = 0.05  # after which it is looked again whether a place that is kept may be given out
_SLICE_S = 0.25  # that work runs at least before it lets others have their turn
# At once: more of them end no sooner in one process, and each of them later.
_READS, _WRITES, _HEAVY = 2, 2, 2
_YIELD_S = 0.1  # see `Bounds`; of reads, which are short
_REMOTE = 8  # times as many where somebody else is asked over a network
_LOCAL = frozenset({"bge-small", "none"})
_LOCAL_SCHEMES = ("fastembed:", "sentence-transformers:", "hash:")


class Work(StrEnum):
    """The classes of work."""

    READ = "read"
    WRITE = "write"
    HEAVY = "heavy"  # takes long: asks language models, reads or writes whole banks


class Desk:
    """Gives out places in this process.

    Args:
        bounds: of each class.
        deadlines: seconds that a request of each class may take when its caller sets no bound.
        meters: are told what waited and what was refused.
        penalty_s: how long a refusal for a tenant's own flood is held back, so that who asks again
            at once does so less often.
        monotonic: a clock in seconds that never steps back.
    """

    def __init__(
        self,
        bounds: Mapping[Work, Bounds],
        deadlines: Mapping[Work, float],
        meters: Meters,
        *,
        penalty_s: float = 0.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.deadlines = deadlines
        recent = Recent()
        self._policies = {work: Policy(each, recent) for work, each in bounds.items()}
        self._waiting: dict[Ticket, asyncio.Future[Refusal | None]] = {}
        self._meters = meters
        self._penalty_s = penalty_s
        self._held: Counter[str] = Counter()  # refusals held back, by tenant
        self._now = monotonic
        self._looking: set[Work] = set()

    def figures(self) -> Iterator[tuple[str, int, int]]:
        """Yield each class with how many run and how many wait."""
        for work, policy in self._policies.items():
            yield work.value, policy.running, policy.queued

    async def check(self, work: Work, tenant: str) -> None:
        """Refuse what would be refused anyway: for before the work of reading a request is done.

        Raises:
            RateLimited: too much of the tenant's waits already.
        """
        refusal = self._policies[work].full(tenant)
        if refusal is not None:
            raise await self._refused(work, refusal, tenant)

    async def enter(self, work: Work, tenant: str, left_s: float = math.inf) -> Ticket:
        """Return a place, after waiting for it; `leave` gives it back.

        Args:
            work: the class.
            tenant: whose it is.
            left_s: seconds that the caller would wait for the answer.

        Raises:
            RateLimited: too much of the tenant's waits already.
            Overloaded: too much waits, or it waited for too long, or would.
        """
        policy = self._policies[work]
        entry = policy.enter(tenant, self._now(), left_s)
        for begun in entry.begun:
            self._wake(begun, None)
        if entry.displaced is not None:
            self._wake(entry.displaced, policy.displaced(entry.displaced))
        ticket = entry.ticket
        if ticket is None:
            assert entry.refusal is not None
            raise await self._refused(work, entry.refusal, tenant)
        self._look_later(work)
        if ticket.began_at is None:
            await self._wait(work, policy, ticket)
        return ticket

    def leave(self, work: Work, ticket: Ticket) -> None:
        """Give a place back."""
        for begun in self._policies[work].leave(ticket, self._now()):
            self._wake(begun, None)
        self._look_later(work)

    async def pause(self, work: Work, ticket: Ticket) -> None:
        """Let others have their turn, if this one has lasted, and wait for the next one."""
        policy, now = self._policies[work], self._now()
        if ticket.began_at is None or now - ticket.began_at < _SLICE_S:
            return
        for begun in policy.again(ticket, now):
            self._wake(begun, None)
        self._look_later(work)
        if ticket.began_at is None:
            future: asyncio.Future[Refusal | None] = asyncio.get_running_loop().create_future()
            self._waiting[ticket] = future
            try:
                await future
            finally:
                self._waiting.pop(ticket, None)

    @contextmanager
    def inside(self, work: Work, ticket: Ticket) -> Iterator[None]:
        """Work on behalf of a ticket's tenant, and give the place back at the end."""
        try:
            with acting_for(ticket.tenant), pausing(partial(self.pause, work, ticket)):
                yield
        finally:
            self.leave(work, ticket)

    async def _wait(self, work: Work, policy: Policy, ticket: Ticket) -> None:
        future: asyncio.Future[Refusal | None] = asyncio.get_running_loop().create_future()
        self._waiting[ticket] = future
        refusal: Refusal | None = None
        try:
            async with asyncio.timeout(policy.bounds.wait_s):
                refusal = await future
        except TimeoutError:
            if ticket.began_at is None:  # else its turn came at the last moment
                refusal = policy.waited(ticket)
        except asyncio.CancelledError:
            self.leave(work, ticket)
            raise
        finally:
            self._waiting.pop(ticket, None)
            self._meters.time(ADMISSION_WAITS, self._now() - ticket.came_at, work=work.value)
        if refusal is not None:
            raise await self._refused(work, refusal, ticket.tenant)

    def _look_later(self, work: Work) -> None:
        """Look again after a while whether a place that is kept may be given out."""
        if self._policies[work].holds_back and work not in self._looking:
            self._looking.add(work)
            asyncio.get_running_loop().call_later(_LOOK_S, self._look, work)

    def _look(self, work: Work) -> None:
        self._looking.discard(work)
        for begun in self._policies[work].let_in(self._now()):
            self._wake(begun, None)
        self._look_later(work)

    def _wake(self, ticket: Ticket, refusal: Refusal | None) -> None:
        future = self._waiting.get(ticket)
        if future is not None and not future.done():
            future.set_result(refusal)

    async def _refused(self, work: Work, refusal: Refusal, tenant: str) -> RateLimited | Overloaded:
        """Return the error of a refusal; that of a tenant's own flood after a while."""
        self._meters.add(ADMISSION_SHED, work=work.value, reason=refusal.reason.value)
        if refusal.reason is Reason.TENANT:
            if self._penalty_s and self._held.total() < _HELD:
                await self._hold(tenant)
            return RateLimited(
                f"too many requests of this tenant wait already ({work}): ask again later, and "
                "fewer at once",
                retry_after_s=refusal.retry_after_s,
            )
        said = {
            Reason.FULL: f"too many requests wait already ({work}); try again later",
            Reason.WAITED: f"the server was too busy for too long ({work}); try again later",
            Reason.LATE: f"the server is too busy to answer in the time that is left ({work})",
        }
        return Overloaded(said[refusal.reason], retry_after_s=refusal.retry_after_s)

    async def _hold(self, tenant: str) -> None:
        """Wait the longer the more of a tenant's refusals wait: each costs others some time."""
        self._held[tenant] += 1
        try:
            await asyncio.sleep(min(_LONGEST_S, self._penalty_s + self._held[tenant] / _TOLD_PER_S))
        finally:
            self._held[tenant] -= 1
            if not self._held[tenant]:
                del self._held[tenant]


def desk_of(settings: Settings, meters: Meters) -> Desk:
    """Return the desk that the settings describe."""
    reads = settings.admit_reads or _READS * (_REMOTE if _asks_others(settings) else 1)
    heavy = settings.admit_heavy or _HEAVY * (_REMOTE if settings.llm != "none" else 1)
    writes = settings.admit_writes or _WRITES * (_REMOTE if _asks_others(settings) else 1)
    queue, own, wait_s = settings.admit_queue, settings.admit_tenant_queue, settings.admit_wait_s
    yield_s = 0.0 if _asks_others(settings) else _YIELD_S
    # What takes long and does not pause leaves a place for others, even who did not ask lately.
    bounds = {
        Work.READ: Bounds(reads, reads, queue, own, wait_s, yield_s),
        Work.WRITE: Bounds(writes, writes, queue, own, wait_s),
        Work.HEAVY: Bounds(heavy, max(1, heavy - 1), queue, own, wait_s),
    }
    deadlines = {
        Work.READ: settings.deadline_read_s,
        Work.WRITE: settings.deadline_write_s,
        Work.HEAVY: settings.deadline_heavy_s,
    }
    return Desk(bounds, deadlines, meters, penalty_s=settings.admit_penalty_s)


def _asks_others(settings: Settings) -> bool:
    """Tell whether a recall waits for answers over a network, which take no time of ours."""
    embedder = settings.embedder
    local = embedder in _LOCAL or embedder.startswith(_LOCAL_SCHEMES)
    postgres = (settings.store or "").startswith("postgres")
    return not local or settings.reranker.startswith("endpoint:") or postgres
