"""Which memories are about one thing, and what they come to without a language model."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...keeping.browse import UnitFilter
from ...keeping.view import Reader
from ...models.embedder import Floats
from ...nouns.memory import SHOWN_ONLY, Layer, LinkType, Role, Unit
from ..lookup import embedding
from ..reflecting.clusters import clusters
from .scopes import Scope, scope_of, scopes_in

MOST_READ = 1_000
"""Newest memories of a bank that are grouped."""

MOST_MEMBERS = 60
"""Of one group: the newest, so that no group is more than a prompt holds."""

LEAST_MEMBERS = 3
MOST_LINKS = 200
"""Read of one observation; fewer are made, see `consolidate`."""

_MOST_OBSERVATIONS = 5_000
_OVERLAP = 0.5  # share of its basis by which a standing observation is a group's
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


def ground(reader: Reader, mine: str, only: Collection[Scope] | None = None) -> Ground:
    """Group a bank's memories by scope and meaning, and find its observations with `mine` set.

    Args:
        reader: a snapshot.
        mine: the attribute that observations of consolidation have.
        only: the scopes that are looked at; None: all.
    """
    newest = reader.newest(MOST_READ, layer=Layer.SOURCE)
    invalid = {i for i, c in reader.curations([u.id for u in newest]).items() if c.invalid}
    units = [u for u in newest if u.id not in invalid and u.role not in (Role.SYSTEM, Role.TOOL)]
    units.sort(key=lambda u: (u.mentioned_at, u.id))
    rows = {row.unit.id: row for row in reader.rows([u.id for u in units])}
    names = reader.mentions([u.id for u in units])
    groups: list[Group] = []
    # Memories that different people may see are never told together, unless their caller says so.
    scopes = scopes_in(reader, units)
    for tags in sorted({scope for each in scopes.values() for scope in each}):
        if only is not None and tags not in only:
            continue
        some = [u for u in units if tags in scopes[u.id]]
        found = [(u, v) for u in some if (v := rows[u.id].vector if u.id in rows else None)]
        if len(found) < LEAST_MEMBERS:
            continue
        vectors = np.stack([embedding(v) for _, v in found])
        for members in clusters(vectors, least=LEAST_MEMBERS):
            kept = members[-MOST_MEMBERS:]
            groups.append(_group([found[n][0] for n in kept], vectors[kept], names, tags))
    ids = frozenset(u.id for u in units)
    standing = _standing(reader, mine)
    if only is not None:
        standing = [s for s in standing if scope_of(s.unit.tags) in only]
    return Ground(reader.revision, tuple(groups), tuple(standing), ids)


def _group(
    members: Sequence[Unit],
    vectors: Floats,
    names: Mapping[bytes, tuple[str, ...]],
    tags: tuple[str, ...],
) -> Group:
    middle = int(np.argmax(vectors @ vectors.sum(axis=0)))
    counts = Counter(name for unit in members for name in names.get(unit.id, ()))
    usual = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    said: list[object] = [(u.id.hex(), u.updated_at, u.created_at) for u in members]
    if any(scope_of(u.tags) != tags for u in members):
        said.append(tags)  # the same memories may be told together in several scopes
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
    return _resting(reader, found)


def standing_on(reader: Reader, mine: str, members: Sequence[Unit]) -> list[Standing]:
    """Return the observations with `mine` set that rest, or ever rested, on some memories."""
    ids = [unit.id for unit in members]
    links = reader.neighbours(ids, [LinkType.INSIGHT_FROM], 1, MOST_LINKS)
    above = sorted({link.source for link in links if link.target in set(ids)})
    found = [u for u in reader.units(above) if u.attributes and mine in u.attributes]
    invalid = {i for i, c in reader.curations([u.id for u in found]).items() if c.invalid}
    return _resting(reader, [u for u in found if u.id not in invalid])


def standing_now(reader: Reader, ids: Sequence[bytes]) -> dict[bytes, frozenset[bytes]]:
    """Return what those of some observations that are there rest on now, by id."""
    return {s.unit.id: s.basis for s in _resting(reader, reader.units(ids))}


def _resting(reader: Reader, found: Sequence[Unit]) -> list[Standing]:
    """Return observations with what they rest on."""
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


def unclaimed(found: Ground, claimed: Set[bytes]) -> list[bytes]:
    """Return the observations that no group has claimed, and that rest on what was read.

    One whose memories are older than those that were read may still hold.
    """
    return [
        s.unit.id
        for s in found.standing
        if s.unit.id not in claimed and not s.by_hand and (not s.basis or s.basis & found.ids)
    ]


def basis_of(found: Ground, unit_id: bytes) -> frozenset[bytes]:
    """Return what one of the observations found rests on."""
    return next(s.basis for s in found.standing if s.unit.id == unit_id)


def of_group(
    group: Group, standing: Sequence[Standing], claimed: Set[bytes], scopes: Set[Scope]
) -> list[Standing]:
    """Return the observations that rest mostly on a group's memories.

    Those of another group's scope are that one's, though they may rest on the same memories.
    """
    ids = {u.id for u in group.members}
    others = scopes - {group.tags}
    return [
        s
        for s in standing
        if s.unit.id not in claimed
        and s.basis
        and scope_of(s.unit.tags) not in others
        and len(s.basis & ids) >= _OVERLAP * len(s.basis)
    ]
