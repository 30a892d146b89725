"""What one batch has done so far: the state that the parts of `apply` share."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ...nouns.memory import Layer, Op
from .db import Db


class Unchanged(Exception):
    """Raised by a write to undo what it did and still return `result`."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result


@dataclass(slots=True)
class Work:
    """One batch in progress, inside its transaction.

    `put` and `gone` become the feed. `layers`, `documents`, `entities` and `links` are differences
    to the bank's counters. `mentions` holds the difference in mentions of each touched entity,
    `forgotten` the entities that erased units mentioned.
    `revision` is the one that the batch makes. `touched` holds documents that lost units by
    erasing. `slots` are those of which claims have changed or gone, `added` by slot the units that
    are new and claim something of it, each with the time of its earliest claim there. `relinked`
    are intentions that go on with another unit when theirs goes. `changed` is set by any write,
    `deleted` by one that leaves deleted texts behind in the file until it is swept.
    """

    db: Db
    key: int
    now: int
    generation: int
    generations: tuple[int, ...]
    revision: int = 0
    put: dict[bytes, None] = field(default_factory=dict)
    gone: dict[bytes, Op] = field(default_factory=dict)
    layers: Counter[int] = field(default_factory=Counter)
    mentions: Counter[bytes] = field(default_factory=Counter)
    forgotten: set[bytes] = field(default_factory=set)
    touched: set[bytes] = field(default_factory=set)
    slots: set[str] = field(default_factory=set)
    added: dict[str, dict[bytes, int]] = field(default_factory=dict)
    relinked: frozenset[bytes] = frozenset()
    documents: int = 0
    entities: int = 0
    links: int = 0
    changed: bool = False
    deleted: bool = False

    def tally(self) -> tuple[int, ...]:
        """Return the differences in the order of `bank_advance`."""
        layers = (self.layers[layer] for layer in Layer)
        return (*layers, self.documents, self.entities, self.links)
