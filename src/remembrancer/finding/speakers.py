"""Which speakers a question names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .part import Part
from .scan import Rows
from .terms import words


def named_speakers(asked: Collection[str], speakers: Collection[str]) -> frozenset[str]:
    """Return the speakers that words name, in full or by a part of 3 letters or more."""
    found = set()
    for speaker in speakers:
        parts = _words(speaker)
        if parts and (
            all(p in asked for p in parts) or any(p in asked for p in parts if len(p) > 2)
        ):
            found.add(speaker)
    return frozenset(found)


@lru_cache(maxsize=4_096)
def _words(name: str) -> tuple[str, ...]:
    return tuple(words(name))


def speakers_of(parts: Sequence[Part]) -> Collection[str]:
    """Return the names of all speakers."""
    return parts[0].speakers if len(parts) == 1 else {n for p in parts for n in p.speakers}


def said_by(part: Part, rows: Rows, named: frozenset[str]) -> NDArray[np.bool_]:
    """Return which rows were said by one of the named speakers."""
    hit = np.array([*(name in named for name in part.speakers), False], dtype=bool)
    said: NDArray[np.bool_] = hit[part.columns.speaker[rows]]
    return said
