"""`remembrancer backup`: a consistent copy while the memory is in use."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Data, StoreUrl, examples, settings_of
from .output import results, warnings_as_lines, write_json
from .session import must_exist

if TYPE_CHECKING:
    from ...settings import Settings

NAME = "backup"
EPILOG = examples(
    "remembrancer backup /mnt/backups/memory.db",
    "remembrancer backup ./copy --data ./data    (a folder: the copy gets the store's name)",
    "remembrancer backup ./copy.db --verify    (writes copy.db.sums.json, too)",
    json="{path, bytes, units, rows?, sha256?}",
)


def command(
    target: Annotated[Path, typer.Argument(help="A file, or a folder that exists.")],
    data: Data = None,
    store: StoreUrl = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare every row, and write sums beside the copy.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Write a checked copy of the store; servers may go on meanwhile.

    To use a copy, `restore` it; indexes are made anew.
    """
    settings = settings_of(data, store)
    must_exist(settings)
    import asyncio  # noqa: PLC0415

    with warnings_as_lines():
        made = dict(asyncio.run(_backup(settings, target.expanduser(), verify)))
    if json:
        write_json(made)
    else:
        line = f"wrote {made['path']}: {made['units']:,} units, {made['bytes'] / 1e6:,.1f} MB"
        if "rows" in made:
            line += f"; all {made['rows']:,} rows are those of the store"
        results().print(line, soft_wrap=True)


async def _backup(settings: Settings, target: Path, verify: bool) -> Mapping[str, Any]:
    from ...keeping.opening import open_store  # noqa: PLC0415
    from ...nouns.clock import SystemClock  # noqa: PLC0415

    store = open_store(settings, SystemClock())
    await store.open()
    try:
        return await store.backup(target, verify=verify)
    finally:
        await store.close()
