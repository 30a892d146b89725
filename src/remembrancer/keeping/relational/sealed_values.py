"""How sealed values are spelled in columns of text and of bytes, so that they are told from plain.

What is sealed is the id of the data key and what that made. A text begins with a control character
(`nouns.text.clean` takes those out of whatever is handed in), JSON with a space (which `rows.dump`
never writes) and stays an object, bytes with a mark of four bytes. Empty values and the empty
object stay as they are: SQL asks for them.
"""

from __future__ import annotations

import binascii
import json
from collections.abc import Callable
from typing import Any

from ..sealing import KEY_ID_BYTES, DataKey
from .sealed_columns import COLUMNS, NAMES, OPEN, How

_TEXT, _NAME, _WORDS = "\x02", "\x03", "\x04"
_JSON = ' {"":"'
_JSON_END = '"'
_FIRST = {How.TEXT: _TEXT, How.NAME: _NAME, How.WORDS: _WORDS}
_MARK = b"\x02RMB"
_KEY_MARK = b"\x03RMB"
_HIGH = 0x80
_FIRST_BYTES = 9  # of the seal of a first word: 2^36 words before two are likely to be taken as one
_EMPTY = "{}"

FindKey = Callable[[bytes], DataKey]
"""Returns a data key by its id."""


def seal(key: DataKey, column: str, value: Any, about: bytes) -> Any:
    """Return a value as it is kept in a column; None and empty ones as they are."""
    if not value or value == _EMPTY:
        return value
    how = COLUMNS[column]
    if how is How.BYTES:
        return _MARK + key.id + key.seal(value, about)
    if how is How.TEXT:
        return _TEXT + _spelled(key.id + key.seal(value.encode(), about))
    if how is How.JSON:
        return _json(key, column, value, about)
    if how is How.KEY:
        mark = bytes([_KEY_MARK[0] | (value[0] & _HIGH)]) + _KEY_MARK[1:]
        return mark + key.id + key.seal_name(value, about)
    named = _spelled(key.id + key.seal_name(value.encode(), about))
    return f"{first_word(key, value, about)} {named}" if how is How.WORDS else _NAME + named


def first_word(key: DataKey, folded: str, about: bytes) -> str:
    """Return what the kept form of each name begins with that has the same first word."""
    word = folded.partition(" ")[0] or folded
    made = key.seal_name(word.encode(), about + b"\0first")[:_FIRST_BYTES]
    return _WORDS + _spelled(made).replace("+", "-").replace("/", "_")


def open_value(find: FindKey, column: str, value: Any, about: bytes) -> Any:
    """Return what a column keeps; a value that is not sealed as it is.

    Raises:
        Corrupt: it does not open here.
    """
    if not is_sealed(column, value):
        return value
    how = COLUMNS[column]
    if how is How.BYTES or how is How.KEY:
        raw = value[len(_MARK) :]
    elif how is How.JSON:
        raw = binascii.a2b_base64(value[len(_JSON) : value.index(_JSON_END, len(_JSON))])
    else:
        raw = binascii.a2b_base64(value[1:] if how is not How.WORDS else value.partition(" ")[2])
    key, sealed = find(raw[:KEY_ID_BYTES]), raw[KEY_ID_BYTES:]
    plain = key.open_name(sealed, about) if how in NAMES else key.open(sealed, about)
    return plain if how is How.BYTES or how is How.KEY else plain.decode()


def is_sealed(column: str, value: Any) -> bool:
    """Tell whether a value of a column is sealed."""
    if not value:
        return False
    how = COLUMNS[column]
    if how is How.BYTES:
        return bool(value.startswith(_MARK))
    if how is How.KEY:
        return bool(value[1:4] == _KEY_MARK[1:] and value[0] & ~_HIGH == _KEY_MARK[0])
    if how is How.JSON:
        return bool(value.startswith(_JSON))
    return bool(value.startswith(_FIRST[how]))


def _json(key: DataKey, column: str, value: str, about: bytes) -> str:
    sealed = _spelled(key.id + key.seal(value.encode(), about))
    member = OPEN.get(column)
    if member is None or f'"{member}":' not in value:
        return f'{_JSON}{sealed}"}}'
    known = json.loads(value)
    if member not in known or not _may_stay(column, known[member]):
        return f'{_JSON}{sealed}"}}'
    shown = json.dumps({member: known[member]}, ensure_ascii=False, separators=(",", ":"))
    return f'{_JSON}{sealed}",{shown[1:]}'


def _may_stay(column: str, value: Any) -> bool:
    """Tell whether a member is what SQL looks for there; anything else may be somebody's text."""
    if OPEN[column] == "pinned":
        return value is True or value in (1, "true")
    return True


def _spelled(raw: bytes) -> str:
    return binascii.b2a_base64(raw, newline=False).decode()
