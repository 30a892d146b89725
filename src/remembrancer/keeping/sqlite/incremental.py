"""Adds a backup of a store in use to a folder of backups, and drops old ones."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...nouns.clock import iso
from ...nouns.errors import StoreError
from .backup import snapshot_of
from .connection import SqliteDb
from .repository import HEAD, Progress, Repository


def add(
    db: SqliteDb,
    source: Path,
    folder: Path,
    *,
    now_us: int,
    verify: bool = False,
    progress: Progress | None = None,
) -> Mapping[str, Any]:
    """Add a backup of the database as it is now to a folder, while it is in use.

    The moment is copied whole into the folder first, checked, and cut into blocks there; of those
    only the ones that no earlier backup holds stay. To verify, every row is compared with the
    store, and every block of the folder is read: damaged ones that the store still holds are
    written anew.

    Returns:
        `path` (of the folder), `backup` (its name), `bytes`, `units`, `blocks`, `new_blocks`,
        `new_bytes`, `sha256`; with `verify` also `rows` and `damaged`: what earlier backups lack.

    Raises:
        StoreError: the folder holds something else, or there is no room.
        StoreBusy: somebody else changes or reads the folder.
    """
    if folder.resolve() == source.parent.resolve():
        raise StoreError("a backup cannot be in the store's own folder; name another place")
    repository = Repository.prepared(folder)
    with repository.held(alone=True):
        _need_room(db, folder)
        copy = folder / HEAD
        with snapshot_of(db, source, copy, verify=verify, progress=progress) as (part, of_it):
            about: dict[str, Any] = {
                "made_at": iso(now_us),
                "made_at_us": now_us,
                "schema": of_it["schema"],
                "units": of_it["units"],
            }
            bad = repository.damage(progress)[1] if verify else set()
            if verify:
                about["sums"] = {"key": of_it["key"].hex(), "tables": of_it["tables"]}
            made = repository.add(part, about, now_us, progress, bad)
        told = {
            "path": str(folder),
            "backup": made["name"],
            **{k: made[k] for k in ("bytes", "units", "blocks", "new_blocks", "new_bytes")},
            "sha256": made["sha256"],
        }
        if verify:
            lacking, _ = repository.damage(progress)
            told |= {"rows": of_it["rows"], "damaged": [each._asdict() for each in lacking]}
        return told


def _need_room(db: SqliteDb, folder: Path) -> None:
    """Refuse early what would fill the disk: the copy stands there whole meanwhile."""
    pages: int = db.sql("PRAGMA page_count").fetchone()[0]
    size: int = pages * db.sql("PRAGMA page_size").fetchone()[0]
    free = shutil.disk_usage(folder).free
    if free < size:
        raise StoreError(
            f"{folder} has {free / 1e6:,.0f} MB of free space, and a backup needs as much as the "
            f"store has meanwhile: {size / 1e6:,.0f} MB; free some, or name another folder"
        )
