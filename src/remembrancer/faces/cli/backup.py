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
    json="{path, bytes, units}",
)


def command(
    target: Annotated[Path, typer.Argument(help="A file, or a folder that exists.")],
    data: Data = None,
    store: StoreUrl = None,
    json: AsJson = False,
) -> None:
    """Write a checked copy of the store; servers may go on meanwhile.

    To use a copy, put it into a folder of its own under the store's name; indexes are made anew.
    """
    settings = settings_of(data, store)
    must_exist(settings)
    import asyncio  # noqa: PLC0415

    with warnings_as_lines():
        made = dict(asyncio.run(_backup(settings, target.expanduser())))
    if json:
        write_json(made)
    else:
        line = f"wrote {made['path']}: {made['units']:,} units, {made['bytes'] / 1e6:,.1f} MB"
        results().print(line, soft_wrap=True)


async def _backup(settings: Settings, target: Path) -> Mapping[str, Any]:
    from ...keeping.opening import open_store  # noqa: PLC0415
    from ...nouns.clock import SystemClock  # noqa: PLC0415

    store = open_store(settings, SystemClock())
    await store.open()
    try:
        return await store.backup(target)
    finally:
        await store.close()
