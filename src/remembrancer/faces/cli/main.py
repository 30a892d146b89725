"""The command `remembrancer`: its commands, each from a module of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from . import (
    audit,
    backup,
    backups,
    doctor,
    documents,
    encrypt,
    encryption_key,
    entities,
    evaluate,
    exports,
    forget,
    history,
    imports,
    intentions,
    keys,
    mcp,
    migrate,
    move,
    operations,
    prime,
    recall,
    reembed,
    reflect,
    remind,
    restore,
    retain,
    rotate_key,
    serve,
    status,
    version,
    watch,
    worker,
)
from .demo import command as demo
from .errors import Commands
from .output import show_what_can_be_shown

app = typer.Typer(
    cls=Commands,
    name="remembrancer",
    help="The memory of AI agents: keep what an agent was told, find it again, prime it.",
    epilog="[bold]Start here[/bold]\n\nremembrancer demo\n\n"
    "remembrancer retain notes.md chat.json --bank ann\n\n"
    'remembrancer recall "Where does Ann live?" --bank ann\n\n'
    "remembrancer serve --data ./data",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
    pretty_exceptions_enable=False,
)

for _module in (
    retain,
    recall,
    reflect,
    history,
    prime,
    remind,
    watch,
    forget,
    imports,
    exports,
    status,
    doctor,
    serve,
    mcp,
    worker,
    reembed,
    backup,
    restore,
    migrate,
    move,
    encryption_key,
    encrypt,
    rotate_key,
    evaluate,
    demo,
    version,
):
    app.command(_module.NAME, epilog=_module.EPILOG)(_module.command)
app.add_typer(audit.group)
app.add_typer(backups.group)
app.add_typer(documents.group)
app.add_typer(entities.group)
app.add_typer(intentions.group)
app.add_typer(keys.group)
app.add_typer(operations.group)


@app.callback()
def _main(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", is_eager=True, callback=version.print_and_exit
        ),
    ] = False,
) -> None:
    """The memory of AI agents: keep what an agent was told, find it again, prime it."""


def run() -> None:
    """Run the command line; the entry point."""
    show_what_can_be_shown()
    app(prog_name="remembrancer")
