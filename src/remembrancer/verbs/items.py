"""items: JSON values of a bank, kept by namespace and key, and found by meaning.

An item that can be found is one unit, which holds its value: whoever forgets the unit erases the
item. One that is not to be found is a record alone. Beside it stand a record of the item, one of
its namespace, and with a time to live one of when it expires.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..finding.tagging import TagFilter, TagMatch
from ..keeping.records import Record
from ..keeping.store import Store
from ..nouns.clock import Clock
from ..nouns.errors import Conflict, InvalidInput, TooLarge
from ..nouns.ids import IdMaker
from ..nouns.memory import BankRef, Job, JobState, Layer, Unit
from ..nouns.text import clean
from .forget import SWEEP
from .itemizing.names import (
    EXPIRY,
    NAMESPACE,
    Namespace,
    checked_name,
    expiry_key,
    kind_of,
    named_by,
    namespace_key,
    namespace_of,
    tag_of,
    tags_of,
    unit_id_of,
)
from .recall import Answer, Recall, RecallOptions
from .remember import MAX_CONTENT_BYTES, Remember
from .retaining.guarding import OPEN, Guard

MAX_VALUE_BYTES = 1_048_576
"""Of a value's JSON in UTF-8."""

MAX_AT_ONCE = 10_000
"""Items of one write, and items that a search may skip and return."""

_ATTRIBUTE = "item"
_PAGE = 500
_WIDEST = 20_000  # answers looked through for those that pass
_NO_BOUND = 1 << 40  # tokens
_TRIES = 5

Test = Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class Put:
    """What to keep under a name; a value of None erases it.

    `text` is what it is found by; None: it is not to be found. `ttl_us`: it is gone so long after
    it was last put or read.
    """

    namespace: Namespace
    key: str
    value: Mapping[str, Any] | None
    text: str | None = None
    ttl_us: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """An item as it is kept; times in microseconds. `score`: of a search by meaning."""

    namespace: Namespace
    key: str
    value: Mapping[str, Any]
    created_at: int
    updated_at: int
    ttl_us: int | None = None
    expires_at: int | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is searched for; `refresh`: what is returned lives on for its whole time again."""

    prefix: Namespace
    query: str | None = None
    test: Test | None = None
    limit: int = 10
    offset: int = 0
    refresh: bool = True


class Items:
    """The verb; everything it needs is passed in."""

    def __init__(
        self,
        store: Store,
        remember: Remember,
        recall: Recall,
        *,
        ids: IdMaker,
        clock: Clock,
        guard: Guard = OPEN,
    ) -> None:
        self._guard = guard
        self._store = store
        self._remember = remember
        self._recall = recall
        self._ids = ids
        self._clock = clock

    async def get(
        self, ref: BankRef, namespace: Namespace, key: str, *, refresh: bool = True
    ) -> Entry | None:
        """Return an item, or None; reading makes nothing."""
        record = await self._store.record(ref, kind_of(namespace), key)
        found = await self._entries(ref, namespace, [record] if record is not None else [])
        if refresh:
            await self._refresh(ref, found)
        return found[0] if found else None

    async def put(
        self, ref: BankRef, puts: Sequence[Put], *, expect_revision: int | None = None
    ) -> None:
        """Keep and erase items in one transaction; of several with one name the last counts.

        Raises:
            InvalidInput, TooLarge: nothing was changed.
            Conflict: the bank does not stand at `expect_revision`; nothing was changed.
        """
        last = {(put.namespace, put.key): put for put in puts}
        if not last:
            return
        if len(last) > MAX_AT_ONCE:
            raise TooLarge(
                f"puts holds {len(last)} items; the limit is {MAX_AT_ONCE}",
                field="puts",
                limit=MAX_AT_ONCE,
            )
        for put in last.values():
            _check(put)
        kept = [self._guarded(put) for put in last.values()]
        if expect_revision is None:
            await self.sweep(ref)
        await self._write(ref, kept, expect_revision)

    def guarded(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a value as it may be kept, to make of it what it is found by.

        Raises:
            InvalidInput: it holds what is not to be kept.
        """
        return self._guard.attributes(value, "value") or {}

    def _guarded(self, put: Put) -> Put:
        if put.value is None:
            return put
        text = put.text and self._guard.text(put.text, "value")
        return replace(put, value=self.guarded(put.value), text=text)

    async def revision(self, ref: BankRef) -> int:
        """Return the revision at which a bank stands, to put only what was made of it."""
        async with self._store.snapshot(ref) as view:
            return view.revision

    async def search(self, ref: BankRef, wanted: Wanted) -> list[Entry]:
        """Return items below a namespace: with a query those like it first, else the newest first.

        Raises:
            InvalidInput: a negative or too large offset or limit.
        """
        end = wanted.offset + wanted.limit
        if wanted.limit < 0 or wanted.offset < 0 or end > MAX_AT_ONCE:
            raise InvalidInput(
                f"offset and limit must not be negative, nor above {MAX_AT_ONCE} together",
                field="limit",
                limit=MAX_AT_ONCE,
            )
        found: list[Entry] = []
        if wanted.query and any(map(str.isalnum, wanted.query)):
            found = await self._alike(ref, wanted, end)
        if len(found) < end:
            seen = {(entry.namespace, entry.key) for entry in found}
            rest = [
                e async for e in self._newest(ref, wanted, end) if (e.namespace, e.key) not in seen
            ]
            found += rest
        page = found[wanted.offset : end]
        if wanted.refresh:
            await self._refresh(ref, page)
        return page

    async def namespaces(self, ref: BankRef) -> AsyncIterator[Namespace]:
        """Yield the namespaces that hold items."""
        await self.sweep(ref)
        async for record in self._records(ref, NAMESPACE):
            yield namespace_of(record.key)

    async def sweep(self, ref: BankRef) -> int:
        """Erase what has expired; return how many items that were."""
        gone = 0
        now = self._clock.now_us()
        while due := await self._store.records(ref, EXPIRY, until=now + 1, limit=_PAGE):
            names = [named_by(record.key) for record in due]
            await self._write(ref, [Put(namespace, key, None) for namespace, key in names])
            gone += len(names)
        return gone

    async def _write(
        self, ref: BankRef, puts: Sequence[Put], expect_revision: int | None = None
    ) -> None:
        now = self._clock.now_us()
        erased = [unit_id_of(ref, p.namespace, p.key) for p in puts if not _found_by(p)]
        there = await self._store.read(ref, lambda reader: {u.id for u in reader.units(erased)})
        erased = [unit_id for unit_id in erased if unit_id in there]
        kept = [put for put in puts if put.value is not None]
        sources = [self._remember.source(_unit(ref, put, now)) for put in kept if _found_by(put)]
        # Two items that say the same are two items.
        sources = [replace(source, row=replace(source.row, same=None)) for source in sources]
        batch = await self._remember.batch(
            sources,
            [],
            erase=erased,
            jobs=[self._sweep(ref, now)] if erased else [],
            erase_records=[
                *((EXPIRY, expiry_key(put.namespace, put.key)) for put in puts),
                *((kind_of(put.namespace), put.key) for put in puts if put.value is None),
            ],
            records=[record for put in kept for record in _records(put, now)],
            expect_revision=expect_revision,
        )
        applied = await self._store.apply(ref, batch)
        emptied = {put.namespace for put in puts if put.value is None}
        await self._drop_empty(ref, emptied - {put.namespace for put in kept}, applied.revision)

    async def _drop_empty(
        self, ref: BankRef, namespaces: Iterable[Namespace], revision: int
    ) -> None:
        """Take out namespaces that hold nothing any more, unless something is put meanwhile."""
        for namespace in namespaces:
            for _ in range(_TRIES):
                if await self._store.record_count(ref, kind_of(namespace)):
                    break
                batch = await self._remember.batch(
                    [],
                    [],
                    erase_records=[(NAMESPACE, namespace_key(namespace))],
                    expect_revision=revision,
                )
                try:
                    revision = (await self._store.apply(ref, batch)).revision
                    break
                except Conflict:
                    revision = await self.revision(ref)

    async def _alike(self, ref: BankRef, wanted: Wanted, end: int) -> list[Entry]:
        """Return items by how well they answer the query."""
        tags = TagFilter([tag_of(wanted.prefix)], TagMatch.ALL_STRICT) if wanted.prefix else None
        limit = end
        while True:
            options = RecallOptions(
                limit=max(limit, 1), max_tokens=_NO_BOUND, tags=tags, min_relevance=0
            )
            answers = (await self._recall(ref, wanted.query or "", options)).answers
            found = [
                entry
                for answer in answers
                for entry in await self._answered(ref, answer)
                if wanted.test is None or wanted.test(entry.value)
            ]
            if len(found) >= end or len(answers) < limit or limit >= _WIDEST:
                return found[:end]
            limit = min(max(limit, 50) * 4, _WIDEST)

    async def _answered(self, ref: BankRef, answer: Answer) -> list[Entry]:
        name = (answer.unit.attributes or {}).get(_ATTRIBUTE)
        if name is None:
            return []
        namespace, key = tuple(name["namespace"]), name["key"]
        record = await self._store.record(ref, kind_of(namespace), key)
        if record is None or not self._lives(record):
            return []
        cosine = answer.arms.cosine
        score = float(answer.score if cosine is None else cosine)
        return [replace(_entry(namespace, record, name["value"]), score=score)]

    async def _newest(self, ref: BankRef, wanted: Wanted, end: int) -> AsyncIterator[Entry]:
        best: list[tuple[int, Namespace, str, Entry]] = []
        depth = len(wanted.prefix)
        async for record in self._records(ref, NAMESPACE):
            namespace = namespace_of(record.key)
            if namespace[:depth] == wanted.prefix:
                async for page in self._pages(ref, kind_of(namespace)):
                    some = await self._entries(ref, namespace, page)
                    some = [e for e in some if wanted.test is None or wanted.test(e.value)]
                    ranked = ((e.updated_at, e.namespace, e.key, e) for e in some)
                    best = heapq.nlargest(end, [*best, *ranked], key=lambda each: each[:3])
        for *_, entry in best:
            yield entry

    async def _entries(
        self, ref: BankRef, namespace: Namespace, records: Sequence[Record]
    ) -> list[Entry]:
        """Return the items of records that have not expired and were not forgotten."""
        live = [record for record in records if self._lives(record)]
        ids = {r.key: unit_id_of(ref, namespace, r.key) for r in live if "value" not in r.data}
        units: dict[bytes, Unit] = {}
        if ids:
            read = await self._store.read(ref, lambda reader: reader.units([*ids.values()]))
            units = {unit.id: unit for unit in read}
        found = []
        for record in live:
            if "value" in record.data:
                found.append(_entry(namespace, record, record.data["value"]))
            elif (unit := units.get(ids[record.key])) is not None:
                kept = (unit.attributes or {}).get(_ATTRIBUTE, {})
                found.append(_entry(namespace, record, kept.get("value", {})))
        return found

    async def _refresh(self, ref: BankRef, entries: Sequence[Entry]) -> None:
        """Let items live for their whole time again."""
        now = self._clock.now_us()
        for entry in entries:
            if entry.ttl_us is None:
                continue
            key = expiry_key(entry.namespace, entry.key)
            expires = now + entry.ttl_us
            revision = await self.revision(ref)
            record = await self._store.record(ref, kind_of(entry.namespace), entry.key)
            if record is None:
                continue
            kept = replace(record, data={**record.data, "expires": expires})
            batch = await self._remember.batch(
                [],
                [],
                erase_records=[(EXPIRY, key)],
                records=[kept, Record(EXPIRY, key, expires, now)],
                expect_revision=revision,
            )
            try:
                await self._store.apply(ref, batch)
            except Conflict:  # whoever wrote meanwhile may have put or erased it
                continue

    async def _records(self, ref: BankRef, kind: str) -> AsyncIterator[Record]:
        async for page in self._pages(ref, kind):
            for record in page:
                yield record

    async def _pages(self, ref: BankRef, kind: str) -> AsyncIterator[list[Record]]:
        offset = 0
        while page := await self._store.records(ref, kind, limit=_PAGE, offset=offset):
            yield page
            offset += len(page)

    def _lives(self, record: Record) -> bool:
        expires = record.data.get("expires")
        return expires is None or expires > self._clock.now_us()

    def _sweep(self, ref: BankRef, now: int) -> Job:
        job_id = self._ids.new()
        return Job(job_id, ref, SWEEP, JobState.PENDING, now, now, priority=1, listed=False)


def _found_by(put: Put) -> bool:
    return put.value is not None and bool(put.text and put.text.strip())


def _check(put: Put) -> None:
    checked_name(put.namespace, put.key)
    if put.value is None:
        return
    try:
        size = len(json.dumps(put.value, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"value must be JSON: {error}", field="value") from None
    if size > MAX_VALUE_BYTES:
        raise TooLarge(
            f"value has {size} bytes as JSON; the limit is {MAX_VALUE_BYTES}",
            field="value",
            limit=MAX_VALUE_BYTES,
        )
    if put.ttl_us is not None and put.ttl_us <= 0:
        raise InvalidInput("ttl must be above 0", field="ttl", limit=0)


def _unit(ref: BankRef, put: Put, now: int) -> Unit:
    text = clean(put.text or "").encode()[:MAX_CONTENT_BYTES].decode(errors="ignore")
    item = {"namespace": list(put.namespace), "key": put.key, "value": put.value}
    return Unit(
        id=unit_id_of(ref, put.namespace, put.key),
        layer=Layer.SOURCE,
        text=text,
        created_at=now,
        mentioned_at=now,
        attributes={_ATTRIBUTE: item},
        tags=tags_of(put.namespace),
    )


def _records(put: Put, now: int) -> list[Record]:
    data: dict[str, Any] = {} if _found_by(put) else {"value": put.value}
    made = []
    if put.ttl_us is not None:
        expires = now + put.ttl_us
        data |= {"ttl": put.ttl_us, "expires": expires}
        made = [Record(EXPIRY, expiry_key(put.namespace, put.key), expires, now)]
    return [
        Record(kind_of(put.namespace), put.key, now, now, data),
        Record(NAMESPACE, namespace_key(put.namespace), now, now),
        *made,
    ]


def _entry(namespace: Namespace, record: Record, value: Mapping[str, Any]) -> Entry:
    return Entry(
        namespace,
        record.key,
        value,
        record.created_at,
        record.updated_at,
        record.data.get("ttl"),
        record.data.get("expires"),
    )
