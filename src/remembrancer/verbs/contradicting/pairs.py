"""Pairs of memories of one bank that may contradict each other, and how they are named.

A pair's name holds both ids and what state the memories were in, so nothing need be kept until the
caller has judged it, and the same pair has the same name whoever asks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from ...finding.similar import most_similar
from ...finding.state import IndexState
from ...keeping.view import Reader
from ...nouns.errors import InvalidInput
from ...nouns.memory import BankRef, Layer, Link, LinkType, Unit
from ..lookup import Kept, embedding, kept_of
from .scoring import Method, content_words, judged

FLOOR = 0.7
"""Lowest cosine of two memories about one thing; as for semantic links."""

SHARED = 0.5
"""Least share (Jaccard) of content words, for two short memories that no vectors bring together."""

NEWEST = 200  # memories of a bank that are held against all others
_NEAREST = 6  # of each, itself included
_SHORT = 60  # content words of a memory that is held against others by its words
_STATE = 8  # bytes of a name
_SETTLED = (
    LinkType.CONTRADICTS,
    LinkType.SUPERSEDES,
    LinkType.REVISED_FROM,
    LinkType.INSIGHT_FROM,
)
_LINKS = 1_000  # of one memory that are looked at


class Named(NamedTuple):
    """What a pair's name says."""

    older: bytes
    newer: bytes
    state: bytes


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories of one bank, and how likely they contradict each other (0 to 1).

    `similarity` is the greater of their cosine and their share of content words.
    """

    older: Kept
    newer: Kept
    similarity: float
    score: float
    method: Method

    @property
    def name(self) -> str:
        """What it is called until it has been judged."""
        return name_of(self.older, self.newer)

    @property
    def rank(self) -> tuple[float, bytes, bytes]:
        """Sorts the likeliest first."""
        return -self.score, self.newer.unit.id, self.older.unit.id


def name_of(older: Kept, newer: Kept) -> str:
    """Return the name of a pair in the state that it is in: 80 hex digits.

    It tells whether a memory was changed since, and nothing of its text.
    """
    return f"{older.unit.id.hex()}{newer.unit.id.hex()}{_state(older, newer).hex()}"


def named(name: str) -> Named:
    """Read a name.

    Raises:
        InvalidInput: it is none.
    """
    try:
        raw = bytes.fromhex(name)
    except ValueError:
        raw = b""
    if len(raw) != 32 + _STATE or raw[:16] == raw[16:32]:
        raise InvalidInput(
            "pending_id must be one that prepare has returned: 80 hex digits", field="pending_id"
        )
    return Named(raw[:16], raw[16:32], raw[32:])


def unchanged(pair: Named, older: Kept, newer: Kept) -> bool:
    """Tell whether both memories are as they were when the pair was named."""
    return pair.state == _state(older, newer)


def find(
    reader: Reader, state: IndexState, ref: BankRef, now: int, floor: float = FLOOR
) -> list[Pair]:
    """Return pairs of a bank, the likeliest first: each of the newest memories with its like.

    By their vectors with any memory of the bank, by their words among the newest ones.
    Left out are memories that do not hold (any more), and pairs that are linked as settled.
    """
    newest = reader.newest(NEWEST, layer=Layer.SOURCE)
    fresh = kept_of(reader, ref, newest, vectors=True)
    near = _alike(fresh)
    for kept in fresh:
        if kept.vector is None:
            continue
        for other, cosine in most_similar(state, embedding(kept.vector), _NEAREST):
            if other != kept.unit.id and cosine >= floor:
                ends = sorted((kept.unit.id, other))
                known_so = near.get((ends[0], ends[1]), 0.0)
                near[ends[0], ends[1]] = max(known_so, min(1.0, cosine))
    known = {k.unit.id: k for k in fresh}
    missing = sorted({i for pair in near for i in pair if i not in known})
    known |= {k.unit.id: k for k in kept_of(reader, ref, reader.units(missing))}
    standing = {i: k for i, k in known.items() if _holds(k, now)}
    pairs = _judged(near, standing)
    settled = _settled(reader, pairs)
    return sorted(
        (p for p in pairs if frozenset((p.older.unit.id, p.newer.unit.id)) not in settled),
        key=lambda pair: pair.rank,
    )


def _alike(fresh: Sequence[Kept]) -> dict[tuple[bytes, bytes], float]:
    """Return pairs of memories, by id, that share many of their words."""
    words = [(kept.unit.id, content_words(kept.unit.text)) for kept in fresh]
    words = sorted((each for each in words if 0 < len(each[1]) <= _SHORT), key=lambda each: each[0])
    found = {}
    for (first, mine), (second, theirs) in combinations(words, 2):
        share = len(mine & theirs) / len(mine | theirs)
        if share >= SHARED:
            found[first, second] = share
    return found


def in_order(one: Unit, other: Unit) -> bool:
    """Tell whether `one` was said before `other`."""
    return (one.mentioned_at, one.id) <= (other.mentioned_at, other.id)


def _judged(
    near: Mapping[tuple[bytes, bytes], float], standing: Mapping[bytes, Kept]
) -> list[Pair]:
    pairs = []
    for (first, second), cosine in near.items():
        if first not in standing or second not in standing:
            continue
        older, newer = standing[first], standing[second]
        if not in_order(older.unit, newer.unit):
            older, newer = newer, older
        verdict = judged(older.unit.text, newer.unit.text, cosine)
        if verdict is not None:
            pairs.append(Pair(older, newer, cosine, verdict.score, verdict.method))
    return pairs


def _holds(kept: Kept, now: int) -> bool:
    ended = kept.unit.valid_until
    return kept.holds and kept.unit.layer is Layer.SOURCE and (ended is None or ended > now)


def _settled(reader: Reader, pairs: Sequence[Pair]) -> set[frozenset[bytes]]:
    ids = sorted({i for p in pairs for i in (p.older.unit.id, p.newer.unit.id)})
    links: Iterable[Link] = reader.neighbours(ids, _SETTLED, 1, _LINKS) if ids else ()
    return {frozenset((link.source, link.target)) for link in links}


def _state(older: Kept, newer: Kept) -> bytes:
    """Digest when each memory was made and changed, and whether it holds: nothing of its text."""
    hasher = hashlib.blake2b(digest_size=_STATE)
    for kept in (older, newer):
        unit = kept.unit
        for value in (unit.created_at, unit.updated_at, unit.valid_until, kept.edits, kept.holds):
            hasher.update(repr(value).encode() + b";")
    return hasher.digest()
