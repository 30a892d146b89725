"""Cuts a long turn into passages short enough to embed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from .sentences import split_sentences
from .types import Span

WHOLE_WORDS = 150  # a text up to this stays whole, for a limit of 110
_CHARS_PER_WORD = 14  # a "word" longer than this counts as several
_UNBROKEN = 1500  # characters between cuts where there is no space to cut at
_MAX_SHIFT = 64  # how far a cut moves to spare a combining sequence
# Scripts written without spaces: kana, CJK ideographs, Hangul, Thai, Lao, Khmer, Burmese.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
_LINE = re.compile(r"[^\n]+")
_TOKEN = re.compile(r"\S+")


def count_words(text: str) -> int:
    """Estimate the length of `text` in words.

    Words are split at spaces; two characters of a script without spaces count as one more, and
    never fewer than one word per 14 characters, so that a word limit also bounds characters.
    """
    words = len(text.split())
    if not text.isascii():
        words += len(_UNSPACED.findall(text)) // 2
    return max(words, len(text) // _CHARS_PER_WORD)


def split_passages(text: str, limit_words: int = 110) -> list[Span]:
    """Return the passages of `text`: ordered, disjoint spans that cover all non-space text.

    A text of up to 150/110 of the limit stays whole. Longer ones are cut near the limit at
    sentence ends, else at line ends, else between words, else (no spaces) between characters.
    """
    whole = len(text.strip())
    if not whole:
        return []
    slack = limit_words * WHOLE_WORDS // 110
    if count_words(text) <= slack:
        start = len(text) - len(text.lstrip())
        return [Span(start, start + whole)]
    passages: list[Span] = []
    sizes: list[int] = []
    for atom, words in _atoms(text, limit_words):
        if passages:
            gap = (atom.start - passages[-1].end) // _CHARS_PER_WORD
            if sizes[-1] + gap + words <= limit_words:
                passages[-1] = Span(passages[-1].start, atom.end)
                sizes[-1] += gap + words
                continue
        passages.append(atom)
        sizes.append(words)
    if len(passages) > 1 and sizes[-1] + sizes[-2] <= slack:
        tail = passages.pop()
        if (tail.start - passages[-1].end) // _CHARS_PER_WORD > limit_words:
            passages.append(tail)
        else:
            passages[-1] = Span(passages[-1].start, tail.end)
    return passages


def _atoms(text: str, limit: int) -> Iterator[tuple[Span, int]]:
    """Yield pieces that are not cut further, each with its words; none is over the limit."""
    for sentence in split_sentences(text):
        words = count_words(text[sentence.start : sentence.end])
        if words <= limit:
            yield sentence, words
            continue
        for line in _LINE.finditer(text, sentence.start, sentence.end):
            if line.group().isspace():
                continue
            words = count_words(line.group())
            if words <= limit:
                yield _trimmed(text, line.start(), line.end()), words
                continue
            for token in _TOKEN.finditer(text, line.start(), line.end()):
                yield from _characters(text, token.start(), token.end(), limit)


def _trimmed(text: str, start: int, end: int) -> Span:
    while text[start].isspace():
        start += 1
    while text[end - 1].isspace():
        end -= 1
    return Span(start, end)


def _characters(text: str, start: int, end: int, limit: int) -> Iterator[tuple[Span, int]]:
    words = count_words(text[start:end])
    if words <= limit:
        yield Span(start, end), words
        return
    dense = _UNSPACED.search(text, start, min(end, start + 2 * limit)) is not None
    step = max(1, 2 * limit if dense else min(_UNBROKEN, limit * _CHARS_PER_WORD))
    while start < end:
        cut = whole_character(text, min(start + step, end), end)
        yield Span(start, cut), count_words(text[start:cut])
        start = cut


def whole_character(text: str, cut: int, end: int) -> int:
    """Move `cut` right, by at most 64, so that it does not part a combining sequence."""
    last = min(end, cut + _MAX_SHIFT)
    while cut < last and _joins(text[cut - 1], text[cut]):
        cut += 1
    return cut


def _joins(before: str, after: str) -> bool:
    if after.isascii():
        return False
    return (
        unicodedata.category(after)[0] == "M"
        or after == "\u200d"
        or before == "\u200d"
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # skin tones
        or "\udc00" <= after <= "\udfff"
    )
