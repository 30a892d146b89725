"""Which memories are about one thing, and what they come to without a language model."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...keeping.browse import UnitFilter
from ...keeping.view import Reader
from ...models.embedder import Floats
from ...nouns.memory import SHOWN_ONLY, Layer, LinkType, Role, Unit
from ..lookup import embedding
from ..reflecting.clusters import clusters

MOST_READ = 1_000
"""Newest memories of a bank that are grouped."""

MOST_MEMBERS = 60
"""Of one group: the newest, so that no group is more than a prompt holds."""

LEAST_MEMBERS = 3
MOST_LINKS = 200
"""Read of one observation; fewer are made, see `consolidate`."""

_MOST_OBSERVATIONS = 5_000
_NAMES = 3  # in a title
_QUOTE_CHARS = 300


@dataclass(frozen=True, slots=True)
class Group:
    """Memories about one thing, oldest first. `middle` is the index of the one nearest to it all.

    `mark` is the same for the same memories, unchanged.
    """

    members: tuple[Unit, ...]
    middle: int
    names: tuple[str, ...]
    mark: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """An observation that is there, what it rests on now, and all that it was made from ever."""

    unit: Unit
    basis: frozenset[bytes]
    ever: frozenset[bytes] = frozenset()
    by_hand: bool = False  # people have changed it: it is left as they made it
    history: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Ground:
    """A bank as consolidation finds it, in one snapshot."""

    revision: int
    groups: tuple[Group, ...]
    standing: tuple[Standing, ...]
    ids: frozenset[bytes]  # of the memories that were read


def ground(reader: Reader, mine: str) -> Ground:
    """Group a bank's memories by tags and meaning, and find its observations with `mine` set.

    Args:
        reader: a snapshot.
        mine: the attribute that observations of consolidation have.
    """
    newest = reader.newest(MOST_READ, layer=Layer.SOURCE)
    invalid = {i for i, c in reader.curations([u.id for u in newest]).items() if c.invalid}
    units = [u for u in newest if u.id not in invalid and u.role not in (Role.SYSTEM, Role.TOOL)]
    units.sort(key=lambda u: (u.mentioned_at, u.id))
    rows = {row.unit.id: row for row in reader.rows([u.id for u in units])}
    names = reader.mentions([u.id for u in units])
    groups: list[Group] = []
    # Memories that different people may see are never told together.
    for tags in sorted({tuple(sorted(u.tags)) for u in units}):
        some = [u for u in units if tuple(sorted(u.tags)) == tags]
        found = [(u, v) for u in some if (v := rows[u.id].vector if u.id in rows else None)]
        if len(found) < LEAST_MEMBERS:
            continue
        vectors = np.stack([embedding(v) for _, v in found])
        for members in clusters(vectors, least=LEAST_MEMBERS):
            kept = members[-MOST_MEMBERS:]
            groups.append(_group([found[n][0] for n in kept], vectors[kept], names, tags))
    ids = frozenset(u.id for u in units)
    return Ground(reader.revision, tuple(groups), tuple(_standing(reader, mine)), ids)


def _group(
    members: Sequence[Unit],
    vectors: Floats,
    names: Mapping[bytes, tuple[str, ...]],
    tags: tuple[str, ...],
) -> Group:
    middle = int(np.argmax(vectors @ vectors.sum(axis=0)))
    counts = Counter(name for unit in members for name in names.get(unit.id, ()))
    usual = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    said = [(u.id.hex(), u.updated_at, u.created_at) for u in members]
    mark = hashlib.blake2b(repr(said).encode(), digest_size=12).hexdigest()
    top = tuple(name for name, count in usual[:_NAMES] if count > 1)
    return Group(tuple(members), middle, top, mark, tags)


def _standing(reader: Reader, mine: str) -> list[Standing]:
    wanted = UnitFilter(layers=(Layer.OBSERVATION,), invalid=False, folded=False)
    found: list[Unit] = []
    for start in range(0, _MOST_OBSERVATIONS, 500):
        page = reader.browse(wanted, 500, start).units
        found += [u for u in page if u.attributes and mine in u.attributes]
        if len(page) < 500:
            break
    ids = [u.id for u in found]
    curations = reader.curations(ids)
    basis: dict[bytes, set[bytes]] = {i: set() for i in ids}
    ever: dict[bytes, set[bytes]] = {i: set() for i in ids}
    for link in reader.neighbours(ids, [LinkType.INSIGHT_FROM], 1, MOST_LINKS):
        if link.source in ever:
            ever[link.source].add(link.target)
            if link.weight > SHOWN_ONLY:
                basis[link.source].add(link.target)
    told = {i: curations[i].data if i in curations else {} for i in ids}
    return [
        Standing(
            u,
            frozenset(basis[u.id]),
            frozenset(ever[u.id]),
            "edited_at" in told[u.id],
            tuple(told[u.id].get("history", ())),
        )
        for u in found
    ]


def title(group: Group) -> str:
    """Say what a group is about in words that stand in it: names, count, and its middle, quoted."""
    unit = group.members[group.middle]
    text = " ".join(unit.text.split())
    if len(text) > _QUOTE_CHARS:
        text = text[:_QUOTE_CHARS].rsplit(" ", 1)[0] + " …"
    about = f" about {', '.join(group.names)}" if group.names else ""
    who = f"{unit.speaker}: " if unit.speaker else ""
    return f"{len(group.members)} memories{about}: {who}“{text}”"
