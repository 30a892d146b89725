"""What may come with the answers of a recall: entities, chunks, and what observations rest on.

Fetched in one go for all answers, then cut to a budget each, in the order of the answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ...keeping.view import Reader, Recalled
from ...nouns.memory import Entity, Layer, LinkType, Unit
from ...nouns.text import estimate_tokens, shown

_FAN = 1_000  # units that an observation is said to rest on, at most
_TOKEN_BYTES = 4


class Found(Protocol):
    """What is needed of an answer; see `recollection.Answer`."""

    @property
    def unit(self) -> Unit:
        """The unit."""
        ...

    @property
    def facts(self) -> tuple[Unit, ...]:
        """The facts read from it."""
        ...

    @property
    def document(self) -> str | None:
        """Its document's name."""
        ...

    @property
    def bank(self) -> str | None:
        """Its bank, in a recall over several."""
        ...


@dataclass(frozen=True, slots=True)
class Include:
    """Budgets in estimated tokens; None: leave out. `per_observation` -1: no bound."""

    entities: int | None = None
    chunks: int | None = None
    source_facts: int | None = None
    per_observation: int = -1


@dataclass(frozen=True, slots=True)
class IncludedChunk:
    """The chunk that an answer stands in, or as much of it as the budget had left.

    `document` is the document's name, `index` the chunk's number in it.
    """

    document: str
    index: int
    bank: str | None
    text: str
    truncated: bool


@dataclass(frozen=True, slots=True)
class Fetched:
    """What one bank has to include for some answers, before any budget."""

    entities: Mapping[str, Entity] = field(default_factory=dict)
    chunks: Mapping[tuple[bytes, int], str] = field(default_factory=dict)
    rests_on: Mapping[bytes, tuple[bytes, ...]] = field(default_factory=dict)
    sources: Mapping[bytes, Recalled] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Included:
    """What comes with the answers; None where it was not asked for.

    `rests_on` holds for each observation the ids of those of its units that are in `sources`.
    """

    entities: tuple[Entity, ...] | None
    chunks: tuple[IncludedChunk, ...] | None
    sources: Mapping[bytes, Recalled] | None
    rests_on: Mapping[bytes, tuple[bytes, ...]]
    sources_truncated: bool


def names_of(found: Found) -> list[str]:
    """Return the entities that an answer names, its own first, then its facts'."""
    names = (*found.unit.entities, *(n for fact in found.facts for n in fact.entities))
    return list(dict.fromkeys(names))


def fetch(reader: Reader, answers: Sequence[Found], include: Include) -> Fetched:
    """Fetch what some answers of one bank include."""
    entities: Mapping[str, Entity] = {}
    chunks: Mapping[tuple[bytes, int], str] = {}
    rests: Mapping[bytes, tuple[bytes, ...]] = {}
    sources: Mapping[bytes, Recalled] = {}
    if include.entities is not None:
        names = {name for answer in answers for name in names_of(answer)}
        if names:
            entities = {e.name: e for e in reader.entities_named(sorted(names))}
    if include.chunks is not None:
        places = [p for a in answers if (p := place(a.unit)) is not None]
        chunks = {place: shown(text) for place, text in reader.chunk_texts(places).items()}
    if include.source_facts is not None:
        rests = sources_of(reader, [a.unit for a in answers])
        wanted = {unit_id for ids in rests.values() for unit_id in ids}
        sources = {r.unit.id: r for r in reader.recalled(sorted(wanted))} if wanted else {}
    return Fetched(entities, chunks, rests, sources)


def sources_of(reader: Reader, units: Sequence[Unit]) -> dict[bytes, tuple[bytes, ...]]:
    """Return for each observation among some units what it was derived from, in id order."""
    derived = {u.id for u in units if u.layer is Layer.OBSERVATION}
    if not derived:
        return {}
    found: dict[bytes, set[bytes]] = {}
    for link in reader.neighbours(sorted(derived), (LinkType.INSIGHT_FROM,), fan=_FAN):
        if link.source in derived:
            found.setdefault(link.source, set()).add(link.target)
    return {unit_id: tuple(sorted(ids)) for unit_id, ids in found.items()}


def place(unit: Unit) -> tuple[bytes, int] | None:
    """Return a unit's document id and chunk index, when it has a document."""
    return None if unit.document_id is None else (unit.document_id, unit.chunk_index)


def cut(
    answers: Sequence[Found], fetched: Mapping[str | None, Fetched], include: Include
) -> Included:
    """Cut what was fetched, by bank, to the budgets."""
    sources, rests, truncated = _cut_sources(answers, fetched, include)
    return Included(
        entities=_cut_entities(answers, fetched, include.entities),
        chunks=_cut_chunks(answers, fetched, include.chunks),
        sources=sources,
        rests_on=rests,
        sources_truncated=truncated,
    )


def _cut_entities(
    answers: Sequence[Found], fetched: Mapping[str | None, Fetched], budget: int | None
) -> tuple[Entity, ...] | None:
    if budget is None:
        return None
    kept: dict[str, Entity] = {}
    for answer in answers:
        known = fetched[answer.bank].entities
        for name in names_of(answer):
            entity = known.get(name)
            if entity is None or name in kept:
                continue
            budget -= estimate_tokens(name)
            if budget < 0:
                return tuple(kept.values())
            kept[name] = entity
    return tuple(kept.values())


def _cut_chunks(
    answers: Sequence[Found], fetched: Mapping[str | None, Fetched], budget: int | None
) -> tuple[IncludedChunk, ...] | None:
    if budget is None:
        return None
    kept: list[IncludedChunk] = []
    seen = set()
    for answer in answers:
        where = place(answer.unit)
        text = fetched[answer.bank].chunks.get(where) if where else None
        if text is None or answer.document is None or (answer.bank, where) in seen:
            continue
        if budget < 1:
            break
        seen.add((answer.bank, where))
        cost = estimate_tokens(text)
        short = text if cost <= budget else _begin(text, budget * _TOKEN_BYTES)
        budget -= cost
        index = answer.unit.chunk_index
        kept.append(IncludedChunk(answer.document, index, answer.bank, short, short is not text))
    return tuple(kept)


def _begin(text: str, size: int) -> str:
    """Return the first characters of a text that fit `size` UTF-8 bytes."""
    return text.encode()[:size].decode(errors="ignore")


def _cut_sources(
    answers: Sequence[Found], fetched: Mapping[str | None, Fetched], include: Include
) -> tuple[dict[bytes, Recalled] | None, dict[bytes, tuple[bytes, ...]], bool]:
    """Keep sources within both budgets; one that does not fit is passed over."""
    if include.source_facts is None:
        return None, {}, False
    left, truncated = include.source_facts, False
    kept: dict[bytes, Recalled] = {}
    rests: dict[bytes, tuple[bytes, ...]] = {}
    for answer in answers:
        known = fetched[answer.bank]
        own = include.per_observation if include.per_observation >= 0 else left
        ids = []
        for unit_id in known.rests_on.get(answer.unit.id, ()):
            source = known.sources.get(unit_id)
            if source is None:
                continue
            cost = estimate_tokens(source.unit.text)
            fresh = 0 if unit_id in kept else cost
            if cost > own or fresh > left:
                truncated = True
                continue
            own, left = own - cost, left - fresh
            kept[unit_id] = source
            ids.append(unit_id)
        if ids:
            rests[answer.unit.id] = tuple(ids)
    return kept, rests, truncated
