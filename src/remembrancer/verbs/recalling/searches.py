"""What a recall by strategies is asked and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from ...finding.composite import ScoringWeights
from ...nouns.errors import InvalidInput, TooLarge
from ...nouns.ids import parse_id
from ...nouns.memory import BankRef, LinkType, Unit
from ...nouns.text import clean
from ..lookup import Kept
from ..remember import MAX_CONTENT_BYTES
from .origins import Origin


class Way(StrEnum):
    """How memories are found."""

    SIMILARITY = "similarity"
    TEMPORAL = "temporal"
    CAUSAL = "causal"
    ANALOGICAL = "analogical"


@dataclass(frozen=True, slots=True)
class Search:
    """One strategy. What is None is the default.

    `bank`: None for all that the caller reaches. `since` (inclusive) and `until` (exclusive) bound
    when a memory was told, in microseconds. `seed`: where a causal walk begins; else the memory
    that the cue names by its id, or is most like. `types`: links that it follows; none given: all.
    `alpha`: what meaning counts against shape in an analogy.
    """

    way: Way
    bank: BankRef | None = None
    top_k: int | None = None
    since: int | None = None
    until: int | None = None
    seed: bytes | None = None
    types: tuple[LinkType, ...] = ()
    max_depth: int = 5
    alpha: float = 0.5


@dataclass(frozen=True, slots=True)
class Detail:
    """Why a memory was found. `distance` is 1 - cosine, `rank` 0 the newest."""

    way: Way
    relevance: float
    distance: float | None = None
    timestamp: int | None = None
    rank: int | None = None
    depth: int | None = None
    link_type: LinkType | None = None
    seed: bytes | None = None
    embedding_similarity: float | None = None
    structural_similarity: float | None = None


class Reached(NamedTuple):
    """One memory of the answer; `relevance` is the best of its details'."""

    kept: Kept
    score: float
    relevance: float
    details: tuple[Detail, ...]


class Failure(NamedTuple):
    """A strategy that could not be followed, or not wholly, and why."""

    way: Way
    message: str


class Answered(NamedTuple):
    """Memories by score, and what failed."""

    memories: list[Reached]
    failures: list[Failure]


@dataclass(frozen=True, slots=True)
class Asked:
    """What else may be asked. `like`: the shape of what an analogy looks for."""

    top_k: int = 10
    weights: ScoringWeights = field(default_factory=ScoringWeights)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    origin: Origin | None = None
    reinforce: bool = True
    vectors: bool = False


def checked(cue: str, searches: Sequence[Search], asked: Asked) -> str:
    """Return a cue as it is looked for.

    Raises:
        InvalidInput: it, a strategy, or a bound cannot be taken.
    """
    cue = clean(cue).strip()
    size = len(cue.encode())
    if size > MAX_CONTENT_BYTES:
        raise TooLarge(
            f"cue has {size} bytes; the limit is {MAX_CONTENT_BYTES}",
            field="cue",
            limit=MAX_CONTENT_BYTES,
        )
    if not searches:
        raise InvalidInput("at least one strategy must be given", field="strategies", limit=1)
    if asked.top_k < 0:
        raise InvalidInput("top_k must be at least 0", field="top_k", limit=0)
    for search in searches:
        seeded = search.way is Way.CAUSAL and search.seed is not None  # nothing else begins there
        if not cue and search.way is not Way.TEMPORAL and not seeded:
            raise InvalidInput("cue must not be empty", field="cue", limit=1)
        if not 0 <= search.alpha <= 1:
            raise InvalidInput(
                "analogical_alpha must be from 0 to 1", field="analogical_alpha", limit=1
            )
        first, end = search.since, search.until
        if first is not None and end is not None and end < first:
            raise InvalidInput("time_range must not end before it starts", field="time_range")
    return cue


def by_meaning(search: Search, cue: str) -> bool:
    """Tell whether a strategy needs the vector of the cue."""
    if search.way is Way.CAUSAL:
        return search.seed is None and named(cue) is None
    return search.way is not Way.TEMPORAL


def named(cue: str) -> bytes | None:
    """Return the id that a cue is."""
    try:
        return parse_id(cue)
    except InvalidInput:
        return None


def within(unit: Unit, search: Search) -> bool:
    """Tell whether a memory was told in the period that a strategy is bound to."""
    after = search.since is None or unit.mentioned_at >= search.since
    return after and (search.until is None or unit.mentioned_at < search.until)
