"""Whose a memory is: mem0's user, agent, run and app, as a bank and tags of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ....finding.tagging import AllOf, TagFilter, TagMatch, TagNode
from ....nouns.errors import InvalidInput, TooLarge
from ....nouns.text import clean

ENTITIES = ("user_id", "agent_id", "run_id", "app_id")
"""The ids that memories have; the first one given names the bank."""

MAX_ID_CHARS = 200

PREFIX = "mem0:"
"""How the names of the banks begin that hold mem0's memories."""

_KINDS = {"user_id": "user", "agent_id": "agent", "run_id": "run", "app_id": "app"}


def entity_id(value: Any, field: str) -> str:
    """Return an id as it is kept.

    Raises:
        InvalidInput: it is no text, empty, or holds what is no text.
        TooLarge: it is too long.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{field} must be a text that is not empty", field=field, limit=1)
    found = value.strip()
    if clean(found) != found or not found.isprintable():
        raise InvalidInput(f"{field} must hold no control characters", field=field)
    if len(found) > MAX_ID_CHARS:
        raise TooLarge(
            f"{field} has {len(found)} characters; the limit is {MAX_ID_CHARS}",
            field=field,
            limit=MAX_ID_CHARS,
        )
    return found


@dataclass(frozen=True, slots=True)
class Scope:
    """The ids of one memory, by name, those that it has."""

    ids: Mapping[str, str]

    @property
    def bank(self) -> str:
        """The name of the bank where it is kept: of the first id that it has.

        A bank is one mind: what one user says of herself never replaces what another one said.
        """
        name = next(name for name in ENTITIES if name in self.ids)
        return f"{PREFIX}{_KINDS[name]}:{self.ids[name]}"

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that it is found by."""
        return tuple(tag_of(name, value) for name, value in self.ids.items())


def scope_of(given: Mapping[str, Any]) -> Scope:
    """Return the scope of ids as a caller names them; None counts as left out.

    Raises:
        InvalidInput: there is none, or one that cannot be taken.
    """
    ids = {n: entity_id(given[n], n) for n in ENTITIES if given.get(n) is not None}
    if not ids:
        raise InvalidInput(
            "at least one of user_id, agent_id, run_id is needed: whose memory is it?",
            field="user_id",
        )
    return Scope(ids)


def tag_of(name: str, value: str) -> str:
    """Return the tag of an id."""
    return f"{name}:{value}"


def user_bank(user_id: str) -> str:
    """Return the name of the bank of a user's memories."""
    return Scope({"user_id": user_id}).bank


def tags_wanted(wanted: Mapping[str, frozenset[str]]) -> TagNode | None:
    """Return a filter of the index that lets through what has one of the ids of each name."""
    leaves = [
        TagFilter(sorted(tag_of(name, v) for v in values), TagMatch.ANY_STRICT)
        for name, values in wanted.items()
    ]
    return AllOf(leaves) if leaves else None


def tags_listed(wanted: Mapping[str, frozenset[str]]) -> TagFilter | None:
    """Return the part of `tags_wanted` that a listing can be narrowed by."""
    single = [tag_of(name, next(iter(v))) for name, v in wanted.items() if len(v) == 1]
    return TagFilter(single, TagMatch.ALL_STRICT) if single else None
