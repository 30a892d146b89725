"""Records of any origin: CSV with a header, and JSON or JSONL of objects or of messages."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from .fields import TEXTS, TIMES, id_of, metadata_of, name_of, tags_of, text_of, time_of
from .json_stream import BrokenJson
from .memories import records
from .types import MAX_RECORD_BYTES, NOT_UTF8, File, Item, Left, Passage, Taken

_MESSAGES = 200  # of one document
_GROUPS = ("conversation_id", "session_id", "thread_id", "conversation", "session")
_MAX_FIELD = 10_000_000


def table(file: File) -> Iterator[Item]:
    """Read CSV or TSV: each row with a text (`content`, `text`, `memory`, …) is a document."""
    csv.field_size_limit(_MAX_FIELD)
    with file.open() as opened:
        text = io.TextIOWrapper(opened, "utf-8-sig", newline="")
        try:
            first = text.readline()
            rows = csv.reader(text, delimiter=_delimiter(first))
            header = next(csv.reader([first], delimiter=_delimiter(first)), [])
            names = [name.strip().lower().replace(" ", "_") for name in header]
            if not any(name in TEXTS for name in names):
                yield Left(file.path, f"no column is called {', '.join(TEXTS[:3])} or the like")
                return
            for number, row in enumerate(rows, 2):
                yield _record(dict(zip(names, row, strict=False)), file.path, number)
        except csv.Error as error:
            yield Left(file.path, f"it breaks off: {error}")
        except UnicodeDecodeError:
            yield Left(file.path, NOT_UTF8)


def lines(file: File) -> Iterator[Item]:
    """Read objects that hold a text each, a document of each; messages are taken together.

    Messages (a role, a speaker or who it is from, and a content) are documents of up to 200 that
    follow each other, by conversation where one is named.
    """
    held: list[Mapping[str, Any]] = []
    group, size = "", 0
    parts: Counter[str] = Counter()  # that each conversation has given already
    try:
        for number, (where, value) in enumerate(records(file), 1):
            if not isinstance(value, dict):
                yield Left(where, "it is no object")
                continue
            if not _is_message(value):
                yield _record(value, file.path, number)
                continue
            here = next((str(value[name]) for name in _GROUPS if value.get(name)), "")
            length = len(str(value.get("content")))
            if held and (
                here != group or len(held) == _MESSAGES or size + length > _MAX_FIELD // 4
            ):
                yield _messages(held, file.path, group, parts[group])
                parts[group] += 1
                held, size = [], 0
            group = here
            held.append(value)
            size += length
    except BrokenJson as error:
        yield Left(file.path, error.message)
    if held:
        yield _messages(held, file.path, group, parts[group])


def _delimiter(line: str) -> str:
    return max(",;\t", key=line.count)


def _is_message(value: Mapping[str, Any]) -> bool:
    who = value.get("role") or value.get("speaker") or value.get("from")
    return isinstance(who, str) and isinstance(value.get("content", value.get("text")), str | list)


def _messages(held: list[Mapping[str, Any]], path: str, group: str, part: int) -> Taken:
    content = "[" + ",\n".join(json.dumps(each, ensure_ascii=False) for each in held) + "]"
    at, offset = time_of(held[0])
    name = name_of(path, *([group] if group else []), part) if part or group else name_of(path)
    return Taken(name, (Passage(content, at, offset),))


def _record(value: Mapping[str, Any], path: str, number: int) -> Item:
    found = text_of(value)
    where = f"{path}:{number}"
    if found is None:
        return Left(where, "it holds no text")
    key, text = found
    if len(text) > MAX_RECORD_BYTES:
        return Left(where, "its text is too long")
    at, offset = time_of(value)
    note = value.get("context")
    inner = value.get("metadata")
    more = inner if isinstance(inner, dict) else {}
    times = TIMES if at is not None else ()  # one that cannot be read is kept as it stands
    skipped = (key, "tags", "context", "metadata", "id", "document_id", *times)
    return Taken(
        name_of(path, id_of(value, number)),
        (Passage(text, at, offset, str(note)[:10_000] if note else None),),
        tags_of(value.get("tags")),
        metadata_of({**value, **more}, skipped),
    )
