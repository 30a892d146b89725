"""A copy taken under load is the store at one revision, by hashes of all rows; and back again."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from backup_kit import REF, sums_of, units

import remembrancer
from remembrancer.keeping.batch import Batch
from remembrancer.keeping.moving import KEYS
from remembrancer.keeping.sqlite import SqliteStore, proof
from remembrancer.nouns.clock import SystemClock
from remembrancer.nouns.errors import Corrupt, StoreError
from remembrancer.nouns.ids import IdMaker


async def test_a_copy_under_load_is_the_store_at_one_revision(tmp_path: Path) -> None:
    clock = SystemClock()
    folder, ids = tmp_path / "data", IdMaker(clock)
    store = SqliteStore(folder, clock=clock)
    await store.open()
    at: dict[int, list[object]] = {}
    copies: list[Path] = []
    done = asyncio.Event()

    async def write() -> None:
        for _ in range(30):
            await store.apply(REF, Batch(units=units(ids, 20)))
            revision, found = await asyncio.to_thread(sums_of, folder / "memory.db")
            at[revision] = found
        done.set()

    async def copy() -> None:
        while not done.is_set():
            target = tmp_path / f"copy-{len(copies)}.db"
            made = await store.backup(target, verify=True)
            assert made["rows"] >= made["units"]
            copies.append(target)

    try:
        await asyncio.gather(write(), copy())
    finally:
        await store.close()
    assert len(at) == 30
    revisions = set()
    for each in copies:
        revision, found = sums_of(each)
        revisions.add(revision)
        if revision:  # else the first write was not there yet
            assert found == at[revision]
    assert len(revisions) > 1  # so there was load


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    folder = tmp_path / "kept"
    with remembrancer.open(folder, embedder="hash:64") as memory:
        memory.retain("Ann: I moved to Lyon in May.", bank="ann")
    return folder


async def backed_up(folder: Path, target: Path, **options: bool) -> dict[str, object]:
    store = SqliteStore(folder, clock=SystemClock())
    await store.open()
    try:
        return dict(await store.backup(target, **options))
    finally:
        await store.close()


async def restored(source: Path, folder: Path) -> dict[str, object]:
    return dict(await SqliteStore(folder, clock=SystemClock()).restore(source))


async def test_a_restored_copy_is_compared_row_by_row(kept: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    made = await backed_up(kept, copy, verify=True)
    sums = json.loads(proof.beside(copy).read_text())
    assert set(sums["tables"]) == set(KEYS)
    assert "Lyon" not in proof.beside(copy).read_text()
    assert proof.beside(copy).stat().st_mode & 0o777 == 0o600
    back = await restored(copy, tmp_path / "back")
    assert (back["rows"], back["units"]) == (made["rows"], made["units"])
    assert sums_of(tmp_path / "back" / "memory.db") == sums_of(kept / "memory.db")
    with pytest.raises(StoreError, match="holds nothing"):
        await restored(copy, tmp_path / "back")


async def test_a_copy_without_sums_is_checked_as_a_file(kept: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    await backed_up(kept, copy, verify=True)
    assert "rows" not in await backed_up(kept, copy)
    assert not proof.beside(copy).exists()  # those of the copy before
    assert "rows" not in await restored(copy, tmp_path / "back")


async def test_a_copy_that_was_changed_is_refused(kept: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    await backed_up(kept, copy, verify=True)
    with closing(sqlite3.connect(copy)) as db, db:
        db.execute("UPDATE unit SET text = 'Ann: I moved to Nice.'")
    with pytest.raises(Corrupt, match="is damaged"):
        await restored(copy, tmp_path / "back")
    sums = json.loads(proof.beside(copy).read_text())
    proof.beside(copy).write_text(json.dumps(sums | {"sha256": proof.sha256_of(copy)}))
    with pytest.raises(Corrupt, match="table unit are not those"):
        await restored(copy, tmp_path / "back")
    proof.beside(copy).write_text("{}")
    with pytest.raises(Corrupt, match="does not read"):
        await restored(copy, tmp_path / "back")
    assert not (tmp_path / "back" / "memory.db").exists()
    assert list((tmp_path / "back").iterdir()) == []


async def test_what_is_no_copy_and_where_a_log_is_left_is_refused(
    kept: Path, tmp_path: Path
) -> None:
    with pytest.raises(StoreError, match="no copy of a store"):
        await restored(tmp_path / "nothing", tmp_path / "back")
    copy, back = tmp_path / "copy.db", tmp_path / "back"
    await backed_up(kept, copy)
    back.mkdir()
    (back / "memory.db-wal").write_bytes(b"of another store")
    with pytest.raises(StoreError, match="-wal is there"):
        await restored(copy, back)
