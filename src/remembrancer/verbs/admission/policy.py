"""Decides what of a class of work runs, waits or is refused; pure: the time is passed in.

Places are given out round robin by tenant. While another tenant asked lately and has nothing
running, the last free place is kept for it: so it need not wait for somebody else's work to end.
Where work takes the processor, what waits begins when nothing runs of other tenants that have no
more, or after a short while: so a flood's next request does not make theirs last longer. When the
queue is full, what came last of the tenant of which most waits gives way.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from ...nouns.turns import RoundRobin

RECENT_S = 1.0
"""For so long after a tenant's last request a place is kept for it."""
_LEAST_RETRY_S, _MOST_RETRY_S = 1.0, 30.0
_WEIGHT = 0.1  # of the newest duration in the moving mean


class Reason(StrEnum):
    """Why something was refused."""

    TENANT = "tenant"  # too much of the tenant's own waits
    FULL = "full"  # too much of everybody's waits
    WAITED = "waited"  # it waited for as long as it may
    LATE = "late"  # the caller would not wait as long as it would take


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of a class there may be.

    Attributes:
        running: at once.
        tenant_running: at once, of one tenant.
        queue: waiting at once, of all tenants.
        tenant_queue: waiting at once, of one tenant.
        wait_s: seconds that anything waits at most.
        yield_s: so long at most what waits lets that of other tenants end, of which nothing waits.
    """

    running: int
    tenant_running: int
    queue: int
    tenant_queue: int
    wait_s: float
    yield_s: float = 0.0


@dataclass(slots=True, eq=False)
class Ticket:
    """A request's place; `began_at` is None while it waits, `ran_s` what it ran before that."""

    tenant: str
    came_at: float
    began_at: float | None = None
    ran_s: float = 0.0


@dataclass(slots=True)
class Refusal:
    """Why a request is refused, and in how many seconds it is worth another try."""

    reason: Reason
    retry_after_s: float


@dataclass(slots=True)
class Entry:
    """What becomes of a request: its ticket, or why there is none, and what that does to others.

    `displaced` had to give way; those of `begun` waited, and begin now.
    """

    ticket: Ticket | None = None
    refusal: Refusal | None = None
    displaced: Ticket | None = None
    begun: Sequence[Ticket] = ()


class Recent:
    """The tenants that asked within the last second, whatever for; shared by all classes.

    Args:
        most: tenants that are kept in mind.
    """

    def __init__(self, most: int = 1_000) -> None:
        self._most = most
        self._seen: OrderedDict[str, float] = OrderedDict()

    def saw(self, tenant: str, now: float) -> None:
        """Note that a tenant asks."""
        self._seen.pop(tenant, None)
        self._seen[tenant] = now
        if len(self._seen) > self._most:
            self._seen.popitem(last=False)

    def other_than(self, tenant: str, running: Container[str], now: float) -> bool:
        """Tell whether another tenant asked lately that is not among those running."""
        while self._seen:
            first = next(iter(self._seen))
            if now - self._seen[first] <= RECENT_S:
                break
            del self._seen[first]
        return any(each != tenant and each not in running for each in self._seen)


@dataclass(slots=True)
class Policy:
    """One class of work. Times are seconds of a clock that never steps back."""

    bounds: Bounds
    recent: Recent = field(default_factory=Recent)
    running: int = 0
    mean_s: float = 0.0  # how long one runs, a moving mean; 0: not known yet
    _of: Counter[str] = field(default_factory=Counter)  # running, by tenant
    _yielding: float | None = None  # since when
    _queue: RoundRobin[Ticket] = field(default_factory=RoundRobin)

    @property
    def queued(self) -> int:
        """How many wait."""
        return len(self._queue)

    @property
    def holds_back(self) -> bool:
        """Whether something waits though there is a place: time alone may change that."""
        return bool(self._queue) and self.running < self.bounds.running

    def enter(self, tenant: str, now: float, left_s: float = math.inf) -> Entry:
        """Let a request run, wait, or have it refused.

        Args:
            tenant: whose it is.
            now: the time.
            left_s: seconds that its caller would wait for the answer.
        """
        self.recent.saw(tenant, now)
        # Whoever waits may not run now, or else it would: nobody is passed over.
        if not self._queue.waiting(tenant) and self._may_run(tenant, now):
            return Entry(self._begin(Ticket(tenant, now), now))
        if (refusal := self.full(tenant)) is not None:
            return Entry(refusal=refusal)
        if self._turn_in(tenant) > left_s:
            return Entry(refusal=self._refusal(Reason.LATE, tenant))
        displaced = None
        if len(self._queue) >= self.bounds.queue:
            displaced = self._displaced_by(tenant)
            if displaced is None:
                return Entry(refusal=self._refusal(Reason.FULL, tenant))
        ticket = Ticket(tenant, now)
        self._queue.push(tenant, ticket)
        return Entry(ticket, displaced=displaced, begun=self.let_in(now, ticket))

    def full(self, tenant: str) -> Refusal | None:
        """Return why nothing more of a tenant would be taken now; None: it would."""
        if self._queue.waiting(tenant) < self.bounds.tenant_queue or self.running == 0:
            return None
        return self._refusal(Reason.TENANT, tenant)

    def let_in(self, now: float, besides: Ticket | None = None) -> list[Ticket]:
        """Let those begin whose turn it is; return them, without `besides`."""
        begun = []
        while self.running < self.bounds.running:
            ticket = self._queue.pop(
                lambda tenant: self._may_run(tenant, now) and not self._yields(tenant, now)
            )
            if ticket is None:
                break
            self._yielding = None
            self._begin(ticket, now)
            if ticket is not besides:
                begun.append(ticket)
        return begun

    def leave(self, ticket: Ticket, now: float) -> list[Ticket]:
        """End a request that ran, or one that waits no longer; return those that begin now."""
        if ticket.began_at is None:
            self._queue.remove(ticket.tenant, ticket)
            return []
        took = ticket.ran_s + now - ticket.began_at
        self.mean_s = took if not self.mean_s else self.mean_s + _WEIGHT * (took - self.mean_s)
        self._end(ticket)
        return self.let_in(now) if self._queue else []

    def again(self, ticket: Ticket, now: float) -> list[Ticket]:
        """Let other tenants go before one that runs, if any wait; return those that begin now.

        It is not refused, and its own turn may come at once. It stays before what of its tenant has
        not begun: behind that, none of a flood's would end before all of them have begun.
        """
        if not self._queue or ticket.began_at is None:
            return []
        self._end(ticket)
        ticket.ran_s += now - ticket.began_at
        ticket.began_at = None
        self._queue.push_back(ticket.tenant, ticket, _not_begun)
        return self.let_in(now, ticket)

    def waited(self, ticket: Ticket) -> Refusal:
        """Take out one that has waited for as long as it may, and say when to come again."""
        self._queue.remove(ticket.tenant, ticket)
        return self._refusal(Reason.WAITED, ticket.tenant)

    def displaced(self, ticket: Ticket) -> Refusal:
        """Return what is said to one that gave way."""
        return self._refusal(Reason.FULL, ticket.tenant)

    def _begin(self, ticket: Ticket, now: float) -> Ticket:
        ticket.began_at = now
        self.running += 1
        self._of[ticket.tenant] += 1
        return ticket

    def _end(self, ticket: Ticket) -> None:
        self.running -= 1
        self._of[ticket.tenant] -= 1
        if not self._of[ticket.tenant]:
            del self._of[ticket.tenant]

    def _may_run(self, tenant: str, now: float) -> bool:
        free = self.bounds.running - self.running
        if free <= 0 or self._of.get(tenant, 0) >= self.bounds.tenant_running:
            return False
        return (
            free > 1 or tenant not in self._of or not self.recent.other_than(tenant, self._of, now)
        )

    def _yields(self, tenant: str, now: float) -> bool:
        """Tell whether what waits of a tenant lets others end first.

        Beside what is worked on for a tenant that has no more, a flood's next request would make
        that one last twice as long. It does not wait for ever: others may go on asking.
        """
        if not self.bounds.yield_s or all(
            each == tenant or self._queue.waiting(each) for each in self._of
        ):
            return False
        if self._yielding is None:
            self._yielding = now
        return now - self._yielding < self.bounds.yield_s

    def _displaced_by(self, tenant: str) -> Ticket | None:
        fullest = self._queue.fullest()
        if fullest is None or self._queue.waiting(fullest[0]) <= self._queue.waiting(tenant) + 1:
            return None
        self._queue.remove(*fullest)
        return fullest[1]

    def _turn_in(self, tenant: str) -> float:
        """Return in how many seconds the next one of a tenant may begin, about."""
        before = (self._queue.waiting(tenant) + 1) * max(1, self._queue.tenants)
        return min(before, len(self._queue) + 1) * self.mean_s / self.bounds.running

    def _refusal(self, reason: Reason, tenant: str) -> Refusal:
        return Refusal(reason, min(_MOST_RETRY_S, max(_LEAST_RETRY_S, self._turn_in(tenant))))


def _not_begun(ticket: Ticket) -> bool:
    return not ticket.ran_s
