"""Tag filters over what is kept as records: directives and mental models."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Literal

from fastapi import Query

from ...nouns.text import clean

TagsQuery = Annotated[list[str] | None, Query(description="See `tags_match`.")]
MatchQuery = Annotated[Literal["any", "all", "any_strict", "all_strict", "exact"], Query()]


def passes(tags: Collection[str], wanted: Sequence[str] | None, match: str) -> bool:
    """Tell whether something with tags is wanted; without wanted tags all is, but for `exact`."""
    have, asked = set(tags), {clean(tag) for tag in wanted or ()}
    if match == "exact":
        return have == asked
    if not asked or (not have and not match.endswith("_strict")):
        return True
    return asked <= have if match.startswith("all") else not asked.isdisjoint(have)
