"""What is fed with made-up input: each takes bytes, and may refuse them by a typed error alone."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime

from remembrancer.nouns.memory import Role
from remembrancer.nouns.recurrence import Recurrence
from remembrancer.reading.dates import find_dates
from remembrancer.reading.facts import read_statements
from remembrancer.reading.file_text import FileKind, read_text
from remembrancer.reading.html_text import html_text
from remembrancer.reading.icalendar import parse
from remembrancer.reading.importing.detect import PARSERS, Format, format_of
from remembrancer.reading.importing.types import File
from remembrancer.reading.intending import find_intentions
from remembrancer.reading.recurrence import check, occurrences
from remembrancer.reading.sensitive import find, redacted
from remembrancer.reading.sentences import split_sentences
from remembrancer.reading.turns import split_turns
from remembrancer.reading.when import find_whens, read_when

_MOST_ITEMS = 10_000
_NOW = datetime(2026, 5, 8, 10, tzinfo=UTC)
_START = datetime(2026, 1, 31, 2, 30)
_SAID_US = 1_778_234_400_000_000


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _file(data: bytes, name: str) -> File:
    return File(name, len(data), lambda: io.BytesIO(data), at=1)


def _importer(kind: Format) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        for number, _ in enumerate(PARSERS[kind](_file(data, f"folder/a.{kind}"))):
            assert number < _MOST_ITEMS

    return run


def _detected(data: bytes) -> None:
    for name in ("a.json", "a", "a.md"):
        format_of(_file(data, name))


def _turns(data: bytes) -> None:
    text = _text(data)
    at = 0
    for turn in split_turns(text):
        assert at <= turn.start < turn.end <= len(text)
        at = turn.end
    for sentence in split_sentences(text):
        assert 0 <= sentence.start < sentence.end <= len(text)


def _kinds(data: bytes) -> None:
    """Read under the kind that the first byte names."""
    kinds = [FileKind.TEXT, FileKind.JSON, FileKind.JSONL, FileKind.CSV, FileKind.HTML]
    read_text(data[1:], kinds[data[0] % len(kinds)] if data else FileKind.TEXT)
    html_text(_text(data))


def _dates(data: bytes) -> None:
    text = _text(data)[:2_000]
    for languages in (("en",), ("de", "es", "fr", "it", "nl", "pt")):
        for date in find_dates(text, _NOW, languages=languages):
            assert date.start < date.end


def _statements(data: bytes) -> None:
    text = _text(data)[:2_000]
    for role in (Role.USER, Role.ASSISTANT):
        read_statements(
            text,
            speaker="Mira",
            role=role,
            known=("Mira", "Ann"),
            dates=lambda told: find_dates(told, _NOW),
        )


def _intentions(data: bytes) -> None:
    text = _text(data)[:2_000]
    for found in find_intentions(text, said_at=_SAID_US, zone="Europe/Berlin"):
        assert 0 <= found.span.start < found.span.end <= len(text)


def _whens(data: bytes) -> None:
    text = _text(data)[:2_000]
    read_when(text, _SAID_US, "Europe/Berlin")
    find_whens(text, _SAID_US, "America/New_York")


def _rule(data: bytes) -> None:
    text = _text(data)[:300]
    rule = Recurrence("Europe/Berlin", _START, rrule=text)
    if b"FREQ" not in data:
        rule = Recurrence("America/New_York", _START, cron=text)
    check(rule)
    found = occurrences(rule, 1_770_000_000_000_000, limit=3)
    assert found == sorted(set(found))


def _sensitive(data: bytes) -> None:
    text = _text(data)
    marked = redacted(text, find(text))
    assert len(find(marked)) <= len(find(text))


TARGETS: dict[str, Callable[[bytes], None]] = {
    **{f"import {kind}": _importer(kind) for kind in PARSERS},
    "import detection": _detected,
    "turns and sentences": _turns,
    "plain files": _kinds,
    "calendars": lambda data: parse(data) and None,
    "dates": _dates,
    "statements": _statements,
    "intentions": _intentions,
    "times to come": _whens,
    "rules": _rule,
    "sensitive": _sensitive,
}
