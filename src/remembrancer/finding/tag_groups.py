"""Reads trees of tag filters as JSON has them: leaves of `tags`, joined by `and`, `or`, `not`."""

from __future__ import annotations

from typing import Any

from ..nouns.errors import InvalidInput
from ..nouns.text import clean
from .tagging import AllOf, AnyOf, NoneOf, TagFilter, TagMatch, TagNode

MAX_DEPTH = 10
MAX_GROUPS = 100
MAX_TAGS = 100  # of one group
MAX_CHARS = 256  # of a tag

_MATCHES = [match.value for match in TagMatch]
_KEYS = ("tags", "and", "or", "not")


def read_tag_groups(value: Any) -> TagNode | None:
    """Read the groups, all of which must be met; None for null and for none.

    Raises:
        InvalidInput: it is no such tree, or too deep or large; the field says where.
    """
    if value is None:
        return None
    if not isinstance(value, list):
        raise _wrong("tag_groups", "must be a list of groups")
    reader = _Reader()
    groups = [reader.node(each, f"tag_groups.{i}", 1) for i, each in enumerate(value)]
    return AllOf(groups) if groups else None


class _Reader:
    """Reads one tree and counts its groups."""

    def __init__(self) -> None:
        self._seen = 0

    def node(self, value: Any, where: str, depth: int) -> TagNode:
        """Read a group."""
        self._seen += 1
        if self._seen > MAX_GROUPS:
            raise _wrong("tag_groups", f"holds more than {MAX_GROUPS} groups", MAX_GROUPS)
        if depth > MAX_DEPTH:
            raise _wrong("tag_groups", f"is nested more than {MAX_DEPTH} deep", MAX_DEPTH)
        keys = [key for key in _KEYS if isinstance(value, dict) and key in value]
        if len(keys) != 1:
            raise _wrong(where, "must have one of the keys tags, and, or, not")
        key = keys[0]
        if key == "tags":
            return _leaf(value, where)
        inner = value[key]
        if key == "not":
            return NoneOf(self.node(inner, f"{where}.not", depth + 1))
        if not isinstance(inner, list) or not inner:
            raise _wrong(f"{where}.{key}", "must be a list of at least one group")
        nodes = [self.node(n, f"{where}.{key}.{i}", depth + 1) for i, n in enumerate(inner)]
        return AllOf(nodes) if key == "and" else AnyOf(nodes)


def _leaf(value: dict[str, Any], where: str) -> TagFilter:
    tags = value["tags"]
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise _wrong(f"{where}.tags", "must be a list of texts")
    if len(tags) > MAX_TAGS:
        raise _wrong(f"{where}.tags", f"holds more than {MAX_TAGS} tags", MAX_TAGS)
    if any(len(tag) > MAX_CHARS for tag in tags):
        raise _wrong(f"{where}.tags", f"holds a tag of more than {MAX_CHARS} characters", MAX_CHARS)
    match = value.get("match", TagMatch.ANY_STRICT.value)
    if match not in _MATCHES:
        raise _wrong(f"{where}.match", f"must be one of {', '.join(_MATCHES)}")
    return TagFilter(tuple(clean(tag) for tag in tags), TagMatch(match))


def _wrong(where: str, what: str, limit: int | None = None) -> InvalidInput:
    return InvalidInput(f"{where} {what}", field=where, limit=limit)
