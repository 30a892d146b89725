"""Mental models as they are kept: a record each, and what it says as an observation of the bank.

The text is no part of the record: it stands in a unit with links to all that it was made from, so
that forgetting any of that erases the text, earlier versions of it too, in the same transaction.
These units are kept out of recall and prime.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...keeping.batch import Batch
from ...keeping.records import Record
from ...keeping.store import Store
from ...nouns.errors import NotFound
from ...nouns.memory import SHOWN_ONLY, BankRef, Curation, Layer, LinkType, Unit

MENTAL_MODEL = "mental_model"
"""The kind of the records; and why their units are kept out of recall."""

MOST = 1_000  # of one bank
VERSIONS = 20  # earlier texts of one
_CHANGES = 500  # looked at to tell whether something is new


@dataclass(frozen=True, slots=True)
class MentalModel:
    """What is kept of one. Times in microseconds.

    `unit` is the id of what it says now (hex; None: nothing yet), `versions` those of what it said
    before, newest first. `seen` is the bank's revision that it was made from, `asked` the question
    that it answers (None: written before that was noted). `outcome` is that of the last refresh,
    `usage` what that used.
    """

    id: str
    name: str
    source_query: str
    tags: tuple[str, ...] = ()
    max_tokens: int = 2048
    trigger: Mapping[str, Any] = field(default_factory=dict)
    unit: str | None = None
    versions: tuple[str, ...] = ()
    seen: int = 0
    refreshed_at: int | None = None
    seen_at: int | None = None
    outcome: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    asked: str | None = None
    created_at: int = 0
    updated_at: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """One with what it says. `content` is None when nothing was written, or it was forgotten.

    `stale`: memories have come, changed or gone since it was made.
    """

    model: MentalModel
    content: str | None
    stale: bool
    basis: tuple[Unit, ...] = ()


class Shelf:
    """Reads and writes them; the store is passed in."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def find(self, ref: BankRef, key: str) -> MentalModel | None:
        """Return one, or None."""
        record = await self._store.record(ref, MENTAL_MODEL, key)
        return of_record(record) if record is not None else None

    async def get(self, ref: BankRef, key: str) -> MentalModel:
        """Return one.

        Raises:
            NotFound: there is none of this id.
        """
        found = await self.find(ref, key)
        if found is None:
            raise NotFound("there is no such mental model in this bank", field="mental_model_id")
        return found

    async def all(self, ref: BankRef) -> list[MentalModel]:
        """Return a bank's, newest first."""
        return [of_record(r) for r in await self._store.records(ref, MENTAL_MODEL, limit=MOST)]

    async def count(self, ref: BankRef) -> int:
        """Count a bank's."""
        return await self._store.record_count(ref, MENTAL_MODEL)

    async def shown(
        self, ref: BankRef, models: Sequence[MentalModel], *, basis: bool = False
    ) -> list[Shown]:
        """Return some with what they say; with `basis` also what that rests on."""
        units = [bytes.fromhex(m.unit) for m in models if m.unit]
        async with self._store.snapshot(ref) as view:
            there = {u.id.hex(): u for u in await view.units(units)}
            stale: dict[int, bool] = {}
            for seen in {m.seen for m in models}:
                page = await view.changes(seen, _CHANGES)
                if page is None or not page.complete:
                    stale[seen] = True
                    continue
                ids = list(dict.fromkeys(change.unit_id for change in page.changes))
                found = {u.id: u for u in await view.units(ids)}
                stale[seen] = any(
                    i not in found or found[i].layer is not Layer.OBSERVATION for i in ids
                )
            rests: dict[str, tuple[Unit, ...]] = {}
            if basis:
                for model in models:
                    if model.unit in there:
                        unit_id = bytes.fromhex(model.unit)
                        links = await view.neighbours([unit_id], [LinkType.INSIGHT_FROM], 1, 200)
                        ids = [
                            k.target for k in links if k.source == unit_id and k.weight > SHOWN_ONLY
                        ]
                        rests[model.id] = tuple(await view.units(ids))
        return [
            Shown(
                model,
                there[model.unit].text if model.unit in there else None,
                model.unit not in there or stale[model.seen],
                rests.get(model.id, ()),
            )
            for model in models
        ]

    async def texts(self, ref: BankRef, ids: Sequence[str]) -> list[Unit]:
        """Return units of earlier texts; those that were forgotten are left out."""
        async with self._store.snapshot(ref) as view:
            return await view.units([bytes.fromhex(i) for i in ids])

    async def put(self, ref: BankRef, model: MentalModel) -> None:
        """Keep one as it is given."""
        await self._store.apply(ref, Batch(records=[record_of(model)]))

    async def delete(self, ref: BankRef, model: MentalModel, **more: Any) -> None:
        """Delete one with all that it said; `more` goes into the same write."""
        ids = [bytes.fromhex(i) for i in (model.unit, *model.versions) if i]
        erase = [(MENTAL_MODEL, model.id), *more.pop("erase_records", ())]
        await self._store.apply(ref, Batch(erase=ids, erase_records=erase, **more))

    async def clear(self, ref: BankRef, model: MentalModel, now: int) -> MentalModel:
        """Erase what one says and said; return what is left."""
        ids = [bytes.fromhex(i) for i in (model.unit, *model.versions) if i]
        left = replace(model, unit=None, versions=(), refreshed_at=None, seen=0, updated_at=now)
        await self._store.apply(ref, Batch(erase=ids, records=[record_of(left)]))
        return left


def hidden(unit_id: bytes) -> Curation:
    """Return what keeps a model's text out of recall and prime."""
    return Curation(unit_id, True, {"by": MENTAL_MODEL})


def record_of(model: MentalModel) -> Record:
    """Return one as a record."""
    told = {n: getattr(model, n) for n in MentalModel.__slots__ if n not in _OUTSIDE}
    data = {**told, "tags": list(model.tags), "versions": list(model.versions)}
    return Record(MENTAL_MODEL, model.id, model.created_at, model.updated_at, data)


_OUTSIDE = frozenset({"id", "created_at", "updated_at"})


def of_record(record: Record) -> MentalModel:
    """Return a mental model from its record."""
    told = {**record.data, "tags": tuple(record.data["tags"])}
    told["versions"] = tuple(record.data["versions"])
    return MentalModel(
        id=record.key, created_at=record.created_at, updated_at=record.updated_at, **told
    )
