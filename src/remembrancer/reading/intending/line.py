"""One sentence, ready to be searched: in lower case, with its times."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from ...nouns.memory import Precision
from ..lexicon import OTHER_DETERMINERS
from ..types import Span
from ..when import When, find_whens, read_when
from . import lexicon as lex

_JOINT: Final = re.compile(
    r"[,;:—–]\s+|\s-\s|\.\.\.\s*|[.!?]\s+|\s(?=(?:and|but|so|because|then)\s)|[)(]\s*"
)
_MOST_JOINTS: Final = 20  # clauses looked at: bounds the cost of an endless list
_CONJUNCTION: Final = re.compile(r"(?:(?:and|but|so(?! that)|because|then|or|also)\s+)+")
_FREE: Final = re.compile(r"[;:—–.!?]|\s-\s|\b(?:so|then|but|please)\b")
_SPACE: Final = re.compile(r"[\s,]*")
_WORD: Final = re.compile(r"[\w'-]+")
_OWNERS: Final = OTHER_DETERMINERS | {"my", "our", "your", "'s"}
# What may stand after a time that is no part of a noun phrase.
_AFTER_TIME: Final = frozenset(
    """to and or but about that so because if when for with please i we you he she they it
    remind at on in by from until of is are was will can could would should then as before
    after once since though also again instead sharp latest whether while using via let
    make don't unless""".split()
)
_BAD_BEFORE: Final = re.compile(
    r"\b(?:until|till|til|since|than|of|to|about|from|last|past|during|through|not|only"
    r"|the deadline is)\s+$"
)


class Line:
    """A sentence of a text: `text` as masked, `low` the same in lower case, and its times."""

    def __init__(
        self, text: str, original: str, start: int, said_at: int, zone: str, hour: int
    ) -> None:
        self.text = text
        self.original = original
        self.start = start
        self.low = text.lower().replace("’", "'")
        if len(self.low) != len(text):  # a letter that grows in lower case
            self.low = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
            self.low = self.low.replace("’", "'")
        self.said_at = said_at
        self.zone = zone
        self._hour = hour
        self.asked = text.rstrip("\"”’') ").endswith("?")
        self._whens: list[When] | None = None

    @property
    def whens(self) -> list[When]:
        """The times of the sentence, with spans in it."""
        if self._whens is None:
            self._whens = find_whens(self.text, self.said_at, self.zone, default_hour=self._hour)
        return self._whens

    def when_at(self, at: int) -> When | None:
        """Return the time that begins at a place."""
        return next((when for when in self.whens if when.span.start == at), None)

    def repeat_in(self, low: int, high: int) -> When | None:
        """Return the repeat named within a range."""
        inside = (w for w in self.whens if low <= w.span.start and w.span.end <= high)
        return next((when for when in inside if when.recurrence is not None), None)

    def in_time(self, at: int) -> bool:
        """Tell whether a place lies within a time."""
        return any(when.span.start <= at < when.span.end for when in self.whens)

    def whens_in(self, low: int, high: int) -> list[When]:
        """Return the times within a range that can tell when, rather than which or until when."""
        return [
            when
            for when in self.whens
            if low <= when.span.start and when.span.end <= high and not self.names_a_thing(when)
        ]

    def names_a_thing(self, when: When) -> bool:
        """Whether a time belongs to a noun: "the Friday meeting", "tomorrow's call"; or ends."""
        low, start, end = self.low, when.span.start, when.span.end
        if low.startswith("'s", end) or (low.startswith("-", end) and low[end + 1 : end + 2] > " "):
            return True
        if low.startswith("about ", start) and not low[start + 6 : start + 7].isdigit():
            return True
        if _BAD_BEFORE.search(low, max(0, start - 20), start):
            return True
        owner = low[:start].split()[-1:] or [""]
        inside = low[start:end].split()
        led = inside[0] in {"the", "a"} or owner[0] in _OWNERS or owner[0].endswith("'s")
        after = _WORD.match(low, end + 1)
        noun = after is not None and low[end : end + 1] == " " and after.group() not in _AFTER_TIME
        if when.recurrence is not None and inside[0] == "the":
            return False
        return led and noun and inside[0] not in {"on", "at", "in", "by"}

    def read(self, words: str) -> When | None:
        """Resolve a time that is said in other words than the text's."""
        return read_when(words, self.said_at, self.zone, default_hour=self._hour)

    def combine(self, first: When, second: When) -> When | None:
        """Return what two times that stand apart mean together: "tomorrow … at 3"."""
        pieces = [self.text[w.span.start : w.span.end] for w in (first, second)]
        both = self.read(" ".join(pieces))
        if both is None or not both.confident:
            return None
        start, end = first.span.start, second.span.end
        return replace(both, span=Span(min(start, end), max(start, end)))

    def starts(self) -> Iterator[tuple[int, bool]]:
        """Yield where clauses may begin, in order, and whether an order may stand there."""
        yield self.open(0), True
        for joint in islice(_JOINT.finditer(self.low), _MOST_JOINTS):
            begin = self.open(joint.end())
            if begin < len(self.low):
                lead = self.low[joint.start() : begin]
                free = _FREE.search(lead) is not None or self.low.startswith("please ", begin)
                yield begin, free

    def open(self, at: int) -> int:
        """Skip conjunctions, interjections and a name that is spoken to."""
        for pattern in (_CONJUNCTION, lex.LEAD):
            match = pattern.match(self.low, at)
            at = match.end() if match else at
        return at

    def skip(self, at: int) -> int:
        """Skip spaces and commas."""
        match = _SPACE.match(self.low, at)
        return match.end() if match else at


def is_coarse(when: When) -> bool:
    """Whether a time is known no better than to the month."""
    return when.precision in {
        Precision.MONTH,
        Precision.SEASON,
        Precision.YEAR,
        Precision.DECADE,
    }
