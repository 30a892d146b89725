"""Reads large JSON a piece at a time, in a thread: few steps hold Python's lock for long.

`json.loads` reads a text in one step, in which nobody else is answered: some 50 ms for 25 MB. Here
it reads what lies deep. What lies above that, and long strings, are read in pieces, with a short
rest after each: who waits for the lock has it at once then, and else after a millisecond each time.
What comes out is the same, errors and their positions too.
"""

from __future__ import annotations

import asyncio
import codecs
import re
import time
from collections.abc import Callable, Iterator
from json import JSONDecodeError, JSONDecoder
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

PIECE = 256 * 1024  # bytes or characters
REST_S = 0.0005
DEPTH = 3  # of arrays and objects that are read here: the fields of each item of a request

_STRUCTURE = (b",", b"[", b"{")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:(")|\\?\Z)', re.DOTALL)
_REST = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_SURROGATE = re.compile(rb"\\u[dD]")
_SPACE = re.compile(r"[ \t\n\r]*+")
_HEX = "[0-9a-fA-F]"
# Whole escapes, and both halves of a pair of surrogates, so that no piece ends within one. Not
# possessive: before Python 3.11.5 such a repeat ends in the middle of an alternative that failed.
_CHARACTERS = re.compile(
    r'(?:[^"\\]{1,64}|\\["\\/bfnrt]'
    rf"|\\u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}|\\u{_HEX}{{4}}){{1,4096}}"
)


def values_in(data: bytes | bytearray, enough: int) -> int:
    """Return an upper bound of the JSON values in a text, exact enough once above `enough`."""
    bound = sum(_structure(data[at : at + PIECE]) for at in _pieces(0, len(data)))
    if bound <= enough:
        return bound
    return _structure_outside_strings(data)


def spells_surrogate(data: bytes | bytearray) -> bool:
    """Tell whether an escape in a text may spell half of a pair of surrogates."""
    return b"\\" in data and any(
        _SURROGATE.search(data, at, at + PIECE + 2) for at in _pieces(0, len(data))
    )


def decoded(data: bytearray) -> str:
    """Return UTF-8 as text, without a byte order mark; the bytes are given up meanwhile.

    Raises:
        UnicodeDecodeError: it is none; positions are those of the whole.
    """
    if data.startswith(codecs.BOM_UTF8):
        del data[: len(codecs.BOM_UTF8)]
    decoder = codecs.getincrementaldecoder("utf-8")()
    parts: list[str] = []
    taken = 0
    for _ in _pieces(0, len(data)):
        piece = bytes(data[:PIECE])
        del data[:PIECE]
        pending = len(decoder.getstate()[0])
        try:
            parts.append(decoder.decode(piece, final=not data))
        except UnicodeDecodeError as error:
            before = taken - pending
            raise UnicodeDecodeError(
                error.encoding, b"", before + error.start, before + error.end, error.reason
            ) from None
        taken += len(piece)
    return "".join(parts)


def loads(text: str, constant: Callable[[str], Any]) -> Any:
    """Parse JSON as `json.loads` does that is not strict about control characters in strings.

    Args:
        text: the JSON.
        constant: what makes a value of NaN and the infinities.

    Raises:
        JSONDecodeError: it is none.
        RecursionError: it is nested too deeply.
    """
    return _Reader(text, JSONDecoder(strict=False, parse_constant=constant).raw_decode).whole()


def _pieces(begin: int, end: int) -> Iterator[int]:
    """Yield where pieces begin, with a rest in between."""
    for at in range(begin, end, PIECE):
        if at != begin:
            _rest()
        yield at


def _rest() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # in a thread of its own
        time.sleep(REST_S)


def _structure(data: bytes | bytearray) -> int:
    return sum(map(data.count, _STRUCTURE))


def _structure_outside_strings(data: bytes | bytearray) -> int:
    count, at, inside = 0, 0, False
    while at < len(data):
        end = min(at + PIECE, len(data))
        if inside:
            rest = _REST.match(data, at, end)
            assert rest is not None
            at = rest.end()
            if at < len(data) and data[at : at + 1] == b'"':
                at, inside = at + 1, False
            elif at + 1 >= len(data):
                break
            continue
        piece = data[at:end]
        bare, strings = _STRING.subn(rb"\1", piece)
        count += _structure(bare)
        inside = strings > bare.count(b'"')
        # A backslash at the end belongs to what follows.
        at = end - (inside and _odd_backslashes(piece))
    return count


def _odd_backslashes(piece: bytes | bytearray) -> bool:
    return (len(piece) - len(piece.rstrip(b"\\"))) % 2 == 1


class _Reader:
    """One text; each method takes where something begins and returns it and where it ends."""

    def __init__(self, text: str, scan: Callable[[str, int], tuple[Any, int]]) -> None:
        self._text = text
        self._scan = scan
        self._keys: dict[str, str] = {}  # each key once, as the standard library does

    def whole(self) -> Any:
        value, at = self._value(self._skip(0), 0)
        if (at := self._skip(at)) != len(self._text):
            raise JSONDecodeError("Extra data", self._text, at)
        return value

    def _value(self, at: int, depth: int) -> tuple[Any, int]:
        match self._text[at : at + 1]:
            case '"':
                return self._string(at + 1)
            case "{" if depth < DEPTH:
                return self._object(at + 1, depth + 1)
            case "[" if depth < DEPTH:
                return self._array(at + 1, depth + 1)
        return self._scan(self._text, at)

    def _array(self, at: int, depth: int) -> tuple[list[Any], int]:
        values: list[Any] = []
        at = self._skip(at)
        if self._text[at : at + 1] == "]":
            return values, at + 1
        while True:
            value, at = self._value(at, depth)
            values.append(value)
            at = self._skip(at)
            following = self._text[at : at + 1]
            if following == "]":
                return values, at + 1
            if following != ",":
                raise JSONDecodeError("Expecting ',' delimiter", self._text, at)
            at = self._skip(at + 1)

    def _object(self, at: int, depth: int) -> tuple[dict[str, Any], int]:
        values: dict[str, Any] = {}
        at = self._skip(at)
        if self._text[at : at + 1] == "}":
            return values, at + 1
        while True:
            if self._text[at : at + 1] != '"':
                raise JSONDecodeError(
                    "Expecting property name enclosed in double quotes", self._text, at
                )
            key, at = self._string(at + 1)
            at = self._skip(at)
            if self._text[at : at + 1] != ":":
                raise JSONDecodeError("Expecting ':' delimiter", self._text, at)
            value, at = self._value(self._skip(at + 1), depth)
            values[self._keys.setdefault(key, key)] = value
            at = self._skip(at)
            following = self._text[at : at + 1]
            if following == "}":
                return values, at + 1
            if following != ",":
                raise JSONDecodeError("Expecting ',' delimiter", self._text, at)
            at = self._skip(at + 1)

    def _string(self, begin: int) -> tuple[str, int]:
        text = self._text
        for at in _pieces(begin, len(text)):
            end = text.find('"', at, at + PIECE)
            if text.find("\\", at, end if end >= 0 else at + PIECE) >= 0:
                return self._escaped(begin)
            if end >= 0:
                return text[begin:end], end + 1
        raise self._unterminated(begin)

    def _escaped(self, begin: int) -> tuple[str, int]:
        parts: list[str] = []
        at = begin
        while (found := _CHARACTERS.match(self._text, at)) is not None:
            parts.append(scanstring(f'{found.group()}"', 0, False)[0])
            at = found.end()
        if self._text[at : at + 1] == '"':
            return "".join(parts), at + 1
        try:
            scanstring(self._text, at, False)  # says what is wrong with the escape
        except JSONDecodeError as error:
            if error.pos >= at:
                raise
        raise self._unterminated(begin)

    def _unterminated(self, begin: int) -> JSONDecodeError:
        return JSONDecodeError("Unterminated string starting at", self._text, begin - 1)

    def _skip(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return found.end() if found else at
