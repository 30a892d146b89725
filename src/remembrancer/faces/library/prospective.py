"""`ProspectiveMemoryManager`: AgentOS's six methods on what to do later, over the durable store."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Sequence
from datetime import datetime
from functools import update_wrapper
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from ...app import App
from ...keeping.intentions import Offer
from ...nouns.clock import Clock
from ...nouns.errors import InvalidInput
from ...nouns.ids import parse_id
from ...nouns.intention import IntentionState
from ...nouns.names import bank_ref
from ...verbs.check import MOST_OFFERS, Mode
from ...verbs.reminding.occurrences import SECOND_US
from .blocking import Memory
from .memory import AsyncMemory, make_settings
from .prospective_items import DueItem, DueItems, ProspectiveItem, millis, snake
from .semantics import Given, Ours, Semantics

T = TypeVar("T")
P = ParamSpec("P")


class AsyncProspectiveMemoryManager:
    """What the agent means to do later, of one bank.

    Use it as `async with AsyncProspectiveMemoryManager(folder, bank="ann") as manager:`, or take
    one from an open memory: `memory.prospective(bank="ann")`.

    Args:
        folder: where everything is kept; by default what the settings say.
        bank: whose intentions.
        mode: what `check` does with what it hands over: `consume` (done with), `lease` (the
            caller's for `lease_s` seconds, until `ack`) or `peek` (nothing).
        lease_s: how long a lease lasts, in seconds.
        compat: `agentos` for AgentOS's own behaviour where it is odd; see docs/intentions.md.
        memory: an open memory to use instead of opening one; it is left open.
        clock: the time; the machine's by default.
        settings: further settings by name, such as `embedder="none"`.
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        *,
        bank: str = "default",
        mode: str = "consume",
        lease_s: float = 60.0,
        compat: str | None = None,
        memory: AsyncMemory | None = None,
        clock: Clock | None = None,
        **settings: Any,
    ) -> None:
        if mode not in list(Mode):
            raise InvalidInput(f"mode must be one of {', '.join(Mode)}", field="mode")
        if compat not in (None, "agentos"):
            raise InvalidInput("compat must be 'agentos' or left out", field="compat")
        self._ref = bank_ref(bank)
        self._mode = Mode(mode)
        self._lease_s = lease_s
        self._compat = compat
        self._owned = memory is None
        self._memory = memory or AsyncMemory(make_settings(folder, settings), clock)
        self._made: Semantics | None = None

    async def open(self) -> Self:
        """Open the memory; `async with` does it."""
        if self._owned:
            await self._memory.open()
        return self

    async def close(self) -> None:
        """Close the memory that was opened here; what was registered stays."""
        self._made = None
        if self._owned:
            await self._memory.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def register(self, item: Given | None = None, /, **item_fields: Any) -> ProspectiveItem:
        """Register an item, durable when it returns; its fields in camelCase or snake_case.

        Args:
            item: the fields, such as `{"content": "call Bob", "triggerType": "time_based",
                "triggerAt": 1798012800000}`.
            item_fields: fields by name, instead or in addition. Beside AgentOS's: `at` (a time in
                words), `zone`, `recurrence`, `expires_at`, `cooldown_seconds`, `quiet_hours`,
                `where`, `look_back_seconds`, `condition`, `misfire`.

        Raises:
            InvalidInput: it could never fire; nothing was stored.
        """
        [made] = await self.register_many([{**(item or {}), **item_fields}])
        return made

    async def register_many(self, items: Iterable[Given]) -> list[ProspectiveItem]:
        """Register items, all or none, in one transaction; 5,000 at most."""
        semantics = self._semantics()
        made = await semantics.register(self._ref, list(items))
        return [semantics.shown(i) for i in made]

    async def check(
        self,
        /,
        now: float | datetime | None = None,
        events: Sequence[str] | None = None,
        query_text: str | None = None,
        query_embedding: Sequence[float] | None = None,
        max_tier_rank: float | None = None,
        *,
        limit: int = MOST_OFFERS,
        **camel: Any,
    ) -> DueItems:
        """Return what is due, the most important first.

        Args:
            now: Unix milliseconds, or a time with a zone; the clock's by default.
            events: names of what has just happened.
            query_text: what is talked about; it is embedded here.
            query_embedding: its embedding, if it is made already.
            max_tier_rank: items ranked higher are withheld, and not consumed.
            limit: at most; what does not fit stays due, see `DueItems.remaining`.
            camel: the same names in camelCase.

        Raises:
            InvalidInput: an argument is none; names it in camelCase.
        """
        told: dict[str, Any] = {
            "now": now,
            "events": events,
            "query_text": query_text,
            "query_embedding": query_embedding,
            "max_tier_rank": max_tier_rank,
        }
        for name, value in camel.items():
            if snake(name) not in told:
                raise InvalidInput(f"check has no argument {name!r}", field=name)
            told[snake(name)] = value
        semantics = self._semantics()
        options = semantics.options(told, self._mode, self._lease_s, limit)
        found = await semantics.check(self._ref, options)
        items = [semantics.shown_due(due) for due in found.due]
        return DueItems(items, found.remaining, found.warnings)

    async def remove(self, item_id: str) -> bool:
        """Erase an item; return whether there was one."""
        try:
            wanted = parse_id(item_id)
        except InvalidInput:
            return False
        return await self._open.remind.remove(self._ref, [wanted]) > 0

    async def get_active(self) -> list[ProspectiveItem]:
        """Return the items that may still fire, in the order of registration."""
        found: list[ProspectiveItem] = []
        semantics = self._semantics()
        page = 1_000
        while True:
            states = [IntentionState.ACTIVE]
            some, total = await self._open.remind.listing(self._ref, states, page, len(found))
            found += [semantics.shown(i) for i in some]
            if len(some) < page or len(found) >= total:
                return found

    async def get_count(self) -> int:
        """Return how many items there are, those that were triggered included."""
        _, count = await self._open.remind.listing(self._ref, None, 1)
        return count

    async def clear(self) -> None:
        """Erase all items of the bank."""
        await self._open.remind.clear(self._ref)

    async def ack(self, item: DueItem | str, token: int | None = None) -> None:
        """It was done: it is not offered again.

        Args:
            item: what `check` returned, or the id of its occurrence.
            token: the lease's, where only an id is given; None answers whatever stands.

        Raises:
            NotFound: there is no such occurrence.
            Conflict: it ended otherwise, or the lease is another's by now.
        """
        await self._open.occurrences.ack(self._ref, *_named(item, token), None)

    async def nack(self, item: DueItem | str, delay_s: float = 0, token: int | None = None) -> None:
        """It could not be done: it is offered again, at once or after some seconds."""
        await self._open.occurrences.nack(self._ref, *_named(item, token), None, delay_s)

    async def snooze(
        self,
        item: DueItem | str,
        seconds: float | None = None,
        *,
        until: float | datetime | None = None,
        token: int | None = None,
    ) -> None:
        """It is to come back after some seconds, or at a time."""
        if (seconds is None) == (until is None):
            raise InvalidInput("give seconds or until", field="until")
        at = millis(until, "until")
        if at is None:
            at = self._open.clock.now_us() + int((seconds or 0) * SECOND_US)
        await self._open.occurrences.snooze(self._ref, *_named(item, token), None, at)

    async def dismiss(self, item: DueItem | str, token: int | None = None) -> None:
        """It is not wanted: it ends."""
        await self._open.occurrences.dismiss(self._ref, *_named(item, token), None)

    async def extend(self, item: DueItem | str, lease_s: float, token: int | None = None) -> None:
        """Hold a lease for longer: so many seconds from now."""
        found = await self._open.occurrences.extend(self._ref, *_named(item, token), None, lease_s)
        _take(item, found)

    @property
    def _open(self) -> App:
        return self._memory.app

    def _semantics(self) -> Semantics:
        if self._made is None:
            if self._compat is None:
                self._made = Ours(self._open)
            else:
                from .agentos import AgentOs  # noqa: PLC0415

                self._made = AgentOs(self._open)
        return self._made


def _blocking(
    method: Callable[Concatenate[AsyncProspectiveMemoryManager, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[ProspectiveMemoryManager, P], T]:
    """Turn a method of the async manager into one that waits."""

    def waiting(self: ProspectiveMemoryManager, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._memory.wait(method(self._manager, *args, **kwargs))

    return update_wrapper(waiting, method)


class ProspectiveMemoryManager:
    """What the agent means to do later, of one bank; see `AsyncProspectiveMemoryManager`.

    Use it as `with ProspectiveMemoryManager(folder, bank="ann") as manager:`, or take one from an
    open memory: `memory.prospective(bank="ann")`. It may be used from several threads.
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        *,
        bank: str = "default",
        mode: str = "consume",
        lease_s: float = 60.0,
        compat: str | None = None,
        memory: Memory | None = None,
        clock: Clock | None = None,
        **settings: Any,
    ) -> None:
        self._owned = memory is None
        self._memory = memory or Memory(make_settings(folder, settings), clock)
        try:
            self._manager = AsyncProspectiveMemoryManager(
                bank=bank, mode=mode, lease_s=lease_s, compat=compat, memory=self._memory.inner
            )
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the memory that was opened here; safe to call twice."""
        if self._owned:
            self._memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    register = _blocking(AsyncProspectiveMemoryManager.register)
    register_many = _blocking(AsyncProspectiveMemoryManager.register_many)
    check = _blocking(AsyncProspectiveMemoryManager.check)
    remove = _blocking(AsyncProspectiveMemoryManager.remove)
    get_active = _blocking(AsyncProspectiveMemoryManager.get_active)
    get_count = _blocking(AsyncProspectiveMemoryManager.get_count)
    clear = _blocking(AsyncProspectiveMemoryManager.clear)
    ack = _blocking(AsyncProspectiveMemoryManager.ack)
    nack = _blocking(AsyncProspectiveMemoryManager.nack)
    snooze = _blocking(AsyncProspectiveMemoryManager.snooze)
    dismiss = _blocking(AsyncProspectiveMemoryManager.dismiss)
    extend = _blocking(AsyncProspectiveMemoryManager.extend)


def _named(item: DueItem | str, token: int | None) -> tuple[bytes, int | None]:
    if isinstance(item, DueItem):
        return parse_id(item.occurrence_id), item.token if token is None else token
    return parse_id(item, "occurrence_id"), token


def _take(item: DueItem | str, found: Offer) -> None:
    if isinstance(item, DueItem):
        item.token = found.occurrence.token
