"""The audit log: who changed what, when. It names ids and counts, never texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..keeping.records import Record
from ..nouns.clock import Clock
from ..nouns.ids import IdMaker, to_uuid

AUDIT = "audit"
"""The kind of its records."""


class Audit:
    """Makes entries, to be written in the same batch as the change that they tell of."""

    def __init__(self, *, ids: IdMaker, clock: Clock) -> None:
        self._ids = ids
        self._clock = clock

    def entry(self, action: str, metadata: Mapping[str, Any]) -> Record:
        """Return a record of an action.

        Args:
            action: noun and verb, as `entity.merge`.
            metadata: ids, counts and options; no text of a memory, for it would outlive a forget.
        """
        now = self._clock.now_us()
        return Record(
            AUDIT, to_uuid(self._ids.new()), now, now, {"action": action, "metadata": metadata}
        )
