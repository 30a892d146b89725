"""A text cut into tokens, with the reference time and the tense that dates are read by."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Final, Literal

from . import words as w
from .holidays import DEFAULT_COUNTRY, HOLIDAY_STARTS, holidays_of
from .intervals import Bias, Found
from .moving import is_moved_to
from .tense import may_is_verb, tense_at

Prefer = Literal["past", "future", "nearest"]

_TOKEN: Final = re.compile(
    r"[0-9]+|(?<=[0-9])(?:st|nd|rd|th)(?=jan|feb|mar|apr|may|ju[nl]|aug|sep|oct|nov|dec|of)"
    r"|[^\W\d_]+|\S",
    re.IGNORECASE,
)
_CUE: Final = re.compile(r"[a-z]+|[0-9]")
_TENSE_REACH: Final = 30  # tokens looked at on each side: bounds the cost on unpunctuated text

CUES: Final = frozenset(
    set(w.MONTHS)
    | set(w.WEEKDAYS)
    | set(w.UNITS)
    | set(w.SEASONS)
    | set(w.SEASON_PLURALS)
    | set(w.PLURAL_WEEKDAYS)
    | set(w.DAY_PARTS)
    | set(w.DAY_WORDS)
    | set(w.DECADES)
    | set(w.TONIGHT)
    | set(HOLIDAY_STARTS)
    | set("0123456789")
    | {"eod", "eow", "eom", "eoq", "eoy"}
    | {"noon", "midday", "midnight", "clock", "oclock", "am", "pm", "past"}
    | {"nineteen", "twenty", "thousand", "morrow", "yester"}
) - {"second", "sec", "min"}

_STOPS: Final = frozenset({".", "!", "?", ";"})


def has_cue(text: str) -> bool:
    """Return whether a text holds a digit or a word that could belong to an English date."""
    return not CUES.isdisjoint(_CUE.findall(text.lower()))


class Context:
    """The tokens of one text and how to read them.

    `words` are the tokens in lower case; token i is `text[starts[i]:ends[i]]`. `present` lets words
    for this moment ("right now") be dates, as `find_dates` says.
    """

    __slots__ = (
        *(
            "antecedent",
            "day_first",
            "ends",
            "holidays",
            "now",
            "prefer",
            "present",
            "reference",
            "size",
            "starts",
            "tense",
            "text",
            "words",
        ),
    )

    def __init__(
        self,
        text: str,
        reference: datetime,
        prefer: Prefer,
        *,
        day_first: bool,
        tense: bool = True,
        present: bool = False,
        country: str = DEFAULT_COUNTRY,
    ) -> None:
        self.holidays = holidays_of(country)
        self.present = present
        self.antecedent: datetime | None = None  # the day told last, in wall time
        self.text = text
        self.reference = reference
        self.now = reference.replace(tzinfo=None, fold=0)
        self.prefer = prefer
        self.day_first = day_first
        self.tense = tense
        found = _joined([(m.group().lower(), m.start(), m.end()) for m in _TOKEN.finditer(text)])
        self.words = [f[0] for f in found]
        self.starts = [f[1] for f in found]
        self.ends = [f[2] for f in found]
        self.size = len(found)

    def word(self, i: int) -> str:
        """Return token `i` in lower case, or "" outside the text."""
        return self.words[i] if 0 <= i < self.size else ""

    def raw(self, i: int) -> str:
        """Return token `i` as written."""
        return self.text[self.starts[i] : self.ends[i]]

    def glued(self, i: int) -> bool:
        """Return whether no space stands between tokens i - 1 and i."""
        return 0 < i < self.size and self.starts[i] == self.ends[i - 1]

    def capital(self, i: int) -> bool:
        """Return whether token `i` begins with a capital."""
        return self.text[self.starts[i]].isupper()

    def number(self, i: int, most: int = 6) -> int | None:
        """Return token `i` as a number of at most `most` digits."""
        word = self.word(i)
        if word and len(word) <= most and "0" <= word[0] <= "9":
            return int(word)
        return None

    def digits(self, i: int) -> int:
        """Return how many digits token `i` has."""
        word = self.word(i)
        return len(word) if word and "0" <= word[0] <= "9" else 0

    def before(self, i: int) -> str:
        """Return the word before token `i`, an article skipped."""
        word = self.word(i - 1)
        return self.word(i - 2) if word == "the" else word

    def opens_sentence(self, i: int) -> bool:
        """Return whether token `i` is the first of its sentence."""
        return i == 0 or self.word(i - 1) in {".", "!", "?", ":", '"', "-", "“", "*"}

    def bias(self, i: int) -> Bias | None:
        """Return whether the sentence around token `i` speaks of the past or of the future.

        A light cue only: the nearest verb form before the token decides, else the nearest after.
        """
        if self.prefer != "nearest":
            return self.prefer
        if not self.tense:
            return None
        if is_moved_to(self.words, i):
            return "future"
        for step in (-1, 1):
            k = i + step
            for _ in range(_TENSE_REACH):
                word = self.word(k)
                if not word or (word in _STOPS and not self.glued(k + 1) and not self._titles(k)):
                    break
                tense = self._tense(k, word)
                if tense:
                    return tense
                k += step
        lasting = self.before(i) in _LASTING and self.word(i) in w.WEEKDAYS
        return "future" if lasting else None  # "closed until Monday"

    def _titles(self, k: int) -> bool:
        """Return whether the full stop at token `k` is that of a title: "Dr. Lee"."""
        return self.word(k) == "." and self.word(k - 1) in _TITLES and self.glued(k)

    def _tense(self, k: int, word: str) -> Bias | None:
        orders = word in {"book", "schedule"}  # verbs only where an order may stand
        if orders and (self.opens_sentence(k) or self.word(k - 1) in {"to", "please", "and"}):
            return "future"
        if word == "may" and not may_is_verb(self.words, k, capital=self._titled(k)):
            return None
        return tense_at(self.words, k)

    def _titled(self, k: int) -> bool:
        return self.capital(k) and not self.raw(k).isupper()


_TITLES: Final = frozenset({"dr", "mr", "mrs", "ms", "prof", "st"})
_LASTING: Final = frozenset({"until", "till", "til", "by"})
# Words that people also write apart: "week end", "to-morrow".
_APART: Final = {
    ("week", "end"): "weekend",
    ("to", "morrow"): "tomorrow",
    ("to", "night"): "tonight",
    ("to", "day"): "today",
    ("yester", "day"): "yesterday",
    ("mid", "night"): "midnight",
    ("fort", "night"): "fortnight",
}
_HYPHENED: Final = frozenset({("to", "tonight"), ("to", "today")})
_FIRST_HALVES: Final = frozenset(first for first, _ in _APART)
Token = tuple[str, int, int]


def _joined(tokens: list[Token]) -> list[Token]:
    """Return tokens with the words of `_APART` made one."""
    if _FIRST_HALVES.isdisjoint(token[0] for token in tokens):
        return tokens
    found: list[Token] = []
    k = 0
    while k < len(tokens):
        word, start, _ = tokens[k]
        last = k + 2 if k + 1 < len(tokens) and tokens[k + 1][0] == "-" else k + 1
        whole = _APART.get((word, tokens[last][0])) if last < len(tokens) else None
        bound = k > 0 and tokens[k - 1][0] == "-" and tokens[k - 1][2] == start
        if bound or (last == k + 1 and (word, whole) in _HYPHENED):
            whole = None  # "day-to-day", "open to night owls"
        behind = tokens[last + 1][0] if last + 1 < len(tokens) else ""
        if whole and behind != "of" and tokens[last][1] - tokens[last - 1][2] <= 1:
            found.append((whole, start, tokens[last][2]))
            k = last + 1
        else:
            found.append(tokens[k])
            k += 1
    return found


# Reads the date at a token; passed in so that "two days before X" can hold any X.
ReadDate = Callable[[Context, int], Found | None]


def near_years(c: Context, *, leap_day: bool = False) -> range:
    """Return the years in which a date without one may lie (a leap day is at most 8 years off)."""
    reach = 8 if leap_day else 1
    return range(max(c.now.year - reach, 1), min(c.now.year + reach + 1, 9999))
