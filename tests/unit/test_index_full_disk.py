"""An index that cannot be written is searched all the same, and leaves no half files behind."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import NoReturn

import pytest
from retain_kit import REF, item, opened
from test_index_sums import written

from remembrancer.finding import bank_index, compaction, index_files
from remembrancer.finding.state import advance

TALK = "\n".join(f"Ann: the cello number {n} is old." for n in range(12))
SYNC = os.fsync


def full(_: int) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("why", ["the disk is full", "another process tidied it away"])
async def test_a_large_bank_is_searched_though_its_index_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    index = tmp_path / "index"

    def fails(handle: int) -> None:
        if "full" in why:
            full(handle)
        for path in index.rglob("*.tmp"):
            path.unlink()

    monkeypatch.setattr(bank_index, "_BLOCK_ROWS", 4)
    monkeypatch.setattr(bank_index, "_FETCH", 5)
    async with opened(tmp_path) as app:
        await app.retain(REF, [item(TALK)])
        monkeypatch.setattr(index_files.os, "fsync", fails)
        found = (await app.recall(REF, "Which cello is old?")).answers
        monkeypatch.setattr(index_files.os, "fsync", SYNC)
        assert any("cello" in answer.unit.text for answer in found)
        left = [path.name for path in index.rglob("*") if path.is_file()]
        assert not [name for name in left if name != "lock"]


def test_what_was_written_of_a_compaction_that_fails_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = written(tmp_path)
    before = sorted(tmp_path.iterdir())
    state = advance(kept, 3, [bytes(kept.parts[0].ids[5])], [])
    done: list[int] = []

    def fails_then(handle: int) -> None:
        done.append(handle)
        if len(done) > 1:  # the segment is there, what is dead in it cannot be written
            full(handle)
        SYNC(handle)

    monkeypatch.setattr(index_files.os, "fsync", fails_then)
    with pytest.raises(OSError, match="No space"):
        compaction.compact(state, tmp_path, purge=True)
    assert sorted(tmp_path.iterdir()) == before
    assert compaction.load(tmp_path, 1, 0) is not None
