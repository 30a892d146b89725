"""What a failed command does: one red line with the remedy on stderr, and an exit code.

0: done. 1: it could not be done. 2: bad input. 130: interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from ...nouns.errors import InvalidInput, RemembrancerError
from .tidying import tidied

_DEBUG = "REMEMBRANCER_TRACEBACK"


class Commands(TyperGroup):
    """The group of all commands; turns their errors into lines and exit codes."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by name, with a help that fits the terminal; None when there is none."""
        found = super().get_command(ctx, cmd_name)
        return found if found is None else tidied(found)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        with _reported():
            result = super().invoke(ctx)
            sys.stdout.flush()  # here, so that a closed pipe is met while it can be handled
            return result


@contextmanager
def _reported() -> Iterator[None]:
    try:
        yield
    except RemembrancerError as error:
        complain(error.message)
        raise typer.Exit(2 if isinstance(error, InvalidInput) else 1) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except BrokenPipeError:
        # What is still buffered has nowhere to go; the interpreter flushes it as it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None
    except OSError as error:
        complain(f"{error.strerror or error}: {error.filename or 'the system refused'}")
        raise typer.Exit(1) from None
    except Exception as error:
        if _told_by_typer(error) or os.environ.get(_DEBUG):
            raise
        complain(f"unexpected {type(error).__name__}: {error} (set {_DEBUG}=1 to see where)")
        raise typer.Exit(1) from None


def complain(message: str) -> None:
    """Print an error as one red line on stderr."""
    from .output import remarks  # noqa: PLC0415

    line = " ".join(f"error: {message}".split())
    remarks().print(line, style="red", markup=False, highlight=False, soft_wrap=True)


def _told_by_typer(error: Exception) -> bool:
    """Whether Typer itself reports this error: usage errors, exits, aborts."""
    return hasattr(error, "exit_code") or type(error).__name__ == "Abort"
