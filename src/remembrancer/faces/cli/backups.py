"""`remembrancer backups`: a folder of incremental backups, looked at, verified, pruned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...nouns.errors import Corrupt, InvalidInput
from .options import AsJson, examples
from .output import counted, progress_bar, remark, results, write_json

if TYPE_CHECKING:
    from ...keeping.sqlite.repository import Repository

NAME = "backups"
EPILOG = examples(
    "remembrancer backup ./backups --incremental    (makes the folder, or adds to it)",
    "remembrancer backups list ./backups",
    "remembrancer backups verify ./backups",
    "remembrancer backups prune ./backups --keep 7",
    "remembrancer restore ./backups --data ./restored",
)
_SHOWN_DAMAGE = 20

group = typer.Typer(
    name=NAME,
    help="Incremental backups: list, verify, prune. `backup` makes, `restore` brings back.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="A folder that `backup --incremental` made.")
]
Keep = Annotated[
    int | None,
    typer.Option("--keep", metavar="N", min=1, help="Drop all backups but the newest N."),
]
KeepDays = Annotated[
    float | None,
    typer.Option(
        "--keep-days", metavar="DAYS", min=0, help="Drop backups that are older, but the newest."
    ),
]


@group.command(
    "list",
    epilog=examples(
        "remembrancer backups list ./backups",
        json="{path, backups: [{name, made_at, units, bytes, new_bytes, schema, verified, "
        "damaged}]}",
    ),
)
def list_backups(folder: Folder, json: AsJson = False) -> None:
    """Show the backups of a folder, the newest last."""
    repository = _opened(folder)
    told = []
    with repository.held(alone=False):
        for name in repository.names():
            told.append(_listed(repository, name))
    if json:
        write_json({"path": str(folder), "backups": told})
        return
    for each in told:
        if each["damaged"]:
            remark(f"{each['name']}  damaged: see `remembrancer backups verify`", "red")
            continue
        size, new = each["bytes"] / 1e6, each["new_bytes"] / 1e6
        line = f"{each['name']}  {each['units']:>9,} units {size:>9,.1f} MB {new:>9,.1f} MB new"
        results().print(line + ("  with sums" if each["verified"] else ""), soft_wrap=True)
    if not told:
        remark(f"{folder} holds no backup yet")


def _listed(repository: Repository, name: str) -> dict[str, Any]:
    """Return what the list tells of a backup; of one that does not read, only that."""
    members = ("name", "made_at", "units", "bytes", "new_bytes", "schema")
    try:
        manifest = repository.manifest(name)
    except Corrupt:
        return {**dict.fromkeys(members), "name": name, "verified": False, "damaged": True}
    shown = {member: manifest[member] for member in members}
    return {**shown, "verified": "sums" in manifest, "damaged": False}


@group.command(
    "verify",
    epilog=examples(
        "remembrancer backups verify ./backups",
        json="{path, backups, damaged: [{backup, block, what}]}",
    ),
)
def verify_backups(folder: Folder, json: AsJson = False) -> None:
    """Read every block and manifest; name what is damaged or missing, and exit with 1.

    What the store still holds, `backup --verify` into the folder writes anew.
    """
    repository = _opened(folder)
    with repository.held(alone=False), progress_bar("verifying") as progress:
        damage, _ = repository.damage(progress)
        names = repository.names()
    found = [each._asdict() for each in damage]
    if json:
        write_json({"path": str(folder), "backups": len(names), "damaged": found})
    elif not found:
        results().print(f"{counted(len(names), 'backup')}: every block is as it was written")
    tell_damage(found)


@group.command(
    "prune",
    epilog=examples(
        "remembrancer backups prune ./backups --keep 7",
        "remembrancer backups prune ./backups --keep-days 30",
        json="{path, dropped: [name], kept, freed_bytes}",
    ),
)
def prune_backups(
    folder: Folder, keep: Keep = None, keep_days: KeepDays = None, json: AsJson = False
) -> None:
    """Drop old backups, and every block that none of the others needs."""
    if keep is None and keep_days is None:
        raise InvalidInput("say what stays: --keep N, --keep-days DAYS, or both", field="keep")
    told = prune(folder.expanduser(), keep, keep_days)
    if json:
        write_json({"path": str(folder), **told})
    else:
        results().print(pruned_line(told), soft_wrap=True)


def prune(folder: Path, keep: int | None, days: float | None) -> dict[str, Any]:
    """Drop old backups of a folder; return which went and what that freed."""
    from ...nouns.clock import SystemClock  # noqa: PLC0415

    repository = _opened(folder)
    with repository.held(alone=True):
        return repository.prune(keep, days, SystemClock().now_us())


def pruned_line(told: Mapping[str, Any]) -> str:
    """Return what a prune did in a line."""
    dropped = counted(len(told["dropped"]), "backup")
    return f"dropped {dropped}, {told['freed_bytes'] / 1e6:,.1f} MB; {told['kept']:,} stay"


def tell_damage(damaged: Sequence[Mapping[str, Any]]) -> None:
    """Print what backups lack, and end with 1; nothing without damage."""
    for each in damaged[:_SHOWN_DAMAGE]:
        block = "" if each["block"] is None else f"backup {each['backup']}: block {each['block']} "
        remark(f"damaged: {block}{each['what']}", "red")
    if len(damaged) > _SHOWN_DAMAGE:
        remark(f"and {len(damaged) - _SHOWN_DAMAGE:,} more", "red")
    if damaged:
        raise typer.Exit(1)


def _opened(folder: Path) -> Repository:
    from ...keeping.sqlite.repository import Repository  # noqa: PLC0415

    return Repository(folder.expanduser())
