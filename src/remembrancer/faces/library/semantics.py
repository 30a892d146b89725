"""How items are registered, checked and shown: ours by default; AgentOS's stands in `agentos`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ...app import App
from ...nouns.errors import InvalidInput
from ...nouns.intention import Intention
from ...nouns.memory import BankRef
from ...verbs.check import Check, CheckOptions, Due, Mode
from ...verbs.reminding.reminders import Reminder
from .prospective_items import (
    DueItem,
    ProspectiveItem,
    is_number,
    millis,
    reminder_of,
    shown,
    shown_due,
    vector_of,
)

Given = Mapping[str, Any]


class Semantics(Protocol):
    """How items are registered, checked and shown."""

    async def register(self, ref: BankRef, items: Sequence[Given]) -> Sequence[Intention]:
        """Register items, all or none."""
        ...

    def options(self, told: Given, mode: Mode, lease_s: float, limit: int) -> CheckOptions:
        """Read what is known at a check, by names in snake_case."""
        ...

    @property
    def check(self) -> Check:
        """The verb to check with."""
        ...

    def shown(self, intention: Intention) -> ProspectiveItem:
        """Return an item."""
        ...

    def shown_due(self, due: Due) -> DueItem:
        """Return an item that is due."""
        ...


class Ours:
    """Nothing is kept that can never fire, a text is embedded, a recurring context waits."""

    def __init__(self, app: App) -> None:
        self._app = app
        self.check = app.checking()

    async def register(self, ref: BankRef, items: Sequence[Given]) -> Sequence[Intention]:
        """Register items, all or none; what is doubtful about them is warned of."""
        now = self._app.clock.now_us()
        reminders: list[Reminder] = []
        doubts: list[str] = []
        for item in items:
            reminder, doubtful = reminder_of(item, now)
            reminders.append(reminder)
            doubts += doubtful
        made = await self._app.remind(ref, reminders)
        for doubt in [*doubts, *made.warnings]:
            warnings.warn(doubt, UserWarning, stacklevel=2)
        return made.intentions

    def options(self, told: Given, mode: Mode, lease_s: float, limit: int) -> CheckOptions:
        """Read what is known at a check.

        Raises:
            InvalidInput: names the argument in camelCase.
        """
        ceiling, text = told.get("max_tier_rank"), told.get("query_text")
        # A comparison with NaN is never true.
        if ceiling is not None and not (is_number(ceiling) and abs(ceiling) < float("inf")):
            raise InvalidInput("maxTierRank must be a finite number", field="maxTierRank")
        if text is not None and not isinstance(text, str):
            raise InvalidInput("queryText must be text", field="queryText")
        events = told.get("events")
        events = (events,) if isinstance(events, str) else tuple(events or ())
        if not all(isinstance(name, str) for name in events):
            raise InvalidInput("events must be names", field="events")
        return CheckOptions(
            now=millis(told.get("now"), "now"),
            events=events,
            text=text,
            vector=vector_of(told.get("query_embedding"), "queryEmbedding"),
            ceiling=ceiling,
            mode=mode,
            lease_s=lease_s,
            limit=limit,
        )

    def shown(self, intention: Intention) -> ProspectiveItem:
        """Return an item."""
        return shown(intention)

    def shown_due(self, due: Due) -> DueItem:
        """Return an item that is due."""
        return shown_due(due)
