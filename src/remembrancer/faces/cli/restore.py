"""`remembrancer restore`: bring a copy of a store back to where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Data, StoreUrl, examples, settings_of
from .output import progress_bar, results, warnings_as_lines, write_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...settings import Settings

NAME = "restore"
EPILOG = examples(
    "remembrancer restore ./copy.db --data ./restored",
    "remembrancer restore ./copy --store postgresql://me@db/memory",
    "remembrancer restore ./backups --data ./restored    (the newest incremental one)",
    "remembrancer restore ./backups --backup 20261130T031500.000000Z --data ./restored",
    json="{path, bytes, units, rows?, backup?}",
)


def command(
    source: Annotated[Path, typer.Argument(help="A file or folder that `backup` wrote.")],
    data: Data = None,
    store: StoreUrl = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--backup",
            metavar="NAME",
            help="Which of a folder's incremental backups, as `backups list` shows them; "
            "the newest by default.",
        ),
    ] = None,
    json: AsJson = False,
) -> None:
    """Bring a copy back into a folder or a PostgreSQL database that holds no store, all or nothing.

    Each file or block is checked first. With the sums that `backup --verify` wrote every row is
    compared, too.
    """
    settings = settings_of(data, store)
    import asyncio  # noqa: PLC0415

    with warnings_as_lines(), progress_bar("restoring") as progress:
        made = dict(asyncio.run(_restore(settings, source.expanduser(), name, progress)))
    if json:
        write_json(made)
    else:
        of = f" from {made['backup']}" if "backup" in made else ""
        size = f"{made['units']:,} units, {made['bytes'] / 1e6:,.1f} MB"
        line = f"restored {made['path']}{of}: {size}"
        if "rows" in made:
            line += f"; all {made['rows']:,} rows are as they were"
        results().print(line, soft_wrap=True)


async def _restore(
    settings: Settings,
    source: Path,
    name: str | None,
    progress: Callable[[int, int], None] | None,
) -> Mapping[str, Any]:
    from ...keeping.opening import open_store  # noqa: PLC0415
    from ...nouns.clock import SystemClock  # noqa: PLC0415

    return await open_store(settings, SystemClock()).restore(source, name=name, progress=progress)
