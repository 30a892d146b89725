"""A bank, whole and lossless, as lines of JSON; `bank_in` reads them.

The first line names format, version, bank and embedder. Then come the bank's profile, its entities,
each document with its units, the units of no document, links, intentions with their occurrences,
and events; the last line tells how many there were and a digest of them. Units bring terms,
vectors, claims, mentions and curations, so nothing is read or embedded again. Left out: keys,
webhooks, audit entries and operations, which are the server's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...keeping.browse import UnitFilter
from ...keeping.intentions import IntentionFilter
from ...keeping.store import Store
from ...keeping.view import Reader, View
from ...nouns.clock import Clock, iso
from ...nouns.errors import NotFound
from ...nouns.memory import BankRef, Document, Entity, Layer, Unit
from ...reading.importing.detect import BANK_FORMAT
from .spelling import spell

VERSION = 1
_PAGE = 500


class BankOut:
    """Writes banks as lines."""

    def __init__(self, store: Store, *, clock: Clock, language: str) -> None:
        self._store = store
        self._clock = clock
        self._language = language

    async def __call__(
        self, ref: BankRef, *, documents: Sequence[str] | None = None
    ) -> AsyncGenerator[str, None]:
        """Yield the lines of a bank, each with its line feed.

        Memories are of one snapshot, intentions are read right after it. Of `documents` alone:
        only these with their units and links, without intentions.

        Raises:
            NotFound: there is no such bank or document.
        """
        bank = await self._store.bank(ref)
        if bank is None:
            raise NotFound(f"there is no bank {ref.bank!r}", field="bank")
        active = next((g for g in await self._store.generations() if g.active), None)
        line = _Lines()
        async with self._store.snapshot(ref) as view:
            yield _line(
                {
                    "format": BANK_FORMAT,
                    "version": VERSION,
                    "bank": ref.bank,
                    "exported_at": iso(self._clock.now_us()),
                    "revision": view.revision,
                    "language": self._language,
                    "embedder": dict(active.fingerprint) if active else None,
                    "part": None if documents is None else list(documents),
                }
            )
            yield line("profile", profile=dict(bank.profile))
            async for kind, told in _memories(view, documents):
                yield line(kind, **told)
        if documents is None:
            async for kind, told in self._future(ref):
                yield line(kind, **told)
        yield line.end()

    async def person(self, ref: BankRef, entity_id: bytes) -> AsyncGenerator[str, None]:
        """Yield what mentions one entity: it, the units, and intentions read from them.

        Of documents only those units come, for the rest of their text speaks of others.

        Raises:
            NotFound: there is no such entity.
        """
        async with self._store.snapshot(ref) as view:
            entity = await view.entity(entity_id)
            if entity is None:
                raise NotFound("there is no such entity", field="entity")
            ids = await view.run(lambda reader: mentioning(reader, entity_id))
            head = {"format": BANK_FORMAT, "version": VERSION, "bank": ref.bank}
            told = {"exported_at": iso(self._clock.now_us()), "language": self._language}
            lines = _Lines()
            yield _line({**head, **told, "embedder": None, "part": [entity.name]})
            yield lines("entity", entity=spell(_uncounted(entity)))
            for start in range(0, len(ids), _PAGE):
                page = ids[start : start + _PAGE]
                # Of others their names alone: what else they are called is not about this one.
                for other in await view.run(lambda reader, page=page: _named(reader, page)):  # type: ignore[misc]
                    if other.name != entity.name:
                        yield lines("entity", entity=spell(replace(_uncounted(other), aliases=())))
                for each in await view.run(lambda reader, page=page: _told(reader, page)):  # type: ignore[misc]
                    yield lines("unit", **_alone(each))
        for start in range(0, len(ids), _PAGE):
            wanted = IntentionFilter(source_ids=ids[start : start + _PAGE])
            for intention in await self._store.intentions(ref, wanted, 10_000):
                told_of = spell(replace(intention, version=0, cue=None, cue_generation=-1))
                yield lines("intention", intention=told_of)
        yield lines.end()

    async def _future(self, ref: BankRef) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        offset = 0
        while page := await self._store.intentions(ref, IntentionFilter(), _PAGE, offset):
            offset += len(page)
            for intention in page:
                yield "intention", {"intention": spell(replace(intention, version=0))}
                offers = await self._store.offers(ref, intention_ids=[intention.id], limit=10_000)
                for offer in offers[::-1]:
                    yield "occurrence", {"occurrence": spell(offer.occurrence)}
        since, told = 0, set[str]()
        while events := await self._store.events(ref, None, since, _PAGE):
            new = [e for e in events if e.id not in told]
            if not new:
                break
            for event in new:
                yield "event", {"event": spell(event)}
            told = {e.id for e in events}
            since = events[-1].at


def mentioning(reader: Reader, entity_id: bytes) -> list[bytes]:
    """Return the ids of all units that mention an entity, sources before what was read from them.

    With a fact comes its source, and with a source what was read from it: they are one memory.
    """
    wanted = UnitFilter(layers=tuple(Layer), invalid=None, entity_id=entity_id, folded=False)
    whole: dict[bytes, None] = {}
    offset = 0
    while page := reader.browse(wanted, _PAGE, offset).units:
        offset += len(page)
        whole.update((unit.source_id or unit.id, None) for unit in page)
    ids = sorted(whole)
    facts = (reader.read_from(ids[at : at + _PAGE]) for at in range(0, len(ids), _PAGE))
    return ids + [unit.id for some in facts for unit in some]


def _named(reader: Reader, ids: Sequence[bytes]) -> list[Entity]:
    """Return the entities that some units mention."""
    names = {name for told in reader.mentions(ids).values() for name in told}
    return reader.entities_named(sorted(names))


class _Lines:
    """Makes lines, counts them and takes their digest."""

    def __init__(self) -> None:
        self._digest = hashlib.blake2b(digest_size=32)
        self._count = 0

    def __call__(self, kind: str, **told: Any) -> str:
        text = _line({"kind": kind, **told})
        self._digest.update(text.encode())
        self._count += 1
        return text

    def end(self) -> str:
        """Return the last line."""
        return _line({"kind": "end", "lines": self._count, "blake2b": self._digest.hexdigest()})


def _uncounted(entity: Entity) -> Entity:
    return replace(entity, mention_count=0, first_seen=None, last_seen=None)


def _alone(told: dict[str, Any]) -> dict[str, Any]:
    """Return a unit that stands for itself, without its document and the unit before it."""
    lacks = ("document_id", "previous_id")
    unit = {key: value for key, value in told["row"]["unit"].items() if key not in lacks}
    row = {k: v for k, v in told["row"].items() if k not in ("window_terms", "window_vector")}
    return {**told, "row": {**row, "unit": unit, "window_terms": row.get("terms", "b64:")}}


async def _memories(
    view: View, wanted: Sequence[str] | None
) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    offset = 0
    while wanted is None and (entities := await view.entities(_PAGE, offset)):
        offset += len(entities)
        for entity in entities:
            yield "entity", {"entity": spell(_uncounted(entity))}
    async for document in _documents(view, wanted):
        units = await view.units_of(document.id)
        if wanted is not None:
            ids = [unit.id for unit in units]
            for entity in await view.run(lambda reader, ids=ids: _named(reader, ids)):  # type: ignore[misc]
                yield "entity", {"entity": spell(_uncounted(entity))}
        chunks = [chunk.text for chunk in await view.chunks(document.id)]
        yield "document", {"document": spell(document), "chunks": chunks}
        async for told in _units(view, sorted(units, key=_sources_first)):
            yield "unit", told
        if wanted is not None:
            for link in await view.run(lambda reader, units=units: _links(reader, units)):  # type: ignore[misc]
                yield "link", link
    if wanted is not None:
        return
    async for page in _others(view):
        async for told in _units(view, page):
            yield "unit", told
    async for page in _all(view):
        for link in await view.run(lambda reader, page=page: _links(reader, page)):  # type: ignore[misc]
            yield "link", link


async def _documents(view: View, wanted: Sequence[str] | None) -> AsyncIterator[Document]:
    for name in wanted or ():
        found = await view.document(name)
        if found is None:
            raise NotFound(f"document {name!r} does not exist", field="document")
        yield found
    offset = 0
    while wanted is None and (page := await view.documents(_PAGE, offset)):
        offset += len(page)
        for document in page:
            yield document


async def _all(view: View) -> AsyncIterator[list[Unit]]:
    """Yield pages of units: those that were not read from others, then what was read from them."""
    after = b""
    while ids := await view.unit_ids(None, after, _PAGE):
        after = ids[-1]
        own = await view.units(ids)
        yield own + await view.run(lambda reader, ids=ids: reader.read_from(ids))  # type: ignore[misc]


async def _others(view: View) -> AsyncIterator[list[Unit]]:
    """Yield pages of the units of no document."""
    async for page in _all(view):
        yield [unit for unit in page if unit.document_id is None]


async def _units(view: View, units: Sequence[Unit]) -> AsyncIterator[dict[str, Any]]:
    for start in range(0, len(units), _PAGE):
        ids = [unit.id for unit in units[start : start + _PAGE]]
        for told in await view.run(lambda reader, ids=ids: _told(reader, ids)):  # type: ignore[misc]
            yield told


def _told(reader: Reader, ids: Sequence[bytes]) -> list[dict[str, Any]]:
    """Return what is known of units, but for links."""
    mentions, curations = reader.mentions(ids), reader.curations(ids)
    claims: dict[bytes, list[Any]] = {}
    for placed in reader.claims_of(ids):
        claims.setdefault(placed.unit_id, []).append(placed.claim)
    told: list[dict[str, Any]] = []
    for row in reader.rows(ids):
        unit_id = row.unit.id
        made = tuple(claims[unit_id]) if unit_id in claims else row.claims
        each: dict[str, Any] = {"row": spell(replace(row, claims=made))}
        if unit_id in mentions:
            each["mentions"] = list(mentions[unit_id])
        if unit_id in curations:
            each["curation"] = spell(curations[unit_id])
        told.append(each)
    return told


def _links(reader: Reader, units: Sequence[Unit]) -> list[dict[str, Any]]:
    """Return the links that begin at some units."""
    own = {unit.id for unit in units}
    found = [link for link in reader.links_of(sorted(own)) if link.source in own]
    return [{"link": spell(link)} for link in found]


def _sources_first(unit: Unit) -> tuple[bool, bytes]:
    return unit.source_id is not None, unit.id


def _line(told: Mapping[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")) + "\n"
