"""Reads `notes.txt`: notes of several people with questions, and makes more questions of names.

A note of the form "kind: names: what it says" is asked for by each of its first names in a frame
such as "our … setup?"; what bears on it are the notes that have the name. Some frames take several
names, and some are filled with what no note is about.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

_NOTES = Path(__file__).with_name("notes.txt")
_NAMED = 3  # names of a note that are asked for
_TOGETHER, _FOREIGN = 12, 10  # questions a bank
_FEWEST = 6  # notes with names that a bank has when it is asked by names
_FRAMES = (
    "{} patterns", "{} strategy", "{}?", "what's our {} setup?", "how should I structure my {}?",
    "{} configuration", "what's the story with {}", "what are we using for {}?", "{} rules",
    "best approach for {}", "tell me about {}", "thinking about {} lately",
    "how do we handle {}?", "do I have an opinion on {}", "I do NOT want {}, what else?",
    "should I use {} for this?",
    "ok so I keep circling back to this and I know we talked about it but the thing is I can't "
    "remember, {}, what was it?",
)  # fmt: skip
_SEVERAL = (
    "Set up the {0} with {1} and {2}, then check {3}",
    "When {0} meets {1}, how should {2} work with {3}?",
    "Given {0}, {1} and {2}, how should we approach {3}?",
    "how do {0} and {1} fit together?",
    "{0} and {1}",
)
_ELSEWHERE = (
    "windsurfing", "tax returns", "Mandarin tones", "garage doors", "contact lenses",
    "bitcoin mining", "cricket bats", "wallpaper", "French verbs", "telescope mirrors",
    "espresso grinders", "baby sleep", "roof solar", "opera tickets", "ferret cages",
    "marathon pacing",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Notes:
    """A bank: texts by their keys, and questions with the keys of what bears on them."""

    name: str
    texts: dict[str, str]
    questions: list[tuple[str, frozenset[str]]]


def load_notes(path: Path = _NOTES) -> list[Notes]:
    """Read the banks, with the questions that are made."""
    banks: list[Notes] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("bank "):
            banks.append(Notes(line.removeprefix("bank "), {}, []))
        elif line.startswith("= "):
            key, _, text = line[2:].partition(" | ")
            banks[-1].texts[key] = text
        elif line.startswith("? "):
            question, _, keys = line[2:].rpartition("|")
            gold = frozenset(keys.split())
            if not gold <= banks[-1].texts.keys():
                raise ValueError(f"{path}: no such note: {line}")
            banks[-1].questions.append((question.strip(), gold))
    chance = random.Random(3)
    for bank in banks:
        bank.questions.extend(_made(bank, chance))
    return banks


def _made(bank: Notes, chance: random.Random) -> list[tuple[str, frozenset[str]]]:
    named = {key: names for key, text in bank.texts.items() if (names := _names(text))}
    if len(named) < _FEWEST:
        return []

    def bearing(*wanted: str) -> frozenset[str]:
        forms = [re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE) for name in wanted]
        return frozenset(
            key
            for key, names in named.items()
            if any(form.search(name) for form in forms for name in names)
        )

    made = [
        (chance.choice(_FRAMES).format(name), bearing(name))
        for names in named.values()
        for name in names[:_NAMED]
    ]
    every = [name for names in named.values() for name in names]
    for _ in range(_TOGETHER):
        frame, some = chance.choice(_SEVERAL), chance.sample(every, 4)
        used = [name for number, name in enumerate(some) if f"{{{number}}}" in frame]
        made.append((frame.format(*some), bearing(*used)))
    for _ in range(_FOREIGN):
        made.append((chance.choice(_FRAMES).format(chance.choice(_ELSEWHERE)), frozenset()))
    return made


def _names(text: str) -> list[str]:
    """Return the names of "kind: names: what it says"; a relation has none."""
    kind, *rest = text.split(": ")
    if len(rest) < 2 or kind == "relation":
        return []
    return [name.strip() for name in rest[0].split(",")]
