"""What the plain arguments of the library become; each is refused by its name when it cannot."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ...finding.tag_groups import read_tag_groups
from ...finding.tagging import TagFilter, TagMatch, TagNode
from ...nouns.clock import to_us
from ...nouns.errors import InvalidInput
from ...nouns.memory import Kind
from ...verbs.prime import Order
from ...verbs.recall import MinScores
from ...verbs.retaining.units import Item

Messages = Sequence[Mapping[str, Any]]
_SCOPES = ("combined", "per_tag", "all_combinations", "shared")


def text_of(content: str | Messages) -> str:
    """Return what is kept as text: messages, or one, as JSON; none as nothing."""
    if isinstance(content, str):
        return content
    if not content:
        return ""
    messages = [content] if isinstance(content, Mapping) else content
    if isinstance(messages, bytes | bytearray) or not isinstance(messages, Iterable):
        raise InvalidInput(
            f"content must be a text or a list of messages, and not {_kind(content)}",
            field="content",
        )
    messages = list(messages)
    for place, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise InvalidInput(
                f'content[{place}] must be a message such as {{"role": "user", "content": "…"}}, '
                f"and not {_kind(message)}",
                field="content",
            )
    return json.dumps([dict(message) for message in messages], ensure_ascii=False, default=_spelt)


def _spelt(value: object) -> str:
    """Return what stands for a value of a message in JSON."""
    if isinstance(value, datetime):
        return value.isoformat()
    raise InvalidInput(f"content holds {_kind(value)}, which JSON does not take", field="content")


def _kind(value: object) -> str:
    return f"a value of the type {type(value).__name__}"


def question_of(question: str, field: str = "question") -> str:
    """Return a question, which is text."""
    if not isinstance(question, str):
        raise InvalidInput(f"{field} must be text, and not {_kind(question)}", field=field)
    return question


def us_of(moment: datetime | None, field: str) -> int | None:
    """Return a moment in microseconds; a naive one is UTC."""
    if moment is None:
        return None
    if not isinstance(moment, datetime):
        raise InvalidInput(
            f"{field} must be a datetime, and not {_kind(moment)}: "
            "datetime.fromisoformat('2026-05-08T09:30+01:00') makes one",
            field=field,
        )
    return to_us(moment)


def labels_of(labels: Iterable[str]) -> tuple[str, ...]:
    """Return labels as a tuple; one string is one label."""
    return (labels,) if isinstance(labels, str) else tuple(labels)


def appends(update_mode: str) -> bool:
    """Tell whether a document is continued rather than replaced."""
    if update_mode not in ("replace", "append"):
        raise InvalidInput(
            f"unknown update_mode {update_mode!r}; choose replace, append", field="update_mode"
        )
    return update_mode == "append"


def scopes_of(told: str | Sequence[Sequence[str]] | None) -> str | Sequence[Sequence[str]] | None:
    """Return which observations are made, checked."""
    if isinstance(told, str) and told not in _SCOPES:
        raise InvalidInput(
            f"unknown observation_scopes {told!r}; choose {', '.join(_SCOPES)}, or sets of tags",
            field="observation_scopes",
        )
    return told if told is None or isinstance(told, str) else [list(labels_of(t)) for t in told]


def strings_of(metadata: Mapping[str, str] | None) -> Mapping[str, str] | None:
    """Return metadata whose keys and values are all text."""
    for key, value in (metadata or {}).items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise InvalidInput(f"metadata[{key!r}] must be text", field="metadata")
    return metadata


def said_at(item: Item, timestamp: datetime | None) -> Item:
    """Return an item with when it was said, and at which offset from UTC."""
    if timestamp is None:
        return item
    return replace(item, timestamp=us_of(timestamp, "timestamp"), offset_min=offset_of(timestamp))


def offset_of(moment: datetime | None) -> int | None:
    """Return the offset from UTC in minutes; None for a naive moment, or none."""
    offset = moment.utcoffset() if moment is not None else None
    return None if offset is None else int(offset.total_seconds() // 60)


def kind_of(name: str) -> Kind:
    """Return a kind by its name."""
    try:
        return Kind[name.upper()]
    except KeyError:
        known = ", ".join(k.name.lower() for k in Kind)
        raise InvalidInput(f"unknown kind {name!r}; choose {known}", field="kinds") from None


def filter_of(
    tags: Sequence[str] | None, match: str, groups: Sequence[Mapping[str, Any]] | None
) -> TagNode | None:
    """Return what is kept by tags or by groups of them; None: everything."""
    if tags is not None and groups is not None:
        raise InvalidInput("give tags or tag_groups, not both", field="tag_groups")
    if groups is not None:
        return read_tag_groups(list(groups))
    return None if tags is None else TagFilter(labels_of(tags), _match(match))


def order_of(name: str) -> Order:
    """Return the order of a prime by its name."""
    try:
        return Order(name)
    except ValueError:
        known = ", ".join(Order)
        raise InvalidInput(f"unknown order {name!r}; choose {known}", field="order") from None


def least_of(scores: Mapping[str, float]) -> MinScores:
    """Return the lowest scores that pass."""
    unknown = scores.keys() - {"semantic", "keyword", "final"}
    if unknown:
        raise InvalidInput(
            f"unknown score {min(unknown)!r}; choose semantic, keyword, final", field="min_scores"
        )
    return MinScores(**scores)


def _match(name: str) -> TagMatch:
    try:
        return TagMatch(name)
    except ValueError:
        known = ", ".join(TagMatch)
        raise InvalidInput(
            f"unknown tags_match {name!r}; choose {known}", field="tags_match"
        ) from None
