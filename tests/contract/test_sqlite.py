"""What only the SQLite store promises: its files, its lock, its schema, its backups."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import sqlite3
import stat
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest
from contract_kit import NOW, ids_of

from remembrancer.keeping.batch import Batch
from remembrancer.keeping.queries import Queries, parse
from remembrancer.keeping.sqlite import SqliteStore, scrub
from remembrancer.keeping.sqlite.migrate import scripts
from remembrancer.nouns.errors import Conflict, Corrupt, StoreBusy, StoreError, StoreTooNew
from remembrancer.nouns.memory import BankRef, Layer, UnitRow


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


@contextmanager
def locked(folder):
    """Hold the write lock as another process would."""
    handle = os.open(folder / "write.lock", os.O_RDWR)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(handle)


def raw(folder):
    """Return the bytes of the database and the files beside it."""
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


async def test_files_are_the_owners_alone(store, folder, ref, make):
    await store.apply(ref, Batch(units=[make.row()]))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes == dict.fromkeys(
        ["memory.db", "memory.db-shm", "memory.db-wal", "write.lock"], 0o600
    )


async def test_writes_are_synced_and_erasures_wiped(store, folder):
    with sqlite3.connect(folder / "memory.db") as plain:
        assert plain.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert plain.execute("PRAGMA auto_vacuum").fetchone() == (2,)
    plain.close()
    db = store._open_db(write=True)
    assert db.sql("PRAGMA synchronous").fetchone() == (2,)
    assert db.sql("PRAGMA secure_delete").fetchone() == (1,)
    db.close()


async def test_a_group_of_writes_waits_for_the_lock_and_shares_a_commit(
    store, folder, ref, make, check
):
    batches = [Batch(units=make.rows(2)) for _ in range(30)]
    batches[7] = replace(batches[7], expect_revision=99)
    batches[20] = replace(batches[20], expect_revision=19)
    with locked(folder):
        tasks = [asyncio.create_task(store.apply(ref, batch)) for batch in batches]
        await asyncio.sleep(0.05)
        assert not any(task.done() for task in tasks)
        assert await store.bank(ref) is None
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(results.pop(7), Conflict)
    assert [result.revision for result in results] == list(range(1, 30))
    await check(store, ref)


async def test_a_lock_that_stays_taken_is_reported(make_store, folder, ref, make):
    store = make_store(lock_timeout_s=0.05)
    await store.open()
    with locked(folder):
        with pytest.raises(StoreBusy) as caught:
            await store.apply(ref, Batch(units=[make.row()]))
        assert caught.value.limit == 0.05
        assert await store.bank(ref) is None
    await store.apply(ref, Batch(units=[make.row()]))
    assert (await store.bank(ref)).revision == 1
    await store.close()


async def test_a_program_that_ignores_the_lock_is_reported(make_store, folder, ref, make):
    store = make_store(lock_timeout_s=0.05)
    await store.open()
    other = sqlite3.connect(folder / "memory.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy, match="locked"):
        await store.apply(ref, Batch(units=[make.row()]))
    other.execute("ROLLBACK")
    other.close()
    await store.apply(ref, Batch(units=[make.row()]))
    await store.close()


async def test_an_error_that_undoes_the_transaction_fails_the_group(
    store, folder, ref, make, check, monkeypatch
):
    from remembrancer.keeping.relational import bank_calls as module

    real = module.apply

    def breaking(db, bank, batch, now):
        if batch.expect_revision == 1:
            db.sql("ROLLBACK")
            raise sqlite3.OperationalError("database or disk is full")
        return real(db, bank, batch, now)

    monkeypatch.setattr(module, "apply", breaking)
    bad = Batch(units=[make.row()], expect_revision=1)
    with locked(folder):
        batches = [Batch(units=[make.row()]), bad, Batch(units=[make.row()])]
        tasks = [asyncio.create_task(store.apply(ref, batch)) for batch in batches]
        await asyncio.sleep(0.05)
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        assert isinstance(result, StoreError)
        assert "free some space" in result.message
    assert await store.bank(ref) is None
    await store.apply(ref, Batch(units=[make.row()]))
    await check(store, ref)


async def test_a_newer_schema_is_refused_untouched(store, make_store, folder, ref, make):
    await store.apply(ref, Batch(units=[make.row()]))
    await store.close()
    with sqlite3.connect(folder / "memory.db") as plain:
        plain.execute("PRAGMA user_version = 999")
    plain.close()
    before = (folder / "memory.db").read_bytes()
    with pytest.raises(StoreTooNew, match="999"):
        await make_store().open()
    assert (folder / "memory.db").read_bytes() == before


async def test_places_that_cannot_be_used(tmp_path, clock):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be used"):
        await SqliteStore(tmp_path / "file", clock=clock).open()
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "memory.db").write_bytes(b"no database at all" * 1000)
    with pytest.raises(Corrupt, match="backup"):
        await SqliteStore(tmp_path / "odd", clock=clock).open()


async def test_two_stores_may_create_one_folder_at_once(make_store, ref, make):
    stores = [make_store() for _ in range(4)]
    await asyncio.gather(*(store.open() for store in stores))
    await asyncio.gather(*(s.apply(ref, Batch(units=[make.row()])) for s in stores))
    assert (await stores[0].bank(ref)).revision == 4
    for store in stores:
        await store.close()


async def test_health(store, folder, ref, make):
    await store.apply(ref, Batch(units=make.rows(50)))
    health = await store.health()
    assert health["ok"] is True
    assert health["engine"].startswith("sqlite ")
    assert (health["schema"], health["path"]) == (len(scripts()), str(folder / "memory.db"))
    assert health["size_bytes"] > 50_000


async def test_erased_words_are_nowhere_on_disk(store, folder, ref, make, check):
    """Texts of many lengths are erased, replaced and dropped; none of their words may be left."""
    marks, rows = {}, []
    for n in range(240):
        mark = f"secret{n:04}mark"
        row = make.row(
            f"{mark} " + "x" * make.random.choice([0, 30, 200, 1_500, 9_000]),
            embedded=True,
            note=mark,
            tags=(mark,),
            entities=(mark,),
            metadata={"k": mark},
            subject=mark,
            window_terms=f"{mark} window".encode(),
            previous_id=rows[-1].unit.id if n % 5 else None,
        )
        marks[row.unit.id] = mark
        rows.append(row)
    mentions = [make.mention(marks[row.unit.id], row) for row in rows]
    await store.apply(ref, Batch(units=rows[:120], mentions=mentions[:120]))
    await store.apply(ref, Batch(units=rows[120:], mentions=mentions[120:]))
    document = make.document("chat", [f"kept{n}turn erased{n}turn " * 40 for n in range(30)])
    fact = make.row("erased fact", layer=Layer.FACT, source_id=document.units[3].unit.id)
    await store.apply(ref, replace(document, units=[*document.units, fact]))
    await store.apply(ref, make.document("gone", ["erased whole document"]))
    await store.apply(ref, make.document("again", ["erased former version"]))
    other = BankRef("acme", "other")
    await store.apply(other, Batch(units=[make.row("erased bank")]))
    gone = make.random.sample(rows, 150)
    for row in gone:
        assert marks[row.unit.id].encode() in raw(folder)

    for start in range(0, 150, 25):
        await store.apply(ref, Batch(erase=ids_of(gone[start : start + 25])))
    await store.apply(ref, Batch(erase=ids_of(document.units[1:]), erase_documents=["gone"]))
    await store.apply(ref, make.document("again", ["new version"]))
    await store.bank_drop(other)
    await store.sweep(NOW)

    left = raw(folder)
    assert [marks[r.unit.id] for r in gone if marks[r.unit.id].encode() in left] == []
    assert [r for r in gone if r.vector.codes in left or r.window_vector.codes in left] == []
    assert [n for n in range(1, 30) if f"erased{n}turn".encode() in left] == []
    for text in ("erased fact", "erased whole", "erased former", "erased bank"):
        assert text.encode() not in left
    for row in rows:
        assert row in gone or marks[row.unit.id].encode() in left
    assert (folder / "memory.db-wal").stat().st_size == 0
    await check(store, ref)


async def test_sweeping_gives_space_back(store, folder, ref, make):
    rows = [make.row("x" * 5_000) for _ in range(150)]
    await store.apply(ref, Batch(units=rows))
    await store.sweep(NOW)
    full = (folder / "memory.db").stat().st_size
    await store.apply(ref, Batch(erase=ids_of(rows)))
    await store.sweep(NOW)
    assert (folder / "memory.db").stat().st_size < full / 4


async def test_sweeping_says_when_a_snapshot_holds_the_log(store, ref, make, monkeypatch):
    from remembrancer.keeping.sqlite import store as module

    monkeypatch.setattr(module, "_LOG_TRIES", 2)
    await store.apply(ref, Batch(units=make.rows(2)))
    async with store.snapshot(ref):
        await store.apply(ref, Batch(units=make.rows(2)))
        with pytest.raises(StoreBusy, match="snapshot"):
            await store.sweep(NOW)
    await store.sweep(NOW)


async def test_a_backup_taken_while_writing_is_whole(store, folder, tmp_path, ref, make, clock):
    await store.apply(ref, Batch(units=make.rows(50)))
    target = tmp_path / "copies" / "one" / "memory.db"
    backup, *_ = await asyncio.gather(
        store.backup(target), *(store.apply(ref, Batch(units=make.rows(5))) for _ in range(20))
    )
    assert backup["path"] == str(target)
    assert backup["bytes"] == target.stat().st_size
    assert [path.name for path in target.parent.iterdir()] == ["memory.db"]
    copy = SqliteStore(target.parent, clock=clock)
    await copy.open()
    bank = await copy.bank(ref)
    assert bank.unit_count == backup["units"] == 50 + 5 * (bank.revision - 1)
    async with copy.snapshot(ref) as view:
        assert len(await view.scan()) == bank.unit_count
    await copy.close()


@pytest.mark.parametrize("how", ["deleted", "moved", "replaced"])
async def test_nothing_is_acknowledged_that_goes_into_a_file_out_of_place(
    store, folder, ref, make, how
):
    await store.apply(ref, Batch(units=[make.row()]))
    assert (await store.health())["ok"]
    aside = folder.with_name("aside")
    if how == "deleted":
        shutil.copytree(folder, aside)
        shutil.rmtree(folder)
    elif how == "moved":
        folder.rename(aside)
    else:
        shutil.copyfile(folder / "memory.db", folder / "copy.db")
        (folder / "copy.db").replace(folder / "memory.db")
    with pytest.raises(StoreError, match="deleted, moved or replaced"):
        await store.apply(ref, Batch(units=[make.row()]))
    assert not (await store.health())["ok"]
    if how == "moved":
        aside.rename(folder)
        await store.apply(ref, Batch(units=[make.row()]))
        assert (await store.health())["ok"]


async def test_a_backup_replaces_files_alone(store, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="is no file"):
        await store.backup(tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()


async def test_a_backup_into_a_folder_replaces_the_one_before(store, folder, tmp_path, ref, make):
    copies = tmp_path / "copies"
    copies.mkdir()
    assert (await store.backup(copies))["units"] == 0
    await store.apply(ref, Batch(units=make.rows(2)))
    assert (await store.backup(copies))["units"] == 2
    assert [path.name for path in copies.iterdir()] == ["memory.db"]
    with pytest.raises(StoreError, match="itself"):
        await store.backup(folder)
    with pytest.raises(StoreError, match="failed"):
        await store.backup(folder / "write.lock" / "below")


async def test_terms_lie_beside_the_units_that_have_some(store, folder, ref, make):
    source, other = make.rows(2)
    unit = make.row(layer=Layer.FACT, source_id=source.unit.id).unit
    fact = UnitRow(unit)

    def kept():
        with closing(sqlite3.connect(folder / "memory.db")) as db:
            return {row[0] for row in db.execute("SELECT unit_id FROM search")}

    await store.apply(ref, Batch(units=[source, other, fact]))
    assert kept() == {source.unit.id, other.unit.id}
    again = replace(fact, terms=b"terms")
    await store.apply(ref, Batch(units=[again]))
    assert kept() == {source.unit.id, other.unit.id, unit.id}
    async with store.snapshot(ref) as view:
        assert await view.rows([unit.id]) == [replace(again, window_terms=b"")]
    await store.apply(ref, Batch(units=[fact]))
    assert kept() == {source.unit.id, other.unit.id}
    await store.apply(ref, Batch(erase=[source.unit.id]))
    assert kept() == {other.unit.id}
    await store.bank_drop(ref)
    assert kept() == set()


def test_queries_are_named_blocks():
    text = "-- name: one\n-- why\nSELECT {cols}, {ids};\n\n-- name: cols\na, b\n"
    queries = Queries(dict(parse(text)))
    assert dict(queries) == {"one": "SELECT a, b, {ids}", "cols": "a, b"}
    with pytest.raises(StoreError, match="before"):
        list(parse("SELECT 1;\n-- name: x\nSELECT 2;"))


def test_every_query_of_the_store_is_used():
    from pathlib import Path

    from remembrancer import keeping

    queries = Queries.load("remembrancer.keeping.sqlite")
    files = Path(keeping.__file__).parent.rglob("*.*")
    sources = "".join(p.read_text() for p in files if p.suffix in {".py", ".sql"})
    unused = [
        name
        for name in queries
        if f'"{name}"' not in sources
        and f"{{{name}}}" not in sources
        and not name.startswith("drop_")
    ]
    assert unused == []


async def test_leftovers_of_moved_cells_are_wiped(store, make_store, folder, ref, make, check):
    """Deleting makes SQLite move cells between pages, and it leaves copies of them behind."""
    second = make_store()
    await second.open()
    rows = [make.row(f"mark{n:04} " + "y" * make.random.randrange(3_000)) for n in range(400)]
    await store.apply(ref, Batch(units=rows[:200]))
    await second.apply(ref, Batch(units=rows[200:]))
    gone = make.random.sample(rows, 300)
    for start in range(0, 300, 10):
        writer = store if start % 20 else second
        await writer.apply(ref, Batch(erase=ids_of(gone[start : start + 10])))
    await store.apply(ref, Batch(units=[make.row()]))
    db = store._open_db(write=True)
    try:
        db.sql("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        assert scrub.dirty_pages(db, folder / "memory.db") != []
        await store.sweep(NOW)
        assert scrub.dirty_pages(db, folder / "memory.db") == []
        # Neither store may have kept a page as it was before.
        for writer in (store, second):
            await writer.apply(ref, Batch(units=[make.row()]))
        await store.sweep(NOW)
        assert db.sql("PRAGMA integrity_check").fetchall() == [("ok",)]
    finally:
        db.close()
    left = raw(folder)
    assert [row for row in gone if row.unit.text[:8].encode() in left] == []
    assert [row for row in rows if row not in gone and row.unit.text.encode()[:8] not in left] == []
    await second.close()
    await check(store, ref)
