"""`remembrancer restore`: bring a copy of a PostgreSQL store back into an empty database."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...nouns.errors import InvalidInput
from .options import AsJson, Data, StoreUrl, examples, settings_of
from .output import results, warnings_as_lines, write_json

if TYPE_CHECKING:
    from ...settings import Settings

NAME = "restore"
EPILOG = examples(
    "remembrancer restore ./copy --store postgresql://me@db/memory",
    json="{path, bytes, units}",
)


def command(
    source: Annotated[Path, typer.Argument(help="A folder that `backup` wrote.")],
    data: Data = None,
    store: StoreUrl = None,
    json: AsJson = False,
) -> None:
    """Bring a copy back into a PostgreSQL database that holds nothing yet, all or nothing.

    Each file is checked first. The copy of a store in a folder is a file: put it into a folder of
    its own under the store's name, there is nothing to restore.
    """
    settings = settings_of(data, store)
    import asyncio  # noqa: PLC0415

    with warnings_as_lines():
        made = dict(asyncio.run(_restore(settings, source.expanduser())))
    if json:
        write_json(made)
    else:
        line = f"restored {made['path']}: {made['units']:,} units, {made['bytes'] / 1e6:,.1f} MB"
        results().print(line, soft_wrap=True)


async def _restore(settings: Settings, source: Path) -> Mapping[str, Any]:
    from ...keeping.opening import open_store  # noqa: PLC0415
    from ...keeping.sqlite import SqliteStore  # noqa: PLC0415
    from ...nouns.clock import SystemClock  # noqa: PLC0415

    store = open_store(settings, SystemClock())
    if isinstance(store, SqliteStore):
        raise InvalidInput(
            "a copy of a store in a folder is a file: put it there as memory.db; "
            "to restore into PostgreSQL name it with --store",
            field="store",
        )
    return await store.restore(source)
