"""What mem0 shows of a memory, and what is kept beside its text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

from ....nouns.clock import from_us, iso
from ....nouns.errors import InvalidInput, TooLarge
from ....nouns.ids import to_uuid
from ....nouns.memory import Role, Unit
from .scope import ENTITIES

KEY = "mem0"
"""Where it is kept: in a memory's metadata when it is told, in its attributes once changed."""

MAX_METADATA_BYTES = 12_288
"""Of its JSON in UTF-8."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What is kept beside the text. `metadata` is the caller's, `expires` a date `YYYY-MM-DD`."""

    ids: Mapping[str, str]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    expires: str | None = None

    def dump(self) -> dict[str, Any]:
        """Return it as JSON holds it.

        Raises:
            TooLarge, InvalidInput: the metadata cannot be kept.
        """
        shown = {**self.ids, "metadata": dict(self.metadata), "expiration_date": self.expires}
        try:
            size = len(json.dumps(shown, ensure_ascii=False, allow_nan=False).encode())
        except (TypeError, ValueError):
            raise InvalidInput(
                "metadata must be JSON with finite numbers", field="metadata"
            ) from None
        if size > MAX_METADATA_BYTES:
            raise TooLarge(
                f"metadata has {size} bytes as JSON; the limit is {MAX_METADATA_BYTES}",
                field="metadata",
                limit=MAX_METADATA_BYTES,
            )
        return shown

    def changed(self, metadata: Mapping[str, Any] | None) -> Beside:
        """Return it with other metadata over its own; ids stay as they are."""
        new = {k: v for k, v in (metadata or {}).items() if k not in ENTITIES}
        return replace(self, metadata={**self.metadata, **new})


def beside(unit: Unit) -> Beside | None:
    """Return what is kept beside a memory's text; None for one that is not mem0's."""
    kept = (unit.attributes or {}).get(KEY)
    if kept is None:
        text = (unit.metadata or {}).get(KEY)
        kept = None if text is None else json.loads(text)
    if not isinstance(kept, dict):
        return None
    ids = {name: kept[name] for name in ENTITIES if name in kept}
    return Beside(ids, kept.get("metadata") or {}, kept.get("expiration_date"))


def expiration(value: Any) -> str | None:
    """Read the day until whose end a memory is shown.

    Raises:
        InvalidInput: it is no date.
    """
    if value is None:
        return None
    if isinstance(value, datetime):
        value = value.date()
    try:
        return (value if isinstance(value, date) else date.fromisoformat(value)).isoformat()
    except (TypeError, ValueError):
        raise InvalidInput(
            "expiration_date must be a date such as 2030-01-31", field="expiration_date"
        ) from None


def expired(kept: Beside, now_us: int) -> bool:
    """Tell whether its day has passed (UTC)."""
    return kept.expires is not None and kept.expires < from_us(now_us).date().isoformat()


def fields_of(unit: Unit, kept: Beside) -> dict[str, Any]:
    """Return what filters look at: metadata, and over it what every memory has."""
    return {**kept.metadata, **_told(unit, kept), "id": to_uuid(unit.id), "memory": unit.text}


def memory_of(unit: Unit, kept: Beside, score: float | None = None) -> dict[str, Any]:
    """Return a memory as mem0 shows it."""
    shown: dict[str, Any] = {
        "id": to_uuid(unit.id),
        "memory": unit.text,
        "hash": hashlib.md5(unit.text.encode(), usedforsecurity=False).hexdigest(),
        "metadata": dict(kept.metadata) or None,
    }
    if score is not None:
        shown["score"] = score
    return {**shown, **_told(unit, kept)}


def added(unit: Unit) -> dict[str, Any]:
    """Return what `add` tells of a memory."""
    told = {"id": to_uuid(unit.id), "memory": unit.text, "event": "ADD"}
    return told | _speaker(unit)


def history_of(
    unit: Unit, kept: Beside, changes: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return what became of a memory, oldest first.

    Args:
        unit: as it stands.
        kept: beside it.
        changes: newest first, as `Curate.history` has them.
    """
    edits = [each for each in reversed(changes) if "text" in each.get("was", {})]
    texts = [*(each["was"]["text"] for each in edits), unit.text]
    entries = [("ADD", unit.created_at, None, texts[0])]
    entries += [
        ("UPDATE", each["at"], old, new)
        for each, old, new in zip(edits, texts, texts[1:], strict=False)
    ]
    memory_id, made = to_uuid(unit.id), iso(unit.created_at)
    return [
        {
            "id": f"{memory_id}-{number}",
            "memory_id": memory_id,
            "old_memory": old,
            "new_memory": new,
            "event": event,
            "created_at": made,
            "updated_at": None if event == "ADD" else iso(at),
            "is_deleted": False,
            **dict.fromkeys(("actor_id", "role")),
            **_speaker(unit),
            **kept.ids,
        }
        for number, (event, at, old, new) in enumerate(entries)
    ]


def _told(unit: Unit, kept: Beside) -> dict[str, Any]:
    told: dict[str, Any] = {
        "created_at": iso(unit.mentioned_at),
        "updated_at": iso(unit.updated_at or unit.created_at),
        **kept.ids,
        **_speaker(unit),
    }
    if kept.expires is not None:
        told["expiration_date"] = kept.expires
    return told


def _speaker(unit: Unit) -> dict[str, str]:
    told = {} if unit.speaker is None else {"actor_id": unit.speaker}
    return told if unit.role is Role.NONE else {**told, "role": unit.role.name.lower()}
