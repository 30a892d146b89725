"""Observation scopes: the sets of tags for whose observations a memory counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from ...keeping.view import Reader
from ...nouns.errors import InvalidInput
from ...nouns.memory import Document, Unit
from ..retaining.rewriting import told_with

COMBINED_TAGS = 6
"""Of `all_combinations`: more tags have too many sets (6 have 63)."""

Scope = tuple[str, ...]  # tags, sorted
Told = str | Sequence[Sequence[str]] | None


def scopes_of(tags: Sequence[str], told: Told) -> set[Scope]:
    """Return the scopes of a memory.

    Args:
        tags: that it has.
        told: `combined` (or None): all of its tags together; `per_tag`: each one; `shared`: none;
            `all_combinations`: each set of them that is not empty; or the sets themselves.
    """
    whole = scope_of(tags)
    if told is None or told == "combined":
        return {whole}
    if told == "shared":
        return {()}
    if told == "per_tag":
        return {(tag,) for tag in whole} or {()}
    if told == "all_combinations":
        some = whole[:COMBINED_TAGS]
        sizes = range(1, len(some) + 1)
        return {each for size in sizes for each in combinations(some, size)} or {()}
    return {scope_of(each) for each in told}


def scope_of(tags: Sequence[str]) -> Scope:
    """Return some tags as a scope."""
    return tuple(sorted(set(tags)))


def check(tags: Sequence[str], told: Told, where: str) -> None:
    """Refuse a scope that cannot be kept.

    Raises:
        InvalidInput: `all_combinations` of too many tags.
    """
    if told == "all_combinations" and len(set(tags)) > COMBINED_TAGS:
        raise InvalidInput(
            f"{where} is all_combinations, and the item has {len(set(tags))} tags; the limit is "
            f"{COMBINED_TAGS}: name the sets of tags that you want instead",
            field=where,
            limit=COMBINED_TAGS,
        )


def scopes_in(reader: Reader, units: Sequence[Unit]) -> Mapping[bytes, set[Scope]]:
    """Return the scopes of memories, by id, from what their documents were told."""
    held = reader.recalled([unit.id for unit in units])
    names = {each.unit.id: each.document for each in held if each.document is not None}
    documents: dict[str, Document | None] = {}
    for name in names.values():
        if name not in documents:
            documents[name] = reader.document(name)
    found = {}
    for unit in units:
        told = told_with(documents.get(names.get(unit.id, "")), unit)
        found[unit.id] = scopes_of(unit.tags, told.get("observation_scopes"))
    return found
