"""How arms become one score: their weights, their scaling, and the guard over the sum."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

FULL = 30  # words from which on a text counts as saying much
SURE = 0.2  # how far an arm's best stands out, of its whole span, for the guard to hold it
HELD = 5  # place that it then has at worst


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each arm counts. Their sum bounds a score."""

    text: float = 0.2  # BM25 of the text
    window: float = 0.2  # BM25 of the text with its short predecessors
    vector: float = 0.3  # cosine of the text
    window_vector: float = 0.3  # cosine of the text after its predecessor
    speaker: float = 0.15  # the question names who said it
    role: float = 0.3  # said by the one the question is about: the user, or the assistant
    time: float = 0.2  # overlaps the time that the question names
    length: float = 0.35  # says much: log(1 + words) / log(1 + FULL), 1 at most
    standing: float = 0.2  # says how things are always to be done, or what somebody prefers


class Arm(IntEnum):
    """The arms in the order of `Candidates.arms`; each has a weight of its name."""

    TEXT = 0  # BM25
    WINDOW = 1
    VECTOR = 2  # cosine, NaN when not embedded
    WINDOW_VECTOR = 3
    SPEAKER = 4  # these are 0 or 1
    ROLE = 5
    TIME = 6  # 0, .5 or 1
    LENGTH = 7  # 0 to 1
    STANDING = 8


SCALED = Arm.SPEAKER  # the arms before it are scaled over the candidates


def shares(arms: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
    """Return what each arm adds to the scores of candidates, of the shape of their `arms`."""
    result: NDArray[np.float64] = _factors(weights) * np.concatenate(
        [scaled(arms[:SCALED]), arms[SCALED:]]
    )
    return result


@lru_cache(maxsize=64)
def _factors(weights: Weights) -> NDArray[np.float64]:
    """Return the weights of the arms as a column."""
    return np.array([[getattr(weights, arm.name.lower())] for arm in Arm])


def summed(shared: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores: the sum of what each arm adds, see `shares`.

    Arm by arm: numpy's own sum takes another order, with other last bits, for other memory layouts.
    """
    total = np.zeros(shared.shape[1])
    for each in shared:
        total += each
    return total


def scaled(arms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale each row to [0, 1] by its lowest and highest; all equal and missing (NaN) give 0."""
    if not arms.size:
        return arms
    low = np.fmin.reduce(arms, axis=1, keepdims=True)
    span = np.fmax.reduce(arms, axis=1, keepdims=True) - low
    span[~(span > 0)] = np.inf
    result: NDArray[np.float64] = (arms - low) / span
    result[np.isnan(result)] = 0.0
    return result


def guarded(order: NDArray[np.int64], shared: NDArray[np.float64]) -> NDArray[np.int64]:
    """See to it that fusion does not bury what one arm is sure of.

    The best of an arm whose next falls behind it by `SURE` of the arm's span stands among the first
    `HELD`. Measured on chats it costs nothing, since fusion has these there; it holds where an arm
    stands alone, such as for a code that only the keyword arm can find.

    Args:
        order: places, best first.
        shared: what each arm adds to each score, see `shares`.

    Returns:
        The same places.
    """
    if not shared.size:
        return order
    arms = shared[:SCALED]
    best = arms.max(axis=1, keepdims=True)
    alone = (arms > (1 - SURE) * best).sum(axis=1) == 1
    sure = set(arms.argmax(axis=1)[alone & (best[:, 0] > 0)].tolist())
    places = order.tolist()
    if sure <= set(places[:HELD]):
        return order
    others = [place for place in places if place not in sure][: HELD - len(sure)]
    head = sure.union(others)
    first = [place for place in places if place in head]
    return np.array([*first, *(p for p in places if p not in head)], dtype=np.int64)
