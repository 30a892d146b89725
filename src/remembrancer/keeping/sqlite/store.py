"""The Store protocol over one SQLite file: wires the parts and owns their lives."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from ...nouns.clock import Clock
from ...nouns.errors import StoreBusy, StoreError
from ...nouns.memory import BankRef
from .. import part_files
from ..moving import unfinished
from ..queries import Queries
from ..relational import counters, records, sealing_upkeep
from ..relational.bank_calls import BankCalls
from ..relational.db import Db
from ..relational.generation_calls import GenerationCalls
from ..relational.intention_calls import IntentionCalls
from ..relational.job_calls import JobCalls
from ..relational.lanes import Lane
from ..relational.readers import Readers, Snapshot
from ..relational.record_calls import RecordCalls
from ..relational.sealing_calls import SealingCalls
from ..relational.sealing_queries import with_sealing
from ..relational.vault import Vault
from ..sealing import Sealer
from ..view import Reader
from . import backup, incremental, migrate, scrub, tables
from .connection import SqliteDb, end_when, open_db, translated
from .repository import is_repository
from .writer import WriteLock, Writer

P = ParamSpec("P")
T = TypeVar("T")

FILE = "memory.db"
LOCK = "write.lock"

_LOG_TRIES = 40
_LOG_WAIT_MS = 50
_LOG_PAUSE_S = 0.1


class SqliteStore(BankCalls, GenerationCalls, IntentionCalls, JobCalls, RecordCalls, SealingCalls):
    """Banks in `folder/memory.db`; several processes may open one folder. See `keeping.store`.

    A snapshot holds one of `readers` connections; more snapshots wait their turn, so do not open
    one inside another. `lock_timeout_s` bounds the wait for the write lock. With a `sealer` texts
    are sealed; see `relational/sealed_columns.py` for what exactly.
    """

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock,
        readers: int = 4,
        lock_timeout_s: float = 30.0,
        sealer: Sealer | None = None,
    ) -> None:
        self._path = folder / FILE
        self._clock = clock
        self._reader_count = readers
        self._lock_timeout_s = lock_timeout_s
        self._sealer = sealer
        self._vault = None if sealer is None else Vault(sealer)
        self._queries: Mapping[str, str] = {}
        self._schema = 0
        self._lock: WriteLock | None = None
        self._writer: Writer | None = None
        self._readers: Readers | None = None
        # Short reads have a lane of their own: they never wait for snapshots.
        self._short: Lane | None = None
        self._counters = counters.Counters(self._count)

    @property
    def identity(self) -> str:
        """Nothing: caches lie beside the file."""
        return ""

    async def schema(self) -> tuple[int, int]:
        """Return the schema that the file has, and that which `open` brings it to."""
        return await asyncio.to_thread(self._found), len(migrate.scripts())

    async def open(self) -> None:
        """Open, creating and migrating what is needed; safe to call twice."""
        if self._writer is not None:
            return
        await asyncio.to_thread(self._prepare)
        await asyncio.to_thread(self._check_complete)
        await asyncio.to_thread(self._check_keys)
        assert self._lock is not None
        self._writer = Writer(
            lambda: self._open_db(write=True), self._path, self._lock, self._lock_timeout_s
        )
        self._short = self._lane("store-short")
        self._readers = Readers([self._lane(f"store-read-{n}") for n in range(self._reader_count)])

    async def close(self) -> None:
        """Flush access counters, finish queued writes and close; safe to call twice."""
        writer, readers, short, lock = self._writer, self._readers, self._short, self._lock
        if writer is None or readers is None or short is None or lock is None:
            return
        await self._counters.close()
        self._writer = self._readers = self._short = self._lock = None
        for stop in (writer.stop, readers.stop, short.stop, lock.close):
            await asyncio.to_thread(stop)

    def snapshot(self, ref: BankRef) -> Snapshot:
        """Open a snapshot of one bank for the length of a `with` block."""
        return Snapshot(_opened(self._readers), ref)

    async def read(self, ref: BankRef, work: Callable[[Reader], T]) -> T:
        """Run work on a snapshot of its own, in the thread that holds it."""
        return await _opened(self._readers).read(ref, work)

    async def touch(self, ref: BankRef, unit_ids: Sequence[bytes], at: int) -> None:
        """Count an access of each unit, outside revision and feed."""
        _opened(self._writer)
        await self._counters.add(ref, unit_ids, at)

    async def settle_uses(self) -> None:
        """Write the accesses that were counted until now."""
        _opened(self._writer)
        await self._counters.settle()

    async def drop_expired(self, now: int) -> None:
        """Delete blobs that have expired, but for those of a job that is there."""
        await self._write(records.sweep_blobs, now)

    async def sweep(self, now: int) -> None:
        """Remove from disk what was deleted: expired blobs, free pages, the write-ahead log.

        Raises:
            StoreBusy: a snapshot holds the log for longer than a few seconds; call again.
            StoreError: a copy that a killed `restore` left is of another user.
        """
        await self.drop_expired(now)
        while await self._alone(backup.vacuum):
            pass
        await self._until_free(backup.truncate_log, _LOG_WAIT_MS)
        if deletions := await self._read(_deletions):
            await self._scrub(deletions)
            await self._until_free(backup.truncate_log, _LOG_WAIT_MS)
        if left := await asyncio.to_thread(part_files.clear, self._path):
            raise StoreError(f"{left[0]} may hold what was deleted, and this user may not: rm it")

    async def health(self) -> Mapping[str, Any]:
        """Return `ok`, `engine`, `schema`, `path`, `size_bytes`; constant time."""
        return {
            "ok": await self._read(_readable) and _opened(self._writer).in_place(),
            "engine": f"sqlite {sqlite3.sqlite_version}",
            "schema": self._schema,
            "path": str(self._path),
            "size_bytes": await asyncio.to_thread(_size, self._path),
        }

    async def backup(
        self,
        target: Path,
        *,
        verify: bool = False,
        incremental: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Mapping[str, Any]:
        """Write a consistent copy to a file or into a folder while the store is in use.

        Into a folder of incremental backups only what is new is written. See `incremental.add`.
        """
        _opened(self._writer)
        shared = incremental or is_repository(target)
        return await asyncio.to_thread(self._backup, target, verify, shared, progress)

    async def restore(
        self,
        source: Path,
        *,
        name: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Mapping[str, Any]:
        """Bring a copy that `backup` wrote back into a folder without a store, before `open`.

        `name`: which of the incremental backups of a folder; None: the newest.
        """
        return await asyncio.to_thread(self._restore, source, name, progress)

    @contextmanager
    def moving_from(self) -> Iterator[tables.SqliteTables]:
        """Open the tables of one snapshot, not the store; nobody writes to it meanwhile."""
        found, known = self._found(), len(migrate.scripts())
        if not self._path.exists():
            raise StoreError(f"there is no store in {self._path.parent}: name the folder of one")
        if found != known:
            raise StoreError(
                f"{self._path} has schema {found}, and this version {known}: run "
                "`remembrancer migrate` first",
                limit=known,
            )
        lock = WriteLock(self._path.parent / LOCK)
        try:
            with lock, self._own_db(write=False) as db:
                db.begin_snapshot()
                yield tables.SqliteTables(db, self._path)
        finally:
            lock.close()

    @contextmanager
    def moving_into(self) -> Iterator[tables.SqliteTables]:
        """Open the tables to fill them, made when they are not there; not the store."""
        self._prepare()
        assert self._lock is not None
        lock, self._lock = self._lock, None
        try:
            with lock, self._own_db(write=True) as db:
                yield tables.SqliteTables(db, self._path)
        finally:
            lock.close()

    async def _read(
        self, work: Callable[Concatenate[Db, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await _opened(self._short).run(work, *args, **kwargs)

    async def _write(
        self, work: Callable[Concatenate[Db, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await _opened(self._writer).run(work, *args, **kwargs)

    async def _alone(
        self, work: Callable[Concatenate[SqliteDb, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await _opened(self._writer).run_alone(work, *args, **kwargs)

    async def _scrub(self, deletions: int) -> None:
        db = await asyncio.to_thread(self._open_db, write=True)
        try:
            numbers = await asyncio.to_thread(scrub.dirty_pages, db, self._path)
            await self._until_free(scrub.wipe, db, self._path, numbers, deletions, _LOG_WAIT_MS)
        finally:
            await asyncio.to_thread(db.close)

    async def _until_free(
        self, work: Callable[Concatenate[SqliteDb, P], bool], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Run work that needs a log without readers, again and again for a few seconds."""
        for _ in range(_LOG_TRIES):
            if await self._alone(work, *args, **kwargs):
                return
            await asyncio.sleep(_LOG_PAUSE_S)
        raise StoreBusy("an open snapshot holds the write-ahead log; sweep again once it ends")

    async def _count(self, counts: Sequence[counters.Count]) -> None:
        await self._write(counters.write, counts)

    def _lane(self, name: str) -> Lane:
        return Lane(
            lambda: self._open_db(write=False),
            lambda exc: translated(exc, self._path),
            name,
            end_when,
        )

    def _open_db(self, *, write: bool) -> SqliteDb:
        return open_db(
            self._path,
            self._queries,
            write=write,
            busy_s=self._lock_timeout_s,
            vault=self._vault,
        )

    def _prepare(self) -> None:
        folder = self._path.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = WriteLock(folder / LOCK)
            queries = Queries.load(__package__)
            self._queries = queries if self._vault is None else with_sealing(queries, "?")
            part_files.clear(self._path)
            with self._lock:
                migrate.create(self._path)
                db = self._open_db(write=True)
                try:
                    self._schema = migrate.migrate(db, self._path)
                finally:
                    db.close()
        except OSError as exc:
            raise StoreError(
                f"the folder {folder} cannot be used ({exc.strerror}); "
                "choose one that this user may write to"
            ) from exc
        except sqlite3.Error as exc:
            raise translated(exc, self._path) from exc

    def _check_complete(self) -> None:
        with self._own_db(write=False) as db:
            if tables.under_way(db):
                raise unfinished(str(self._path))

    def _check_keys(self) -> None:
        """Refuse a key that is not the store's; the first one given becomes it."""
        with self._own_db(write=False) as db:
            sealing_upkeep.check(db, self._sealer, str(self._path))
        if self._sealer is None:
            return
        assert self._lock is not None
        with self._lock, self._own_db(write=True) as db:
            sealing_upkeep.begin(db, self._sealer)

    @contextmanager
    def _own_db(self, *, write: bool) -> Iterator[SqliteDb]:
        try:
            db = self._open_db(write=write)
            try:
                yield db
            finally:
                db.close()
        except sqlite3.Error as exc:
            raise translated(exc, self._path) from exc

    def _found(self) -> int:
        if not self._path.exists():
            return 0
        try:
            db = open_db(self._path, {}, write=False, busy_s=self._lock_timeout_s)
            try:
                return migrate.version(db)
            finally:
                db.close()
        except sqlite3.Error as exc:
            raise translated(exc, self._path) from exc

    def _restore(
        self, source: Path, name: str | None, progress: Callable[[int, int], None] | None
    ) -> Mapping[str, Any]:
        known = len(migrate.scripts())
        try:
            return backup.restore(source, self._path, schema=known, name=name, progress=progress)
        except OSError as exc:
            raise StoreError(f"{source} cannot be restored: {exc.strerror}") from exc
        except sqlite3.Error as exc:
            raise translated(exc, source) from exc

    def _backup(
        self,
        target: Path,
        verify: bool,
        shared: bool,
        progress: Callable[[int, int], None] | None,
    ) -> Mapping[str, Any]:
        try:
            db = self._open_db(write=False)
            try:
                if not shared:
                    return backup.backup(db, self._path, target, verify=verify, progress=progress)
                now = self._clock.now_us()
                return incremental.add(
                    db, self._path, target, now_us=now, verify=verify, progress=progress
                )
            finally:
                db.close()
        except OSError as exc:
            raise StoreError(f"the backup to {target} failed: {exc.strerror}") from exc
        except sqlite3.Error as exc:
            raise translated(exc, target) from exc


def _opened(part: T | None) -> T:
    if part is None:
        raise StoreError("the store is not open; await its open() first")
    return part


def _deletions(db: Db) -> int:
    count: int = db.value("deletions")
    return count


def _readable(db: Db) -> bool:
    return bool(db.all("deletions"))


def _size(path: Path) -> int:
    return sum(
        part.stat().st_size for part in (path, path.with_name(f"{path.name}-wal")) if part.exists()
    )
