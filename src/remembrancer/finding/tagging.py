"""Tag filters as masks over a part."""

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


def tag_mask(part: Part, wanted: TagFilter) -> Mask:
    """Return the rows of a part that a filter lets through."""
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
