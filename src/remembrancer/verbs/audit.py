"""The audit log: who changed what, when. It names ids and counts, never texts."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..keeping.chain import AUDIT
from ..keeping.records import Record
from ..keeping.store import Store
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput, NotFound, RemembrancerError
from ..nouns.ids import IdMaker, parse_id, to_uuid
from ..nouns.memory import BankRef
from .bank_config import BankConfigs
from .stats import Period, Span, span_of

KEPT = 10_000  # entries of a bank; the oldest go first
FLUSH_S = 0.1
_TRIM_EVERY = 500
_MOST_WAITING = 20_000  # entries not yet written; the oldest are given up
_PAGE = 1_000
_BANKS = 1_000  # whose entries are counted between two trims

log = logging.getLogger(__name__)


class Audit:
    """Makes entries, to be written in the same batch as the change that they tell of."""

    def __init__(self, *, ids: IdMaker, clock: Clock) -> None:
        self._ids = ids
        self._clock = clock

    def entry(
        self,
        action: str,
        metadata: Mapping[str, Any],
        *,
        transport: str = "internal",
        started_at: int | None = None,
        request: Mapping[str, Any] | None = None,
    ) -> Record:
        """Return a record of an action.

        Args:
            action: noun and verb, as `entity.merge`.
            metadata: ids, counts and options; no text of a memory, for it would outlive a forget.
            transport: how it came in: `http`, `grpc`, `mcp`, or `internal`.
            started_at: when it began, in microseconds; now by default.
            request: what was asked, without texts.
        """
        now = self._clock.now_us()
        started = min(now, now if started_at is None else started_at)
        data: dict[str, Any] = {
            "action": action,
            "transport": transport,
            "started_at": started,
            "ended_at": now,
            "duration_ms": (now - started) // 1000,
            "metadata": metadata,
        }
        if request is not None:
            data["request"] = request
        return Record(AUDIT, to_uuid(self._ids.new()), now, now, data)


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries are wanted. Times in microseconds: `since` inclusive, `until` exclusive."""

    action: str | None = None
    transport: str | None = None
    since: int | None = None
    until: int | None = None

    def fits(self, entry: Record) -> bool:
        """Return whether an entry is wanted, its time aside."""
        return (self.action is None or entry.data.get("action") == self.action) and (
            self.transport is None or entry.data.get("transport", "internal") == self.transport
        )

    @property
    def by_time(self) -> bool:
        """Whether nothing but time is asked for."""
        return self.action is None and self.transport is None


@dataclass(slots=True)
class AuditPage:
    """Entries, newest first, and how many there are in all."""

    items: list[Record] = field(default_factory=list)
    total: int = 0


class AuditLog:
    """Keeps entries, written a tenth of a second later at most, and finds them again.

    Entries that wait to be written are lost with the process; what they tell of is not. A bank
    without the setting `audit_log_enabled` keeps none, and one that is deleted takes its own along.
    """

    def __init__(self, store: Store, configs: BankConfigs, audit: Audit, *, clock: Clock) -> None:
        self._store = store
        self._configs = configs
        self._clock = clock
        self._waiting: deque[tuple[BankRef, Record]] = deque(maxlen=_MOST_WAITING)
        self._since_trim: OrderedDict[BankRef, int] = OrderedDict()
        self._task: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()
        self.audit = audit

    def add(self, ref: BankRef, entry: Record) -> None:
        """Take an entry; costs the caller nothing more."""
        self._waiting.append((ref, entry))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._flush_soon())

    async def flush(self) -> None:
        """Write what waits, if anything does."""
        async with self._writing:
            taken = list(self._waiting)
            self._waiting.clear()
            enabled = {
                ref: (await self._configs.of(ref)).audit_log_enabled
                for ref in dict.fromkeys(ref for ref, _ in taken)
            }
            kept = [(ref, entry) for ref, entry in taken if enabled[ref]]
            if kept:
                await self._store.record_add(kept)
                await self._trim(Counter(ref for ref, _ in kept))

    async def close(self) -> None:
        """Write what waits."""
        while self._waiting or self._writing.locked():  # one that is ended midway loses its entries
            await self._try_to_flush()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def page(self, ref: BankRef, wanted: AuditFilter, limit: int, offset: int) -> AuditPage:
        """Return entries of a bank, newest first."""
        await self.flush()
        span = {"since": wanted.since, "until": wanted.until}
        if wanted.by_time:
            found = await self._store.records(ref, AUDIT, **span, limit=limit, offset=offset)
            return AuditPage(found, await self._store.record_count(ref, AUDIT, **span))
        page = AuditPage()
        async for entry in self._fitting(ref, wanted):
            if offset <= page.total < offset + limit:
                page.items.append(entry)
            page.total += 1
        return page

    async def get(self, ref: BankRef, entry_id: str) -> Record:
        """Return an entry of a bank.

        Raises:
            NotFound: there is none of that id.
        """
        await self.flush()
        try:
            found = await self._store.record(ref, AUDIT, to_uuid(parse_id(entry_id, "log_id")))
        except InvalidInput:
            found = None
        if found is None:
            raise NotFound(f"there is no audit entry {entry_id[:64]!r}", field="log_id")
        return found

    async def timeseries(
        self, ref: BankRef, period: Period, action: str | None
    ) -> tuple[Span, list[Counter[str]]]:
        """Count actions by time, in buckets without a gap."""
        await self.flush()
        span = span_of(period, self._clock.now_us())
        buckets: list[Counter[str]] = [Counter() for _ in range(span.buckets)]
        wanted = AuditFilter(action, since=span.start, until=span.end)
        async for entry in self._fitting(ref, wanted):
            buckets[(entry.created_at - span.start) // span.step][entry.data["action"]] += 1
        return span, buckets

    async def _fitting(self, ref: BankRef, wanted: AuditFilter) -> AsyncIterator[Record]:
        for offset in range(0, KEPT + _TRIM_EVERY, _PAGE):
            page = await self._store.records(
                ref, AUDIT, since=wanted.since, until=wanted.until, limit=_PAGE, offset=offset
            )
            for entry in page:
                if wanted.fits(entry):
                    yield entry
            if len(page) < _PAGE:
                return

    async def _flush_soon(self) -> None:
        while self._waiting:
            await asyncio.sleep(FLUSH_S)
            await self._try_to_flush()

    async def _try_to_flush(self) -> None:
        try:
            await self.flush()
        except RemembrancerError:
            log.exception("audit entries could not be written, and are lost")

    async def _trim(self, added: Counter[BankRef]) -> None:
        for ref, n in added.items():
            # The first entry here counts as many, so that short-lived processes trim as well.
            count = self._since_trim.pop(ref, _TRIM_EVERY) + n
            if count >= _TRIM_EVERY:
                await self._store.record_trim(ref, AUDIT, KEPT)
                count = 0
            self._since_trim[ref] = count
        while len(self._since_trim) > _BANKS:
            self._since_trim.popitem(last=False)
