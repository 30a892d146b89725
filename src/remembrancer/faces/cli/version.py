"""`remembrancer version`."""

from __future__ import annotations

import typer

from ..._version import __version__
from .options import examples

NAME = "version"
EPILOG = examples("remembrancer version")


def command() -> None:
    """Print the version."""
    typer.echo(__version__)


def print_and_exit(wanted: bool) -> None:
    """Serve the option `--version`."""
    if wanted:
        typer.echo(__version__)
        raise typer.Exit
