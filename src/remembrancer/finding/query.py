"""What is searched for, and what is found."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from .calibration import Calibration, Features
from .fusion import Weights
from .part import Mask
from .scan import Floats
from .spelling import Neighbours
from .tagging import TagNode


@dataclass(frozen=True, slots=True)
class Query:
    """What to search for.

    `words` are the question's (`terms.words`), `terms` their hashes (`Analyzer.terms`). `vector` is
    float32 (dim,) of length 1 or None (keywords alone). `role` gets the role bonus. `since`/`until`
    is the half-open time the question is about, in microseconds: a preference, not a filter.
    `kinds` and `tags` are filters, `said_by` (microseconds) one for what was said by then, or had
    happened. `term_weights` says how much each term counts in the keyword
    arms, 1 where it is silent (`Analyzer.weights`). The terms that are `doubtful` may be mistyped,
    and stand for what the bank has of their `neighbours` (see `spelling`). With a `calibration` the
    candidates get their relevance; `telling` says how telling each term is for it
    (`Analyzer.telling`).
    """

    words: Sequence[str]
    terms: Sequence[int]
    vector: Floats | None = None
    role: int = 0
    since: int | None = None
    until: int | None = None
    kinds: Collection[int] | None = None
    tags: TagNode | None = None
    said_by: int | None = None
    weights: Weights = field(default_factory=Weights)
    term_weights: Mapping[int, float] | None = None
    calibration: Calibration | None = None
    telling: Mapping[int, float] = field(default_factory=dict)
    doubtful: Mapping[int, str] = field(default_factory=dict)
    neighbours: Neighbours | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """Units found, best first.

    `ids` is (n,) of S16, see `id_list`; `score` (n,) the fused score; `arms` (len(Arm), n) the raw
    value of each arm. `known` is the probability that any of them answers, `relevance` (n,) that
    each of them does; None without a calibration. `features` is what these were made from. `size`
    is the number of rows searched.
    """

    ids: NDArray[np.bytes_]
    score: NDArray[np.float64]
    arms: NDArray[np.float64]
    known: float | None = None
    relevance: NDArray[np.float64] | None = None
    features: Features | None = None
    size: int = 0

    def id_list(self, start: int = 0, end: int | None = None) -> list[bytes]:
        """Return ids as bytes; made when asked for, since few of them are looked at."""
        raw = self.ids[start:end].tobytes()
        return [raw[i : i + 16] for i in range(0, len(raw), 16)]

    def only(self, kept: Mask) -> Candidates:
        """Return those that a mask keeps."""
        return self.taken(np.flatnonzero(kept))

    def taken(self, places: NDArray[np.int64]) -> Candidates:
        """Return those at some places, in that order."""
        return replace(
            self,
            ids=self.ids[places],
            score=self.score[places],
            arms=self.arms[:, places],
            relevance=None if self.relevance is None else self.relevance[places],
            features=None,
        )
