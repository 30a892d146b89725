"""Directives: rules that a bank's owner sets for how questions are answered; kept as records."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..keeping.batch import Batch
from ..keeping.records import Record
from ..keeping.store import Store
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput, NotFound, TooLarge
from ..nouns.ids import IdMaker, parse_id, to_uuid
from ..nouns.memory import BankRef
from ..nouns.text import clean

DIRECTIVE = "directive"
"""The kind of their records."""

MOST = 1_000  # of one bank
NAME_CHARS = 256
CONTENT_CHARS = 10_000
MOST_TOLD_CHARS = 8_000  # of all that are told in one prompt, the highest priority first


@dataclass(frozen=True, slots=True)
class Directive:
    """A rule. `tags`: it holds for questions with one of them; without, for all."""

    id: str
    name: str
    content: str
    priority: int = 0
    is_active: bool = True
    tags: tuple[str, ...] = ()
    created_at: int = 0
    updated_at: int = 0


class Directives:
    """The verbs; everything they need is passed in."""

    def __init__(self, store: Store, *, ids: IdMaker, clock: Clock) -> None:
        self._store = store
        self._ids = ids
        self._clock = clock

    async def create(
        self,
        ref: BankRef,
        name: str,
        content: str,
        *,
        priority: int = 0,
        is_active: bool = True,
        tags: Sequence[str] = (),
    ) -> Directive:
        """Keep a new one; the bank is made when it is new.

        Raises:
            InvalidInput, TooLarge: nothing was kept.
        """
        if await self._store.record_count(ref, DIRECTIVE) >= MOST:
            raise TooLarge(f"the bank has {MOST} directives, which is the limit", limit=MOST)
        now = self._clock.now_us()
        key = to_uuid(self._ids.new())
        new = Directive(key, name, content, priority, is_active, tuple(tags), now, now)
        return await self._put(ref, new)

    async def get(self, ref: BankRef, key: str) -> Directive:
        """Return one.

        Raises:
            NotFound: there is none of this id.
        """
        record = await self._store.record(ref, DIRECTIVE, _key(key))
        if record is None:
            raise NotFound("there is no such directive in this bank", field="directive_id")
        return _of(record)

    async def list(self, ref: BankRef, *, active: bool = True) -> list[Directive]:
        """Return them, the highest priority first; with `active` only those that are."""
        records = await self._store.records(ref, DIRECTIVE, limit=MOST)
        found = [each for each in map(_of, records) if each.is_active or not active]
        return sorted(found, key=lambda each: (-each.priority, each.created_at, each.id))

    async def update(self, ref: BankRef, key: str, changes: Mapping[str, Any]) -> Directive:
        """Change one; what `changes` does not name stays.

        Raises:
            NotFound, InvalidInput, TooLarge: nothing was changed.
        """
        old = await self.get(ref, key)
        told = {name: getattr(old, name) for name in Directive.__slots__} | dict(changes)
        told |= {"updated_at": self._clock.now_us(), "tags": tuple(told["tags"])}
        return await self._put(ref, Directive(**told))

    async def delete(self, ref: BankRef, key: str) -> None:
        """Delete one.

        Raises:
            NotFound: there is none of this id.
        """
        old = await self.get(ref, key)
        await self._store.apply(ref, Batch(erase_records=[(DIRECTIVE, old.id)]))

    async def told(
        self, ref: BankRef, tags: Collection[str] = (), *, every: bool = False
    ) -> tuple[Directive, ...]:
        """Return those that hold for a question with some tags, as many as a prompt may hold."""
        found = []
        room = MOST_TOLD_CHARS
        for each in await self.list(ref):
            holds = every or not each.tags or not set(tags).isdisjoint(each.tags)
            if holds and len(each.content) <= room:
                room -= len(each.content)
                found.append(each)
        return tuple(found)

    async def _put(self, ref: BankRef, new: Directive) -> Directive:
        name, content = clean(new.name).strip(), clean(new.content).strip()
        for field, value, most in (("name", name, NAME_CHARS), ("content", content, CONTENT_CHARS)):
            if not value:
                raise InvalidInput(f"{field} must not be empty", field=field, limit=1)
            if len(value) > most:
                raise TooLarge(
                    f"{field} has {len(value)} characters; the limit is {most}",
                    field=field,
                    limit=most,
                )
        data = {
            "name": name,
            "content": content,
            "priority": new.priority,
            "is_active": new.is_active,
            "tags": list(new.tags),
        }
        record = Record(DIRECTIVE, new.id, new.created_at, new.updated_at, data)
        await self._store.apply(ref, Batch(records=[record]))
        return _of(record)


def _key(key: str) -> str:
    try:
        return to_uuid(parse_id(key, "directive_id"))
    except InvalidInput:
        raise NotFound("there is no such directive in this bank", field="directive_id") from None


def _of(record: Record) -> Directive:
    data = record.data
    return Directive(
        record.key,
        data["name"],
        data["content"],
        data["priority"],
        data["is_active"],
        tuple(data["tags"]),
        record.created_at,
        record.updated_at,
    )
