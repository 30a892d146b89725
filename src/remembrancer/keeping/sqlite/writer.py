"""The writer: one thread, a fair queue, a lock between processes, and group commit."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from ...nouns.errors import StoreBusy, StoreError
from ..relational.lanes import Future, settle
from ..relational.work import Unchanged
from .connection import SqliteDb, translated

P = ParamSpec("P")
T = TypeVar("T")

GROUP = 64
"""Jobs that one commit takes along at most."""
COMMITS = 32
"""After so many the log is written back, as soon as nobody waits for the writer."""


class _Job:
    """One piece of work in the queue."""

    __slots__ = ("alone", "error", "future", "result", "taken", "work")

    def __init__(self, work: Callable[[SqliteDb], Any], future: Future, alone: bool) -> None:
        self.work = work
        self.future = future
        self.alone = alone
        self.taken = False
        self.result: Any = None
        self.error: BaseException | None = None

    def settle(self) -> None:
        settle(self.future, self.result, self.error)


class WriteLock:
    """The lock between processes: `flock` on a file, which waits without polling.

    SQLite's own busy handler polls, so that under contention one writer may wait for seconds while
    others pass it.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def __enter__(self) -> None:
        """Wait for the lock."""
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        """Let the next one in."""
        fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


class Writer:
    """Runs jobs in the order they came; up to `GROUP` waiting ones share one commit.

    Each job has a savepoint of its own, so an error undoes that job alone. None is acknowledged
    before the commit that carries it is on disk. The log is written back between jobs rather than
    by a commit that somebody waits for; only where jobs never cease SQLite does that itself.
    """

    def __init__(
        self, open_db: Callable[[], SqliteDb], path: Path, lock: WriteLock, timeout_s: float
    ) -> None:
        self._open_db = open_db
        self._path = path
        self._lock = lock
        self._timeout_s = timeout_s
        self._file = _file_at(path)
        self._jobs: deque[_Job] = deque()
        self._wake = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="store-writer", daemon=True)
        self._thread.start()

    def in_place(self) -> bool:
        """Whether the database is still where it was opened: else whatever is written is lost."""
        return self._file == _file_at(self._path)

    async def run(
        self, work: Callable[Concatenate[SqliteDb, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `work(db, ...)` in a write transaction; return once that is durable.

        Raises:
            StoreBusy: the job was not begun within the time limit; nothing was written.
        """
        result: T = await self._submit(lambda db: work(db, *args, **kwargs), alone=False)
        return result

    async def run_alone(
        self, work: Callable[Concatenate[SqliteDb, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `work(db, ...)` under the write lock but outside any transaction."""
        result: T = await self._submit(lambda db: work(db, *args, **kwargs), alone=True)
        return result

    def stop(self) -> None:
        """Finish what is queued and end the thread.

        Queued jobs that do not get the lock in time have failed by then, so a lock that another
        process never gives back does not hang the caller.
        """
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join(self._timeout_s + 1)

    async def _submit(self, work: Callable[[SqliteDb], Any], *, alone: bool) -> Any:
        loop = asyncio.get_running_loop()
        job = _Job(work, loop.create_future(), alone)
        with self._wake:
            if self._closing:
                raise StoreError("the store is closed; open it again")
            self._jobs.append(job)
            self._wake.notify()
        timer = loop.call_later(self._timeout_s, self._expire, job)
        try:
            return await job.future
        except asyncio.CancelledError:
            self._withdraw(job)
            raise
        finally:
            timer.cancel()

    def _withdraw(self, job: _Job) -> bool:
        with self._wake:
            if job.taken:
                return False
            self._jobs.remove(job)
            job.taken = True
            return True

    def _expire(self, job: _Job) -> None:
        if self._withdraw(job) and not job.future.done():
            job.future.set_exception(
                StoreBusy(
                    f"the write lock of {self._path.parent} was not free within "
                    f"{self._timeout_s:g} s; another process is writing, try again later",
                    limit=self._timeout_s,
                )
            )

    def _work(self) -> None:
        db: SqliteDb | None = None
        commits = 0
        while self._wait():
            with self._lock:
                group = self._take()
                if not group:
                    continue
                try:
                    if not self.in_place():
                        raise StoreError(
                            f"{self._path} was deleted, moved or replaced while in use, so nothing "
                            "was written: put it back, or start anew"
                        )
                    db = db or self._open_db()
                    _run_alone(db, group[0]) if group[0].alone else _run_group(db, group)
                except sqlite3.Error as exc:
                    _fail(group, translated(exc, self._path))
                except Exception as exc:
                    _fail(group, exc)
                self._settle(group)
                commits += 1
                if db is not None and commits >= COMMITS and not self._jobs:
                    commits = 0
                    _write_back(db)
            del group
        if db is not None:
            db.close()

    def _settle(self, group: list[_Job]) -> None:
        for job in group:
            if isinstance(job.error, sqlite3.Error):
                job.error = translated(job.error, self._path)
            job.settle()

    def _wait(self) -> bool:
        with self._wake:
            while not self._jobs and not self._closing:
                self._wake.wait()
            return bool(self._jobs)

    def _take(self) -> list[_Job]:
        """Take the jobs of the next commit: some that share it, or one that runs alone."""
        group: list[_Job] = []
        with self._wake:
            while self._jobs and len(group) < GROUP:
                if self._jobs[0].alone and group:
                    break
                job = self._jobs.popleft()
                job.taken = True
                group.append(job)
                if job.alone:
                    break
        return group


def _file_at(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _write_back(db: SqliteDb) -> None:
    """Copy the log into the database, as far as no reader needs it; a failure costs nothing."""
    with contextlib.suppress(sqlite3.Error):
        db.sql("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


def _run_alone(db: SqliteDb, job: _Job) -> None:
    job.result = job.work(db)


def _run_group(db: SqliteDb, group: list[_Job]) -> None:
    db.sql("BEGIN IMMEDIATE")
    try:
        for job in group:
            _run_one(db, job)
        db.sql("COMMIT")
    except BaseException:
        if db.connection.in_transaction:
            db.sql("ROLLBACK")
        raise


def _run_one(db: SqliteDb, job: _Job) -> None:
    db.sql("SAVEPOINT job")
    try:
        job.result = job.work(db)
    except Exception as exc:
        if not db.connection.in_transaction:
            raise  # a full disk, say, has undone the whole transaction
        db.sql("ROLLBACK TO job")
        if isinstance(exc, Unchanged):
            job.result = exc.result
        else:
            job.error = exc
    db.sql("RELEASE job")


def _fail(group: list[_Job], error: BaseException) -> None:
    for job in group:
        job.result = None
        job.error = job.error or error
