"""Calendars (RFC 5545): their to-dos and events, in calendars of a bounded number of entries."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import IO

from .types import MAX_RECORD_BYTES, File, Item, Left, TakenCalendar

_ENTRIES = 200  # of one calendar that is yielded
_MAX_LINE = 1 << 20
_MAX_ENTRY = MAX_RECORD_BYTES // 32
_KINDS = (b"VTODO", b"VEVENT")
_HEAD, _TAIL = b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n", b"END:VCALENDAR\r\n"


def calendar(file: File) -> Iterator[Item]:
    """Read a calendar of any length."""
    zone, others, size = b"", 0, 0
    held: list[bytes] = []
    with file.open() as opened:
        for kind, data in _parts(opened):
            if kind == b"X-WR-TIMEZONE":
                zone = data
            elif kind not in _KINDS:
                others += 1
            elif not data:
                yield Left(file.path, f"an entry longer than {_MAX_ENTRY} bytes")
            else:
                held.append(data)
                size += len(data)
                if len(held) == _ENTRIES or size > _MAX_ENTRY:
                    yield TakenCalendar(_HEAD + zone, tuple(held), _TAIL)
                    held, size = [], 0
    if held:
        yield TakenCalendar(_HEAD + zone, tuple(held), _TAIL)
    if others:
        yield Left(file.path, "neither a to-do nor an event", others)


def _parts(file: IO[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the components of a calendar, by name; the data of one that is too long is empty."""
    depth, name, held, long = 0, b"", bytearray(), False
    while line := file.readline(_MAX_LINE):
        # A line that begins with a space goes on with the one before, whatever it holds.
        told = b"" if line[:1] in (b" ", b"\t") else line.removeprefix(BOM_UTF8).strip().upper()
        if told.startswith(b"X-WR-TIMEZONE") and depth < 2:
            yield b"X-WR-TIMEZONE", line
        if told.startswith(b"BEGIN:"):
            depth += 1
            if depth == 2:
                name, long = told[6:].strip(), False
                held.clear()
        if depth >= 2 and not long:
            held += line
            if len(held) > _MAX_ENTRY:
                held.clear()
                long = True
        if told.startswith(b"END:"):
            if depth == 2:
                yield name, b"" if long else bytes(held)
            depth = max(0, depth - 1)
