"""Tag filters, and trees of them, as masks over a part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from .part import Mask, Part
from .terms import hash_term


class TagMatch(StrEnum):
    """How a unit's tags must meet the wanted ones (Hindsight's `tags_match`)."""

    ANY = "any"  # one of them, or untagged
    ALL = "all"  # all of them, or untagged
    ANY_STRICT = "any_strict"
    ALL_STRICT = "all_strict"
    EXACT = "exact"  # these and no others


@dataclass(frozen=True, slots=True)
class TagFilter:
    """Wanted tags and how they must be met."""

    tags: Sequence[str]
    match: TagMatch = TagMatch.ANY


@dataclass(frozen=True, slots=True)
class AllOf:
    """Lets through what every one of some filters does; all when there is none."""

    inner: Sequence[TagNode]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Lets through what one of some filters does; nothing when there is none."""

    inner: Sequence[TagNode]


@dataclass(frozen=True, slots=True)
class NoneOf:
    """Lets through what a filter does not."""

    inner: TagNode


TagNode = TagFilter | AllOf | AnyOf | NoneOf


def tag_mask(part: Part, wanted: TagNode) -> Mask:
    """Return the rows of a part that a filter lets through. Its depth is the caller's to bound."""
    match wanted:
        case TagFilter():
            return _leaf(part, wanted)
        case NoneOf(inner):
            return ~tag_mask(part, inner)
        case AllOf(several):
            return _joined(np.logical_and, part, several, np.ones(part.n, dtype=bool))
        case AnyOf(several):
            return _joined(np.logical_or, part, several, np.zeros(part.n, dtype=bool))


def _joined(join: np.ufunc, part: Part, inner: Sequence[TagNode], mask: Mask) -> Mask:
    for node in inner:
        join(mask, tag_mask(part, node), out=mask)
    return mask


def _leaf(part: Part, wanted: TagFilter) -> Mask:
    hits = np.zeros(part.n, dtype=np.int32)
    tags = list(dict.fromkeys(wanted.tags))
    for where in part.tags.find(np.array([hash_term(tag) for tag in tags], dtype=np.uint64)):
        hits[part.tags.docs[where]] += 1
    untagged = part.columns.tag_count == 0
    mask: Mask
    match wanted.match:
        case TagMatch.ANY:
            mask = (hits > 0) | untagged
        case TagMatch.ALL:
            mask = (hits == len(tags)) | untagged
        case TagMatch.ANY_STRICT:
            mask = hits > 0
        case TagMatch.ALL_STRICT:
            mask = hits == len(tags)
        case TagMatch.EXACT:
            mask = (hits == len(tags)) & (part.columns.tag_count == len(tags))
    return mask
