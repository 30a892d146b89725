"""Incremental backups: each is the store at one revision, and damage to them is named."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shutil
import sqlite3
from collections import namedtuple
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from backup_kit import REF, sums_of, units
from typer.testing import CliRunner

from remembrancer.app import App
from remembrancer.faces.cli.main import app
from remembrancer.keeping.batch import Batch
from remembrancer.keeping.postgres import PostgresStore
from remembrancer.keeping.sqlite import SqliteStore, packs
from remembrancer.keeping.sqlite.repository import HEAD, Damage, Repository
from remembrancer.nouns.clock import SystemClock
from remembrancer.nouns.errors import (
    Corrupt,
    InvalidInput,
    NotFound,
    StoreBusy,
    StoreError,
    StoreTooNew,
)
from remembrancer.nouns.ids import IdMaker
from remembrancer.settings import Settings
from remembrancer.verbs.retaining.units import Item

DAY_US = 86_400_000_000


async def backed_up(folder: Path, target: Path, **options: Any) -> dict[str, Any]:
    store = SqliteStore(folder, clock=SystemClock())
    await store.open()
    try:
        return dict(await store.backup(target, incremental=True, **options))
    finally:
        await store.close()


async def restored(source: Path, folder: Path, name: str | None = None) -> dict[str, Any]:
    return dict(await SqliteStore(folder, clock=SystemClock()).restore(source, name=name))


async def tell(folder: Path, text: str) -> None:
    """Keep a document under its own last word."""
    async with opened(folder) as memory:
        await memory.retain(REF, [Item(text, document=text.rpartition(" ")[2])])


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[App]:
    settings = Settings(data=folder, embedder="hash:64", worker=False)
    memory = await App.open(settings, background=False)
    try:
        yield memory
    finally:
        await memory.close()


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    folder = tmp_path / "kept"
    asyncio.run(tell(folder, "Ann: I moved to Lyon in May"))
    return folder


def damage(folder: Path) -> list[Damage]:
    return Repository(folder).damage()[0]


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


async def test_each_is_the_store_at_one_revision_under_load(tmp_path: Path) -> None:
    clock = SystemClock()
    folder, ids = tmp_path / "data", IdMaker(clock)
    store = SqliteStore(folder, clock=clock)
    await store.open()
    at: dict[int, list[object]] = {}
    made: list[dict[str, Any]] = []
    done = asyncio.Event()

    async def write() -> None:
        for _ in range(20):
            await store.apply(REF, Batch(units=units(ids, 20)))
            revision, found = await asyncio.to_thread(sums_of, folder / "memory.db")
            at[revision] = found
        done.set()

    async def copy() -> None:
        while not done.is_set():
            verify = len(made) % 3 == 0
            made.append(dict(await store.backup(tmp_path / "b", incremental=True, verify=verify)))

    try:
        await asyncio.gather(write(), copy())
    finally:
        await store.close()
    assert len(at) == 20
    assert Repository(tmp_path / "b").names() == [each["backup"] for each in made]
    revisions = set()
    for number, each in enumerate(made):
        back = tmp_path / f"back-{number}"
        told = await restored(tmp_path / "b", back, each["backup"])
        assert told["units"] == each["units"]
        assert told.get("rows") == each.get("rows")
        revision, found = sums_of(back / "memory.db")
        revisions.add(revision)
        if revision:  # else the first write was not there yet
            assert found == at[revision]
    assert len(revisions) > 1  # so there was load
    assert damage(tmp_path / "b") == []


async def test_only_what_is_new_is_written(kept: Path, tmp_path: Path) -> None:
    first = await backed_up(kept, tmp_path / "b", verify=True)
    assert 4 < first["new_blocks"] <= first["blocks"]  # empty pages are one block
    again = await backed_up(kept, tmp_path / "b")
    assert (again["new_blocks"], again["new_bytes"]) == (0, 0)
    assert again["sha256"] == first["sha256"]
    assert [p.stem for p in (tmp_path / "b" / "packs").iterdir()] == [first["backup"]]
    with closing(sqlite3.connect(kept / "memory.db")) as db, db:
        db.execute("UPDATE meta SET value = value + 1 WHERE name = 'revision_floor'")
    changed = await backed_up(kept, tmp_path / "b", verify=True)
    assert 0 < changed["new_blocks"] < changed["blocks"]
    assert changed["damaged"] == []
    newest = await restored(tmp_path / "b", tmp_path / "back")
    assert (newest["backup"], newest["rows"]) == (changed["backup"], changed["rows"])
    assert sums_of(tmp_path / "back" / "memory.db") == sums_of(kept / "memory.db")
    modes = {p.stat().st_mode & 0o077 for p in (tmp_path / "b").rglob("*")}
    assert modes == {0}


async def test_a_damaged_block_is_named_and_written_anew(kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "b"
    first = await backed_up(kept, folder)
    [pack] = (folder / "packs").iterdir()
    flip(pack, 8 + 2 * 16_384 + 5)  # in the third block
    [found] = damage(folder)
    assert (found.backup, found.block) == (first["backup"], 2)
    assert "is damaged" in found.what
    with pytest.raises(Corrupt, match=f"backup {first['backup']}: block 2 .* is damaged"):
        await restored(folder, tmp_path / "back")
    assert list((tmp_path / "back").iterdir()) == []
    # A later backup does not know unless it looks; one that does mends both.
    await backed_up(kept, folder)
    assert [each.block for each in damage(folder)] == [2, 2]
    mended = await backed_up(kept, folder, verify=True)
    assert (mended["new_blocks"], mended["damaged"]) == (1, [])
    assert damage(folder) == []
    await restored(folder, tmp_path / "back", first["backup"])
    assert sums_of(tmp_path / "back" / "memory.db") == sums_of(kept / "memory.db")


async def test_what_is_missing_or_does_not_read_is_named(kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "b"
    first = await backed_up(kept, folder)
    await tell(kept, "Ann: My dog is called Rex")
    second = await backed_up(kept, folder)
    one, two = sorted((folder / "packs").iterdir())
    flip(two, -1)
    found = damage(folder)
    assert {each.backup for each in found} == {second["backup"]}
    assert all(f"missing; {two.name} does not read" in each.what for each in found)
    one.unlink()
    assert {each.backup for each in damage(folder)} == {first["backup"], second["backup"]}
    manifest = folder / "backups" / f"{first['backup']}.json"
    manifest.write_text(manifest.read_text().replace('"units": ', '"units": 1'))
    assert damage(folder)[0].block is None
    with pytest.raises(Corrupt, match=f"backup {first['backup']} is damaged: .* does not read"):
        await restored(folder, tmp_path / "back", first["backup"])
    with pytest.raises(Corrupt, match="does not read"):
        Repository(folder).prune(2, None, 0)
    assert len(Repository(folder).names()) == 2


async def test_one_that_does_not_read_holds_up_neither_the_list_nor_a_prune_that_drops_it(
    kept: Path, tmp_path: Path
) -> None:
    folder, run = tmp_path / "b", CliRunner()
    first = await backed_up(kept, folder)
    await tell(kept, "Ann: The blue kettle leaks")
    last = await backed_up(kept, folder)
    manifest = folder / "backups" / f"{first['backup']}.json"
    manifest.write_text(manifest.read_text().replace("units", "unitz"))
    with (folder / "packs" / f"{first['backup']}.pack").open("r+b") as pack:
        pack.truncate(1_000)
    shown = run.invoke(app, ["backups", "list", str(folder), "--json"])
    assert shown.exit_code == 0
    listed = json.loads(shown.stdout)["backups"]
    assert [each["damaged"] for each in listed] == [True, False]
    with pytest.raises(Corrupt, match="delete that file"):
        Repository(folder).prune(None, 30, SystemClock().now_us())
    assert Repository(folder).prune(1, None, 0)["dropped"] == [first["backup"]]
    assert len(list((folder / "packs").iterdir())) == 2  # what is missing might be read out of it
    anew = await backed_up(kept, folder)
    assert Repository(folder).prune(1, None, 0)["dropped"] == [last["backup"]]
    assert not (folder / "packs" / f"{first['backup']}.pack").exists()
    assert damage(folder) == []
    assert (await restored(folder, tmp_path / "back"))["backup"] == anew["backup"]


async def test_prune_leaves_no_text_that_only_old_backups_held(kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "b"
    await backed_up(kept, folder)
    await tell(kept, "Ann: The blue kettle leaks")
    await backed_up(kept, folder)
    async with opened(kept) as memory:
        await memory.forget(REF, documents=["May"])
        await memory.store.sweep(SystemClock().now_us())
    last = await backed_up(kept, folder)

    def bytes_of() -> bytes:
        return b"".join(p.read_bytes() for p in folder.rglob("*") if p.is_file())

    assert b"Lyon" in bytes_of()
    repository = Repository(folder)
    with repository.held(alone=True):
        told = repository.prune(1, None, 0)
    assert (len(told["dropped"]), told["kept"]) == (2, 1)
    assert told["freed_bytes"] > 0
    assert b"Lyon" not in bytes_of()
    assert b"kettle" in bytes_of()
    assert damage(folder) == []
    assert (await restored(folder, tmp_path / "back"))["backup"] == last["backup"]
    assert sums_of(tmp_path / "back" / "memory.db") == sums_of(kept / "memory.db")


def test_by_age_all_but_the_newest_may_go(tmp_path: Path) -> None:
    repository = Repository.prepared(tmp_path / "b")
    copy = tmp_path / "copy"
    for day in range(4):
        copy.write_bytes(b"%d" % day * 20_000)
        repository.add(copy, {"made_at_us": day * DAY_US, "units": day}, day * DAY_US)
    first, _, third, last = repository.names()
    assert repository.prune(None, 10, 3 * DAY_US)["dropped"] == []
    assert repository.prune(3, 5, 3 * DAY_US)["dropped"] == [first]
    assert len(repository.prune(None, 1, 3 * DAY_US)["dropped"]) == 1
    assert repository.names() == [third, last]
    assert repository.prune(None, 0, 99 * DAY_US)["dropped"] == [third]
    repository.assemble(last, tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == copy.read_bytes()
    # A clock that went back names a later backup all the same.
    assert repository.add(copy, {"made_at_us": 0}, 0)["name"] > last


async def test_a_newer_schema_or_format_is_refused(kept: Path, tmp_path: Path) -> None:
    folder, copy = tmp_path / "b", tmp_path / "copy.db"
    await backed_up(kept, folder)
    shutil.copy(kept / "memory.db", copy)
    with closing(sqlite3.connect(copy)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("PRAGMA user_version = 999")
    Repository(folder).add(copy, {"made_at_us": 1, "schema": 999}, SystemClock().now_us())
    for source in (folder, copy):
        with pytest.raises(StoreTooNew, match="has schema 999, written by a newer version"):
            await restored(source, tmp_path / "back")
        assert list((tmp_path / "back").iterdir()) == []
    (folder / HEAD).write_text('{"format": 2}')
    with pytest.raises(StoreTooNew, match="format 2"):
        await restored(folder, tmp_path / "back")
    with pytest.raises(StoreTooNew, match="format 2"):
        await backed_up(kept, folder)


async def test_what_is_no_folder_of_backups_is_refused(kept: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "letter.txt").write_text("x")
    with pytest.raises(StoreError, match="not empty and holds no backups"):
        await backed_up(kept, other)
    with pytest.raises(StoreError, match="is a file"):
        await backed_up(kept, other / "letter.txt")
    with pytest.raises(StoreError, match="own folder"):
        await backed_up(kept, kept)
    with pytest.raises(NotFound, match="holds no backups"):
        Repository(other)
    assert [e.name for e in other.iterdir()] == ["letter.txt"]
    await backed_up(kept, tmp_path / "b")
    with pytest.raises(NotFound, match="has no backup yesterday"):
        await restored(tmp_path / "b", tmp_path / "back", "yesterday")
    with Repository(tmp_path / "b").held(alone=False), pytest.raises(StoreBusy, match="is using"):
        await backed_up(kept, tmp_path / "b")


async def test_postgresql_says_what_it_has_instead(tmp_path: Path) -> None:
    store = PostgresStore("postgresql://nobody@localhost/none", clock=SystemClock())
    with pytest.raises(InvalidInput, match="pg_basebackup"):
        await store.backup(tmp_path / "b", incremental=True)
    Repository.prepared(tmp_path / "b")
    with pytest.raises(InvalidInput, match="--data"):
        await store.restore(tmp_path / "b")


async def test_a_full_disk_leaves_nothing_half(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "b"
    await backed_up(kept, folder)
    before = sorted(folder.rglob("*"))
    await tell(kept, "Ann: My dog is called Rex")
    usage = namedtuple("usage", "total used free")
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda _: usage(10, 10, 0))
        with pytest.raises(StoreError, match="0 MB of free space"):
            await backed_up(kept, folder)
    assert sorted(folder.rglob("*")) == before

    class Full(packs.PackWriter):
        def finish(self) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr("remembrancer.keeping.sqlite.repository.PackWriter", Full)
        with pytest.raises(StoreError, match="No space left"):
            await backed_up(kept, folder)
    assert sorted(folder.rglob("*")) == before
    assert damage(folder) == []


def test_the_command_line_lists_verifies_and_prunes(kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "b"

    def run(*args: str) -> tuple[int, str, str]:
        done = CliRunner().invoke(app, [*args], prog_name="remembrancer")
        return done.exit_code, done.stdout, done.stderr

    data = ["--data", str(kept)]
    code, _, said = run("backup", str(folder), *data, "--keep", "2")
    assert code == 2
    assert "add --incremental" in said
    assert run("backup", str(folder), *data, "--incremental")[0] == 0
    for _ in range(2):
        code, out, _ = run("backup", str(folder), *data, "--keep", "2")
        assert code == 0
    assert "(0 of " in out
    assert "dropped 1 backup," in out
    assert len(run("backups", "list", str(folder))[1].splitlines()) == 2
    assert "2 backups: every block" in run("backups", "verify", str(folder))[1]
    assert run("backups", "prune", str(folder))[0] == 2
    code, out, _ = run("backups", "prune", str(folder), "--keep", "1", "--json")
    assert '"kept": 1' in out
    [pack] = (folder / "packs").iterdir()
    flip(pack, 20)
    code, _, said = run("backups", "verify", str(folder))
    assert code == 1
    assert "block 0 (" in said
