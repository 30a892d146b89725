"""The graph arm: what the best candidates lead to, over shared entities and causal links.

Measured on five long chats (786 questions): as candidates beside the others, scored by the same
arms, they leave frac@10 as it is (.804); with a bonus for what they share it is .803 to .805. So
they are looked at only for wide recalls and for the trace, and get no bonus.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from ...keeping.view import Reader
from ...nouns.memory import LinkType

SEEDS = 5  # candidates that the arm starts from
TOP = 50  # units that it proposes
_ENTITIES = 5  # looked at, the rarest first
_COMMON = 200  # mentions; a name that stands everywhere leads nowhere
_MENTIONS = 50  # newest ones looked at of an entity
_CAUSAL = (LinkType.CAUSED_BY, LinkType.FOLLOWED_BY, LinkType.RELATED_TO)


def related(reader: Reader, seeds: Sequence[bytes]) -> list[tuple[bytes, float]]:
    """Return units that share an entity with the seeds or are causally linked to them.

    Args:
        reader: the snapshot.
        seeds: sources, best first; the first `SEEDS` count.

    Returns:
        At most `TOP` (id, score), best first. The score is tanh(shared / 2) for the number of
        entities shared, as Hindsight's graph arm has it, plus the weight of the causal links.
    """
    start = list(seeds[:SEEDS])
    if not start:
        return []
    scores = {i: math.tanh(shared / 2) for i, shared in _sharing(reader, start).items()}
    for link in reader.neighbours(start, _CAUSAL):
        for end in (link.source, link.target):
            scores[end] = scores.get(end, 0.0) + link.weight
    for unit_id in start:
        scores.pop(unit_id, None)
    return sorted(scores.items(), key=lambda each: (-each[1], each[0]))[:TOP]


def _sharing(reader: Reader, seeds: Sequence[bytes]) -> Counter[bytes]:
    """Count for each unit the entities that it shares with the seeds."""
    speakers = {unit.speaker for unit in reader.units(seeds)}
    names = {name for mine in reader.mentions(seeds).values() for name in mine} - speakers
    entities = [e for e in reader.entities_named(sorted(names)) if e.mention_count > 1]
    entities.sort(key=lambda e: (e.mention_count, e.name))
    shared: Counter[bytes] = Counter()
    for entity in entities[:_ENTITIES]:
        if entity.mention_count <= _COMMON:
            near = reader.newest(_MENTIONS, entity=entity.name)
            shared.update({unit.source_id or unit.id for unit in near})
    return shared
