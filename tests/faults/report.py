"""Adds up rounds, as a table and as figures."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from plan import Plan
from rounds import Round

KINDS = ("lost", "half", "early", "twice", "stuck", "mismatch", "leak")


@dataclass
class Report:
    """What some rounds found."""

    rounds: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    details: list[str] = field(default_factory=list)
    seconds: float = 0.0
    _plans: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> int:
        """How many things were found that must not be."""
        return self.found.total()

    def add(self, plan: Plan, made: Round, injected: int) -> list[str]:
        """Add a round; return what was wrong in it."""
        world = made.world
        self.rounds += 1
        self.faults += made.faults
        self._plans.append(plan.digest)
        self.counts["acknowledged"] += world.acknowledged
        self.counts["unanswered"] += world.unknown
        self.counts["refused"] += world.refused
        self.counts["failed_operations"] += world.failed_operations
        self.counts["documents"] += len(world.documents)
        self.counts["reminders"] += len(world.reminders)
        self.counts["operations"] += len(world.operations)
        self.counts["forgotten"] += len(world.forgotten)
        self.counts["failed_calls"] += injected
        lines = []
        for kind, what in world.wrong.items():
            self.found[kind] += len(what)
            lines += [f"seed {plan.seed} {kind}: {text}" for text in what]
        self.details += lines
        return lines

    def figures(self) -> dict[str, Any]:
        """All as JSON; `plans` is one digest of what was played."""
        return {
            "rounds": self.rounds,
            "faults": dict(sorted(self.faults.items())),
            **{kind: self.found[kind] for kind in KINDS},
            **dict(sorted(self.counts.items())),
            "seconds": round(self.seconds),
            "plans": hashlib.sha256("".join(self._plans).encode()).hexdigest(),
            "details": self.details[:50],
        }

    def table(self, title: str) -> str:
        """The figures as lines of text."""
        rows = [("rounds", self.rounds)]
        rows += [(f"  {kind}", n) for kind, n in sorted(self.faults.items())]
        rows += [(kind.replace("_", " "), n) for kind, n in sorted(self.counts.items())]
        rows += [(kind, self.found[kind]) for kind in KINDS]
        lines = [f"{name:24}{value:>9,}" for name, value in rows]
        return "\n".join((f"{title}, {self.seconds:.0f} s", *lines, *self.details[:20]))
