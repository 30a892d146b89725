"""Reads what mem0's `add` takes: one text, one message, or a list of messages."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ....nouns.clock import from_us, to_us
from ....nouns.errors import InvalidInput

_SKIPPED = frozenset({"system", "developer"})  # what the program says is not the user's
_LATEST_S = 250_000_000_000  # within the calendar


def content_of(messages: Any) -> str | None:
    """Return messages as JSON that retain reads; None when nothing in them is to be kept.

    System messages, and those without a text (calls of tools, images), are left out.

    Raises:
        InvalidInput: they are no messages.
    """
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    elif isinstance(messages, Mapping):
        messages = [messages]
    if not isinstance(messages, list):
        raise InvalidInput(
            "messages must be a text, a message, or a list of messages", field="messages"
        )
    kept = [_message(each, f"messages[{i}]") for i, each in enumerate(messages)]
    told = [message for message in kept if message is not None]
    return json.dumps(told, ensure_ascii=False) if told else None


def _message(message: Any, where: str) -> dict[str, str] | None:
    if not isinstance(message, Mapping):
        raise InvalidInput(
            f'{where} must be a message: {{"role": "user", "content": "…"}}', field=where
        )
    role = message.get("role", "user")
    if not isinstance(role, str):
        raise InvalidInput(f"{where}.role must be a text", field=f"{where}.role")
    text = _text(message.get("content"), where)
    if role in _SKIPPED or not text.strip():
        return None
    name = message.get("name")
    named = {"name": name} if isinstance(name, str) and name.strip() else {}
    return {"role": role, "content": text, **named}


def _text(content: Any, where: str) -> str:
    """Return the text of a content; of several parts, those that are text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    parts = [content] if isinstance(content, Mapping) else content
    if not isinstance(parts, list):
        raise InvalidInput(f"{where}.content must be a text", field=f"{where}.content")
    texts = [p.get("text") if isinstance(p, Mapping) else p for p in parts]
    return "\n".join(text for text in texts if isinstance(text, str))


def moment(value: Any, field: str) -> datetime | None:
    """Read a time: a datetime, ISO 8601, or seconds since 1970.

    Raises:
        InvalidInput: it is none.
    """
    if value is None or isinstance(value, datetime):
        return value
    try:
        if isinstance(value, str):
            return datetime.fromisoformat(value)
        if _seconds(value):
            return from_us(round(value * 1_000_000))
    except ValueError:
        pass
    raise InvalidInput(
        f"{field} must be a time such as 2024-01-15T10:30:00Z, or seconds since 1970", field=field
    )


def _seconds(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and 0 <= value < _LATEST_S


def told_at(value: Any, field: str) -> tuple[int | None, int | None]:
    """Read a time as microseconds since 1970 and the UTC offset in minutes that it came with."""
    found = moment(value, field)
    if found is None:
        return None, None
    offset = found.utcoffset()
    return to_us(found), None if offset is None else int(offset.total_seconds() // 60)
