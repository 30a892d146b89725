"""Words of a text as the keyword arm sees them, and their packed form in the rows.

A term is the 64-bit hash of a stemmed, accent-folded, lower-case word; runs of CJK characters
become overlapping bigrams. Packed terms are records of (hash, count), 10 bytes each, sorted by
hash, so that many rows can be decoded at once without a Python loop.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache

import numpy as np
import Stemmer
from numpy.typing import NDArray

from .slips import SHORTEST, slips
from .stopwords import ENGLISH
from .synonyms import told_with
from .telling import common_places, is_english, telling

TERM = np.dtype([("hash", "<u8"), ("count", "<u2")])

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(
    rf"[{_CJK}]+|\d+(?:[.,]\d+)*|(?:(?![{_CJK}])[^\W_])+(?:['’](?:(?![{_CJK}])[^\W\d_])+)?"
)
_IS_CJK = re.compile(rf"[{_CJK}]")
_MAX_WORD = 64  # longer runs are no words; their start still finds them
_COMMON = 3_000  # place from which on a common word counts in full
_COMMON_WORDS = 2_500  # that count less
_LEAST_WEIGHT = 0.1


def hash_term(term: str) -> int:
    """Return the unsigned 64-bit hash of a term."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "little")


def fold(text: str) -> str:
    """Lower-case a text and strip accents, so that "Café" and "cafe" are one word."""
    text = text.casefold()
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize(
        "NFC", "".join(c for c in decomposed if not unicodedata.combining(c))
    )


def words(text: str) -> list[str]:
    """Split a text into folded words, CJK runs into bigrams; nothing is left out."""
    found: list[str] = []
    for match in _WORD.finditer(fold(text)):
        word = match.group()[:_MAX_WORD]
        if _IS_CJK.match(word):
            run = match.group()
            found.extend(run[i : i + 2] for i in range(max(1, len(run) - 1)))
        elif word[0].isdigit():
            found.append(word.replace(",", ""))
        else:
            found.append(word.replace("’", "'").partition("'")[0])
    return found


STANDING = hash_term("\0standing")
"""A label among a row's terms: its text says how things are always to be done, or what somebody
prefers. No text can hold it."""


class Analyzer:
    """Turns text into terms for one language (a Snowball name such as `english`).

    Args:
        language: Snowball stemmer to use; stop words are known for English only.
    """

    def __init__(self, language: str = "english") -> None:
        self.language = language
        stemmer = Stemmer.Stemmer(language, 0)
        self._stop = ENGLISH if language == "english" else frozenset[str]()

        @lru_cache(maxsize=50_000)
        def term(word: str) -> int:
            return hash_term(stemmer.stemWord(word))

        self._term = term
        self._weights: dict[int, float] | None = None if language == "english" else {}
        self._stem = stemmer.stemWord
        self._stems = stemmer.stemWords
        self._neighbours = lru_cache(maxsize=256)(self._near)

    def terms(self, text: str) -> list[int]:
        """Return the hashed terms of a text in order, stop words left out."""
        return self.terms_of(words(text))

    def shares(self, text: str) -> Callable[[str], bool]:
        """Return what tells whether another text shares a term with this one."""
        mine: frozenset[int] | None = None  # most questions never ask

        def shared(other: str) -> bool:
            nonlocal mine
            if mine is None:
                mine = frozenset(self.terms(text))
            return not mine.isdisjoint(self.terms(other))

        return shared

    def terms_of(self, found: Iterable[str]) -> list[int]:
        """Return the hashed terms of words in order, stop words left out."""
        term, stop = self._term, self._stop
        return [term(word) for word in found if word not in stop]

    def weights(self, terms: Iterable[int]) -> list[float]:
        """Return how much each term of a question counts: .1 to 1, less for words that are common.

        A word's weight is log(place) / log(3,000), by its place among the commonest words of the
        language. A small bank cannot tell that "project" says less than "Kubernetes": both stand in
        one of its texts. Known for English only; others count in full.
        """
        known = self._weights
        if known is None:
            known = self._weights = self._common()
        return [known.get(term, 1.0) for term in terms]

    def telling(self, found: Iterable[str]) -> dict[int, float]:
        """Return how telling each term of a question's words is, see `telling.telling`.

        All words of other languages than English tell alike.
        """
        told: dict[int, float] = {}
        for word in found:
            if word not in self._stop:
                term = self._term(word)
                if term not in told:
                    told[term] = telling(word, self._stem(word)) if self._stop else 1.0
        return told

    def doubtful(self, found: Iterable[str]) -> dict[int, str]:
        """Return the terms of words that may stand for others, with these.

        They are long enough and no English, so they may be mistyped, or what they ask of is told
        in other words, see `synonyms`. None in other languages than English: their words are not
        known.
        """
        if not self._stop:
            return {}
        return {self._term(word): word for word in found if self._is_doubtful(word)}

    def _is_doubtful(self, word: str) -> bool:
        if word in self._stop:
            return False
        if word in told_with():
            return True
        long = len(word) >= SHORTEST and word.isascii() and word.isalpha()
        return long and not is_english(word, self._stem(word))

    def neighbours(self, word: str) -> NDArray[np.uint64]:
        """Return the terms of the words that a word may stand for, rising.

        They are those of its line in `synonyms`, or else those one slip away but for common ones.
        """
        return self._neighbours(word)

    def _near(self, word: str) -> NDArray[np.uint64]:
        told = told_with().get(word)
        if told is not None:
            return np.array(sorted(map(hash_term, set(self._stems(list(told))))), dtype=np.uint64)
        places = common_places()
        near = [w for w in slips(word) if places.get(w, _COMMON) >= _COMMON and w not in self._stop]
        return np.array(sorted(map(hash_term, set(self._stems(near)))), dtype=np.uint64)

    def _common(self) -> dict[int, float]:
        found: dict[int, float] = {}
        for word, place in common_places().items():
            if place > _COMMON_WORDS:
                break
            weight = max(_LEAST_WEIGHT, math.log(place) / math.log(_COMMON))
            found.setdefault(hash_term(self._stem(word)), weight)
        return found


def pack(terms: Iterable[int]) -> bytes:
    """Pack terms into the form kept in rows (`Unit.terms`); counts are capped at 65,535."""
    counts = Counter(terms)
    records = np.empty(len(counts), dtype=TERM)
    for i, (term, count) in enumerate(sorted(counts.items())):
        records[i] = (term, min(count, 0xFFFF))
    return records.tobytes()


def unpack_many(
    blobs: list[bytes],
) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.uint16]]:
    """Decode packed terms of many rows.

    Returns:
        hashes, row numbers and counts, each of length = total records, in row order.
    """
    records = np.frombuffer(b"".join(blobs), dtype=TERM)
    sizes = np.fromiter((len(b) // TERM.itemsize for b in blobs), dtype=np.int64, count=len(blobs))
    rows = np.repeat(np.arange(len(blobs), dtype=np.int32), sizes)
    return records["hash"].copy(), rows, records["count"].copy()
