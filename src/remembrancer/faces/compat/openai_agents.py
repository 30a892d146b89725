"""`RemembrancerSession`: the OpenAI Agents SDK's `Session` over a memory of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self, cast

from agents.items import TResponseInputItem
from agents.memory import SessionABC, SessionSettings

from ...nouns.names import bank_ref
from ...verbs.sessions import Sessions
from .errors import as_value_errors
from .holding import Held, Host


class RemembrancerSession(SessionABC):
    """The items of one conversation, durable, exactly as they were added and in their order.

    Several sessions, also in several processes, may use one folder.

    Args:
        session_id: of the conversation.
        memory: an open `remembrancer.Memory`, a folder, or None for the folder of the settings.
        bank: where sessions are kept.
        session_settings: the SDK's; its `limit` is that of `get_items`.
        settings: of the memory that is opened here, such as `embedder="none"`.
    """

    def __init__(
        self,
        session_id: str,
        memory: Host | str | Path | None = None,
        *,
        bank: str = "openai-agents",
        session_settings: SessionSettings | None = None,
        **settings: Any,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        with as_value_errors():
            self._bank = bank_ref(bank)
            self._held = Held(memory, settings)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items in order; with a limit the last ones, with a negative one all."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        if limit is not None and limit < 0:
            limit = None
        with as_value_errors():
            found = await self._held.until(self._sessions.items(self._bank, self.session_id, limit))
        return cast(list[TResponseInputItem], found)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items at the end, in one transaction."""
        given = cast(list[dict[str, Any]], items)
        with as_value_errors():
            await self._held.until(self._sessions.add(self._bank, self.session_id, given))

    async def pop_item(self) -> TResponseInputItem | None:
        """Take out the last item and return it; None when there is none."""
        with as_value_errors():
            found = await self._held.until(self._sessions.pop(self._bank, self.session_id))
        return cast(TResponseInputItem | None, found)

    async def clear_session(self) -> None:
        """Erase all items."""
        with as_value_errors():
            await self._held.until(self._sessions.clear(self._bank, self.session_id))

    def close(self) -> None:
        """Close what was opened here; safe to call twice."""
        self._held.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    @property
    def _sessions(self) -> Sessions:
        return self._held.app.sessions
