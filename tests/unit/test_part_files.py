"""What is half-written beside a file's place goes once nobody writes it, and not before."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from remembrancer.faces.doctor import machine
from remembrancer.keeping import part_files
from remembrancer.keeping.sqlite import SqliteStore
from remembrancer.nouns.clock import SystemClock

SECRET = b"The key hangs in the shed."


def _left(folder: Path, name: str = "memory.db") -> list[Path]:
    """Leave what a process leaves that is killed: under the names of today, and of before."""
    folder.mkdir(exist_ok=True)
    names = [f"{name}.4711.part", f"{name}.4711.part-journal", f"{name}.{'0' * 32}.part"]
    found = [folder / each for each in names]
    for path in found:
        path.write_bytes(SECRET)
    return found


def test_a_part_is_its_owners_alone_and_goes_at_the_end(tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    with part_files.writing(target) as part:
        assert part.stat().st_mode & 0o777 == 0o600
        part.with_name(f"{part.name}-journal").write_bytes(SECRET)
    assert list(tmp_path.iterdir()) == []


def test_a_part_that_took_its_place_stays(tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    with part_files.writing(target) as part:
        part.write_bytes(SECRET)
        part.replace(target)
    assert target.read_bytes() == SECRET


def test_what_is_written_now_is_left_alone_and_what_was_left_goes(tmp_path: Path) -> None:
    target, old = tmp_path / "memory.db", _left(tmp_path)
    with part_files.writing(target) as part:
        assert not any(path.exists() for path in old)
        assert part_files.clear(target) == []
        assert part_files.left(tmp_path) == []
        with part_files.writing(target) as other:
            assert part.exists()
            assert other != part


def test_a_folder_is_cleared_as_a_file_is(tmp_path: Path) -> None:
    target = tmp_path / "copy"
    old = [tmp_path / "copy.4711.part", tmp_path / f"copy.{'0' * 32}.part"]
    for each in old:
        each.mkdir()
        (each / "unit.copy").write_bytes(SECRET)
    with part_files.writing_folder(target) as part:
        assert not any(each.exists() for each in old)
        assert part.stat().st_mode & 0o777 == 0o700
        (part / "unit.copy").write_bytes(SECRET)
        assert part_files.clear(target) == []
        assert part_files.left(tmp_path) == []
        with part_files.writing_folder(target) as other:
            other.rename(target)
        assert part.exists()
    assert list(tmp_path.iterdir()) == [target]


def test_other_files_stay(tmp_path: Path) -> None:
    others = ["other.db.12.part", "memory.db.old.part", "memory.db.part", "memory.db"]
    for name in others:
        (tmp_path / name).write_bytes(SECRET)
    assert part_files.clear(tmp_path / "memory.db") == []
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(others)


async def test_opening_a_store_deletes_what_was_left(tmp_path: Path) -> None:
    old = _left(tmp_path / "data")
    store = SqliteStore(tmp_path / "data", clock=SystemClock())
    await store.open()
    try:
        assert not any(path.exists() for path in old)
        old = _left(tmp_path / "data")
        await store.sweep(0)
        assert not any(path.exists() for path in old)
    finally:
        await store.close()


async def test_restore_and_backup_delete_what_was_left(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "data", clock=SystemClock())
    await store.open()
    old = _left(tmp_path, "copy.db")
    try:
        await store.backup(tmp_path / "copy.db")
    finally:
        await store.close()
    old += _left(tmp_path / "anew")
    await SqliteStore(tmp_path / "anew", clock=SystemClock()).restore(tmp_path / "copy.db")
    assert not any(path.exists() for path in old)
    with sqlite3.connect(tmp_path / "anew" / "memory.db") as db:
        assert db.execute("SELECT COUNT(*) FROM unit").fetchone() == (0,)


def test_doctor_names_what_it_may_not_delete(tmp_path: Path) -> None:
    _left(tmp_path, "copy.db")
    assert [f.seen for f in machine.strays(tmp_path) if "copy.db.4711.part is" in f.seen]
    with part_files.writing(tmp_path / "memory.db") as part:
        assert not [f for f in machine.strays(tmp_path) if part.name in f.seen]


async def test_a_sweep_does_not_pass_over_what_it_cannot_delete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path / "data", clock=SystemClock())
    await store.open()
    stray = tmp_path / "data" / "memory.db.1.part"
    monkeypatch.setattr(part_files, "clear", lambda _: [stray])
    try:
        with pytest.raises(Exception, match=r"memory\.db\.1\.part may hold what was deleted"):
            await store.sweep(0)
    finally:
        await store.close()
