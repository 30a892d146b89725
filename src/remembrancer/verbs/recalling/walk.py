"""A walk over the links of a bank, breadth first, from one memory.

Links of what was read from a memory are links of that memory: they are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...keeping.view import Reader
from ...nouns.memory import LinkType, Unit

_STEP = 256  # memories read at once, for their texts may be long
FAN = 20  # links followed from a memory and from each fact read from it, the strongest first
MOST = 1_000  # memories reached


class Step(NamedTuple):
    """A memory that the walk reached: over which link, in how many steps.

    `relevance` is the product of the weights on the way, divided by `depth`.
    """

    unit_id: bytes
    depth: int
    type: LinkType
    relevance: float


def walk(reader: Reader, start: Unit, types: Sequence[LinkType], max_depth: int) -> list[Step]:
    """Return what links lead to or come from, by relevance, the start left out.

    Each memory is reached on its shortest way, and among those on the one with the most weight.
    """
    root = start.source_id or start.id
    weights = {root: 1.0}
    found: list[Step] = []
    edge = [root]
    for depth in range(1, max_depth + 1):
        reached = _next(reader, edge, types, weights)
        for unit_id, (weight, link_type) in reached.items():
            if len(weights) > MOST:
                break
            weights[unit_id] = weight
            found.append(Step(unit_id, depth, link_type, weight / depth))
        edge = [unit_id for unit_id in reached if unit_id in weights]
        if not edge or len(weights) > MOST:
            break
    return sorted(found, key=lambda step: (-step.relevance, step.depth, step.unit_id))


def _next(
    reader: Reader, edge: Sequence[bytes], types: Sequence[LinkType], seen: dict[bytes, float]
) -> dict[bytes, tuple[float, LinkType]]:
    """Return the memories one step on with the weight of the best way to each."""
    owner = {unit_id: unit_id for unit_id in edge}
    owner |= {fact.id: fact.source_id or fact.id for fact in reader.read_from(edge)}
    links = reader.neighbours(list(owner), types, 1, FAN)
    ends = {end for link in links for end in (link.source, link.target) if end not in owner}
    owner |= owners(reader, sorted(ends))
    reached: dict[bytes, tuple[float, LinkType]] = {}
    here = set(edge)
    for link in links:
        one, other = owner.get(link.source), owner.get(link.target)
        for near, far in ((one, other), (other, one)):
            if near not in here or far is None or far in seen:
                continue
            weight = seen[near] * link.weight
            if far not in reached or weight > reached[far][0]:
                reached[far] = weight, link.type
    return reached


def owners(reader: Reader, ids: Sequence[bytes]) -> dict[bytes, bytes]:
    """Return for each unit that holds the memory that it is, or was read from."""
    found: dict[bytes, bytes] = {}
    for start in range(0, len(ids), _STEP):
        part = ids[start : start + _STEP]
        out = {i for i, c in reader.curations(part).items() if c.invalid}
        units = [unit for unit in reader.units(part) if unit.id not in out]
        found |= {unit.id: unit.source_id or unit.id for unit in units}
    return found
