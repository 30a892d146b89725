"""The rows that prime keeps: right for one revision alone, bounded, and soon gone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from prime_kit import NOW, REF, numbered, opened, primed, put, texts

from remembrancer.keeping.batch import Batch
from remembrancer.keeping.priming_view import Access
from remembrancer.keeping.truth_view import FactTruth
from remembrancer.nouns.counting import accessed
from remembrancer.nouns.memory import BankRef, Curation, Layer, Unit
from remembrancer.verbs.prime import PrimeOptions
from remembrancer.verbs.priming.rows import KEPT_S, NewestRows

A, B, C = (BankRef("default", name) for name in "abc")


class Shelf:
    """A snapshot of a bank that holds `held`, and counts how it is read."""

    def __init__(self, held: Sequence[Unit], revision: int = 1, moment: int = 1) -> None:
        self.held, self.revision, self.generation, self.moment = held, revision, 1, moment
        self.uses: dict[bytes, Access] = {}
        self.read: list[str] = []

    def latest(self, limit: int) -> list[Unit]:
        self.read.append(f"latest {limit}")
        return list(self.held[:limit])

    def pinned(self, limit: int) -> list[Unit]:
        return []

    def shared_keys(self, ids: Sequence[bytes]) -> Mapping[bytes, bytes]:
        return {}

    def truths(self, ids: Sequence[bytes]) -> Mapping[bytes, tuple[FactTruth, ...]]:
        return {}

    def curations(self, ids: Sequence[bytes]) -> Mapping[bytes, Curation]:
        return {}

    def accesses(self, ids: Sequence[bytes]) -> Mapping[bytes, Access]:
        self.read.append(f"accesses {len(ids)}")
        return {i: self.uses[i] for i in ids if i in self.uses}


def held(count: int, chars: int = 10) -> list[Unit]:
    return [Unit(b"%016d" % n, Layer.SOURCE, "x" * chars, NOW, NOW) for n in range(count)]


class Times:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_rows_serve_one_revision_at_any_size() -> None:
    rows, units = NewestRows(Times()), held(100)
    first = Shelf(units)
    found, cached = rows.of(A, first, 20, 200)  # type: ignore[arg-type]
    assert (cached, len(found.newest), found.complete) == (False, 64, False)
    for depth in (1, 50, 64):
        assert rows.of(A, first, depth, 200)[1]  # type: ignore[arg-type]
    deeper, cached = rows.of(A, first, 65, 200)  # type: ignore[arg-type]
    assert (cached, deeper.depth) == (False, 65)
    all_of_them, _ = rows.of(A, first, 120, 200)  # type: ignore[arg-type]
    assert all_of_them.complete
    assert rows.of(A, first, 1_000, 200) == (all_of_them, True)  # type: ignore[arg-type]
    assert first.read == ["latest 64", "latest 65", "latest 120"]
    assert not rows.of(A, Shelf(units, revision=2), 20, 200)[1]  # type: ignore[arg-type]
    other = Shelf(units, revision=2)
    other.generation = 2
    assert not rows.of(A, other, 20, 200)[1]  # type: ignore[arg-type]


def test_an_older_snapshot_does_not_push_out_a_newer_one() -> None:
    rows = NewestRows(Times())
    rows.of(A, Shelf(held(3), revision=5), 20, 200)  # type: ignore[arg-type]
    old, cached = rows.of(A, Shelf(held(2), revision=4), 20, 200)  # type: ignore[arg-type]
    assert (len(old.newest), cached) == (2, False)
    assert rows.of(A, Shelf(held(3), revision=5), 20, 200)[1]  # type: ignore[arg-type]


def test_memory_is_bounded_and_the_least_used_go() -> None:
    one = NewestRows(Times())
    one.of(A, Shelf(held(10)), 20, 200)  # type: ignore[arg-type]
    rows = NewestRows(Times(), most_bytes=2 * one.bytes)
    for ref in (A, B):
        rows.of(ref, Shelf(held(10)), 20, 200)  # type: ignore[arg-type]
    assert rows.of(A, Shelf(held(10)), 20, 200)[1]  # type: ignore[arg-type]
    rows.of(C, Shelf(held(10)), 20, 200)  # type: ignore[arg-type]
    assert rows.bytes == 2 * one.bytes
    assert rows.of(A, Shelf(held(10)), 20, 200)[1]  # type: ignore[arg-type]
    assert not rows.of(B, Shelf(held(10)), 20, 200)[1]  # type: ignore[arg-type]
    before = rows.bytes
    rows.of(BankRef("default", "large"), Shelf(held(10, 100_000)), 20, 200)  # type: ignore[arg-type]
    assert rows.bytes == before  # what is larger than the bound is not kept


def test_empty_banks_are_not_kept() -> None:
    rows = NewestRows(Times())
    for n in range(1_000):
        rows.of(BankRef("default", f"nobody {n}"), Shelf([]), 20, 200)  # type: ignore[arg-type]
    assert rows.bytes == 0
    assert not rows.expire()


def test_what_nobody_primes_goes() -> None:
    time = Times()
    rows = NewestRows(time)
    rows.of(A, Shelf(held(3)), 20, 200)  # type: ignore[arg-type]
    rows.of(B, Shelf(held(3)), 20, 200)  # type: ignore[arg-type]
    time.now = KEPT_S - 1
    rows.of(A, Shelf(held(3)), 20, 200)  # type: ignore[arg-type]
    time.now = KEPT_S
    assert rows.expire()
    assert not rows.of(B, Shelf(held(3)), 20, 200)[1]  # type: ignore[arg-type]
    time.now = 10 * KEPT_S
    assert not rows.expire()
    assert rows.bytes == 0
    rows.of(A, Shelf(held(3)), 20, 200)  # type: ignore[arg-type]
    rows.clear()
    assert rows.bytes == 0
    assert not rows.of(A, Shelf(held(3)), 20, 200)[1]  # type: ignore[arg-type]


def test_counters_are_read_once_a_moment() -> None:
    rows, units = NewestRows(Times()), held(5)
    shelf = Shelf(units)
    found, _ = rows.of(A, shelf, 20, 200)  # type: ignore[arg-type]
    ids = [u.id for u in units]
    shelf.read.clear()
    shelf.uses = {ids[1]: Access(3, NOW)}
    found.counted(shelf, ids[:3])  # type: ignore[arg-type]
    found.counted(shelf, ids[1:4])  # type: ignore[arg-type]
    assert shelf.read == ["accesses 3", "accesses 1"]
    assert found.units[ids[1]] == accessed(units[1], 3, NOW)
    assert found.units[ids[0]] is units[0]
    for moment in range(2, 40):
        shelf.moment, shelf.uses = moment, {ids[1]: Access(moment, NOW)}
        found.counted(shelf, ids)  # type: ignore[arg-type]
        assert found.units[ids[1]].access_count == moment
    assert len(found.accesses) < 10
    shelf.moment, shelf.uses = 99, {}
    found.counted(shelf, [*ids, b"elsewhere"])  # type: ignore[arg-type]
    assert found.units[ids[1]] == units[1]


def test_a_unit_with_other_counters_is_the_same_otherwise() -> None:
    unit = Unit(b"u" * 16, Layer.SOURCE, "text", 1, 2, tags=("a",), attributes={"b": 1})
    other = accessed(unit, 7, 9)
    assert type(other) is Unit
    assert (other.access_count, other.last_accessed_at, unit.access_count) == (7, 9, 0)
    assert accessed(other, 0, None) == unit
    with pytest.raises(AttributeError):
        other.text = "changed"  # type: ignore[misc]


async def test_writes_are_seen_at_once(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await put(app, *numbered("door", 5), days=1)
        assert len((await primed(app)).memories) == 5
        (new,) = await put(app, "A new one")
        assert texts(await primed(app))[0] == "A new one"
        assert len((await primed(app, max_memories=2)).memories) == 2
        await app.store.apply(REF, Batch(curations=[Curation(new.id, True)]))
        assert "A new one" not in texts(await primed(app))
        await app.store.bank_drop(REF)
        assert texts(await primed(app)) == []
        await put(app, "Again")
        assert texts(await primed(app)) == ["Again"]


async def test_what_others_do_with_the_folder_is_seen(tmp_path: Path) -> None:
    async with opened(tmp_path) as mine, opened(tmp_path) as other:
        await put(mine, "first")
        assert texts(await primed(mine)) == ["first"]
        await put(other, "second", days=-0.0001)
        await other.prime(REF, PrimeOptions(now=NOW + 60_000_000))
        await other.store.close()
        await other.store.open()
        found = await primed(mine, now=NOW + 60_000_000)
        uses = {m.unit.text: m.unit.access_count for m in found.memories}
        assert uses == {"first": 1, "second": 1}


async def test_other_weights_are_served_from_the_same_rows(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await put(app, *numbered("door", 80))
        found: list[Any] = await asyncio.gather(
            *(primed(app, max_memories=n, cue=cue) for n in (1, 20, 64, 80, 200)
              for cue in (None, "door number 7"))
        )  # fmt: skip
        assert [len(c.memories) for c in found] == [1, 1, 20, 20, 64, 64, 80, 80, 80, 80]
