"""How values travel between Python and PostgreSQL: each type of Python as one type, in binary."""

from __future__ import annotations

from typing import Any

from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.types.array import ListBinaryDumper
from psycopg.types.numeric import Int8BinaryDumper
from psycopg.types.string import StrBinaryDumper

# PostgreSQL keeps no NUL in a text, so it is spelled with two characters, and the first of these
# with two as well. What comes through the verbs holds neither.
_NUL, _MARK = "\0", "\x10"
_NUL_SPELLED, _MARK_SPELLED = f"{_MARK}0", f"{_MARK}1"


class TextDumper(StrBinaryDumper):
    """Writes a text; NUL is spelled with two characters."""

    def dump(self, obj: str) -> Buffer | None:
        """Return the text in UTF-8."""
        if _NUL in obj or _MARK in obj:
            obj = obj.replace(_MARK, _MARK_SPELLED).replace(_NUL, _NUL_SPELLED)
        return super().dump(obj)


class TextLoader(Loader):
    """Reads what `TextDumper` has written."""

    format = Format.BINARY

    def load(self, data: Buffer) -> str:
        """Return the text."""
        text = str(data, "utf-8")
        if _MARK in text:
            return text.replace(_NUL_SPELLED, _NUL).replace(_MARK_SPELLED, _MARK)
        return text


def register(context: AdaptContext) -> None:
    """Let a connection write and read values so.

    All integers and booleans are bigint: a statement is then prepared once, not for each size of
    its numbers.
    """
    adapters: Any = context.adapters
    for kind in (int, bool):
        adapters.register_dumper(kind, Int8BinaryDumper)
    adapters.register_dumper(str, TextDumper)
    adapters.register_dumper(list, ListBinaryDumper)
    adapters.register_loader("text", TextLoader)
