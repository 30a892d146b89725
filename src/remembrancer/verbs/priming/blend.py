"""The blend of a prime: which memories, with which scores, in which order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from ...finding.composite import Scored, scores
from ...finding.similar import cosines_of, most_similar, said_at
from ...finding.standing import standing_units
from ...finding.state import IndexState
from ...keeping.view import Reader
from ...models.embedder import Floats
from ...nouns.memory import BankRef, Unit
from ...nouns.text import estimate_tokens
from ..recalling.proof import ALONE, Fold
from ..recalling.truth import truth_of
from .rows import UNMARKED, Known, Mark, NewestRows, Rows, marks_of
from .types import MOST, Chosen, Order, Primed, PrimeOptions, Strategy

_MOST_POOL = 1_000  # candidates of each strategy looked at, at most
_STANDING_SHARE = 4  # of so many memories one may be what holds always, newest first;
_CUED_SHARE = 2  # with a cue of so many, nearest first

_in_time = attrgetter("mentioned_at", "id")


@dataclass(frozen=True, slots=True)
class Cue:
    """What the conversation is about: its vector, and the index to compare it with.

    Without a vector nobody has said, or it cannot be compared.
    """

    vector: Floats | None
    state: IndexState


@dataclass(frozen=True, slots=True)
class _Pool:
    """The candidates: recent ones in the window, older ones, and those said after now, each newest
    first; similar ones with their cosines, best first; what holds always, as many as may come.
    """

    rows: Rows
    pinned: Sequence[bytes]
    standing: Sequence[bytes]
    fresh: Sequence[bytes]
    older: Sequence[bytes]
    ahead: Sequence[bytes]
    similar: Sequence[tuple[bytes, float]]
    units: dict[bytes, Unit]
    marks: Mapping[bytes, Mark]
    cached: bool
    exhausted: bool


def blend(
    reader: Reader, ref: BankRef, held: NewestRows, cue: Cue | None, options: PrimeOptions, now: int
) -> Chosen:
    """Choose the memories, score them, put them in order."""
    limit = min(options.max_memories, MOST)
    intends = reader.intends
    if limit == 0 or options.max_tokens == 0:
        return Chosen([], intends)
    size = limit  # of each pool, so that either half can fill in for the other
    while True:
        pool = _pool(reader, ref, held, cue, options, now, size)
        fold = Fold(Known(pool.rows, reader))
        cued = cue is not None and cue.vector is not None
        chosen = _choose(pool, fold, cue if cued else None, limit, options)
        if len(chosen) == limit or pool.exhausted or size >= _MOST_POOL:
            break
        size *= 4  # much of it said the same
    memories = _scored(reader, pool, fold, chosen, cue, options, now)
    memories.sort(key=_by_score, reverse=True)
    if options.max_tokens is not None:
        memories.sort(key=_spoken_for)
        memories = _within(memories, options.max_tokens)
        memories.sort(key=_by_score, reverse=True)
    if options.order is Order.BLOCKS:
        memories = _blocks(memories)
    if not options.facts:
        return Chosen(memories, intends)
    read = reader.recalled([m.unit.id for m in memories])
    return Chosen(memories, intends, {r.unit.id: r.facts for r in read})


def _pool(
    reader: Reader,
    ref: BankRef,
    held: NewestRows,
    cue: Cue | None,
    options: PrimeOptions,
    now: int,
    size: int,
) -> _Pool:
    rows, cached = held.of(ref, reader, size, MOST)
    units = rows.units
    newest: Sequence[bytes] = rows.newest
    ahead: Sequence[bytes] = ()
    complete, marks = rows.complete, rows.marks
    if newest and units[newest[0]].mentioned_at > now:
        ahead = [i for i in newest if units[i].mentioned_at > now]
        newest = newest[len(ahead) :]
        if len(newest) < size and not complete:
            found = reader.latest(size, until=now + 1)
            units = units | {u.id: u for u in found}
            marks = {**marks, **marks_of(reader, found)}
            newest, complete = [u.id for u in found], len(found) < size
    first = units[newest[-1]].mentioned_at if newest else now
    since = now - options.window_us
    inside = len(newest) if first >= since else _count(units, newest, since)
    pinned: Sequence[bytes] = rows.pinned
    if options.now is not None:
        ahead = ()  # as of another time, nothing later has been said
        pinned = [i for i in pinned if units[i].mentioned_at <= now]
    similar: Sequence[tuple[bytes, float]] = ()
    if cue is not None and cue.vector is not None:
        similar = most_similar(cue.state, cue.vector, size, _until(options))
    return _Pool(
        rows,
        pinned,
        _standing(cue, options),
        newest[:inside],
        newest[inside:],
        ahead,
        similar,
        units,
        marks,
        cached,
        complete and len(similar) < size,
    )


def _standing(cue: Cue | None, options: PrimeOptions) -> list[bytes]:
    """Return what holds always, as much of it as may come."""
    if cue is None:
        return []
    share = _STANDING_SHARE if cue.vector is None else _CUED_SHARE
    limit = min(options.max_memories, MOST) // share
    return standing_units(cue.state, cue.vector, limit, _until(options))


def _until(options: PrimeOptions) -> int | None:
    """Return from when on nothing has been said yet, as of another time."""
    return None if options.now is None else options.now + 1


def _count(units: dict[bytes, Unit], newest: Sequence[bytes], since: int) -> int:
    """Return how many of the newest were said since a time."""
    return next((n for n, i in enumerate(newest) if units[i].mentioned_at < since), len(newest))


def _choose(
    pool: _Pool, fold: Fold, cue: Cue | None, limit: int, options: PrimeOptions
) -> dict[bytes, Strategy]:
    """Choose up to `limit` memories; of those that say the same, the first, or the newest."""
    similar = [unit_id for unit_id, _ in pool.similar]
    fold.look_up([*pool.units, *similar, *pool.standing])
    if cue is not None:
        similar = _newest_twin(cue.state, fold, similar)
    share = limit if cue is None else int(limit * options.temporal_ratio)
    chosen: dict[bytes, Strategy] = {}
    _fill(chosen, fold, pool.pinned, Strategy.TEMPORAL, limit)
    _fill(chosen, fold, pool.standing, Strategy.TEMPORAL, limit)
    _fill(chosen, fold, pool.fresh, Strategy.TEMPORAL, share)
    _fill(chosen, fold, similar, Strategy.SIMILARITY, limit)
    _fill(chosen, fold, pool.fresh, Strategy.TEMPORAL, limit)
    _fill(chosen, fold, pool.older, Strategy.TEMPORAL, limit)
    _fill(chosen, fold, pool.ahead, Strategy.TEMPORAL, limit)
    return chosen


def _newest_twin(state: IndexState, fold: Fold, ids: Sequence[bytes]) -> list[bytes]:
    """Return ids with the newest of those that say the same in the place of the first of them.

    What was said again after something else had ended it holds; the first time does not.
    """
    twins = fold.twins(ids)
    if not twins:
        return list(ids)
    said = said_at(state, [i for each in twins for i in each])
    place: dict[bytes, bytes] = {}
    for each in twins:
        newest = max(each, key=lambda unit_id: (said.get(unit_id, 0), unit_id))
        place |= {each[0]: newest, newest: each[0]}
    return [place.get(unit_id, unit_id) for unit_id in ids]


def _fill(
    chosen: dict[bytes, Strategy], fold: Fold, ids: Iterable[bytes], why: Strategy, limit: int
) -> None:
    """Add ids that are not chosen yet, and say what no chosen one says, until `limit` are."""
    left, idle = limit - len(chosen), fold.idle
    for unit_id in ids:
        if left <= 0:
            return
        if unit_id not in chosen and (idle or not fold.repeats(unit_id)):
            chosen[unit_id] = why
            left -= 1
            if not idle:
                fold.keep(unit_id)


def _scored(
    reader: Reader,
    pool: _Pool,
    fold: Fold,
    chosen: dict[bytes, Strategy],
    cue: Cue | None,
    options: PrimeOptions,
    now: int,
) -> list[Primed]:
    """Return the chosen memories with their scores, in no order."""
    units = pool.units
    if pool.cached:
        pool.rows.counted(reader, list(chosen))
        units = units | pool.rows.units if units is not pool.rows.units else units
    marks = pool.marks
    other = [i for i in chosen if i not in units]
    if other:
        found = reader.units(other)
        units = units | {u.id: u for u in found}
        marks = {**marks, **marks_of(reader, found)}
    relevance: dict[bytes, float] = {}
    cued = cue is not None and cue.vector is not None
    if cue is not None and cue.vector is not None:
        relevance = dict(pool.similar)
        rest = [i for i in chosen if i not in relevance]
        relevance |= cosines_of(cue.state, cue.vector, rest) if rest else {}
    temporal = [units[i] for i, why in chosen.items() if why is Strategy.TEMPORAL]
    temporal.sort(key=_in_time, reverse=True)
    ranks = {u.id: rank for rank, u in enumerate(temporal)}
    counted = relevance
    if not cued:  # the place in time stands in for relevance: newest 1, falling by 1/n
        counted = {i: 1 - rank / len(temporal) for i, rank in ranks.items()}
    memories = [units[i] for i in chosen]
    totals = scores(
        options.weights,
        now,
        [
            Scored(counted.get(u.id, 0.0), u.mentioned_at, u.importance, u.access_count)
            for u in memories
        ],
    )
    proofs = fold.proofs()
    pinned, standing = set(pool.pinned), set(pool.standing)
    return [
        Primed(
            unit,
            total,
            relevance.get(unit.id, 0.0),
            why,
            ranks.get(unit.id),
            proofs.get(unit.id, ALONE),
            unit.id in pinned,
            mark.curation,
            mark.basis,
            truth_of(unit, mark.claims, now),
            unit.id in standing,
        )
        for unit, why, total in zip(memories, chosen.values(), totals, strict=True)
        for mark in (marks.get(unit.id, UNMARKED),)
    ]


def _by_score(memory: Primed) -> tuple[bool, bool, float, int, bytes]:
    unit = memory.unit
    return memory.pinned, memory.truth.holds, memory.score, unit.mentioned_at, unit.id


def _spoken_for(memory: Primed) -> int:
    """Return how early a memory gets its share of a budget; scores decide within the same."""
    return 0 if memory.pinned else 1 if memory.lasts else 2


def _within(memories: Sequence[Primed], tokens: int) -> list[Primed]:
    """Return those that fit into a budget, taken in order; one that does not is passed over."""
    kept = []
    for memory in memories:
        cost = estimate_tokens(memory.unit.text)
        if cost <= tokens:
            tokens -= cost
            kept.append(memory)
    return kept


def _blocks(memories: Sequence[Primed]) -> list[Primed]:
    """Return recent ones, the oldest first, then similar ones as they stand."""
    recent = [m for m in memories if m.strategy is Strategy.TEMPORAL]
    recent.sort(key=lambda m: _in_time(m.unit))
    return [*recent, *(m for m in memories if m.strategy is Strategy.SIMILARITY)]
