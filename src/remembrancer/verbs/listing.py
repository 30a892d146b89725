"""listing: page through the memories of one bank, or of all that a caller reaches, by id."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import AsyncIterator
from typing import NamedTuple

from ..keeping.store import Store
from ..keeping.view import Reader
from ..nouns.caller import Caller
from ..nouns.errors import InvalidInput
from ..nouns.memory import BankRef
from .lookup import Kept, kept_of
from .recalling.origins import Origin
from .tenant_banks import all_banks_of

MOST_LISTED = 1_000
"""Memories of one page."""

_STEP = 256  # memories read at once, for their texts may be long
_MOST_READ = 20_000  # memories that one page looks at; a page that is not full goes on from there
_BEFORE_ALL = bytes(16)


class _Place(NamedTuple):
    """Where a listing stands: in which bank, behind which memory, and which fact of it."""

    bank: str
    memory: bytes
    fact: bytes = b""


class Listed(NamedTuple):
    """Some memories by bank and id. `cursor` goes on; None at the end."""

    memories: list[Kept]
    cursor: str | None


class Listing:
    """The verb; everything it needs is passed in."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def __call__(
        self,
        caller: Caller,
        bank: BankRef | None,
        *,
        origin: Origin | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Listed:
        """Return memories that hold; a page may be short, or empty, before the last one.

        Args:
            caller: who asks.
            bank: None for all that the caller reaches.
            origin: memories from there alone; facts are listed only when they are asked for.
            cursor: from the page before.
            limit: memories at most, up to `MOST_LISTED`.

        Raises:
            InvalidInput: `cursor` is none, or a bound is broken.
        """
        if not 1 <= limit <= MOST_LISTED:
            raise InvalidInput(
                f"limit must be from 1 to {MOST_LISTED}", field="limit", limit=MOST_LISTED
            )
        place = None if cursor is None else _read(cursor)
        found: list[Kept] = []
        looked = 0
        async for ref in self._banks(caller, bank, place):
            at = place if place is not None and place.bank == ref.bank else None
            at = at or _Place(ref.bank, _BEFORE_ALL)
            while True:
                page, at, more = await self._page(ref, at, origin, limit - len(found))
                found += page
                looked += _STEP
                if bank is not None and not more:
                    break
                if len(found) == limit or looked >= _MOST_READ:
                    return Listed(found, _spelled(at))
                if not more:
                    break
        return Listed(found, None)

    async def _banks(
        self, caller: Caller, bank: BankRef | None, place: _Place | None
    ) -> AsyncIterator[BankRef]:
        """Yield the banks from where the listing stands."""
        if bank is not None:
            yield bank
            return
        async for ref in all_banks_of(self._store, caller):
            if place is None or ref.bank >= place.bank:
                yield ref

    async def _page(
        self, ref: BankRef, place: _Place, origin: Origin | None, limit: int
    ) -> tuple[list[Kept], _Place, bool]:
        """Return the next memories of a bank, where they end, and whether there may be more."""
        # A memory whose facts did not all fit comes again.
        after = _before(place.memory) if place.fact else place.memory
        async with self._store.snapshot(ref) as view:
            ids = await view.unit_ids(None, after, _STEP)

            def work(reader: Reader) -> list[Kept]:
                units = reader.units(ids)
                if origin is Origin.READ:
                    units = reader.read_from([unit.id for unit in units])
                return kept_of(reader, ref, units)

            found = await view.run(work)
        by_place = sorted((_place(kept), kept) for kept in found if _fits(kept, origin))
        fitting = [(at, kept) for at, kept in by_place if at > place]
        if len(fitting) > limit:
            fitting = fitting[:limit]
            return [kept for _, kept in fitting], fitting[-1][0], True
        last = _Place(ref.bank, ids[-1]) if ids else place
        return [kept for _, kept in fitting], last, len(ids) == _STEP


def _fits(kept: Kept, origin: Origin | None) -> bool:
    return kept.holds and (origin is None or kept.origin is origin)


def _place(kept: Kept) -> _Place:
    unit = kept.unit
    fact = unit.id if unit.source_id is not None else b""
    return _Place(kept.ref.bank, unit.source_id or unit.id, fact)


def _before(unit_id: bytes) -> bytes:
    """Return the id just before one, so that what comes after it begins with that one."""
    return max(0, int.from_bytes(unit_id, "big") - 1).to_bytes(16, "big")


def _spelled(place: _Place) -> str:
    told = json.dumps([place.bank, place.memory.hex(), place.fact.hex()])
    return base64.urlsafe_b64encode(told.encode()).decode().rstrip("=")


def _read(cursor: str) -> _Place:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        bank, memory, fact = json.loads(base64.urlsafe_b64decode(padded))
        place = _Place(str(bank), bytes.fromhex(memory), bytes.fromhex(fact))
        if len(place.memory) != 16 or len(place.fact) not in (0, 16):
            raise ValueError
    except (ValueError, TypeError, AttributeError, binascii.Error, RecursionError):
        raise InvalidInput(
            "cursor must be the next_cursor of the page before", field="cursor"
        ) from None
    return place
