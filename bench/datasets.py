"""Reads LoCoMo and BEAM files into one shape: chats of sessions of messages, and questions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_EVIDENCE = re.compile(r"D\d+:\d+")
_BOOKKEEPING = re.compile(r"\s*->->.*\Z", re.DOTALL)
_SESSION = re.compile(r"session_(\d+)")


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody said. Either `speaker` (a name) or `role` is set."""

    id: str
    text: str
    speaker: str | None = None
    role: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """Messages that were said together."""

    name: str
    when: datetime | None
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the ids of the messages that answer it, and the groups it counts in."""

    text: str
    gold: frozenset[str]
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chat:
    """One conversation: a bank. Questions without gold are left out."""

    name: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]

    @property
    def messages(self) -> list[Message]:
        """All messages in order."""
        return [m for s in self.sessions for m in s.messages]

    @property
    def asked_at(self) -> datetime | None:
        """When the questions are asked: the day after the last thing said."""
        said = [m.at for m in self.messages if m.at] + [s.when for s in self.sessions if s.when]
        return max(said) + timedelta(days=1) if said else None


def load_chats(path: Path) -> list[Chat]:
    """Read a file of either data set, told by its shape."""
    data = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(data, list) or not data:
        raise ValueError(f"{path} is neither LoCoMo nor BEAM: a list of conversations is wanted")
    if all("conversation" in chat for chat in data):
        return [_locomo(i, chat) for i, chat in enumerate(data)]
    if all("turns" in chat for chat in data):
        return [_beam(i, chat) for i, chat in enumerate(data)]
    raise ValueError(f"{path} is neither LoCoMo nor BEAM: no `conversation` and no `turns` in it")


def _locomo(number: int, chat: Mapping[str, Any]) -> Chat:
    talk = chat["conversation"]
    keys = [k for k in talk if _SESSION.fullmatch(k) and isinstance(talk[k], list)]
    sessions = tuple(
        Session(key, _locomo_time(talk.get(f"{key}_date_time")), _locomo_messages(talk[key]))
        for key in sorted(keys, key=lambda k: int(k.removeprefix("session_")))
    )
    known = {m.id for s in sessions for m in s.messages}
    questions = []
    for qa in chat.get("qa", ()):
        cited = " ".join(str(e) for e in qa.get("evidence") or ())
        gold = known.intersection(_EVIDENCE.findall(cited))
        if gold:
            together = ("cat1-4",) if 1 <= qa["category"] <= 4 else ()
            groups = ("all", *together, f"cat{qa['category']}")
            questions.append(Question(str(qa["question"]), frozenset(gold), groups))
    name = str(chat.get("sample_id", f"chat-{number}"))
    return Chat(name, sessions, tuple(questions))


def _locomo_messages(turns: Sequence[Mapping[str, Any]]) -> tuple[Message, ...]:
    return tuple(
        Message(
            id=turn["dia_id"],
            text=f"{turn['text']} [{turn['blip_caption']}]".strip()
            if turn.get("blip_caption")
            else turn["text"],
            speaker=turn["speaker"],
        )
        for turn in turns
    )


def _locomo_time(said: str | None) -> datetime | None:
    """Read "1:56 pm on 8 May, 2023"."""
    try:
        return datetime.strptime(said or "", "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        return None


def _beam(number: int, chat: Mapping[str, Any]) -> Chat:
    """Read a BEAM chat; a time anchor holds, a second a message, until the next one."""
    messages = []
    at: datetime | None = None
    for turn in chat["turns"]:
        at = _beam_time(turn.get("time_anchor")) or (at and at + timedelta(seconds=1))
        text = _BOOKKEEPING.sub("", turn["content"])
        messages.append(Message(str(turn["id"]), text, role=turn["role"], at=at))
    known = {m.id for m in messages}
    questions = tuple(
        Question(str(q["question"]), gold, ("", str(q["ability"])))
        for q in chat["questions"]
        if (gold := frozenset(str(i) for i in q["gold"]) & known)
    )
    when = next((m.at for m in messages if m.at), None)
    return Chat(
        f"beam-{chat.get('chat', number)}", (Session("chat", when, tuple(messages)),), questions
    )


def _beam_time(said: str | None) -> datetime | None:
    """Read "March-15-2024"."""
    try:
        return datetime.strptime(said or "", "%B-%d-%Y").replace(tzinfo=UTC)
    except ValueError:
        return None
