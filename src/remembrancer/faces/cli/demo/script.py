"""Reads the demo's conversation and what is asked about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files

from ....nouns.clock import to_us
from ....verbs.retaining.units import Item


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation of the demo: when it began and what was said."""

    name: str
    started: datetime
    note: str
    messages: Sequence[Mapping[str, str]]

    def item(self) -> Item:
        """Return it as something to retain: a list of messages as JSON."""
        offset = self.started.utcoffset()
        return Item(
            json.dumps(list(self.messages), ensure_ascii=False),
            timestamp=to_us(self.started),
            offset_min=int(offset.total_seconds() // 60) if offset is not None else None,
            note=self.note,
            document=self.name,
        )


@dataclass(frozen=True, slots=True)
class Script:
    """The whole demo. `clock` is the time at which everything after the sessions happens.

    `due` is when the first reminder of the conversation is to come; `talk` brings up the other.
    `secret` is a string within the sentence that answers `secret_question`, to look for in bytes.
    """

    bank: str
    clock: datetime
    sessions: tuple[Session, ...]
    questions: tuple[str, ...]
    cue: str
    due: datetime
    talk: str
    secret_question: str
    secret: str


def load() -> Script:
    """Read `conversation.json` of this package."""
    raw = json.loads((files(__package__) / "conversation.json").read_text(encoding="utf-8"))
    sessions = (
        Session(s["name"], datetime.fromisoformat(s["started"]), s["note"], s["messages"])
        for s in raw["sessions"]
    )
    return Script(
        bank=raw["bank"],
        clock=datetime.fromisoformat(raw["clock"]),
        sessions=tuple(sessions),
        questions=tuple(raw["questions"]),
        cue=raw["cue"],
        due=datetime.fromisoformat(raw["reminders"]["due"]),
        talk=raw["reminders"]["talk"],
        secret_question=raw["forget"]["question"],
        secret=raw["forget"]["secret"],
    )
