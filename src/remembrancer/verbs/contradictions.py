"""contradictions: which memories may contradict each other, and what the caller's model says of it.

Two steps. `prepare` hands over pairs, the likeliest first; `commit` takes the verdicts:

* contradiction: both stay, linked `contradicts`;
* revision: the newer one supersedes the older one, which holds no more from then on;
* dismiss: they do not contradict each other; the pair is not handed over again.

No model is called here. A verdict is kept as long as both memories are as they were; what is kept
of it names ids, and no text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import pairwise

from ..finding.indexes import Indexes
from ..keeping.batch import Batch
from ..keeping.records import Record
from ..keeping.store import Store
from ..keeping.view import Reader
from ..nouns.caller import Caller
from ..nouns.clock import Clock
from ..nouns.errors import Conflict, InvalidInput
from ..nouns.memory import BankRef, Link, LinkType, UnitRow
from .contradicting.pairs import Named, Pair, find, named, unchanged
from .lookup import Kept, kept_of
from .noting import Note, unnoted
from .recalling.snapshots import read_indexed
from .remember import checked_share
from .tenant_banks import banks_of, reached

JUDGED = "contradiction"
"""The kind of the records of verdicts; the key is the pair's name."""

MOST_PAIRS = 100
"""Pairs that one `prepare` hands over."""

MOST_VERDICTS = 1_000
"""Verdicts of one `commit`."""

SNIPPET = 1_000
"""Characters of each memory that are shown with a pair."""

_KEPT = 10_000  # verdicts of a bank; the oldest go first
_TRIES = 20
_TYPES = {"contradiction": LinkType.CONTRADICTS, "revision": LinkType.SUPERSEDES}


class Judgement(StrEnum):
    """What a model says of a pair."""

    CONTRADICTION = "contradiction"
    REVISION = "revision"
    DISMISS = "dismiss"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a model says of a pair that was handed over by this name."""

    pair: str
    judgement: str
    confidence: float


@dataclass(slots=True)
class Settled:
    """How many pairs stand settled by which verdict, those that did before included."""

    contradictions: int = 0
    revisions: int = 0
    dismissed: int = 0

    def count(self, judgement: Judgement) -> None:
        """Count one verdict."""
        match judgement:
            case Judgement.CONTRADICTION:
                self.contradictions += 1
            case Judgement.REVISION:
                self.revisions += 1
            case Judgement.DISMISS:
                self.dismissed += 1


@dataclass(frozen=True, slots=True)
class _Checked:
    name: str
    pair: Named
    judgement: Judgement
    confidence: float


@dataclass(frozen=True, slots=True)
class _Read:
    """What is there of some pairs, at one revision."""

    revision: int
    kept: Mapping[bytes, Kept]
    rows: Mapping[bytes, UnitRow]
    facts: Mapping[bytes, Sequence[bytes]]


class Contradictions:
    """The verbs; everything they need is passed in."""

    def __init__(self, store: Store, indexes: Indexes, *, clock: Clock, generation: int) -> None:
        self._store = store
        self._indexes = indexes
        self._clock = clock
        self._generation = generation

    async def prepare(
        self, caller: Caller, bank: BankRef | None = None, limit: int = MOST_PAIRS
    ) -> list[Pair]:
        """Return up to `limit` pairs of memories that may contradict each other.

        Of one bank, or of all that the caller reaches; both memories of a pair are of one bank. The
        same memories give the same pairs. Nothing is written.

        Raises:
            InvalidInput: `limit` is out of bounds.
        """
        if not 1 <= limit <= MOST_PAIRS:
            raise InvalidInput(
                f"max_candidates must be from 1 to {MOST_PAIRS}",
                field="max_candidates",
                limit=MOST_PAIRS,
            )
        refs = [bank] if bank is not None else (await banks_of(self._store, caller))[0]
        found: list[Pair] = []
        for ref in refs:
            look = partial(find, ref=ref, now=self._clock.now_us())
            for pair in await read_indexed(self._store, self._indexes, ref, look):
                # The likeliest come first, so what is worse than the worst needs no look-up.
                if len(found) >= limit and pair.rank >= found[-1].rank:
                    break
                if await self._store.record(ref, JUDGED, pair.name) is None:
                    found = sorted([*found, pair], key=lambda each: each.rank)[:limit]
        return found

    async def commit(
        self, caller: Caller, verdicts: Sequence[Verdict], note: Note = unnoted
    ) -> Settled:
        """Settle pairs; those of one bank in one transaction. Done again, it comes to the same.

        Everything is checked before anything is written. `note` is told where something was.

        Raises:
            InvalidInput: a verdict cannot be taken; names the field.
            Conflict: a memory was changed or forgotten since the pair was prepared, or the pair
                was settled otherwise. Nothing of its bank was written.
        """
        if len(verdicts) > MOST_VERDICTS:
            raise InvalidInput(
                f"there are {len(verdicts)} verdicts; the limit is {MOST_VERDICTS}",
                field="verdicts",
                limit=MOST_VERDICTS,
            )
        checked = _checked(verdicts)
        by_bank: dict[BankRef, list[_Checked]] = {}
        places = await reached(
            self._store, caller, sorted({i for v in checked for i in v.pair[:2]})
        )
        for each in checked:
            ref = places.get(each.pair.older)
            if ref is None or ref != places.get(each.pair.newer):
                raise _moved_on(each.name)
            by_bank.setdefault(ref, []).append(each)
        for ref, mine in by_bank.items():
            await self._batch(ref, mine, Settled())
        done = Settled()
        for ref, mine in by_bank.items():
            await self._settle(ref, mine, done, note)
        return done

    async def _settle(
        self, ref: BankRef, verdicts: Sequence[_Checked], done: Settled, note: Note
    ) -> None:
        for _ in range(_TRIES):
            settled = replace(done)
            batch = await self._batch(ref, verdicts, settled)
            if batch.records:
                try:
                    await self._store.apply(ref, batch)
                except Conflict:
                    continue
                note(ref)
                await self._store.record_trim(ref, JUDGED, _KEPT)
            for name in ("contradictions", "revisions", "dismissed"):
                setattr(done, name, getattr(settled, name))
            return
        raise Conflict("the entity is being written to all the time; try again")

    async def _batch(self, ref: BankRef, verdicts: Sequence[_Checked], settled: Settled) -> Batch:
        """Return what verdicts on pairs of one bank write, and count them."""
        read = await self._store.read(ref, partial(_read, ref=ref, verdicts=verdicts))
        now = self._clock.now_us()
        records: list[Record] = []
        links: list[Link] = []
        closed: dict[bytes, UnitRow] = {}
        for each in verdicts:
            known = await self._store.record(ref, JUDGED, each.name)
            if known is not None and known.data["verdict"] != each.judgement:
                raise Conflict(
                    f"the pair was settled as {known.data['verdict']!r} already",
                    field="verdicts.verdict",
                )
            settled.count(each.judgement)
            if known is not None:
                continue
            older, newer = read.kept.get(each.pair.older), read.kept.get(each.pair.newer)
            if older is None or newer is None or not unchanged(each.pair, older, newer):
                raise _moved_on(each.name)
            data = {"verdict": each.judgement.value, "confidence": each.confidence}
            records.append(Record(JUDGED, each.name, now, now, data))
            if each.judgement is not Judgement.DISMISS:
                ends = newer.unit.id, older.unit.id
                links.append(Link(*ends, _TYPES[each.judgement], each.confidence))
            if each.judgement is Judgement.REVISION:
                _close(closed, read, older.unit.id, newer.unit.mentioned_at)
        return Batch(
            units=list(closed.values()),
            links=links,
            records=records,
            expect_revision=read.revision,
            generation=self._generation,
        )


def _read(reader: Reader, ref: BankRef, verdicts: Sequence[_Checked]) -> _Read:
    ids = sorted({unit_id for each in verdicts for unit_id in each.pair[:2]})
    ends = sorted({v.pair.older for v in verdicts if v.judgement is Judgement.REVISION})
    facts = {unit.id: unit.source_id for unit in reader.read_from(ends)}
    return _Read(
        reader.revision,
        {kept.unit.id: kept for kept in kept_of(reader, ref, reader.units(ids))},
        {row.unit.id: row for row in reader.rows([*ends, *facts])},
        {end: [i for i, source in facts.items() if source == end] for end in ends},
    )


def _close(closed: dict[bytes, UnitRow], read: _Read, unit_id: bytes, at: int) -> None:
    """Let a memory and what was read from it hold no longer than until a time."""
    for each in (unit_id, *read.facts[unit_id]):
        row = closed.get(each, read.rows[each])
        until = row.unit.valid_until
        if until is None or until > at:
            closed[each] = replace(row, unit=replace(row.unit, valid_until=at))


def _checked(verdicts: Sequence[Verdict]) -> list[_Checked]:
    """Return verdicts in the order of their pairs, each pair once.

    Raises:
        InvalidInput: one cannot be taken, or two of one pair differ.
    """
    checked = sorted((_one(verdict) for verdict in verdicts), key=lambda each: each.name)
    for one, other in pairwise(checked):
        if one.name == other.name and one.judgement is not other.judgement:
            raise InvalidInput(
                "there are two different verdicts on one pair", field="verdicts.pending_id"
            )
    return list({each.name: each for each in checked}.values())


def _one(verdict: Verdict) -> _Checked:
    pair = named(verdict.pair)
    try:
        judgement = Judgement(verdict.judgement.strip().lower())
    except ValueError:
        known = ", ".join(each.value for each in Judgement)
        raise InvalidInput(f"verdict must be one of {known}", field="verdicts.verdict") from None
    confidence = checked_share(verdict.confidence, "verdicts.confidence")
    return _Checked(verdict.pair.lower(), pair, judgement, confidence)


def _moved_on(name: str) -> Conflict:
    return Conflict(
        f"a memory of the pair {name[:32]}… was changed or forgotten since it was prepared: "
        "prepare again",
        field="verdicts.pending_id",
    )
