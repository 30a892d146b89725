"""What an import did: what was taken, what was there, and what was left and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ...reading.importing.types import Left

_NAMED = 1_000  # things left that are named; the rest is counted by reason


@dataclass(slots=True)
class Report:
    """Counts of an import.

    `documents` came new, `replaced` had another content, `unchanged` were there. `left` names what
    was not taken and why, 1,000 things at most; `reasons` counts all of it.
    """

    formats: Counter[str] = field(default_factory=Counter)  # files by format
    documents: int = 0
    replaced: int = 0
    unchanged: int = 0
    memories: int = 0
    intentions: int = 0
    intentions_there: int = 0
    graph: int = 0  # nodes, observations and relations
    graph_there: int = 0
    unembedded: int = 0
    left: list[Left] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def left_count(self) -> int:
        """How many things were not taken."""
        return sum(self.reasons.values())

    def leave(self, left: Left) -> None:
        """Note something that is not taken."""
        self.reasons[left.why] += left.count
        if len(self.left) < _NAMED:
            self.left.append(left)
