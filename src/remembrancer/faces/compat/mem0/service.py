"""What mem0's calls do, over an open memory, for one caller.

The memories of a user, or of an agent, a run or an app without one, are a bank; further ids are
tags of it. Texts are kept verbatim, so `infer` changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ....app import App
from ....nouns.caller import Caller
from ....nouns.errors import InvalidInput, NotFound
from ....nouns.ids import parse_id
from ....nouns.memory import BankRef, Layer, Unit
from ....verbs.browse import Query, Shown
from ....verbs.curate import LEAVE, Edit
from ....verbs.recall import Answer, RecallOptions
from ....verbs.recalling.across import MAX_BANKS
from ....verbs.retaining.units import Item
from ....verbs.tenant_banks import reached
from .filters import Filter
from .messages import content_of, told_at
from .scope import ENTITIES, PREFIX, Scope, scope_of, tags_listed, tags_wanted, user_bank
from .shapes import KEY, Beside, added, beside, expiration, expired, fields_of, history_of
from .shapes import memory_of as shown_memory

TOP_K = 20
MAX_TOP_K = 1_000
_PAGE = 500
_WIDEST = 20_000  # answers looked through for those that pass a filter
_NO_BOUND = 1 << 40  # tokens


class Unset:
    """Says that a date stays as it is, where None clears it."""


UNSET = Unset()


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched for. `threshold`: the lowest score of an answer, None for any."""

    query: str
    filters: Filter
    top_k: int = TOP_K
    threshold: float | None = None
    show_expired: bool = False
    asked_at: tuple[int | None, int | None] = (None, None)


class Mem0:
    """mem0's calls; `places` are the banks that the last change was made in."""

    def __init__(self, app: App, caller: Caller) -> None:
        self._app = app
        self._caller = caller
        self.places: list[BankRef] = []

    async def add(
        self,
        messages: Any,
        ids: Mapping[str, Any],
        *,
        metadata: Mapping[str, Any] | None = None,
        timestamp: Any = None,
        expiration_date: Any = None,
    ) -> list[dict[str, Any]]:
        """Keep messages; return what was added, one entry a message or passage.

        Raises:
            InvalidInput, TooLarge: nothing was stored.
        """
        scope = scope_of(ids)
        ref = self._caller.bank(scope.bank, next(iter(scope.ids)))
        kept = Beside(scope.ids, dict(metadata or {}), expiration(expiration_date))
        content = content_of(messages)
        at, offset_min = told_at(timestamp, "timestamp")
        dumped = json.dumps(kept.dump(), ensure_ascii=False)
        if content is None:
            return []
        item = Item(
            content, timestamp=at, offset_min=offset_min, metadata={KEY: dumped}, tags=scope.tags
        )
        done = await self._app.retain(ref, [item])
        self.places = [ref]
        units = await self._app.store.read(ref, lambda reader: reader.units(done.unit_ids))
        sources = [unit for unit in units if unit.layer is Layer.SOURCE]
        return [added(unit) for unit in sorted(sources, key=lambda u: (u.turn, u.part))]

    async def search(self, wanted: Search) -> list[dict[str, Any]]:
        """Return the memories that answer a question, best first.

        `score` is the cosine of a memory and the question, 0 to 1; the order is by more than that.
        """
        _scoped(wanted.filters)
        _bounded(wanted.top_k)
        refs = await self._banks(wanted.filters)
        limit = wanted.top_k
        while True:
            answers = await self._recalled(refs, wanted, limit)
            found = [shown for a in answers if (shown := self._passing(a, wanted)) is not None]
            if len(found) >= wanted.top_k or len(answers) < limit or limit >= _WIDEST:
                return found[: wanted.top_k]
            limit = min(max(limit, 50) * 4, _WIDEST)

    async def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return a memory, or None."""
        found = await self._find(memory_id)
        return None if found is None else shown_memory(found[1].unit, found[2])

    async def get_all(
        self, filters: Filter, *, top_k: int, offset: int = 0, show_expired: bool = False
    ) -> tuple[list[dict[str, Any]], int]:
        """Return memories, of each bank the newest first, and how many there are in all."""
        _scoped(filters)
        _bounded(top_k)
        total = 0
        page: list[dict[str, Any]] = []
        async for unit, kept in self._all(filters, show_expired):
            if offset <= total < offset + top_k:
                page.append(shown_memory(unit, kept))
            total += 1
        return page, total

    async def update(
        self,
        memory_id: str,
        *,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = UNSET,
    ) -> None:
        """Change a memory; metadata come over the old ones, ids stay.

        Raises:
            NotFound: there is none of that id.
            InvalidInput: nothing is to be changed, or something cannot be taken.
        """
        if text is None and metadata is None and expiration_date is UNSET:
            raise InvalidInput("give a text, metadata or expiration_date", field="text")
        if text is not None and not text.strip():
            raise InvalidInput("text must not be empty", field="text", limit=1)
        ref, shown, kept = await self._there(memory_id)
        new = kept.changed(metadata)
        if expiration_date is not UNSET:
            new = replace(new, expires=expiration(expiration_date))
        attributes = LEAVE if new == kept else {KEY: new.dump()}
        edit = Edit(text=text, attributes=attributes, merge=True)
        await self._app.curate(ref, shown.unit.id, edit)
        self.places = [ref]

    async def delete(self, memory_id: str) -> None:
        """Erase a memory, and its document with the last one of it.

        Raises:
            NotFound: there is none of that id.
        """
        ref, shown, _ = await self._there(memory_id)
        if shown.document is not None:
            query = Query(
                layers=(Layer.SOURCE,), invalid=None, document=shown.document, folded=False
            )
            if (await self._app.browse.memories(ref, query, limit=1)).total == 1:
                await self._app.forget(ref, documents=[shown.document])
                self._changed(ref)
                return
        await self._app.forget(ref, unit_ids=[shown.unit.id])
        self._changed(ref)

    async def delete_all(self, ids: Mapping[str, Any]) -> int:
        """Erase what has all of these ids; return how many memories went.

        Raises:
            InvalidInput: no id is given.
        """
        scope = scope_of(ids)
        wanted = Filter(scope.ids)
        gone = 0
        for ref in await self._banks(wanted):
            query = replace(_listing(wanted), invalid=None)
            while items := (await self._app.browse.memories(ref, query, limit=_PAGE)).items:
                names = list(dict.fromkeys(s.document for s in items if s.document))
                loose = [s.unit.id for s in items if not s.document]
                await self._app.forget(ref, unit_ids=loose, documents=names)
                gone += len(items)
            self._changed(ref)
        return gone

    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return what became of a memory, oldest first; nothing is told of an erased one."""
        found = await self._find(memory_id)
        if found is None:
            return []
        ref, shown, kept = found
        return history_of(shown.unit, kept, await self._app.curate.history(ref, shown.unit.id))

    async def reset(self) -> None:
        """Erase all of mem0's banks that the caller reaches."""
        for ref in [ref async for ref in self._prefixed()]:
            await self._app.banks.delete(ref)
        self._app.worker.wake()

    async def entities(self) -> list[dict[str, Any]]:
        """Return the users, agents and so on that have a bank of their own, by name."""
        found = []
        async for ref in self._prefixed():
            kind, _, name = ref.bank.removeprefix(PREFIX).partition(":")
            _, total = await self.get_all(Filter({f"{kind}_id": name}), top_k=1)
            if total:
                found.append({"id": name, "name": name, "type": kind, "total_memories": total})
        return found

    async def _recalled(
        self, refs: Sequence[BankRef], wanted: Search, limit: int
    ) -> Sequence[Answer]:
        options = RecallOptions(
            limit=limit,
            max_tokens=_NO_BOUND,
            tags=tags_wanted(wanted.filters.wanted),
            now=wanted.asked_at[0],
            offset_min=wanted.asked_at[1],
            min_relevance=None if self._app.settings.wire_cut_off else 0,
        )
        if len(refs) == 1:
            return (await self._app.recall(refs[0], wanted.query, options)).answers
        answers: list[Answer] = []
        for start in range(0, len(refs), MAX_BANKS):
            some = refs[start : start + MAX_BANKS]
            answers += (await self._app.across(some, wanted.query, options)).answers
        return sorted(answers, key=lambda answer: -answer.score)[:limit]

    def _passing(self, answer: Answer, wanted: Search) -> dict[str, Any] | None:
        unit, kept = answer.unit, beside(answer.unit)
        score = _score(answer)
        if kept is None or not self._shows(unit, kept, wanted.filters, wanted.show_expired):
            return None
        if wanted.threshold is not None and score < wanted.threshold:
            return None
        return shown_memory(unit, kept, score)

    def _shows(self, unit: Unit, kept: Beside, filters: Filter, show_expired: bool) -> bool:
        if not show_expired and expired(kept, self._app.clock.now_us()):
            return False
        return filters(fields_of(unit, kept))

    async def _all(self, filters: Filter, show_expired: bool) -> AsyncIterator[tuple[Unit, Beside]]:
        query = _listing(filters)
        for ref in await self._banks(filters):
            offset = 0
            while True:
                items = (
                    await self._app.browse.memories(ref, query, limit=_PAGE, offset=offset)
                ).items
                offset += len(items)
                for unit in (shown.unit for shown in items):
                    kept = beside(unit)
                    if kept is not None and self._shows(unit, kept, filters, show_expired):
                        yield unit, kept
                if len(items) < _PAGE:
                    break

    async def _find(self, memory_id: str) -> tuple[BankRef, Shown, Beside] | None:
        try:
            unit_id = parse_id(memory_id, "memory_id")
        except InvalidInput:
            return None
        ref = (await reached(self._app.store, self._caller, [unit_id])).get(unit_id)
        if ref is None or not ref.bank.startswith(PREFIX):
            return None
        try:
            shown = (await self._app.browse.memory(ref, unit_id)).shown
        except NotFound:
            return None
        kept = beside(shown.unit) if shown.unit.layer is Layer.SOURCE else None
        return None if kept is None else (ref, shown, kept)

    async def _there(self, memory_id: str) -> tuple[BankRef, Shown, Beside]:
        found = await self._find(memory_id)
        if found is None:
            raise NotFound(f"Memory with id {memory_id} not found", field="memory_id")
        return found

    async def _banks(self, filters: Filter) -> list[BankRef]:
        """Return the banks that hold what may pass."""
        users = filters.wanted.get("user_id")
        if users is not None:
            return [self._caller.bank(user_bank(user), "user_id") for user in sorted(users)]
        return [ref async for ref in self._prefixed()]

    async def _prefixed(self) -> AsyncIterator[BankRef]:
        offset = 0
        while page := await self._app.store.banks(
            self._caller.tenant, _PAGE, offset, containing=PREFIX
        ):
            offset += len(page)
            for ref in (bank.ref for bank in page):
                if ref.bank.startswith(PREFIX) and self._caller.reaches(ref.bank):
                    yield ref

    def _changed(self, ref: BankRef) -> None:
        self.places = [*self.places, ref]
        self._app.worker.wake()


def filter_of(
    filters: Mapping[str, Any] | None,
    ids: Mapping[str, Any],
    metadata: Mapping[str, Any] | None = None,
) -> Filter:
    """Return the filter of either style: `filters`, with ids and metadata beside it."""
    beside_it = {name: ids[name] for name in ENTITIES if ids.get(name) is not None}
    both = [dict(part) for part in (filters, beside_it, metadata) if part]
    return Filter(both[0] if len(both) == 1 else {"AND": both} if both else {})


def _listing(filters: Filter) -> Query:
    return Query(layers=(Layer.SOURCE,), tags=tags_listed(filters.wanted), folded=False)


def _scoped(filters: Filter) -> None:
    if not filters.names_entity:
        raise InvalidInput(
            "filters must contain at least one of user_id, agent_id, run_id, such as "
            '{"user_id": "ann"}',
            field="filters",
        )


def _bounded(top_k: int) -> None:
    if not 1 <= top_k <= MAX_TOP_K:
        raise InvalidInput(f"top_k must be from 1 to {MAX_TOP_K}", field="top_k", limit=MAX_TOP_K)


def _score(answer: Answer) -> float:
    """Return an answer's cosine; without an embedder what it was ranked by."""
    value = answer.score if answer.arms.cosine is None else answer.arms.cosine
    return min(max(float(value), 0.0), 1.0)


__all__ = ["TOP_K", "UNSET", "Mem0", "Scope", "Search", "Unset", "filter_of"]
