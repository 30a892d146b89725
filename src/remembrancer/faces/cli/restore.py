"""`remembrancer restore`: bring a copy of a store back to where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Data, StoreUrl, examples, settings_of
from .output import results, warnings_as_lines, write_json

if TYPE_CHECKING:
    from ...settings import Settings

NAME = "restore"
EPILOG = examples(
    "remembrancer restore ./copy.db --data ./restored",
    "remembrancer restore ./copy --store postgresql://me@db/memory",
    json="{path, bytes, units, rows?}",
)


def command(
    source: Annotated[Path, typer.Argument(help="A file or folder that `backup` wrote.")],
    data: Data = None,
    store: StoreUrl = None,
    json: AsJson = False,
) -> None:
    """Bring a copy back into a folder or a PostgreSQL database that holds no store, all or nothing.

    Each file is checked first. With the sums that `backup --verify` wrote beside a copy every row
    is compared, too.
    """
    settings = settings_of(data, store)
    import asyncio  # noqa: PLC0415

    with warnings_as_lines():
        made = dict(asyncio.run(_restore(settings, source.expanduser())))
    if json:
        write_json(made)
    else:
        line = f"restored {made['path']}: {made['units']:,} units, {made['bytes'] / 1e6:,.1f} MB"
        if "rows" in made:
            line += f"; all {made['rows']:,} rows are as they were"
        results().print(line, soft_wrap=True)


async def _restore(settings: Settings, source: Path) -> Mapping[str, Any]:
    from ...keeping.opening import open_store  # noqa: PLC0415
    from ...nouns.clock import SystemClock  # noqa: PLC0415

    return await open_store(settings, SystemClock()).restore(source)
