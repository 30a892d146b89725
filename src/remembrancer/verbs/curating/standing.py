"""A memory as it stands: everything that a correction of it bears on, read in one snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...keeping.view import Reader
from ...nouns.memory import Curation, Document, Layer, LinkType, Unit, UnitRow
from ..retaining.delta import READING
from ..retaining.rewriting import is_undated


@dataclass(frozen=True, slots=True)
class Standing:
    """A memory as one snapshot has it, with everything that a correction bears on.

    `twins` say the same; `facts` were read from it, `twin_facts` from its twins. `derived` are the
    observations made from it or its facts, `twin_derived` those made from its twins or theirs.
    `near` holds it, the turns before it and those after it; `followers` are the rows of up to two
    turns after it, whose windows hold its words; `follower_facts` were read from them.
    `origin` is what a fact was read from, `siblings` all facts read from that.
    `unread`: its document is still being read. `undated`: nobody knows when it was said.
    """

    revision: int
    generation: int
    row: UnitRow
    twins: tuple[bytes, ...]
    facts: tuple[UnitRow, ...]
    twin_facts: tuple[Unit, ...]
    derived: tuple[bytes, ...]
    twin_derived: tuple[bytes, ...]
    curations: Mapping[bytes, Curation]
    mentions: Mapping[bytes, tuple[str, ...]]
    near: Mapping[bytes, Unit]
    followers: tuple[UnitRow, ...]
    follower_facts: tuple[UnitRow, ...]
    names: tuple[str, ...]
    known: tuple[str, ...]
    unread: bool
    undated: bool
    origin: UnitRow | None = None
    siblings: tuple[Unit, ...] = ()

    @property
    def unit(self) -> Unit:
        """The memory itself."""
        return self.row.unit

    @property
    def invalid(self) -> bool:
        """Whether people took it out."""
        curation = self.curations.get(self.unit.id)
        return curation is not None and curation.invalid


def stand(reader: Reader, unit_id: bytes, known: Sequence[str]) -> Standing | None:
    """Read a memory with everything that a correction bears on; None when it is not there.

    `known`: names of the bank that reading looks out for.
    """
    rows = reader.rows([unit_id])
    if not rows:
        return None
    unit = rows[0].unit
    twins = tuple(i for i in reader.same([unit_id]).get(unit_id, ()) if i != unit_id)
    facts = reader.read_from([unit_id])
    twin_facts = reader.read_from(twins)
    following = _following(reader, unit)
    origin = _origin(reader, unit)
    sources = [unit, *following, *([origin.unit] if origin else ())]
    near = {u.id: u for u in (*_leading(reader, sources), *sources)}
    said_after = reader.rows([u.id for u in reader.read_from([u.id for u in following])])
    touched = [u.id for u in (*sources, *facts, *(row.unit for row in said_after))]
    mentions = reader.mentions(touched)
    document = _document(reader, unit)
    return Standing(
        revision=reader.revision,
        generation=reader.generation,
        row=rows[0],
        twins=twins,
        facts=tuple(reader.rows([u.id for u in facts])),
        twin_facts=tuple(twin_facts),
        derived=_derived(reader, [unit_id, *(u.id for u in facts)]),
        twin_derived=_derived(reader, [*twins, *(u.id for u in twin_facts)]),
        curations=reader.curations(
            [unit_id, *twins, *(u.id for u in facts), *(u.id for u in twin_facts)]
        ),
        mentions=mentions,
        near=near,
        followers=tuple(reader.rows([u.id for u in following])),
        follower_facts=tuple(said_after),
        names=tuple(dict.fromkeys((*mentions.get(unit_id, ()), *unit.entities))),
        known=tuple(known),
        unread=bool((document.params or {}).get(READING)) if document else False,
        undated=is_undated(document, unit),
        origin=origin,
        siblings=tuple(reader.read_from([origin.unit.id])) if origin else (),
    )


def _origin(reader: Reader, unit: Unit) -> UnitRow | None:
    """Return the source that a fact was read from."""
    if unit.layer is not Layer.FACT or unit.source_id is None:
        return None
    found = reader.rows([unit.source_id])
    return found[0] if found and found[0].unit.layer is Layer.SOURCE else None


def _following(reader: Reader, unit: Unit) -> list[Unit]:
    """Return the sources whose windows may hold a unit's words: up to two turns on."""
    if unit.layer is not Layer.SOURCE:
        return []
    first = reader.following([unit.id])
    second = reader.following([u.id for u in first])
    return [*first, *second]


def _leading(reader: Reader, units: Sequence[Unit]) -> list[Unit]:
    """Return the turns before some units, and those before them."""
    first = reader.units([u.previous_id for u in units if u.previous_id])
    second = reader.units([u.previous_id for u in first if u.previous_id])
    return [*second, *first]


def _derived(reader: Reader, ids: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return the observations made from some units."""
    if not ids:
        return ()
    basis = set(ids)
    links = reader.links_of(ids)
    made = {k.source for k in links if k.type is LinkType.INSIGHT_FROM and k.target in basis}
    found = reader.units(sorted(made - basis))
    return tuple(u.id for u in found if u.layer is Layer.OBSERVATION)


def _document(reader: Reader, unit: Unit) -> Document | None:
    if unit.document_id is None:
        return None
    name = reader.document_names([unit.document_id]).get(unit.document_id)
    return None if name is None else reader.document(name)
