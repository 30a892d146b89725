"""`remembrancer move`: move everything from one store to another, such as to PostgreSQL."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from .options import AsJson, examples, settings_of
from .output import progress_bar, results, write_json

NAME = "move"
EPILOG = examples(
    "remembrancer move sqlite:///./data postgresql://me@db/memory",
    "remembrancer move postgresql://me@db/memory sqlite:////var/lib/remembrancer",
    json="{rows, units, banks, resumed, seconds, tables: {name: rows}}",
)


def command(
    source: Annotated[
        str,
        typer.Argument(metavar="FROM", help="The store: sqlite:///FOLDER or postgresql://…"),
    ],
    target: Annotated[
        str, typer.Argument(metavar="TO", help="Where to; it must hold nothing yet.")
    ],
    restart: Annotated[
        bool,
        typer.Option("--restart", help="Delete what an earlier, unfinished move left in TO."),
    ] = False,
    json: AsJson = False,
) -> None:
    """Move everything from one store to another: memories, vectors, jobs, intentions, keys.

    FROM is only read and stays as it is; nothing can be written to it meanwhile, so stop its
    servers first. Stopped half-way or killed, the next run with the same stores goes on where it
    was. At the end both are read again and compared; until then no server opens TO.
    """
    here, there = settings_of(store=source), settings_of(store=target)
    from ...keeping.opening import move_store  # noqa: PLC0415

    started = time.perf_counter()
    with progress_bar("rows copied and compared") as progress:
        moved = move_store(here, there, restart=restart, progress=progress)
    seconds = time.perf_counter() - started
    units, banks = moved.tables["unit"], moved.tables["bank"]
    if json:
        write_json(
            {
                "rows": moved.rows,
                "units": units,
                "banks": banks,
                "resumed": moved.resumed,
                "seconds": seconds,
                "tables": moved.tables,
            }
        )
        return
    line = f"moved {units:,} units of {banks:,} banks, {moved.rows:,} rows in all"
    again = f", {moved.resumed:,} of them before" if moved.resumed else ""
    results().print(f"{line}{again}, in {seconds:.1f} s; both hold the same", soft_wrap=True)
