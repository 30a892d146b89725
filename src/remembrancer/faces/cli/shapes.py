"""The JSON of memories; stable: fields may be added, never renamed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..library.results import Found, Memory, PrimedMemory


def memory_shape(memory: Memory) -> dict[str, Any]:
    """Return a memory as JSON has it; times as ISO 8601."""
    return asdict(memory)


def found_shape(rank: int, found: Found) -> dict[str, Any]:
    """Return an answer of a recall: the memory with its rank, score and arms."""
    head = {"rank": rank, "score": found.score, "relevance": found.relevance}
    truth = {
        "holds": found.holds,
        "valid_from": found.valid_from,
        "valid_until": found.valid_until,
        "superseded_by": found.superseded_by,
        "contradicts": found.contradicts,
    }
    shape = head | memory_shape(found.memory) | truth | {"why": asdict(found.why)}
    if found.before or found.after:
        shape["before"] = [memory_shape(near) for near in found.before]
        shape["after"] = [memory_shape(near) for near in found.after]
    return shape


def primed_shape(primed: PrimedMemory) -> dict[str, Any]:
    """Return a memory of a prime."""
    head = {"score": primed.score, "relevance": primed.relevance, "strategy": primed.strategy}
    return head | memory_shape(primed.memory)


def who(memory: Memory) -> str:
    """Return who spoke: a name, else the role, else nothing."""
    if memory.speaker:
        return memory.speaker
    return "" if memory.role == "none" else memory.role


def context_line(memory: Memory) -> str:
    """Return a memory as one line of a context: the day, who spoke, what was said."""
    said = f"{who(memory)}: " if who(memory) else ""
    return f"[{memory.said_at:%Y-%m-%d}] {said}{' '.join(memory.text.split())}"
