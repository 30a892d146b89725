"""Sets up servers and stores for rounds, and plays them."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
from checks import settle
from plan import POSTGRES, SQLITE, plan
from rounds import Site, play
from servers import Server
from shim import HIT, compiled

from report import Report

_MEMORY = Path("/dev/shm")
_ROOM = 256 << 20  # bytes


@dataclass(frozen=True)
class Stage:
    """A site, and what empties its store before a round."""

    site: Site
    empty: Callable[[], None]


@contextlib.contextmanager
def staged(store: str) -> Iterator[Stage]:
    """Start the parents of servers, and PostgreSQL if that is the store."""
    with ExitStack() as stack:
        # In memory where there is room: what a sync makes durable is `shim.c`'s affair here.
        memory = str(_MEMORY) if os.access(_MEMORY, os.W_OK) and _room() else None
        base = Path(tempfile.mkdtemp(prefix="faults-", dir=memory)).resolve()
        stack.callback(shutil.rmtree, base, ignore_errors=True)
        setting, cut, empty = None, None, _nothing
        if store == "postgres":
            setting, cut, empty = stack.enter_context(_postgres(base))
        library = compiled(base)
        servers = [Server(base, name, library) for name in ("a", "b")]
        for server in servers:
            stack.callback(server.close)
        yield Stage(Site(base, servers, setting, cut), empty)


def play_rounds(
    stage: Stage,
    seeds: Iterable[int],
    only: str | None = None,
    broken: tuple[str, ...] = (),
    *,
    say: Callable[[str], None] = print,
    after_each: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Play a round for each seed.

    Args:
        stage: where.
        seeds: one a round.
        only: no other fault than this one.
        broken: guards to take out, see `victim.BREAKS`.
        say: told of each thing that is wrong.
        after_each: called after each round.
    """
    report = Report()
    site = replace(stage.site, broken=broken)
    servers = site.servers
    began = time.monotonic()
    for seed in seeds:
        drawn = plan(seed, POSTGRES if site.store else SQLITE, only)
        stage.empty()
        before = sum(s.control[HIT] for s in servers)
        try:
            made = play(site, drawn)
            settle(made)
        except Exception as error:
            said = "\n".join(s.errors.read_text()[-3000:] for s in servers)
            error.add_note(f"seed {seed} {drawn.faults}; errors: {said}")
            raise
        finally:
            for server in servers:
                server.resume()
                server.kill()
        for line in report.add(drawn, made, sum(s.control[HIT] for s in servers) - before):
            say(line)
        shutil.rmtree(made.folder, ignore_errors=True)
        report.seconds = time.monotonic() - began
        after_each(report)
    return report


def _room() -> bool:
    return shutil.disk_usage(_MEMORY).free > _ROOM


def _nothing() -> None:
    """Each round has a new folder: there is nothing to empty."""


@contextlib.contextmanager
def _postgres(base: Path) -> Iterator[tuple[str, Callable[[], None], Callable[[], None]]]:
    """Yield the setting of a store, what cuts its connections, and what empties it."""
    from postgres_kit import server

    with server(base / "postgres") as running:
        space = running.migrated()

        def cut() -> None:
            with psycopg.connect(running.url, autocommit=True) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE application_name = %s AND pid <> pg_backend_pid()",
                    (space.schema,),
                )

        yield space.setting, cut, lambda: running.empty(space)
        running.drop(space)
