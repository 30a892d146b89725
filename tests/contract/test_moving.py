"""What a move refuses, and how one goes on that did not come to its end."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from contract_kit import Maker

from remembrancer.keeping.batch import Batch
from remembrancer.keeping.moving import Checkpoint, Row, move
from remembrancer.keeping.sqlite import SqliteStore
from remembrancer.keeping.store import Store
from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.errors import Conflict, Corrupt, StoreError
from remembrancer.nouns.memory import BankRef


class Halt(Exception):
    """Stands for the end of a process."""


class Halting:
    """A target that halts when a table is reached; what came before is there."""

    def __init__(self, tables: Any, table: str) -> None:
        self._tables = tables
        self._table = table

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tables, name)

    def put(
        self, table: str, columns: Sequence[str], rows: Sequence[Row], reached: Checkpoint
    ) -> None:
        if table == self._table:
            raise Halt
        self._tables.put(table, columns, rows, reached)


@pytest.fixture
def other(tmp_path: Path, clock: FixedClock) -> Callable[[str], SqliteStore]:
    return lambda name: SqliteStore(tmp_path / name, clock=clock)


async def fill(store: Store, ref: BankRef, make: Maker, name: str) -> None:
    batch = make.document(name, ["one", "two\x10 \x00 three"])
    await store.apply(ref, batch)
    await store.apply(ref, Batch(jobs=[make.job(ref)]))


def moved(source: Any, target: Any, **more: Any) -> Any:
    with source.moving_from() as here, target.moving_into() as there:
        return move(here, there, **more)


def halted(source: Any, target: Any, table: str) -> None:
    with source.moving_from() as here, target.moving_into() as there, pytest.raises(Halt):
        move(here, Halting(there, table))


async def units(store: Any, ref: BankRef) -> list[Any]:
    await store.open()
    try:
        async with store.snapshot(ref) as view:
            return await view.units([row.unit_id for row in await view.scan(limit=100)])
    finally:
        await store.close()


async def test_there_and_back(
    store: Any, ref: BankRef, make: Maker, other: Callable[[str], SqliteStore]
) -> None:
    await fill(store, ref, make, "a")
    async with store.snapshot(ref) as view:
        known = await view.units([row.unit_id for row in await view.scan(limit=100)])
        revision = view.revision
    await store.close()
    told: list[tuple[int, int]] = []
    done = moved(store, other("two"), progress=lambda *each: told.append(each))
    assert (done.tables["unit"], done.tables["job"], done.resumed) == (2, 1, 0)
    assert told[-1] == (3 * done.rows, 3 * done.rows)
    assert await units(other("two"), ref) == known
    moved(other("two"), other("three"))
    assert await units(other("three"), ref) == known
    three = other("three")
    await three.open()
    assert (await three.bank(ref)).revision == revision  # type: ignore[union-attr]
    await three.close()


async def test_a_store_that_holds_something_is_no_target(
    store: Any, ref: BankRef, make: Maker, other: Callable[[str], SqliteStore]
) -> None:
    await fill(store, ref, make, "a")
    await store.close()
    moved(store, other("two"))
    with pytest.raises(Conflict, match="holds something"):
        moved(store, other("two"))
    with pytest.raises(Conflict, match="holds something"):
        moved(other("two"), store)


async def test_what_was_halted_goes_on_from_the_same_store_alone(
    store: Any, ref: BankRef, make: Maker, other: Callable[[str], SqliteStore]
) -> None:
    await fill(store, ref, make, "a")
    await store.close()
    halted(store, other("two"), "job")
    with pytest.raises(StoreError, match="not finished"):
        await other("two").open()
    third = other("third")
    await third.open()
    await third.close()
    with pytest.raises(Conflict, match="another store"):
        moved(other("third"), other("two"))
    done = moved(store, other("two"))
    assert done.resumed == done.rows - 1
    assert len(await units(other("two"), ref)) == 2


async def test_a_source_that_was_changed_meanwhile_is_noticed(
    store: Any, ref: BankRef, make: Maker, other: Callable[[str], SqliteStore]
) -> None:
    await fill(store, ref, make, "a")
    await store.close()
    halted(store, other("two"), "job")
    await store.open()
    await fill(store, ref, make, "b")
    await store.close()
    with pytest.raises(Corrupt, match="changed"):
        moved(store, other("two"))
    with pytest.raises(StoreError, match="not finished"):
        await other("two").open()
    assert moved(store, other("two"), restart=True).tables["unit"] == 4
    assert len(await units(other("two"), ref)) == 4


async def test_a_store_that_is_not_there_or_of_an_older_schema_is_not_read(
    store: Any, other: Callable[[str], SqliteStore], tmp_path: Path
) -> None:
    await store.close()
    with pytest.raises(StoreError, match="no store in"), other("none").moving_from():
        pass
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "memory.db").touch()
    with pytest.raises(StoreError, match="migrate"), other("old").moving_from():
        pass


async def test_an_error_names_the_store_that_is_damaged(
    ref: BankRef, make: Maker, other: Callable[[str], SqliteStore], tmp_path: Path
) -> None:
    source = other("one")
    await source.open()
    await fill(source, ref, make, "a")
    await source.close()
    path = tmp_path / "one" / "memory.db"
    with closing(sqlite3.connect(path)) as db:
        [[root]] = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'unit'")
        [[size]] = db.execute("PRAGMA page_size")
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)
    with pytest.raises(Corrupt, match=str(path)):
        moved(source, other("two"))
