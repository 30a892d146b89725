"""Tells which answers only ask: a question is no answer to a question."""

from __future__ import annotations

from collections.abc import Iterable

from ...keeping.view import Recalled
from ...nouns.memory import Layer
from ...reading.bare_questions import asks_for_questions, taken_for_granted, words_of
from .recollection import Answer


class Echoes:
    """Of one question: whether a memory that was found for it says nothing.

    Such a memory only asks, nothing was read from it, and what it takes for granted stands in the
    question itself. Of a question about what was asked, none is.
    """

    def __init__(self, question: str) -> None:
        self._none = asks_for_questions(question)
        self._question = question
        self._words: frozenset[str] | None = None

    def __call__(self, row: Recalled) -> bool:
        """Tell whether a memory only asks."""
        if self._none or row.facts or row.unit.layer is not Layer.SOURCE:
            return False
        granted = taken_for_granted(row.unit.text)
        if granted is None:
            return False
        if granted and self._words is None:
            self._words = words_of(self._question)
        return not granted or granted <= (self._words or granted)


def told_first(answers: Iterable[Answer]) -> list[Answer]:
    """Return answers with those that only ask after all others."""
    return sorted(answers, key=_asks)


def _asks(answer: Answer) -> bool:
    return answer.asks
