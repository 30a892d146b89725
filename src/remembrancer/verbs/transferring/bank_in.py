"""A bank back from the lines that `bank_out` writes: as it was, with its ids.

The file is checked whole before anything is written. Each document comes with its units in one
transaction, so an import that was broken off is begun again and goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import IO, Any

from ...keeping.batch import Batch, DocumentWrite, EntityMention
from ...keeping.intentions import IntentionBatch
from ...keeping.store import Store
from ...nouns.errors import Conflict, InvalidInput
from ...nouns.intention import Event, Intention, Occurrence
from ...nouns.memory import BankRef, Chunk, Curation, Document, Entity, Link, UnitRow
from ...reading.importing.detect import BANK_FORMAT
from ...reading.importing.types import MAX_RECORD_BYTES
from .bank_out import VERSION
from .spelling import read

_MAX_LINE = 4 * MAX_RECORD_BYTES
_UNIT = b'{"kind":"unit",'
_TOGETHER = 500  # units of no document, links, intentions: so many in one transaction
_PENDING = -1  # a cue that waits for the embedder

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Head:
    """What the first line tells, and how many lines and units there are."""

    bank: str
    language: str
    embedder: Mapping[str, Any] | None
    lines: int
    units: int


@dataclass(slots=True)
class BankLoaded:
    """What was put, by kind, and the names of the documents that were there already.

    `others` are there too, but with other contents.
    """

    documents: int = 0
    units: int = 0
    links: int = 0
    intentions: int = 0
    there: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    vectors: bool = True  # False: they are of another embedder, so units wait for this one


def check(file: IO[bytes]) -> Head:
    """Read a file to its end and check that it is whole; return what its ends tell.

    Raises:
        InvalidInput: it is of another format, cut off, or changed.
    """
    file.seek(0)
    head = _parsed(file.readline(_MAX_LINE), 1)
    if head.get("format") != BANK_FORMAT or head.get("version") != VERSION:
        raise _unfit(f"it is not of the format {BANK_FORMAT}, version {VERSION}")
    digest, count, units, last = hashlib.blake2b(digest_size=32), 0, 0, b""
    while line := file.readline(_MAX_LINE):
        if last:
            digest.update(last)
            count += 1
            units += last.startswith(_UNIT)
        last = line
    end = _parsed(last, count + 2) if last else {}
    if end.get("kind") != "end" or end.get("lines") != count:
        raise _unfit("it is cut off: its last line is missing")
    if end.get("blake2b") != digest.hexdigest():
        raise _unfit("it was changed since it was written: its digest is another one")
    embedder = head.get("embedder")
    return Head(
        str(head.get("bank")),
        str(head.get("language")),
        embedder if isinstance(embedder, dict) else None,
        count,
        units,
    )


class BankIn:
    """Reads such files into banks."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def __call__(
        self, ref: BankRef, file: IO[bytes], progress: Progress | None = None
    ) -> BankLoaded:
        """Put a file's bank into a bank; what is there already is left as it is.

        Raises:
            InvalidInput: the file is not fit to be read.
            Conflict: another bank of this store holds the same memories.
        """
        head = check(file)
        active = next((g for g in await self._store.generations() if g.active), None)
        same = active is not None and head.embedder == dict(active.fingerprint)
        done = BankLoaded(vectors=same or head.embedder is None)
        load = _Load(self._store, ref, done, same, active.number if active else 0)
        file.seek(0)
        file.readline(_MAX_LINE)
        for number, told in enumerate(_lines(file), 2):
            try:
                await load.take(told)
            except (ValueError, KeyError, TypeError) as error:
                raise _unfit(f"line {number} cannot be read ({error})") from None
            if progress is not None:
                progress(number - 1, head.lines)
        await load.flush()
        return done


class _Load:
    """What of a file is being put."""

    def __init__(
        self, store: Store, ref: BankRef, done: BankLoaded, vectors: bool, generation: int
    ) -> None:
        self._store = store
        self._ref = ref
        self._done = done
        self._vectors = vectors
        self._generation = generation
        self._profile: dict[str, Any] | None = None
        self._entities: dict[str, Entity] = {}
        self._document: tuple[Document, list[Chunk]] | None = None
        self._rows: list[UnitRow] = []
        self._mentions: dict[str, list[bytes]] = {}
        self._curations: list[Curation] = []
        self._links: list[Link] = []
        self._future: list[Intention] = []
        self._occurrences: list[Occurrence] = []
        self._events: list[Event] = []

    async def take(self, told: Mapping[str, Any]) -> None:
        """Take a line."""
        match told["kind"]:
            case "profile":
                if not isinstance(told["profile"], dict):
                    raise ValueError("the profile should be an object")
                self._profile = told["profile"]
            case "entity":
                entity = read(Entity, told["entity"])
                self._entities[entity.name] = entity
            case "document":
                await self.flush()
                chunks = [Chunk(n, str(text)) for n, text in enumerate(told["chunks"])]
                self._document = (read(Document, told["document"]), chunks)
            case "unit":
                await self._unit(told)
            case "link":
                await self._units_first()
                self._links.append(read(Link, told["link"]))
            case "intention":
                await self._units_first()
                self._future.append(self._cued(read(Intention, told["intention"])))
            case "occurrence":
                self._occurrences.append(read(Occurrence, told["occurrence"]))
            case "event":
                await self._units_first()
                self._events.append(read(Event, told["event"]))
            case "end":
                await self.flush()
                await self._put_profile()
            case kind:
                raise ValueError(f"the kind {kind!r} is unknown")
        if len(self._links) + len(self._future) + len(self._events) >= _TOGETHER:
            await self.flush()

    async def flush(self) -> None:
        """Put what is held."""
        await self._put_units()
        if self._links or self._future or self._occurrences or self._events:
            await self._put_profile()
        if self._links:
            await self._store.apply(self._ref, Batch(links=self._links))
            self._done.links += len(self._links)
        known = {
            i.id
            for i in await self._store.intentions_by_id(self._ref, [i.id for i in self._future])
        }
        new = [i for i in self._future if i.id not in known]
        if new or self._occurrences or self._events:
            future = IntentionBatch(put=new, occurrences=self._occurrences, events=self._events)
            await self._store.intend(self._ref, future)
            self._done.intentions += len(new)
        self._links, self._future, self._occurrences, self._events = [], [], [], []

    async def _put_profile(self) -> None:
        """Make the bank, once something is taken: one that is refused leaves none behind."""
        profile, self._profile = self._profile, None
        if profile is not None:
            await self._store.bank_change(self._ref, lambda held: held or profile)

    async def _unit(self, told: Mapping[str, Any]) -> None:
        row = read(UnitRow, told["row"])
        inside = self._document is not None and row.unit.document_id == self._document[0].id
        if self._document is not None and not inside:
            await self._put_units()
        if self._document is None and len(self._rows) >= _TOGETHER and row.unit.source_id is None:
            await self._put_units()
        if not self._vectors:
            row = replace(row, vector=None, window_vector=None)
        self._rows.append(row)
        for name in told.get("mentions", ()):
            if name not in self._entities:
                raise ValueError(f"the entity {name!r} was not told before")
            self._mentions.setdefault(str(name), []).append(row.unit.id)
        if "curation" in told:
            self._curations.append(read(Curation, told["curation"]))

    async def _units_first(self) -> None:
        if self._document is not None or self._rows:
            await self._put_units()

    async def _put_units(self) -> None:
        """Put a document with its units, or units of no document, in one transaction."""
        held, rows = self._document, self._rows
        mentions, curations = self._mentions, self._curations
        self._document, self._rows, self._mentions, self._curations = None, [], {}, []
        if held is None and not rows:
            return
        ids = [row.unit.id for row in rows]
        async with self._store.snapshot(self._ref) as view:
            there = None if held is None else await view.document(held[0].name)
            if held is not None and there is not None:
                same = (there.id, there.content_hash) == (held[0].id, held[0].content_hash)
                (self._done.there if same else self._done.others).append(held[0].name)
                return
            known = {unit.id for unit in await view.units(ids)}
        await self._refuse_elsewhere(ids)
        await self._put_profile()
        rows = [row for row in rows if row.unit.id not in known]
        if held is None and not rows:
            return
        writes = [] if held is None else [DocumentWrite(held[0], held[1], expect_hash="")]
        await self._store.apply(
            self._ref,
            Batch(
                documents=writes,
                units=rows,
                mentions=[
                    EntityMention(self._entities[name], units) for name, units in mentions.items()
                ],
                curations=curations,
            ),
        )
        self._done.documents += len(writes)
        self._done.units += len(rows)

    async def _refuse_elsewhere(self, ids: list[bytes]) -> None:
        for unit_id, ref in (await self._store.locate(self._ref.tenant, ids)).items():
            if ref != self._ref:
                raise Conflict(
                    f"bank {ref.bank!r} holds the memory {unit_id.hex()} already, and an id names "
                    "one memory of a tenant: import into another folder, or delete that bank first",
                    field="bank",
                )

    def _cued(self, intention: Intention) -> Intention:
        """Return an intention whose cue is of this store's embedder, or waits for it."""
        if intention.cue_generation <= 0:
            return intention
        if self._vectors:
            return replace(intention, cue_generation=self._generation)
        return replace(intention, cue=None, cue_generation=_PENDING)


def _lines(file: IO[bytes]) -> Iterator[Mapping[str, Any]]:
    number = 1
    while line := file.readline(_MAX_LINE):
        number += 1
        yield _parsed(line, number)


def _parsed(line: bytes, number: int) -> dict[str, Any]:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise _unfit(f"line {number} is no JSON object")
    return told


def _unfit(why: str) -> InvalidInput:
    return InvalidInput(f"file: this export cannot be imported: {why}", field="file")
