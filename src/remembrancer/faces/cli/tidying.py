"""Makes the help of commands fit any terminal: paragraphs are wrapped anew, flags show no type."""

from __future__ import annotations

import re
from typing import Any

_WITHIN = re.compile(r"(?<!\n)\n(?!\n)[ \t]*")


def tidied(command: Any) -> Any:
    """Return a command of Typer, it and all below it made ready to be helped with.

    Lines of a docstring end where source code does; here only a paragraph ends a line. A flag takes
    no value, so none is named beside it.
    """
    if command.help:
        command.help = _WITHIN.sub(" ", command.help)
    for param in command.params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    for below in getattr(command, "commands", {}).values():
        tidied(below)
    return command
