"""Tag filters over what is kept as records: directives, mental models, knowledge pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from typing import Annotated, Literal

from fastapi import Query

from ...finding.tag_groups import read_tag_groups
from ...finding.tagging import AllOf, AnyOf, NoneOf, TagFilter, TagNode
from ...nouns.text import clean
from .errors import Fault, Refused

GROUPS_CHARS = 4_000  # of `tag_groups` in a query, each of which may be twelve bytes of its head

TagsQuery = Annotated[list[str] | None, Query(description="See `tags_match`.")]
MatchQuery = Annotated[Literal["any", "all", "any_strict", "all_strict", "exact"], Query()]
GroupsQuery = Annotated[
    str | None,
    Query(max_length=GROUPS_CHARS, description="As in recall, as JSON; met beside `tags`."),
]


def passes(tags: Collection[str], wanted: Sequence[str] | None, match: str) -> bool:
    """Tell whether something with tags is wanted; without wanted tags all is, but for `exact`."""
    have, asked = set(tags), {clean(tag) for tag in wanted or ()}
    if match == "exact":
        return have == asked
    if not asked or (not have and not match.endswith("_strict")):
        return True
    return asked <= have if match.startswith("all") else not asked.isdisjoint(have)


def tag_rule(
    tags: TagsQuery = None, tags_match: MatchQuery = "any", tag_groups: GroupsQuery = None
) -> Callable[[Collection[str]], bool] | None:
    """Read what a query asks of tags; None when it asks nothing.

    Raises:
        Refused, InvalidInput: the groups are none.
    """
    groups = _groups(tag_groups)
    if not tags and tags_match != "exact" and groups is None:
        return None
    # `exact` without tags asks for what is untagged, unless groups alone are meant.
    alone = groups is not None and not tags

    def rule(have: Collection[str]) -> bool:
        return (alone or passes(have, tags, tags_match)) and _meets(have, groups)

    return rule


def _groups(text: str | None) -> TagNode | None:
    if not text:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        why = "tag_groups must be a list of groups as JSON"
        raise Refused(422, Fault(why, where="query", path=("tag_groups",))) from None
    return read_tag_groups(value)


def _meets(have: Collection[str], wanted: TagNode | None) -> bool:
    match wanted:
        case None:
            return True
        case TagFilter():
            return passes(have, wanted.tags, wanted.match)
        case AllOf():
            return all(_meets(have, each) for each in wanted.inner)
        case AnyOf():
            return any(_meets(have, each) for each in wanted.inner)
        case NoneOf():
            return not _meets(have, wanted.inner)
