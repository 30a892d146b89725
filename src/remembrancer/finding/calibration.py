"""How likely it is that a bank knows the answer, and that a candidate bears on the question.

Two logistic models over few general features. The first asks whether anything in the bank answers,
from the best candidate of each feature; the second, given that, which candidates do. Their product
is the relevance of a candidate. Cosines mean something else for each embedding model, so there is a
calibration for each model that was measured, one for words alone, and none for others: then
relevance is unknown and nothing is cut off by it.

The coefficients stand in calibration.json with the figures of their cross-validation;
`python -m bench.calibrate` fits them again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .wording import Wording

WORDS = "words"
"""The calibration for searches without a vector."""

KNOWN = ("cosine", "coverage", "rare", "missing", "speaker", "time", "size")
RELEVANT = (
    "cosine",
    "gap",
    "behind",
    "novel",
    "exclusive",
    "speaker",
    "role",
    "time",
    "length",
    "size",
)
# Cosines in banks of few rows, by notes and chats: to unrelated questions 95 of 100 banks have none
# that is that near and that far above their median.
FEW = 15
_NEAR, _APART, _ALONE = 0.56, 0.12, 0.62
SMALLEST, _LARGEST = 3, 1_000  # rows between which size makes a difference: what was measured

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Features:
    """What the models see of one search.

    `known` is (len(KNOWN),): the highest cosine of any candidate, the highest share of the
    question's words (by BM25 of text and window, so it may pass 1), its most telling word that a
    candidate has and the most telling that none has, whether one was said by a speaker that is
    named or overlaps the time that is named, and the logarithm of the rows searched.

    `relevant` is (len(RELEVANT), n), a column a candidate: its cosine (the higher of its two), how
    far that is below the best (without vectors: its share of the question's words below the best),
    what its words tell (see `wording`), the bonuses, how much it says (0 to 1), and again the rows
    searched.
    """

    known: Values
    relevant: Values


@dataclass(frozen=True, slots=True)
class Logistic:
    """p = 1 / (1 + exp(-(intercept + coefficients . features)))."""

    intercept: float
    coefficients: Values

    def __call__(self, features: Values) -> Values:
        """Return the probability for (k,) or (k, n) features: () or (n,)."""
        # Summed feature by feature: a product of matrices may give other last bits for a column
        # among others than alone.
        total = np.full(features.shape[1:], self.intercept)
        for coefficient, values in zip(self.coefficients.tolist(), features, strict=True):
            total = total + coefficient * values
        result: Values = 1 / (1 + np.exp(-total))
        return result


@dataclass(frozen=True, slots=True)
class Calibration:
    """Both models of one embedding model, and the thresholds that go with them.

    `answers` is the probability below which a bank is taken to know nothing, `quotes` the stricter
    one of reflect, which answers in words.
    """

    known: Logistic
    relevant: Logistic
    answers: float
    quotes: float

    def knows(self, seen: Features, size: int) -> float:
        """Return how likely it is that a bank of `size` rows answers.

        How near a text is to a question in the same words depends on how the texts of a bank are
        put, which a few rows tell: there one that is nearer than the others by far is an answer.
        """
        known = float(self.known(seen.known))
        near = seen.relevant[0]
        if size >= FEW or not len(near):
            return known
        best = near.max()
        apart = best - np.median(near) >= _APART if len(near) > 2 else best >= _ALONE
        return max(known, self.quotes) if best >= _NEAR and apart else known


@cache
def calibration_of(model: str | None) -> Calibration | None:
    """Return the calibration for an embedding model's name, `WORDS` or None for words alone.

    None when the model was not measured.
    """
    read = _file().get(model or WORDS)
    return None if read is None else from_json(read)


def from_json(read: Mapping[str, Any]) -> Calibration:
    """Return a calibration as the file has it."""
    return Calibration(
        _logistic(read["known"], KNOWN),
        _logistic(read["relevant"], RELEVANT),
        read["answers"],
        read["quotes"],
    )


def features(
    *,
    cosine: Values | None,
    window: Values,
    speaker: Values,
    role: Values,
    time: Values,
    length: Values,
    words: Wording,
    whole: float,
    size: int,
) -> Features:
    """Return what the models see of (n,) candidates.

    Args:
        cosine: the higher of each one's cosines, NaN where it is not embedded; None without a
            vector.
        window: BM25 of the text with what was said before it.
        speaker, role, time, length: the bonuses, see `search.Arm`.
        words: what the question's words tell of them.
        whole: BM25 of a text that says all of the question, see `keyword.Matched`.
        size: rows searched.
    """
    n = len(window)
    near = np.zeros(n) if cosine is None else np.fmax(cosine, 0.0)
    covered = window / whole if whole > 0 else np.zeros(n)
    rows = math.log(min(max(size, SMALLEST), _LARGEST))
    best, most = near.max(initial=0.0), covered.max(initial=0.0)
    hints = [speaker.max(initial=0.0), time.max(initial=0.0)]
    known = [best, most, words.rare, words.missing, *hints, rows]
    gap = near - best if cosine is not None else covered - most
    told = [words.behind, words.novel, words.exclusive]
    columns = [near, gap, *told, speaker, role, time, length, np.full(n, rows)]
    return Features(np.array(known), np.stack(columns))


def _logistic(read: Mapping[str, float], names: tuple[str, ...]) -> Logistic:
    return Logistic(read["intercept"], np.array([read[name] for name in names]))


@cache
def _file() -> dict[str, Any]:
    text = files(__package__).joinpath("calibration.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
