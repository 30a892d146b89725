"""Whether what a model wrote stands in what it was shown: its words, names, numbers and dates.

What the rule reader reads stands in the source word for word. A model may put words in another
order and names in the place of pronouns; it may add nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from enum import StrEnum

from ...nouns.folding import fold_name
from ..lexicon import CALENDAR, COMMON, NOT_NAMES
from ..names import find_names
from ..types import DateSpan, Span
from ..verbs_lexicon import BASES, ING_FORMS
from .fencing import unfenced

LEAST_SHARED = 0.6
"""Share of a statement's longer words that stand in its source, at least. A statement in another
language shares next to none, one with pronouns resolved nearly all."""

MAX_CHARS = 600  # of one statement
_MIN_QUOTE = 4
_STEM = 4  # first letters by which two forms of one word are the same
_WORD = re.compile(r"[^\W_]+(?:[’'\-][^\W_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,:/\-]\d+)*")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " "})
_ENGLISH = 0.25  # share of common words from which on a text is taken for English
_OPENERS = frozenset(
    """according based unfortunately however currently therefore overall originally initially
    previously recently additionally finally similarly otherwise instead meanwhile moreover
    nevertheless nonetheless consequently hence thus earlier later memories memory records
    summary answer evidence neither either whether although though while since besides""".split()
)
_OPENING = " \t\n*#-•([\"'"
_SENTENCE_END = frozenset('.!?…。！？:;\n"“”')
_US = 1_000_000


class Fault(StrEnum):
    """Why a statement is not taken."""

    NO_SOURCE = "no_source"
    NO_QUOTE = "no_quote"
    HIDDEN = "hidden"
    QUESTION = "question"
    NAME = "invented_name"
    NUMBER = "invented_number"
    DATE = "invented_date"
    WORDS = "other_words"
    POLARITY = "polarity"
    LONG = "too_long"
    KNOWN = "known"


def find_quote(quote: str, text: str) -> Span | None:
    """Return where a quotation stands in a text, whatever its spaces, quotes and case; or None."""
    for each in (quote, unfenced(quote)):
        wanted, _ = _flat(each.strip().strip('"“”'))
        flat, places = _flat(text)
        if len(wanted) < _MIN_QUOTE:
            continue
        at = flat.find(wanted)
        if at < 0:
            lowered = flat.lower()
            at = lowered.find(wanted.lower()) if len(lowered) == len(flat) else -1
        if at >= 0:
            return Span(places[at], places[at + len(wanted) - 1] + 1)
    return None


def ungrounded(
    text: str,
    shown: Iterable[str],
    *,
    dates: Sequence[DateSpan] = (),
    shared: float = LEAST_SHARED,
    counts_to: int = 0,
    free: bool = False,
) -> Fault | None:
    """Return what of a statement does not stand in the texts shown, or None.

    Args:
        text: the statement.
        shown: what it may take words, names and numbers from.
        dates: those that the texts name, resolved: their years, months and days may be named.
        shared: least share of longer words; 0 does not look.
        free: it is an answer in the model's own words: a word with a capital at the start of a
            sentence may be no name, though it is not known as a common word, unless it is English.
        counts_to: whole numbers up to here may be counts, and are let pass.
    """
    if len(text) > MAX_CHARS and shared:
        return Fault.LONG
    whole = "\n".join(shown).translate(_QUOTES)
    numbers = set(_digits(whole))
    for number in _digits(_undated(text, dates)):
        if number not in numbers and not (number.isdecimal() and int(number) <= counts_to):
            return Fault.NUMBER
    words = {fold_name(word) for word in _WORD.findall(whole)}
    stems = {word[:_STEM] for word in words}
    named = _date_words(dates)
    for word in _names(text.translate(_QUOTES), free=free):
        folded = fold_name(word)
        plain = folded.removesuffix("'s")
        if folded in words or plain in words or plain in named or f"{plain}'s" in words:
            continue
        if plain in CALENDAR and not dates:
            return Fault.NAME
        if any(part in words for part in plain.split("-")):
            continue
        return Fault.NAME
    return Fault.WORDS if shared and _share(text, whole, stems | named) < shared else None


def _share(text: str, whole: str, stems: set[str]) -> float:
    if _UNSPACED.search(text):
        signs = _UNSPACED.findall(text)
        return sum(sign in whole for sign in signs) / len(signs)
    longer = [w for w in map(fold_name, _WORD.findall(text)) if len(w) >= _STEM]
    if not longer:
        return 1.0
    return sum(w[:_STEM] in stems or w in stems for w in longer) / len(longer)


def _names(text: str, *, free: bool) -> list[str]:
    """Return the words that are written as names: with a capital, and no common word at a start."""
    lenient = free and not _is_english(text)
    found = []
    for match in _WORD.finditer(text):
        word = match.group()
        if not word[0].isupper() or word in {"I", "I'm", "I've", "I'll", "I'd"}:
            continue
        before = text[: match.start()].rstrip(_OPENING)
        starts = not before or before[-1] in _SENTENCE_END
        if not starts or not (lenient or _is_common(word)):
            found.append(word)
    if free:
        found += [word for name, _ in find_names(text, ()) for word in _WORD.findall(name)]
    return found


def _is_english(text: str) -> bool:
    """Tell whether enough words of a text are common English ones."""
    words = [word.lower() for word in _WORD.findall(text)]
    return sum(word in COMMON for word in words) >= _ENGLISH * len(words)


def _is_common(word: str) -> bool:
    low = word.lower()
    return low in COMMON or low in NOT_NAMES or low in _OPENERS or low in BASES or low in ING_FORMS


def _digits(text: str) -> list[str]:
    found = []
    for number in _NUMBER.findall(text):
        found += [part.lstrip("0") or "0" for part in re.split(r"[.,:/\-]", number)]
        found.append(number.replace(",", ""))
    return found


def _undated(text: str, dates: Sequence[DateSpan]) -> str:
    """Return a statement without the days and years that some dates stand for."""
    for date in dates:
        for at in (date.start, date.end - 1):
            day = _day(at)
            if day is None:
                continue
            month = f"(?:{day.strftime('%B')}|{day.strftime('%b')})\\.?"
            number = rf"0?{day.day}(?:st|nd|rd|th|\.)?"
            spelled = (
                rf"{day.date().isoformat()}|{number} (?:of )?{month}|{month} (?:the )?{number}"
            )
            text = re.sub(rf"\b(?:{spelled}|{day.year})(?!\w)", " ", text, flags=re.IGNORECASE)
    return text


def _date_words(dates: Sequence[DateSpan]) -> set[str]:
    found: set[str] = set()
    for date in dates:
        for at in (date.start, date.end - 1):
            day = _day(at)
            if day is not None:
                found |= {day.strftime("%B").lower(), day.strftime("%A").lower()}
                found |= {day.strftime("%b").lower()}
    return found


def _day(at: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(at / _US, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def _flat(text: str) -> tuple[str, list[int]]:
    """Return a text with plain quotes and single spaces, and where each character stood."""
    out: list[str] = []
    places: list[int] = []
    for at, sign in enumerate(text.translate(_QUOTES)):
        if sign.isspace():
            if out and out[-1] == " ":
                continue
            sign = " "  # noqa: PLW2901
        out.append(sign)
        places.append(at)
    return "".join(out), places
