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
from .key_text import keys_of
from .moving import Moved, move
from .sealing import Sealer, SealProgress
from .sqlite.store import SqliteStore

if TYPE_CHECKING:
    from .postgres import PostgresStore


def open_store(settings: Settings, clock: Clock) -> SqliteStore | PostgresStore:
    """Make the store that the settings name; it is not open yet.

    Raises:
        InvalidInput: a URL of a kind that is not known, or a key that is none.
    """
    sealer = sealer_of(settings)
    if not on_postgres(settings):
        return SqliteStore(store_folder(settings), clock=clock, sealer=sealer)
    try:
        from .postgres import PostgresStore  # noqa: PLC0415 - an extra
    except ImportError as exc:
        raise InvalidInput(
            "a store in PostgreSQL needs psycopg: pip install 'remembrancer[postgres]'",
            field="store",
        ) from exc
    return PostgresStore(settings.store or "", clock=clock, sealer=sealer)


def sealer_of(settings: Settings) -> Sealer | None:
    """Return what seals with the keys that are set; None: none is.

    Raises:
        InvalidInput: what is set is no key, or the library that seals is not installed.
    """
    path, given = settings.encryption_key_file, settings.encryption_key
    if path is None and given is None:
        return None
    if path is not None and given is not None:
        raise InvalidInput(
            "set encryption_key or encryption_key_file, not both", field="encryption_key"
        )
    if path is not None:
        keys = keys_of(_read(path), "encryption_key_file")
    else:
        assert given is not None
        keys = keys_of(given.get_secret_value(), "encryption_key")
    try:
        from .aes import AesSealer  # noqa: PLC0415 - an extra
    except ImportError as exc:
        raise InvalidInput(
            "encryption at rest needs the library cryptography: pip install "
            "'remembrancer[encryption]'",
            field="encryption_key",
        ) from exc
    return AesSealer(keys)


def _read(path: Path) -> str:
    try:
        return path.expanduser().read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as exc:
        why = exc.strerror if isinstance(exc, OSError) else "it is no text"
        raise InvalidInput(
            f"the file of the encryption key {path} cannot be read: {why}",
            field="encryption_key_file",
        ) from exc


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
    if not on_postgres(target) and not on_postgres(source):
        same = store_folder(source).resolve() == store_folder(target).resolve()
    else:
        same = source.store == target.store
    if same:
        raise InvalidInput("a store cannot be moved into itself; name another one", field="to")

    def drop_index() -> None:
        # What lies in that folder was made from other rows.
        if not on_postgres(target):
            shutil.rmtree(store_folder(target) / "index", ignore_errors=True)

    clock = SystemClock()
    with (
        open_store(source, clock).moving_from() as here,
        open_store(target, clock).moving_into() as there,
    ):
        return move(here, there, restart=restart, progress=progress, complete=drop_index)


async def seal_store(settings: Settings, progress: SealProgress | None = None) -> int:
    """Seal what a store holds plain, and wipe that from its files; return how many rows were.

    Raises:
        InvalidInput: no key is set.
        StoreBusy: a snapshot of another process held the log; what was plain is still there.
    """
    clock = SystemClock()
    store = open_store(settings, clock)
    await store.open()
    try:
        sealed = await store.seal_all(progress)
        if sealed:  # made from plain rows, and made again from sealed ones
            shutil.rmtree(store_folder(settings) / "index", ignore_errors=True)
        await store.sweep(clock.now_us())
        return sealed
    finally:
        await store.close()


async def rewrap_store(settings: Settings) -> int:
    """Wrap the data keys of a store by the newest key that is set; return how many were.

    Raises:
        InvalidInput: no key is set.
        StoreError: none of those set has wrapped them.
    """
    clock = SystemClock()
    store = open_store(settings, clock)
    await store.open()
    try:
        done = await store.rewrap_keys()
        await store.sweep(clock.now_us())
        return done
    finally:
        await store.close()


def may_exist(settings: Settings) -> bool:
    """Tell without opening it whether there may be something in the store already.

    Raises:
        InvalidInput: the store's URL is of a kind that is not known.
    """
    return on_postgres(settings) or store_folder(settings).exists()


def store_folder(settings: Settings) -> Path:
    """Return the folder of the index, and of the rows unless a server keeps them.

    Raises:
        InvalidInput: the store's URL is of a kind that is not known.
    """
    if settings.store is None or on_postgres(settings):
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


def on_postgres(settings: Settings) -> bool:
    """Tell whether a PostgreSQL server keeps the rows."""
    return (settings.store or "").partition("://")[0] in ("postgresql", "postgres")
