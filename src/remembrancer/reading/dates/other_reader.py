"""What is asked of the dateparser library: calendar words, likely dates, the meaning of one.

The library is imported when it is first asked, never to guess a language.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

# A mark on the reference: an answer that carries it was told from now ("yesterday").
MARK: Final = 123_457
NUMBER: Final = re.compile(r"\d+")
# Written without spaces between words: Han, kana, Hangul, Thai, Lao, Burmese, Khmer.
UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
# Absolute names of one word must be this long: "mai" is May and "more", "nie" Sunday and "not".
SHORTEST_NAME: Final = 4
_YEAR: Final = re.compile(r"(?<!\d)(?:1[2-9]|2[01])\d\d(?!\d)")
_MONTHS: Final = (
    "january february march april may june july august september october november december"
).split()
_OTHERS: Final = (
    "monday tuesday wednesday thursday friday saturday sunday year month week day hour minute"
).split()


@dataclass(frozen=True, slots=True)
class Answer:
    """What the library reads in a text: a moment, and the unit that the text is exact to."""

    at: datetime
    unit: str

    @property
    def relative(self) -> bool:
        """Whether it was told from now and by no clock time: "yesterday", "3 hours ago"."""
        return self.at.microsecond == MARK

    @property
    def plain(self) -> datetime:
        """The moment without the mark."""
        return self.at.replace(microsecond=0)


# Reads a text by a naive reference, preferring dates from the "past" or the "future".
Read = Callable[[str, datetime, str], Answer | None]


def vocabulary(code: str) -> re.Pattern[str] | None:
    """Return a pattern of the lower-case words of which a date without a digit holds one.

    None when the language is not known.
    """
    from dateparser.languages.loader import default_loader  # noqa: PLC0415 - 0.2 s, rarely used

    try:
        info = default_loader.get_locale_map(languages=[code])[code].info
    except (ValueError, KeyError):
        return None
    others = {word.lower() for key in _OTHERS for word in info.get(key, ())}
    words = {word.lower() for key in _MONTHS for word in info.get(key, ())}
    words.update(
        word.lower() for listed in info.get("relative-type", {}).values() for word in listed
    )
    # Three letters are enough for a month or "now" but not for a weekday: "nie" is "not" in Polish.
    shortest = SHORTEST_NAME - 1
    words.update(word for word in others if len(word) > shortest or UNSPACED.search(word))
    known = {word for word in words if len(word) >= shortest or UNSPACED.search(word)}
    return re.compile("|".join(sorted(map(_pattern, known))) or r"(?!)")


def _pattern(word: str) -> str:
    """Return a word as a pattern; one of three letters must stand alone."""
    if UNSPACED.search(word) or len(word) >= SHORTEST_NAME:
        return re.escape(word)
    return rf"\b{re.escape(word)}\b"


def _settings(base: datetime, prefer: str) -> dict[str, Any]:
    # A fixed zone: the machine's own must not matter.
    return {
        "RELATIVE_BASE": base,
        "PREFER_DATES_FROM": prefer,
        "PREFER_DAY_OF_MONTH": "first",
        "RETURN_TIME_AS_PERIOD": True,
        "TIMEZONE": "UTC",
    }


def search(sentence: str, code: str, now: datetime) -> list[str]:
    """Return the texts that may be dates, in order."""
    from dateparser.search import search_dates  # noqa: PLC0415

    settings = _settings(now, "current_period") | {"RETURN_AS_TIMEZONE_AWARE": False}
    try:
        found = search_dates(sentence, languages=[code], settings=settings)
    except Exception:  # the library fails in many ways on numbers that no calendar has
        return []
    return [match[0] for match in found or ()]


def make_reader(code: str) -> Read:
    """Return a function that reads one date in a language; it answers None where there is none."""
    from dateparser.date import DateDataParser  # noqa: PLC0415

    def read(text: str, base: datetime, prefer: str) -> Answer | None:
        # NORMALIZE drops accents, and Polish "się" would be August; the default of
        # RETURN_AS_TIMEZONE_AWARE keeps a zone only where the text names one.
        settings = _settings(base, prefer) | {"NORMALIZE": False}
        try:
            data = DateDataParser(languages=[code], settings=settings).get_date_data(text)
        except Exception:  # as in `search`
            return None
        at = data.date_obj
        if at is None or not 1200 <= at.year < 2200:
            return _written_year(text, data.period) if at else None
        unit = "day" if data.period == "part_of_day" else data.period
        years = _YEAR.findall(text)
        if years and at.year not in map(int, years):
            return _written_year(text, unit)
        return Answer(at, unit)

    return read


def _written_year(text: str, unit: str | None) -> Answer | None:
    """Read "2019 года", which the library takes for a length, as the year that it names."""
    numbers = NUMBER.findall(text)
    if unit != "year" or len(numbers) != 1 or not _YEAR.fullmatch(numbers[0]):
        return None
    return Answer(datetime(int(numbers[0]), 1, 1), "year")
