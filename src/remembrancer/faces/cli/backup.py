"""`remembrancer backup`: a consistent copy while the memory is in use."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...nouns.errors import InvalidInput
from .backups import Keep, KeepDays, prune, pruned_line, tell_damage
from .options import AsJson, Data, StoreUrl, examples, settings_of
from .output import counted, progress_bar, results, warnings_as_lines, write_json
from .session import must_exist

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...settings import Settings

NAME = "backup"
EPILOG = examples(
    "remembrancer backup /mnt/backups/memory.db",
    "remembrancer backup ./copy --data ./data    (a folder: the copy gets the store's name)",
    "remembrancer backup ./copy.db --verify    (writes copy.db.sums.json, too)",
    "remembrancer backup ./backups --incremental    (writes what is new since the last one)",
    "remembrancer backup ./backups --keep 30 --keep-days 30    (drops older ones, too)",
    json="{path, bytes, units, rows?, sha256?, backup?, blocks?, new_blocks?, new_bytes?, "
    "damaged?: [{backup, block, what}], pruned?: {dropped: [...], kept, freed_bytes}}",
)


def command(
    target: Annotated[
        Path,
        typer.Argument(help="A file, a folder that exists, or a folder of incremental backups."),
    ],
    data: Data = None,
    store: StoreUrl = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Compare every row, and keep sums with the copy; of a folder of incremental "
            "backups read every block, and write damaged ones anew.",
        ),
    ] = False,
    incremental: Annotated[
        bool,
        typer.Option(
            "--incremental",
            "-i",
            help="Make TARGET a folder of backups, each of which writes only what is new. Once "
            "it is one, this need not be said.",
        ),
    ] = False,
    keep: Keep = None,
    keep_days: KeepDays = None,
    json: AsJson = False,
) -> None:
    """Write a checked copy of the store; servers may go on meanwhile.

    To use a copy, `restore` it; indexes are made anew.
    """
    target = target.expanduser()
    settings = settings_of(data, store)
    must_exist(settings)
    import asyncio  # noqa: PLC0415

    from ...keeping.sqlite.repository import is_repository  # noqa: PLC0415

    shared = incremental or is_repository(target)
    if not shared and (keep is not None or keep_days is not None):
        raise InvalidInput(
            f"{target} is no folder of incremental backups: --keep and --keep-days are for one; "
            "add --incremental, or leave them out",
            field="keep",
        )
    with warnings_as_lines(), progress_bar("backing up") as progress:
        made = dict(asyncio.run(_backup(settings, target, verify, shared, progress)))
    if keep is not None or keep_days is not None:
        made["pruned"] = prune(target, keep, keep_days)
    if json:
        write_json(made)
    else:
        results().print(_line(made), soft_wrap=True)
        if "pruned" in made:
            results().print(pruned_line(made["pruned"]), soft_wrap=True)
    tell_damage(made.get("damaged", ()))


def _line(made: Mapping[str, Any]) -> str:
    where = f"{made['path']}/{made['backup']}" if "backup" in made else made["path"]
    line = f"wrote {where}: {made['units']:,} units, {made['bytes'] / 1e6:,.1f} MB"
    if "backup" in made:
        blocks = counted(made["blocks"], "block")
        line += (
            f", {made['new_bytes'] / 1e6:,.1f} MB of it new ({made['new_blocks']:,} of {blocks})"
        )
    if "rows" in made:
        line += f"; all {made['rows']:,} rows are those of the store"
    return line


async def _backup(
    settings: Settings,
    target: Path,
    verify: bool,
    incremental: bool,
    progress: Callable[[int, int], None] | None,
) -> Mapping[str, Any]:
    from ...keeping.opening import open_store  # noqa: PLC0415
    from ...nouns.clock import SystemClock  # noqa: PLC0415

    store = open_store(settings, SystemClock())
    await store.open()
    try:
        return await store.backup(target, verify=verify, incremental=incremental, progress=progress)
    finally:
        await store.close()
