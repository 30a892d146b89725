"""Backs a store up again and again, killed each time one step later, and says what is left.

A step is a sync of a file or folder, or a telling of how far it is. Prints a JSON object for each
attempt: `killed`; `backups`, by name the rows that each restores to; `damaged`; `strays`: files
beside what the folder should hold; `most`: the rows that the store had.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from remembrancer.keeping.sqlite.connection import SqliteDb
from remembrancer.keeping.sqlite.incremental import add
from remembrancer.keeping.sqlite.repository import HEAD, Repository

ROWS = 40


class Steps:
    """Counts steps, and ends the process at the last one."""

    def __init__(self, left: int) -> None:
        self.left = left

    def __call__(self, *_: object) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def back_up(source: Path, folder: Path, steps: Steps, number: int) -> None:
    real = os.fsync

    def fsync(file: int) -> None:
        steps()
        real(file)
        steps()

    os.fsync = fsync
    with closing(sqlite3.connect(source, isolation_level=None)) as connection:
        add(SqliteDb(connection, {}), source, folder, now_us=number, progress=steps)


def write(source: Path, number: int) -> None:
    with closing(sqlite3.connect(source)) as db, db:
        db.executemany(
            "INSERT INTO unit VALUES (?, ?)",
            [(number * ROWS + n, f"{number} {n} " * 30) for n in range(ROWS)],
        )


def left(folder: Path, scratch: Path) -> dict[str, object]:
    repository = Repository(folder)
    told: dict[str, int] = {}
    with repository.held(alone=True):  # which removes what the killed one left
        for name in repository.names():
            repository.assemble(name, scratch)
            with closing(sqlite3.connect(scratch)) as db:
                assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                told[name] = db.execute("SELECT COUNT(*) FROM unit").fetchone()[0]
        damaged = [each._asdict() for each in repository.damage()[0]]
    files = [p.relative_to(folder) for p in folder.rglob("*") if p.is_file()]
    known = [p for p in files if p.suffix in (".pack", ".json") and len(p.parts) == 2]
    strays = sorted(str(p) for p in set(files) - set(known) - {Path(HEAD)})
    return {"backups": told, "damaged": damaged, "strays": strays}


def main(place: Path) -> None:
    source, folder = place / "memory" / "memory.db", place / "b"
    source.parent.mkdir()
    with closing(sqlite3.connect(source)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE meta (name TEXT PRIMARY KEY, value INT)")
        db.execute("CREATE TABLE unit (number INTEGER PRIMARY KEY, text TEXT)")
    Repository.prepared(folder)
    killed, number = True, 0
    while killed:
        number += 1
        write(source, number)
        pid = os.fork()
        if not pid:
            back_up(source, folder, Steps(number), number)
            os._exit(0)
        killed = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
        told = left(folder, place / "scratch")
        print(json.dumps({"killed": killed, **told, "most": number * ROWS}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
