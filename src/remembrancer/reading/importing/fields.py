"""What the parsers share: texts, times, tags and metadata out of loosely shaped records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...nouns.text import clean
from ..format_json import parse_time

MAX_NAME_CHARS = 512
_MAX_TAGS, _MAX_TAG_CHARS = 100, 256
_MAX_METADATA_CHARS = 16_384
TEXTS = ("content", "text", "memory", "fact", "body", "note", "original_text")
TIMES = ("timestamp", "created_at", "created", "date", "time", "mentioned_at", "updated_at")
IDS = ("id", "uuid", "memory_id", "document_id")


def list_of(value: Any) -> list[Any]:
    """Return a list as it is; of anything else, which an export should not hold there, nothing."""
    return value if isinstance(value, list) else []


def text_of(record: Mapping[str, Any], names: Iterable[str] = TEXTS) -> tuple[str, str] | None:
    """Return the member that holds a text, and the text; None without."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and clean(value).strip():
            return name, value
    return None


def time_of(
    record: Mapping[str, Any], names: Iterable[str] = TIMES
) -> tuple[int | None, int | None]:
    """Return a time in microseconds and the UTC offset in minutes, where they are told."""
    for name in names:
        at, offset = parse_time(record.get(name))
        if at is not None:
            return at, offset
    return None, None


def name_of(*parts: object) -> str:
    """Return the name of a document out of parts, bounded."""
    return clean("/".join(str(part) for part in parts)).strip()[:MAX_NAME_CHARS]


def id_of(record: Mapping[str, Any], otherwise: object) -> str:
    """Return a record's own id."""
    for name in IDS:
        value = record.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()[:200]
    return str(otherwise)


def tags_of(value: Any) -> tuple[str, ...]:
    """Return tags out of a list, or a text with commas."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list | tuple):
        return ()
    found = (clean(str(each)).strip().lstrip("#")[:_MAX_TAG_CHARS] for each in value if each)
    return tuple(dict.fromkeys(each for each in found if each))[:_MAX_TAGS]


def metadata_of(record: Mapping[str, Any], without: Sequence[str] = ()) -> dict[str, str]:
    """Return what else a record says as texts; what does not fit is left out."""
    found: dict[str, str] = {}
    left = _MAX_METADATA_CHARS
    for key, value in record.items():
        if key in without or value is None or value in ("", [], {}):
            continue
        told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        name, told = clean(str(key)), clean(told)
        left -= len(name) + len(told)
        if left < 0:
            break
        found[name] = told
    return found
