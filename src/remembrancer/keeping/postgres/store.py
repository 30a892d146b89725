"""The Store protocol over PostgreSQL: wires the parts and owns their lives."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import psycopg

from ...nouns.clock import Clock
from ...nouns.errors import InvalidInput, StoreError
from ...nouns.memory import BankRef, Job
from ..generations import Generation
from ..moving import unfinished
from ..queries import Queries
from ..records import Record
from ..relational import counters, jobs, records, sealing_upkeep
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
from . import backup, migrate, settling, sweep, tables
from .connection import PgDb, make_db
from .errors import translated
from .folding import folded
from .place import Place
from .writers import Writers

P = ParamSpec("P")
T = TypeVar("T")


class PostgresStore(
    BankCalls, GenerationCalls, IntentionCalls, JobCalls, RecordCalls, SealingCalls
):
    """Banks in one schema of a PostgreSQL database; any number of processes and hosts may open it.

    See `keeping.store`. `schema` (or `?schema=` in the URL) is `remembrancer` unless given. A
    process has up to `readers` connections for snapshots (more of these wait their turn, so do not
    open one inside another), `shorts` for short reads, and `writers`; each is opened when first
    needed. `lock_timeout_s` bounds every wait for another writer. With a `sealer` texts are sealed;
    see `relational/sealed_columns.py` for what exactly.
    """

    def __init__(
        self,
        url: str,
        *,
        clock: Clock,
        schema: str | None = None,
        readers: int = 4,
        shorts: int = 2,
        writers: int = 4,
        lock_timeout_s: float = 30.0,
        sealer: Sealer | None = None,
    ) -> None:
        self._place = Place.of(url, schema, lock_timeout_s)
        self._clock = clock
        self._counts = readers, shorts, writers
        self._sealer = sealer
        self._vault = None if sealer is None else Vault(sealer)
        self._queries: Mapping[str, str] = {}
        self._schema = 0
        self._engine = ""
        self._identity = ""
        self._writers: Writers | None = None
        self._readers: Readers | None = None
        # Short reads have lanes of their own: they never wait for snapshots.
        self._shorts: Readers | None = None
        self._counters = counters.Counters(self._count)

    @property
    def identity(self) -> str:
        """A number of the database's own, made with its tables."""
        return self._identity

    async def schema(self) -> tuple[int, int]:
        """Return the schema that the database has, and that which `open` brings it to."""
        return await asyncio.to_thread(self._told, self._found), len(migrate.scripts())

    async def open(self) -> None:
        """Open, creating and migrating what is needed; safe to call twice."""
        if self._writers is not None:
            return
        await asyncio.to_thread(self._told, self._prepare)
        await asyncio.to_thread(self._told, self._check_keys)
        readers, shorts, writers = self._counts
        self._shorts = Readers(self._lanes("short", shorts))
        self._readers = Readers(self._lanes("read", readers))
        self._writers = Writers(self._lanes("write", writers), self._place.lock_timeout_s)

    async def close(self) -> None:
        """Flush access counters, finish queued writes and close; safe to call twice."""
        writers, readers, shorts = self._writers, self._readers, self._shorts
        if writers is None or readers is None or shorts is None:
            return
        await self._counters.close()
        await writers.finish()
        self._writers = self._readers = self._shorts = None
        for part in (writers, readers, shorts):
            await asyncio.to_thread(part.stop)

    def snapshot(self, ref: BankRef) -> Snapshot:
        """Open a snapshot of one bank for the length of a `with` block."""
        return Snapshot(_opened(self._readers), ref)

    async def read(self, ref: BankRef, work: Callable[[Reader], T]) -> T:
        """Run work on a snapshot of its own, in the thread that holds it."""
        return await _opened(self._readers).read(ref, work)

    async def touch(self, ref: BankRef, unit_ids: Sequence[bytes], at: int) -> None:
        """Count an access of each unit, outside revision and feed."""
        _opened(self._writers)
        await self._counters.add(ref, unit_ids, at)

    async def settle_uses(self) -> None:
        """Write the accesses that were counted until now."""
        _opened(self._writers)
        await self._counters.settle()

    async def generation_begin(self, fingerprint: Mapping[str, Any]) -> Generation:
        """Return the generation of this fingerprint, made when new; the first one is active."""
        generation = await super().generation_begin(fingerprint)
        await self._settle()
        return generation

    async def generation_activate(self, number: int) -> bool:
        """Make a generation the active one; the others go with their vectors."""
        await self._settle()
        active = await super().generation_activate(number)
        await self._settle()
        return active

    async def claim(
        self, kinds: Sequence[str], now: int, lease_us: int, limit: int = 1
    ) -> list[Job]:
        """Lease pending jobs that are due; each in a transaction of its bank alone."""
        turns = self._turns[frozenset(kinds)]
        due, places = await self._read(jobs.poll, turns, kinds, now, limit)
        while due:
            for key, job_id in due:
                await self._write(jobs.make_ready, [(key, job_id)], now)
            due, places = await self._read(jobs.poll, turns, kinds, now, limit)
        claimed: list[Job] = []
        for place in places:
            if len(claimed) == limit:
                break
            claimed += await self._write(jobs.claim, turns, [place], now, lease_us, 1)
        return claimed

    async def record_add(self, new: Sequence[tuple[BankRef, Record]]) -> int:
        """Put records of several banks, each bank's in a transaction; return how many were put."""
        by_bank: defaultdict[BankRef, list[tuple[BankRef, Record]]] = defaultdict(list)
        for each in new:
            by_bank[each[0]].append(each)
        put = [await self._write(records.add, mine) for mine in by_bank.values()]
        return sum(put)

    async def drop_expired(self, now: int) -> None:
        """Delete blobs that have expired, each bank's in a transaction."""
        for key, names in (await self._read(records.expired, now)).items():
            await self._write(records.drop_expired, key, names, now)

    async def sweep(self, now: int) -> None:
        """Delete expired values, and let deleted rows go; see `sweep.vacuum` for what that is."""
        await self.drop_expired(now)
        await asyncio.to_thread(self._told, sweep.vacuum, self._place)

    async def health(self) -> Mapping[str, Any]:
        """Return `ok`, `engine`, `schema`, `url` (without password), `size_bytes`.

        The size is that of the database as its own server sees it; on Citus, the coordinator.
        """
        return {
            "ok": True,
            "engine": self._engine,
            "schema": self._schema,
            "url": self._place.shown,
            "size_bytes": await self._read(_size),
        }

    async def backup(
        self,
        target: Path,
        *,
        verify: bool = False,
        incremental: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Mapping[str, Any]:
        """Write a consistent copy of all tables into a new folder while they are in use.

        Raises:
            InvalidInput: with `incremental`: PostgreSQL has better means.
        """
        if incremental:
            raise InvalidInput(
                "incremental backups are for stores in a folder: of PostgreSQL archive the "
                "write-ahead log after a pg_basebackup, which restores to any second (pgBackRest, "
                "WAL-G), or `move` the store to a folder and back that up; see docs/scale.md",
                field="incremental",
            )
        _opened(self._writers)
        return await asyncio.to_thread(
            self._told, backup.backup, self._place, target, verify, progress
        )

    async def restore(
        self,
        source: Path,
        *,
        name: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Mapping[str, Any]:
        """Bring a copy that `backup` wrote back into an empty database, before `open`.

        Raises:
            InvalidInput: a `name`, which only incremental backups of a folder have.
        """
        if name is not None or (source / "repository.json").is_file():
            raise InvalidInput(
                f"{source} is of incremental backups, which are of stores in a folder: restore it "
                "with --data, then `move` that to PostgreSQL",
                field="name",
            )
        return await asyncio.to_thread(self._told, backup.restore, self._place, source, progress)

    @contextmanager
    def moving_from(self) -> Iterator[tables.PgTables]:
        """Open the tables of one snapshot, not the store; nobody writes to it meanwhile."""
        found, known = self._told(self._found), len(migrate.scripts())
        if found != known:
            raise StoreError(
                f"{self._place.shown} has schema {found}, and this version {known}: run "
                "`remembrancer migrate` first",
                limit=known,
            )
        with self._telling(), tables.origin(self._place) as opened:
            yield opened

    @contextmanager
    def moving_into(self) -> Iterator[tables.PgTables]:
        """Open the tables to fill them, made when they are not there; not the store."""
        with self._telling(), tables.target(self._place) as opened:
            yield opened

    async def _read(
        self, work: Callable[Concatenate[Db, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await _opened(self._shorts).run(work, *args, **kwargs)

    async def _write(
        self, work: Callable[Concatenate[Db, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await _opened(self._writers).run(work, *args, **kwargs)

    async def _settle(self) -> None:
        """Let every bank follow what was changed of the generations."""
        changes = await self._read(settling.unsettled)
        if not changes:
            return
        last = settling.BEFORE_ALL
        while keys := await self._read(settling.banks, last):
            for key in keys:
                await self._write(settling.settle, key)
            last = keys[-1]
        await self._write(settling.done, changes)

    async def _count(self, counts: Sequence[counters.Count]) -> None:
        """Write the counters, each bank's in a transaction of its own."""
        by_bank: defaultdict[int, list[counters.Count]] = defaultdict(list)
        for count in counts:
            by_bank[count[0]].append(count)
        await asyncio.gather(*(self._write(_count, mine) for mine in by_bank.values()))

    def _lanes(self, what: str, number: int) -> list[Lane]:
        return [
            Lane(
                lambda: make_db(self._place, self._queries, self._vault),
                lambda exc: translated(exc, self._place),
                f"store-{what}-{n}",
            )
            for n in range(number)
        ]

    def _prepare(self) -> None:
        connection = self._place.connect()
        try:
            server = connection.info.server_version
            queries = folded(Queries.load(__package__), server)
            self._queries = queries if self._vault is None else with_sealing(queries, "$")
            self._schema = migrate.migrate(connection, self._place)
            self._identity = migrate.identity(connection)
            if tables.under_way(connection, self._place):
                raise unfinished(self._place.shown)
            self._engine = f"postgresql {server // 10_000}.{server % 10_000}"
        finally:
            connection.close()

    def _check_keys(self) -> None:
        """Refuse a key that is not the store's; the first one given becomes it."""
        db = PgDb(self._place, self._queries)
        try:
            sealing_upkeep.check(db, self._sealer, self._place.shown)
            if self._sealer is not None:
                db.write(partial(sealing_upkeep.begin, sealer=self._sealer))
        finally:
            db.close()

    def _found(self) -> int:
        connection = self._place.connect()
        try:
            return migrate.version(connection, self._place)
        finally:
            connection.close()

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as exc:
            raise translated(exc, self._place) from exc

    def _told(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run work, its database errors told as ours."""
        try:
            return work(*args, **kwargs)
        except psycopg.Error as exc:
            raise translated(exc, self._place) from exc
        except OSError as exc:
            raise StoreError(f"{exc.filename or 'a file'} cannot be used: {exc.strerror}") from exc


def _opened(part: T | None) -> T:
    if part is None:
        raise StoreError("the store is not open; await its open() first")
    return part


def _count(db: Db, counts: Sequence[counters.Count]) -> None:
    """Write counters without waiting for the disk: a crash may lose the last ones anyway."""
    db.run("commit_soon")
    counters.write(db, counts)


def _size(db: Db) -> int:
    found: int = db.value("database_size")
    return found
