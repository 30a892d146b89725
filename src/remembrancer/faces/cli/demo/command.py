"""`remembrancer demo`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from ..options import examples

NAME = "demo"
EPILOG = examples(
    "remembrancer demo",
    "remembrancer demo --keep    (then: remembrancer recall '...' --bank maya --data FOLDER)",
)


def command(
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave the data folder, and print where it is.")
    ] = False,
) -> None:
    """Show retain, recall, prime, reminders and forget on a made-up conversation.

    Uses the bundled model.
    """
    from ...loopback import bring_up  # noqa: PLC0415
    from .stage import perform  # noqa: PLC0415

    bring_up()  # a part of it speaks to a server
    if keep:
        folder = tempfile.mkdtemp(prefix="remembrancer-demo-")
        perform(Path(folder))
        typer.echo(f"\nThe data is in {folder}")
        return
    with tempfile.TemporaryDirectory(prefix="remembrancer-demo-") as folder:
        perform(Path(folder))
