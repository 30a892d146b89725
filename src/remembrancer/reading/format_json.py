"""Reads turns from JSON: a list of messages, an object that holds one, or JSONL."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ..nouns.clock import to_us
from ..nouns.memory import Role
from ..nouns.text import HOLES, clean
from .roles import role_of
from .types import Turn

_SPACE = re.compile(r"[\s\ufeff]*")
_DECODER = json.JSONDecoder()
_LISTS = ("messages", "turns", "conversation")
_SPEAKERS = ("speaker", "name", "author", "from")
_TEXTS = ("content", "text", "message")
_TIMES = ("timestamp", "created_at", "time", "date", "at")
_IDS = ("id", "message_id", "dia_id")
_TEXT_PARTS = (None, "text", "input_text", "output_text")
_MARKUP = frozenset(  # what Telegram's export calls the pieces of a text
    "bank_card blockquote bold bot_command cashtag code custom_emoji email hashtag italic link "
    "mention mention_name phone pre spoiler strikethrough text_link underline".split()
)
_MAX_DEPTH = 3  # lists of conversations of messages


class _Item(NamedTuple):
    value: Any
    start: int
    end: int


def json_turns(content: str, default_role: Role) -> list[Turn] | None:
    """Return the turns of JSON messages, or None when `content` is not such JSON.

    A message has a speaker or role and a text; its turn's range is the whole message object. Items
    beside messages stay as turns of raw JSON, so no text is lost.
    """
    at = _skip(content, 0)
    if content[at : at + 1] in HOLES:
        at = _skip(content, _skip_redacted(content, at))
    if content[at : at + 1] not in ("[", "{"):
        return None
    turns: list[Turn] = []
    messages = others = 0
    try:
        for item in _top_level(content, at):
            if _is_message(item.value):
                messages += 1
                turn = _turn(item, default_role)
            else:
                others += 1
                raw = content[item.start : item.end]
                turn = Turn(raw, item.start, item.end, role=default_role)
            if turn.text:
                turns.append(turn)
    except (ValueError, RecursionError):
        return None
    return turns if messages and messages >= others else None


def _skip(content: str, at: int) -> int:
    match = _SPACE.match(content, at)
    return match.end() if match else at


def _skip_redacted(content: str, at: int) -> int:
    """Return where a run of erased characters ends: a message that was forgotten is none."""
    while content.startswith(HOLES, at):
        at += 1
    return at


def _top_level(content: str, at: int) -> Iterator[_Item]:
    """Yield the items of one value, or of several that follow each other (JSONL)."""
    while at < len(content):
        at = yield from _value(content, at, 0)
        at = _skip(content, at)


def _value(content: str, at: int, depth: int) -> Generator[_Item, None, int]:
    """Yield the items of the value at `at`; return where it ends."""
    if content[at : at + 1] in HOLES:
        return _skip_redacted(content, at)
    if content[at : at + 1] == "[" and depth < _MAX_DEPTH:
        return (yield from _list(content, at, depth))
    value, end = _DECODER.raw_decode(content, at)
    if isinstance(value, dict) and depth < _MAX_DEPTH and not _is_message(value):
        inner = _list_inside(content, at, value)
        if inner is not None:
            yield from _list(content, inner, depth + 1)
            return end
    yield _Item(value, at, end)
    return end


def _list(content: str, at: int, depth: int) -> Generator[_Item, None, int]:
    at = _skip(content, at + 1)
    while content[at : at + 1] != "]":
        at = yield from _value(content, at, depth + 1)
        at = _skip(content, at)
        if content[at : at + 1] == ",":
            at = _skip(content, at + 1)
        elif content[at : at + 1] != "]":
            raise ValueError("a comma or the end of the list should stand here")
    return at + 1


def _list_inside(content: str, at: int, value: Mapping[str, Any]) -> int | None:
    """Return where the list of messages of the object at `at` begins, if it has one."""
    wanted = next((key for key in _LISTS if isinstance(value.get(key), list)), None)
    if wanted is None:
        return None
    at = _skip(content, at + 1)
    while content[at : at + 1] == '"':
        key, at = _DECODER.raw_decode(content, at)
        at = _skip(content, _skip(content, at) + 1)  # the colon
        if key == wanted and content[at : at + 1] == "[":
            return at
        _, at = _DECODER.raw_decode(content, at)
        at = _skip(content, _skip(content, at) + 1)  # the comma
    return None


def _is_message(value: object) -> bool:
    return (
        isinstance(value, dict)
        and any(key in value for key in _TEXTS)
        and any(value.get(key) for key in ("role", *_SPEAKERS))
    )


def _turn(item: _Item, default_role: Role) -> Turn:
    value: Mapping[str, Any] = item.value
    role, speaker = _who(value)
    at, offset = _time(value)
    name = next(
        (clean(str(value[key])) for key in _IDS if isinstance(value.get(key), str | int)), None
    )
    return Turn(
        text=_text(value),
        start=item.start,
        end=item.end,
        speaker=speaker,
        role=role if role or speaker else default_role,
        at=at,
        offset_min=offset,
        name=name,
    )


def _who(value: Mapping[str, Any]) -> tuple[Role, str | None]:
    role, speaker = Role.NONE, None
    for key in ("role", *_SPEAKERS):
        said = value.get(key)
        if isinstance(said, dict):  # an author object
            said = said.get("role") or said.get("name")
        if not isinstance(said, str) or not said.strip():
            continue
        as_role = role_of(said)
        if as_role and not role:
            role = as_role
        elif not as_role and speaker is None:
            speaker = (
                " ".join(clean(said).split()) or None
            )  # a name is one line wherever it is shown
    return role, speaker


def _text(value: Mapping[str, Any]) -> str:
    for key in _TEXTS:
        text = _join(value.get(key))
        if text:
            return text
    return ""


def _join(body: object) -> str:
    """Return the words of a message body: a string, a list of parts, or an object of parts."""
    if isinstance(body, str):
        return clean(body).strip()  # an escape may spell what no store takes
    if isinstance(body, dict):
        body = body["parts"] if isinstance(body.get("parts"), list) else [body]
    if not isinstance(body, list):
        return ""
    kinds = (part.get("type") for part in body if isinstance(part, dict))
    if any(isinstance(kind, str) and kind in _MARKUP for kind in kinds):
        return _marked_up(body)
    words: list[str] = []
    for part in body:
        if isinstance(part, str):
            words.append(part)
        elif (
            isinstance(part, dict)
            and part.get("type") in _TEXT_PARTS
            and isinstance(part.get("text"), str)
        ):
            words.append(part["text"])
    return clean("\n".join(words)).strip()


def _marked_up(body: Sequence[object]) -> str:
    """Return the words of a text that Telegram exports in pieces, each link and bold word one."""
    words = [part.get("text") if isinstance(part, dict) else part for part in body]
    return clean("".join(word for word in words if isinstance(word, str))).strip()


def _time(value: Mapping[str, Any]) -> tuple[int | None, int | None]:
    for key in _TIMES:
        at, offset = parse_time(value.get(key))
        if at is not None:
            return at, offset
    return None, None


def parse_time(said: object) -> tuple[int | None, int | None]:
    """Read a time: ISO 8601 (naive: UTC), or Unix seconds, ms or µs told by their size.

    Returns:
        Microseconds since 1970 and the UTC offset in minutes when one is written; None, None when
        it is no full date.
    """
    if isinstance(said, str):
        said = said.strip()
        try:
            moment = datetime.fromisoformat(said)
        except ValueError:
            return _unix(said)
        shift = moment.utcoffset()
        try:
            at = to_us(moment if shift is not None else moment.replace(tzinfo=UTC))
        except OverflowError:
            return None, None
        return at, None if shift is None else round(shift.total_seconds() / 60)
    return _unix(said)


def _unix(said: object) -> tuple[int | None, int | None]:
    if isinstance(said, bool) or not isinstance(said, int | float | str):
        return None, None
    try:
        number = float(said)
    except (ValueError, OverflowError):
        return None, None
    for top, factor in ((1e11, 1_000_000), (1e14, 1000), (1e17, 1)):
        if 1e8 <= number < top:
            return round(number * factor), None
    return None, None
