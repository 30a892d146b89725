"""Notes: Markdown files, alone or in folders, with front matter and Obsidian's wikilinks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ...nouns.text import clean
from ..format_json import parse_time
from .fields import metadata_of, name_of, tags_of
from .types import MAX_RECORD_BYTES, NOT_UTF8, File, Item, Left, Passage, Taken

_FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"([\w][\w \-]*?)[ \t]*:(?:[ \t]+(.*))?$")
_ENTRY = re.compile(r"[ \t]*-[ \t]+(.*)$")
_WIKILINK = re.compile(r"(?<!!)\[\[([^\[\]|#\n]{1,200})(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_TAG = re.compile(r"(?<![\w/#&])#([^\W\d][\w/-]{0,99})")
_CODE = re.compile(r"^(`{3,}|~{3,})[^\n]*\n.*?^\1[`~]*[ \t]*$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_DATES = ("date", "created", "created_at", "updated", "modified")
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)")
_MAX_ENTITIES = 500


def markdown(file: File) -> Iterator[Item]:
    """Read one note: a document that is called like the file.

    Of the front matter tags, dates and aliases count, and the rest becomes metadata. What a
    wikilink names is an entity of the note; the text stays as it was written.
    """
    if file.size > MAX_RECORD_BYTES:
        yield Left(file.path, f"longer than {MAX_RECORD_BYTES} bytes")
        return
    try:
        with file.open() as opened:
            text = clean(opened.read(MAX_RECORD_BYTES).decode("utf-8-sig"))
    except UnicodeDecodeError:
        yield Left(file.path, NOT_UTF8)
        return
    front, body = _split(text)
    if not body.strip():
        yield Left(file.path, "empty")
        return
    prose = _CODE.sub(" ", body)
    named = [match[1].strip().rpartition("/")[2] for match in _WIKILINK.finditer(prose)]
    named += [str(each) for each in _listed(front.get("aliases") or front.get("alias"))]
    inline = [match[1] for match in _TAG.finditer(prose)]
    tags = tags_of([*_listed(front.get("tags") or front.get("tag")), *inline])
    dated = next((name for name in _DATES if parse_time(front.get(name))[0] is not None), None)
    at, offset = _when(front.get(dated) if dated else None, file)
    title = front.get("title")
    passage = Passage(
        body,
        at,
        offset,
        str(title)[:1_000] if title else None,
        tuple(dict.fromkeys(n for n in named if n))[:_MAX_ENTITIES],
    )
    times = _DATES if dated else ()  # one that cannot be read is kept as it stands
    kept = ("tags", "tag", "aliases", "alias", *times)
    yield Taken(name_of(file.path), (passage,), tags, metadata_of(front, kept))


def front_matter(text: str) -> dict[str, Any]:
    """Read the plain part of YAML: `name: value`, lists in brackets or one item a line."""
    found: dict[str, Any] = {}
    name = ""
    for line in text.split("\n"):
        entry = _ENTRY.match(line)
        if entry and name:
            held = found.get(name)
            found[name] = [*(held if isinstance(held, list) else ()), _scalar(entry[1])]
        elif (pair := _PAIR.match(line)) is not None:
            name = pair[1].strip().lower()
            found[name] = _value((pair[2] or "").strip())
    return found


def _split(text: str) -> tuple[dict[str, Any], str]:
    match = _FRONT.match(text)
    return ({}, text) if match is None else (front_matter(match[1]), text[match.end() :])


def _value(told: str) -> Any:
    if told.startswith("[") and told.endswith("]"):
        return [_scalar(each) for each in told[1:-1].split(",") if each.strip()]
    return _scalar(told)


def _scalar(told: str) -> str:
    told = told.strip()
    if len(told) > 1 and told[0] == told[-1] == '"':
        try:
            return str(json.loads(told))
        except ValueError:
            return told[1:-1]
    if len(told) > 1 and told[0] == told[-1] == "'":
        return told[1:-1].replace("''", "'")
    return told


def _listed(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [each.strip() for each in str(value).split(",")] if value else []


def _when(told: Any, file: File) -> tuple[int | None, int | None]:
    """Return when it was written: as the front matter tells, its name, or its file."""
    at, offset = parse_time(told)
    if at is not None:
        return at, offset
    day = _DAY.search(file.path.rpartition("/")[2])
    at, offset = parse_time(day[1]) if day is not None else (None, None)
    return (at, offset) if at is not None else (file.at, None)
