"""A plain BM25, the yardstick that stands beside every retrieval figure.

Words of two characters or more, lower-case, stop words left out, Snowball English stems; idf
ln(1 + (N - n + .5) / (n + .5)) as in Lucene (Robertson and Zaragoza, 2009).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence

import Stemmer

# Lucene's English stop words, the set of its EnglishAnalyzer.
LUCENE_STOP = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with".split()
)

_WORD = re.compile(r"\w\w+")


class Bm25:
    """An index over texts; scores are k1/b BM25 with the usual defaults."""

    def __init__(
        self,
        texts: Sequence[str],
        stop: Collection[str] = LUCENE_STOP,
        k1: float = 1.5,
        b: float = 0.75,
    ) -> None:
        self._stop = stop
        self._stemmer = Stemmer.Stemmer("english")
        counts = [Counter(self.terms(text)) for text in texts]
        lengths = [sum(c.values()) for c in counts]
        mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for i, count in enumerate(counts):
            norm = k1 * (1 - b + b * lengths[i] / mean)
            for term, tf in count.items():
                self._postings.setdefault(term, []).append((i, tf * (k1 + 1) / (tf + norm)))
        self._n = len(texts)

    def terms(self, text: str) -> list[str]:
        """Return the stems of a text."""
        words = [w for w in _WORD.findall(text.lower()) if w not in self._stop]
        return list(self._stemmer.stemWords(words))

    def scores(self, question: str) -> dict[int, float]:
        """Return the score of every text that shares a term with the question."""
        scores: dict[int, float] = {}
        for term in self.terms(question):
            postings = self._postings.get(term, [])
            idf = math.log(1 + (self._n - len(postings) + 0.5) / (len(postings) + 0.5))
            for i, weight in postings:
                scores[i] = scores.get(i, 0.0) + idf * weight
        return scores

    def top(self, question: str, k: int) -> list[int]:
        """Return the best k texts, earlier ones first among equals."""
        scores = self.scores(question)
        return sorted(scores, key=lambda i: (-scores[i], i))[:k]
