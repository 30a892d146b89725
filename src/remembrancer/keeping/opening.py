"""Which store the settings name: how to make it, where its folder is, how to move it to another."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..nouns.clock import Clock, SystemClock
from ..nouns.errors import InvalidInput
from ..settings import Settings
from .moving import Moved, move
from .sqlite.store import SqliteStore

if TYPE_CHECKING:
    from .postgres import PostgresStore


def open_store(settings: Settings, clock: Clock) -> SqliteStore | PostgresStore:
    """Make the store that the settings name; it is not open yet.

    Raises:
        InvalidInput: a URL of a kind that is not known.
    """
    if not _on_postgres(settings):
        return SqliteStore(store_folder(settings), clock=clock)
    try:
        from .postgres import PostgresStore  # noqa: PLC0415 - an extra
    except ImportError as exc:
        raise InvalidInput(
            "a store in PostgreSQL needs psycopg: pip install 'remembrancer[postgres]'",
            field="store",
        ) from exc
    return PostgresStore(settings.store or "", clock=clock)


def move_store(
    source: Settings,
    target: Settings,
    *,
    restart: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Moved:
    """Move everything from one store to another; see `keeping.moving.move`.

    Raises:
        InvalidInput: both are the same store.
    """
    if not _on_postgres(target) and not _on_postgres(source):
        same = store_folder(source).resolve() == store_folder(target).resolve()
    else:
        same = source.store == target.store
    if same:
        raise InvalidInput("a store cannot be moved into itself; name another one", field="to")

    def drop_index() -> None:
        # What lies in that folder was made from other rows.
        if not _on_postgres(target):
            shutil.rmtree(store_folder(target) / "index", ignore_errors=True)

    clock = SystemClock()
    with (
        open_store(source, clock).moving_from() as here,
        open_store(target, clock).moving_into() as there,
    ):
        return move(here, there, restart=restart, progress=progress, complete=drop_index)


def may_exist(settings: Settings) -> bool:
    """Tell without opening it whether there may be something in the store already.

    Raises:
        InvalidInput: the store's URL is of a kind that is not known.
    """
    return _on_postgres(settings) or store_folder(settings).exists()


def store_folder(settings: Settings) -> Path:
    """Return the folder of the index, and of the rows unless a server keeps them.

    Raises:
        InvalidInput: the store's URL is of a kind that is not known.
    """
    if settings.store is None or _on_postgres(settings):
        return settings.folder
    url = urlsplit(settings.store)
    if url.scheme != "sqlite" or url.netloc or not url.path.strip("/"):
        raise InvalidInput(
            f"the store (kind {url.scheme!r}) cannot be opened: use sqlite:///FOLDER (an absolute "
            "one has four slashes: sqlite:////var/lib/remembrancer) or "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE",
            field="store",
        )
    # Three slashes lead to a relative path, four to an absolute one, as SQLAlchemy has it.
    return Path(url.path[1:]).expanduser()


def _on_postgres(settings: Settings) -> bool:
    return (settings.store or "").partition("://")[0] in ("postgresql", "postgres")
