"""Reads JSON of any length a value at a time: the items of a list, or the members of an object."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from ...nouns.errors import InvalidInput
from .types import MAX_RECORD_BYTES, NOT_UTF8

_READ = 1 << 16
_SPACE = re.compile(r"[\s\ufeff]*")
_MARK = re.compile(r'\\.|["\[\]{}]', re.DOTALL)
_DECODER = json.JSONDecoder()


class Value(NamedTuple):
    """A value, the member of the outer object that holds it (None: there is no object), and whether
    it is an item of a list.
    """

    member: str | None
    value: Any
    listed: bool


class BrokenJson(InvalidInput):
    """The text is no JSON from some place on, or one value is too long to be read."""


class _TooLong(BrokenJson):
    """One value is too long to be read; it is still to be gone past."""


def values(file: IO[bytes]) -> Iterator[Value]:
    """Yield the items of the outer list, or those of each list in the outer object and its other
    members; one after another, so that no more than one is held. An item that is too long comes as
    None.

    Raises:
        BrokenJson: what was yielded before stands.
    """
    text = _Text(file)
    first = text.peek()
    if first == "[":
        for value in _items(text):
            yield Value(None, value, True)
    elif first == "{":
        yield from _members(text)
    elif first:
        raise BrokenJson("it is no JSON list or object")


def objects(file: IO[bytes]) -> Iterator[tuple[int, Any]]:
    """Yield the values of JSONL with the numbers of their lines, from 1; empty lines are left out.

    A line that is no JSON, or too long, comes as None.
    """
    number = 0
    while line := file.readline(MAX_RECORD_BYTES + 1):
        number += 1
        if not line.endswith(b"\n") and len(line) > MAX_RECORD_BYTES:
            while line and not line.endswith(b"\n"):
                line = file.readline(_READ)
            yield number, None
            continue
        try:
            told = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError:
            yield number, None
            continue
        if not told:
            continue
        try:
            yield number, json.loads(told)
        except (ValueError, RecursionError):
            yield number, None


class _Text:
    """The text of a file from the current place on; what was read is dropped."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0
        self._ended = False

    def peek(self) -> str:
        """Return the next character that is no space; empty at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text) or not self._more(_READ):
                return self._text[self._at : self._at + 1]

    def take(self, character: str) -> None:
        """Go past a character.

        Raises:
            BrokenJson: another one stands there.
        """
        if self.peek() != character:
            raise BrokenJson(f"{character!r} should stand where {self.peek() or 'the end'!r} does")
        self._at += 1

    def value(self) -> Any:
        """Read one value.

        Raises:
            BrokenJson: it is none, or longer than can be read.
        """
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError:
                raise BrokenJson("it is nested too deeply") from None
            except ValueError as error:
                if self._ended:
                    raise BrokenJson(f"it is no JSON ({error})") from None
            else:
                if end < len(self._text) or self._ended or isinstance(value, dict | list | str):
                    self._pass(end)
                    return value
            held = len(self._text) - self._at
            if held > MAX_RECORD_BYTES:
                raise _TooLong(f"one value is longer than {MAX_RECORD_BYTES} bytes")
            # Twice as much, so that long values are not tried too often.
            self._more(min(max(_READ, held), MAX_RECORD_BYTES + 1 - held))

    def item(self) -> Any:
        """Read one value as `value` does; one that is too long is gone past, and comes as None."""
        try:
            return self.value()
        except _TooLong:
            self._skip()
            return None

    def _skip(self) -> None:
        """Go past a list, an object or a text without holding it."""
        depth, quoted = 0, False
        while True:
            seen = self._at
            for match in _MARK.finditer(self._text, self._at):
                mark, seen = match[0], match.end()
                if mark == '"':
                    quoted = not quoted
                elif not quoted and mark in "[]{}":
                    depth += 1 if mark in "[{" else -1
                if not quoted and not depth:
                    self._at = seen
                    return
            # A backslash at the end belongs to what comes.
            self._at = max(seen, len(self._text) - self._text.endswith("\\"))
            if not self._more(_READ):
                raise BrokenJson("the list breaks off")

    def _pass(self, end: int) -> None:
        """Go on from a place; a long text before it is dropped at once."""
        if end - self._at > _READ:
            self._text, end = self._text[end:], 0
        self._at = end

    def _more(self, size: int) -> bool:
        """Read on; False at the end."""
        if self._ended:
            return False
        data = self._file.read(size)
        self._ended = not data
        try:
            more = self._decoder.decode(data, final=self._ended)
        except UnicodeDecodeError:
            raise BrokenJson(NOT_UTF8) from None
        self._text = self._text[self._at :] + more
        self._at = 0
        return not self._ended


def _items(text: _Text) -> Iterator[Any]:
    text.take("[")
    while text.peek() != "]":
        yield text.item()
        if text.peek() == ",":
            text.take(",")
        elif text.peek() != "]":
            raise BrokenJson("the list breaks off")
    text.take("]")


def _members(text: _Text) -> Iterator[Value]:
    text.take("{")
    while text.peek() != "}":
        name = text.value()
        if not isinstance(name, str):
            raise BrokenJson("a name should stand here")
        text.take(":")
        if text.peek() == "[":
            for value in _items(text):
                yield Value(name, value, True)
        else:
            yield Value(name, text.value(), False)
        if text.peek() == ",":
            text.take(",")
        elif text.peek() != "}":
            raise BrokenJson("the object breaks off")
    text.take("}")
