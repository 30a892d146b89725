"""curate: correct a memory, take it out, bring it back.

A correction and all that follows from it is one transaction: the text with its words and vector,
the facts read anew, the windows of the turns said after it, and what was derived from the old text
is dropped. It is written only on the bank as it was read, so it never brings back what was
forgotten meanwhile, and never mixes with another correction.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from ..keeping.batch import Batch, Retag
from ..keeping.intentions import IntentionBatch
from ..keeping.store import Store
from ..keeping.view import Reader
from ..nouns.clock import Clock
from ..nouns.errors import Conflict, InvalidInput
from ..nouns.folding import fold_name
from ..nouns.memory import (
    BankRef,
    Curation,
    Kind,
    Layer,
    Link,
    Precision,
    Unit,
    UnitRow,
    Vector,
)
from .attributes import merged_attributes
from .browse import missing, named
from .curating.corrections import Corrected, Corrector
from .curating.retagging import units_of
from .curating.standing import Standing, stand
from .recalling.origins import EDITS, edits_in
from .retaining.guarding import OPEN, Guard
from .retaining.intending import Intending
from .retaining.reread import NAMED

HISTORY = 50
"""Earlier states of a memory that are kept."""

_TRIES = 100
_PAUSE_S = 0.02  # between tries, when others write to the bank
_KNOWN_NAMES = 100  # names of the bank, most mentioned first, that reading looks out for


class Leave:
    """Says that a field stays as it is, where None empties it."""


LEAVE: Final = Leave()


@dataclass(frozen=True, slots=True)
class Edit:
    """What to change of a memory; what is `LEAVE` or None stays.

    `occurred_start` and `occurred_end` are microseconds and a precision, or None to clear.
    `resolve`: of `entities`, nicknames and first names may mean a known entity.
    `invalid`: True takes it out, False brings it back. `reason` is kept in its history.
    `attributes` take the place of the old ones, or with `merge` of those of the same name.
    `links` come beside the old ones, which a new text drops unless `keep_links`.
    `history`: earlier states that are kept.
    """

    text: str | None = None
    note: str | Leave | None = LEAVE
    occurred_start: tuple[int, Precision] | Leave | None = LEAVE
    occurred_end: tuple[int, Precision] | Leave | None = LEAVE
    offset_min: int | None = None
    kind: Kind | None = None
    entities: tuple[str, ...] | None = None
    resolve: bool = True
    invalid: bool | None = None
    reason: str | None = None
    importance: float | None = None
    attributes: Mapping[str, Any] | Leave | None = LEAVE
    merge: bool = False
    links: Sequence[Link] = ()
    keep_links: bool = False
    history: int = HISTORY


class Curate:
    """The verb; everything it needs is passed in."""

    def __init__(
        self,
        store: Store,
        corrector: Corrector,
        *,
        clock: Clock,
        generation: int,
        intend: Intending | None = None,
        guard: Guard = OPEN,
    ) -> None:
        self._store = store
        self._guard = guard
        self._intend = intend  # what a text says is to be done later
        self._corrector = corrector
        self._clock = clock
        self._generation = generation  # of the corrector's vectors

    async def __call__(self, ref: BankRef, unit_id: bytes, edit: Edit) -> None:
        """Change a memory. The same change twice is made once.

        What says the same as it is taken out and brought back with it; a correction of its text is
        of this one alone. The facts of a source follow their source.

        Raises:
            NotFound: it is not in this bank.
            InvalidInput: the change makes no sense; names the field.
            ModelUnavailable: the new text cannot be embedded; nothing was changed.
            Conflict: the bank changed too often meanwhile; nothing was changed.
        """
        edit = self._guarded(edit)
        vectors: dict[str, Vector] = {}
        for _ in range(_TRIES):
            standing = await self._standing(ref, unit_id)
            if edit.text is None or not standing.unread:  # else what is read now is of the old text
                batch = await self._batch(ref, standing, edit, vectors)
                if batch is None or await self._written(ref, batch):
                    return
            await asyncio.sleep(_PAUSE_S)
        raise _busy()

    def _guarded(self, edit: Edit) -> Edit:
        text, note, attributes, reason = edit.text, edit.note, edit.attributes, edit.reason
        guard = self._guard
        return replace(
            edit,
            text=text if text is None else guard.text(text, "text"),
            note=guard.text(note, "context") if isinstance(note, str) else note,
            attributes=attributes
            if isinstance(attributes, Leave)
            else guard.attributes(attributes, "context"),
            reason=reason if reason is None else guard.text(reason, "reason"),
        )

    async def drop_observations(self, ref: BankRef, unit_id: bytes) -> int:
        """Erase the observations derived from a memory; return how many.

        Raises:
            NotFound: it is not in this bank.
            Conflict: the bank changed too often meanwhile; nothing was changed.
        """
        for _ in range(_TRIES):
            standing = await self._standing(ref, unit_id)
            derived = standing.derived
            batch = Batch(erase=derived, expect_revision=standing.revision)
            if not derived or await self._written(ref, batch):
                return len(derived)
            await asyncio.sleep(_PAUSE_S)
        raise _busy()

    async def retag(self, ref: BankRef, document: str, tags: Sequence[str]) -> None:
        """Give a document and all its units these tags and no others, in one transaction.

        Raises:
            NotFound: there is no document of that name.
            Conflict: the bank changed too often meanwhile; nothing was changed.
        """
        for _ in range(_TRIES):
            async with self._store.snapshot(ref) as view:
                found = await view.run(partial(named, name=document))
                sources = await view.sources_of(found.id)
                near, facts = await view.run(partial(units_of, sources=sources))
                revision = view.revision
            keys = await asyncio.to_thread(
                self._corrector.retagged, found, sources, near, facts, tags
            )
            retag = Retag(document, tuple(tags), keys)
            if await self._written(ref, Batch(retag=[retag], expect_revision=revision)):
                return
            await asyncio.sleep(_PAUSE_S)
        raise _busy()

    async def history(self, ref: BankRef, unit_id: bytes) -> list[Mapping[str, Any]]:
        """Return what was changed of a memory, newest first; each as `entry` makes it.

        Raises:
            NotFound: it is not in this bank.
        """

        def work(reader: Reader) -> list[Mapping[str, Any]]:
            if not reader.units([unit_id]):
                raise missing(unit_id)
            curation = reader.curations([unit_id]).get(unit_id)
            return list(reversed(curation.data.get("history", ()))) if curation else []

        return await self._store.read(ref, work)

    async def _standing(self, ref: BankRef, unit_id: bytes) -> Standing:
        async with self._store.snapshot(ref) as view:
            known = [entity.name for entity in await view.entities(limit=_KNOWN_NAMES)]
            standing = await view.run(partial(stand, unit_id=unit_id, known=known))
        if standing is None:
            raise missing(unit_id)
        return standing

    async def _written(self, ref: BankRef, batch: Batch) -> bool:
        try:
            await self._store.apply(ref, batch)
        except Conflict:
            return False
        return True

    async def _batch(
        self, ref: BankRef, standing: Standing, edit: Edit, vectors: dict[str, Vector]
    ) -> Batch | None:
        """Return what a change writes; None when it changes nothing."""
        old = standing.unit
        unit = changed(old, edit)
        if edit.entities is not None:
            names = await self._corrector.names(ref, old, edit.entities, resolve=edit.resolve)
            if _folds(names) != _folds(standing.names):
                unit = replace(unit, entities=names)
        turned = _turned(standing, edit)
        if unit == old and not turned:
            at = standing.revision
            return Batch(links=edit.links, expect_revision=at) if edit.links else None
        now = self._clock.now_us()
        invalid = standing.invalid if edit.invalid is None else edit.invalid
        done = Corrected()
        if unit != old:
            unit = replace(unit, updated_at=now)
            dated = edit.occurred_start is not LEAVE or edit.occurred_end is not LEAVE
            done = await self._corrector.correct(ref, standing, unit, dated=dated, vectors=vectors)
            unit = next(row.unit for row in done.rows if row.unit.id == unit.id)
        said = unit.text != old.text
        was = before(standing, unit)
        notes = _Notes(standing, now, edit.reason, invalid, edit.history)
        own_links = () if edit.keep_links else (unit.id,)
        return Batch(
            erase=[
                *done.erase,
                *(standing.derived if said or (turned and invalid) else ()),
                *(standing.twin_derived if turned and invalid else ()),
            ],
            unlink=[*own_links, *(row.unit.id for row in standing.facts)] if said else (),
            units=done.rows,
            vectors=done.vectors,
            curations=[
                notes.own(was, turned),
                *(notes.others(done.erase) if turned else ()),
                *(notes.fresh(done.rows) if invalid else ()),
            ],
            mentions=done.mentions,
            links=[*done.links, *edit.links],
            future=await self._future(ref, standing, unit, invalid, turned=turned),
            expect_revision=standing.revision,
            generation=self._generation,
        )

    async def _future(
        self, ref: BankRef, standing: Standing, unit: Unit, invalid: bool, *, turned: bool
    ) -> IntentionBatch | None:
        """Return what a new text or state changes of what is to be done later."""
        if self._intend is None or unit.layer is not Layer.SOURCE:
            return None
        said = unit.text != standing.unit.text
        out = invalid if turned or (said and invalid) else None
        twins = standing.twins if turned else ()
        return await self._intend.curated(ref, unit, twins, said=said, invalid=out)


class _Notes:
    """Makes the curations of one change."""

    def __init__(
        self, standing: Standing, now: int, reason: str | None, invalid: bool, history: int
    ) -> None:
        self._standing = standing
        self._now = now
        self._reason = reason
        self._invalid = invalid
        self._history = history

    def own(self, was: Mapping[str, Any], turned: bool) -> Curation:
        """Keep what the memory was, and why it was changed."""
        unit_id = self._standing.unit.id
        data = self._data(unit_id)
        if was:
            data["edited_at"] = self._now
            data[EDITS] = edits_in(data) + 1
            self._tell(data, "edit", was)
        if "entities" in was:
            data[NAMED] = True
        if turned:
            data = self._turned(data, "self")
        return Curation(unit_id, self._invalid, data)

    def others(self, gone: Sequence[bytes]) -> list[Curation]:
        """Take out or bring back what says the same, and the facts of all of them."""
        standing = self._standing
        made = [
            Curation(i, self._invalid, self._turned(self._data(i), "same"))
            for i in standing.twins
            if self._is_invalid(i) != self._invalid
        ]
        facts = [*(row.unit.id for row in standing.facts), *(u.id for u in standing.twin_facts)]
        for fact_id in facts:
            # One that was taken out on its own stays out.
            own = self._is_invalid(fact_id) and self._data(fact_id).get("by") != "source"
            if not own and fact_id not in gone:
                data = self._state(self._data(fact_id), "source")
                made.append(Curation(fact_id, self._invalid, data))
        return made

    def fresh(self, rows: Sequence[UnitRow]) -> list[Curation]:
        """Take out the facts just read from a source that is out."""
        source_id, known = self._standing.unit.id, {f.unit.id for f in self._standing.facts}
        return [
            Curation(row.unit.id, True, self._state({}, "source"))
            for row in rows
            if row.unit.source_id == source_id and row.unit.id not in known
        ]

    def _turned(self, data: dict[str, Any], by: str) -> dict[str, Any]:
        self._tell(data, "invalidate" if self._invalid else "revive", {})
        return self._state(data, by)

    def _state(self, data: dict[str, Any], by: str) -> dict[str, Any]:
        """Tell when, why and through what it is as it is; nothing of one that holds."""
        rest = {k: v for k, v in data.items() if k not in ("invalidated_at", "reason", "by")}
        why = {"invalidated_at": self._now, "reason": self._reason, "by": by}
        return {**rest, **why} if self._invalid else rest

    def _tell(self, data: dict[str, Any], action: str, was: Mapping[str, Any]) -> None:
        new = entry(action, self._now, self._reason, was)
        kept = [*data.get("history", ()), new]
        data["history"] = kept[len(kept) - min(len(kept), self._history) :]

    def _data(self, unit_id: bytes) -> dict[str, Any]:
        old = self._standing.curations.get(unit_id)
        return dict(old.data) if old is not None else {}

    def _is_invalid(self, unit_id: bytes) -> bool:
        old = self._standing.curations.get(unit_id)
        return old is not None and old.invalid


def entry(action: str, at: int, reason: str | None, was: Mapping[str, Any]) -> dict[str, Any]:
    """Return one entry of a history: `action`, `at` (us), `reason`, and in `was` the old values."""
    return {"action": action, "at": at, "reason": reason, "was": dict(was)}


def changed(unit: Unit, edit: Edit) -> Unit:
    """Return a memory with an edit made, but for its entities.

    Raises:
        InvalidInput: an observation was given another kind, or it would end before it began.
    """
    if edit.kind is not None and unit.layer is Layer.OBSERVATION:
        raise InvalidInput(
            "fact_type of an observation cannot be changed: correct its text, or invalidate it",
            field="fact_type",
        )
    new: dict[str, Any] = {}
    if edit.text is not None:
        new["text"] = edit.text
    if not isinstance(edit.note, Leave):
        new["note"] = edit.note or None
    if edit.kind is not None:
        new["kind"] = edit.kind
    if edit.importance is not None:
        new["importance"] = edit.importance
    if not isinstance(edit.attributes, Leave):
        old = unit.attributes if edit.merge else None
        new["attributes"] = merged_attributes(old, edit.attributes)
    return _dated(replace(unit, **new), edit)


def _dated(unit: Unit, edit: Edit) -> Unit:
    new: dict[str, Any] = {}
    for name in ("occurred_start", "occurred_end"):
        value = getattr(edit, name)
        if isinstance(value, Leave) or (value[0] if value else None) == getattr(unit, name):
            continue
        new[name] = value[0] if value else None
        if value:
            new["precision"] = value[1]
    if new and unit.offset_min is None:
        new["offset_min"] = edit.offset_min
    unit = replace(unit, **new)
    start, end = unit.occurred_start, unit.occurred_end
    if start is not None and end is not None and end < start:
        raise InvalidInput("occurred_end must not lie before occurred_start", field="occurred_end")
    return replace(unit, precision=None) if start is None and end is None else unit


def before(standing: Standing, unit: Unit) -> dict[str, Any]:
    """Return the values that a memory had and has no more."""
    old = standing.unit
    names = ("text", "note", "kind", "occurred_start", "occurred_end", "importance", "attributes")
    was = {n: getattr(old, n) for n in names if getattr(old, n) != getattr(unit, n)}
    if unit.entities != old.entities:
        was["entities"] = list(standing.names)
    return was


def _turned(standing: Standing, edit: Edit) -> bool:
    """Tell whether a change takes out, brings back, or gives another reason for being out."""
    if edit.invalid is None or edit.invalid != standing.invalid:
        return edit.invalid is not None
    old = standing.curations[standing.unit.id].data if standing.invalid else {}
    return standing.invalid and edit.reason is not None and edit.reason != old.get("reason")


def _folds(names: Sequence[str]) -> set[str]:
    return {fold_name(name) for name in names}


def _busy() -> Conflict:
    return Conflict("the memory is being written to all the time; try again", field="memory_id")
