"""What follows from a correction: new words and vectors, facts read anew, windows without the old.

It says what to write; `curate` decides whether and writes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...keeping.batch import EntityMention, VectorPatch
from ...models.embedder import Embedder
from ...models.vectors import quantise
from ...nouns.folding import fold_name
from ...nouns.ids import IdMaker
from ...nouns.memory import BankRef, Document, Entity, Layer, Link, Unit, UnitRow, Vector
from ...reading.names import prepare
from ...reading.slots import Table
from ..retaining import rewriting
from ..retaining.facts import FactReader
from ..retaining.reread import NAMED, reread
from ..retaining.resolver import Resolver, Told
from ..retaining.rewriting import Rewriter, fact_same, reworded
from ..retaining.units import Source
from .retagging import retagged_keys
from .standing import Standing


@dataclass(slots=True)
class Corrected:
    """What a correction writes beside the history."""

    rows: list[UnitRow] = field(default_factory=list)
    vectors: list[VectorPatch] = field(default_factory=list)
    mentions: list[EntityMention] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    erase: list[bytes] = field(default_factory=list)


class Corrector:
    """Works out corrections; everything it needs is passed in.

    Args:
        embedder: None: corrected units wait for one.
        generation: whose vectors `embedder` makes.
    """

    def __init__(
        self,
        embedder: Embedder | None,
        rewriter: Rewriter,
        facts: FactReader,
        resolver: Resolver,
        *,
        ids: IdMaker,
        generation: int,
    ) -> None:
        self._embedder = embedder
        self._rewriter = rewriter
        self._facts = facts
        self._resolver = resolver
        self._ids = ids
        self._generation = generation

    async def names(
        self, ref: BankRef, unit: Unit, names: Sequence[str], *, resolve: bool
    ) -> tuple[str, ...]:
        """Return the canonical names of what a memory is said to mention.

        Args:
            ref: the bank.
            unit: the memory.
            names: as given.
            resolve: nicknames and first names may mean a known entity.
        """
        source = Source(UnitRow(replace(unit, entities=tuple(names))))
        told = Told(exact=frozenset() if resolve else frozenset({unit.id}))
        found, _ = await self._resolver.given(ref, [source], told)
        return found[0].row.unit.entities

    def retagged(
        self,
        document: Document,
        sources: Sequence[Unit],
        near: Mapping[bytes, Unit],
        facts: Sequence[Unit],
        tags: Sequence[str],
    ) -> dict[bytes, bytes]:
        """Return what the units of a document say once they have other tags: see `retagging`."""
        return retagged_keys(self._rewriter, document, sources, near, facts, tags)

    async def correct(
        self,
        ref: BankRef,
        standing: Standing,
        unit: Unit,
        *,
        dated: bool,
        vectors: dict[str, Vector],
    ) -> Corrected:
        """Return what follows when a memory becomes `unit`.

        Args:
            ref: the bank.
            standing: the memory as it is.
            unit: as it shall be, with canonical names.
            dated: its dates were given; else they are read from a new text, if they were before.
            vectors: those of texts embedded already, by text; what is missing is added.

        Raises:
            ModelUnavailable: a text cannot be embedded.
        """
        renamed = unit.entities != standing.unit.entities
        if unit.text == standing.unit.text:
            return self._retold(standing, unit, renamed)
        if unit.layer is Layer.FACT:
            return await self._fact(standing, unit, renamed, await self._facts.table(ref))
        if unit.layer is Layer.OBSERVATION:
            return await self._observation(standing, unit, renamed, vectors)
        if not dated:
            unit = self._redated(standing, unit)
        return await self._source(ref, standing, unit, renamed, vectors)

    def _retold(self, standing: Standing, unit: Unit, renamed: bool) -> Corrected:
        """Return a unit with the same text, told differently, and its facts likewise."""
        done = Corrected()
        self._keep(done, standing, replace(standing.row, unit=unit))
        self._mention(done, unit.id, unit.entities if renamed else standing.names)
        for row in standing.facts:
            names = standing.mentions.get(row.unit.id, ())
            fact = replace(row.unit, kind=unit.kind, note=unit.note)
            if renamed:
                names = _among(names, unit.entities)
                fact = replace(fact, entities=names)
            if fact != row.unit:
                done.rows.append(replace(row, unit=fact))
                self._mention(done, fact.id, names)
        return done

    async def _fact(self, standing: Standing, unit: Unit, renamed: bool, table: Table) -> Corrected:
        done = Corrected()
        curation = standing.curations.get(unit.id)
        by_hand = curation is not None and bool(curation.data.get(NAMED))
        if not renamed and not by_hand:
            known = prepare([*standing.known, *standing.names])
            names = await asyncio.to_thread(self._facts.names, unit.text, known)
            unit = replace(unit, entities=names)
        source = self._rewriter.source(unit, {}, undated=standing.undated)
        claims = self._facts.claims(unit, source, table)
        done.rows.append(UnitRow(unit, same=source.row.same, claims=claims))
        self._mention(done, unit.id, unit.entities)
        self._refind(done, standing, unit)
        return done

    def _refind(self, done: Corrected, standing: Standing, fact: Unit) -> None:
        """Let the source of a fact be found by the fact's new words: facts are found through it."""
        if standing.origin is None:
            return
        origin = standing.origin.unit
        facts = [fact, *(each for each in standing.siblings if each.id != fact.id)]
        again = self._rewriter.source(origin, standing.near, also=reworded(origin, facts))
        told = replace(standing.origin, terms=again.row.terms, window_terms=again.row.window_terms)
        self._keep(done, standing, told)
        self._mention(done, origin.id, standing.mentions.get(origin.id, ()))

    async def _observation(
        self, standing: Standing, unit: Unit, renamed: bool, vectors: dict[str, Vector]
    ) -> Corrected:
        done = Corrected()
        source = self._rewriter.source(unit, {})
        await self._embed([source.embed_text], vectors)
        self._put(done, source, vectors)
        self._mention(done, unit.id, unit.entities if renamed else standing.names)
        return done

    def _redated(self, standing: Standing, unit: Unit) -> Unit:
        """Return a source that happened when its new text says, if it was so with the old one."""
        old = standing.unit
        before = self._rewriter.dates(old, undated=standing.undated)
        if rewriting.dated(old, before) != old:
            return unit
        return rewriting.dated(unit, self._rewriter.dates(unit, undated=standing.undated))

    async def _source(
        self,
        ref: BankRef,
        standing: Standing,
        unit: Unit,
        renamed: bool,
        vectors: dict[str, Vector],
    ) -> Corrected:
        done = Corrected()
        near = {**standing.near, unit.id: unit}
        source = self._rewriter.source(unit, near, undated=standing.undated)
        after = [self._rewriter.source(row.unit, near) for row in standing.followers]
        next_windows = [s.window_text for s in after if s.row.unit.previous_id == unit.id]
        await self._embed([source.embed_text, source.window_text, *next_windows], vectors)
        self._put(done, source, vectors)
        for row, new in zip(standing.followers, after, strict=True):
            told = replace(row, window_terms=new.row.window_terms)
            if row.unit.previous_id == unit.id:
                window = vectors.get(new.window_text) if new.window_text else None
                told = replace(told, window_vector=window, same=new.row.same)
                self._resay(done, standing, new)
            self._keep(done, standing, told)
            self._mention(done, row.unit.id, standing.mentions.get(row.unit.id, ()))
        if unit.document_id is not None:  # what was told as one memory is not read
            await self._read(ref, standing, source, renamed, done)
            kept = reworded(unit, [row.unit for row in done.rows])
            if kept:
                again = self._rewriter.source(unit, near, undated=standing.undated, also=kept)
                done.rows = [
                    replace(row, terms=again.row.terms, window_terms=again.row.window_terms)
                    if row.unit.id == unit.id
                    else row
                    for row in done.rows
                ]
        return done

    def _resay(self, done: Corrected, standing: Standing, source: Source) -> None:
        """Put the facts of a turn again that mean something else after another turn."""
        for row in standing.follower_facts:
            fact = row.unit
            same = fact_same(fact, source)
            if fact.source_id == source.row.unit.id and same != row.same:
                done.rows.append(replace(row, same=same))
                self._mention(done, fact.id, standing.mentions.get(fact.id, ()))

    async def _read(
        self, ref: BankRef, standing: Standing, source: Source, renamed: bool, done: Corrected
    ) -> None:
        """Read the facts of a source anew; those that it still says keep their ids."""
        unit = source.row.unit
        speaker = [unit.speaker] if unit.speaker else []
        table = await self._facts.table(ref)
        read = await asyncio.to_thread(
            self._facts.read, [source], prepare([*standing.known, *speaker]), table
        )
        told = Told(speakers=frozenset(speaker))
        read.mentions, read.facts = await self._resolver.read(ref, read.mentions, read.facts, told)
        old = {standing.unit.id: standing.unit.text}
        curation = standing.curations.get(unit.id)
        by_hand = renamed or (curation is not None and bool(curation.data.get(NAMED)))
        again = reread(
            read,
            [row.unit for row in standing.facts],
            old,
            standing.curations,
            {unit.id: unit.entities} if by_hand else {},
        )
        done.rows += again.rows
        done.mentions += again.mentions
        done.erase += again.gone
        done.links += again.links
        if by_hand:
            self._mention(done, unit.id, unit.entities)

    def _put(self, done: Corrected, source: Source, vectors: Mapping[str, Vector]) -> None:
        """Put a source with the vectors of its texts, if there are any."""
        done.rows.append(source.row)
        own = vectors.get(source.embed_text)
        if own is not None:
            window = vectors.get(source.window_text) if source.window_text else None
            done.vectors.append(VectorPatch(source.row.unit.id, own, window))

    def _keep(self, done: Corrected, standing: Standing, row: UnitRow) -> None:
        """Put a row again with the vectors that it has, if they are this embedder's."""
        done.rows.append(replace(row, vector=None, window_vector=None))
        if row.vector is not None and standing.generation == self._generation:
            done.vectors.append(VectorPatch(row.unit.id, row.vector, row.window_vector))

    def _mention(self, done: Corrected, unit_id: bytes, names: Sequence[str]) -> None:
        done.mentions += [EntityMention(Entity(self._ids.new(), n), [unit_id]) for n in names]

    async def _embed(self, texts: Sequence[str | None], vectors: dict[str, Vector]) -> None:
        new = [text for text in dict.fromkeys(texts) if text is not None and text not in vectors]
        if self._embedder is not None and new:
            found = quantise(await self._embedder.embed(new))
            vectors.update(zip(new, found, strict=True))


def _among(names: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the names that are among the wanted ones, however they are spelled."""
    folds = {fold_name(name) for name in wanted}
    return tuple(name for name in names if fold_name(name) in folds)
