"""What commands print: results on stdout, remarks and progress on stderr, colour on terminals."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

if TYPE_CHECKING:
    from rich.table import Table

_ANY_WIDTH = 100_000


def show_what_can_be_shown() -> None:
    """Have characters that the terminal's encoding lacks shown as others, not end the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def results() -> Console:
    """Return the console of stdout."""
    return Console(highlight=False, emoji=False, markup=False)


def remarks() -> Console:
    """Return the console of stderr."""
    return Console(stderr=True, highlight=False, emoji=False, markup=False)


def remark(text: str, style: str = "dim") -> None:
    """Print one line on stderr."""
    remarks().print(text, style=style, soft_wrap=True)


def counted(count: int, noun: str, many: str | None = None) -> str:
    """Return a count with its noun, in the plural where it is one: "1 fact", "2 facts"."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def write_line(console: Console, text: Text, indent: int = 0) -> None:
    """Print a text indented: wrapped on a terminal, each line whole when piped."""
    if console.is_terminal:
        console.print(Padding(text, (0, 0, 0, indent)))
        return
    for line in text.split("\n"):
        console.print(Text(" " * indent).append_text(line), soft_wrap=True)


def write_table(table: Table) -> None:
    """Print a table: on a terminal as wide as that, each row whole where it is narrower or piped.

    Where the longest words do not fit, columns would be cut off or left out.
    """
    out = results()
    room = out.measure(table, options=out.options.update(width=_ANY_WIDTH))
    if not out.is_terminal or room.minimum > out.width:
        out.width = room.maximum
    out.print(table)


def write_json(value: Mapping[str, Any] | None) -> None:
    """Print a value as JSON on stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=_spell) + "\n")


def _spell(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a callback (units done, units in all) that moves a bar; None without a terminal."""
    console = remarks()
    if not console.is_terminal:
        yield None
        return
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class _OneLine(logging.Formatter):
    """A warning as one line; where it came from is for servers' logs."""

    def format(self, record: logging.LogRecord) -> str:
        cause = record.exc_info[1] if record.exc_info else None
        return f"{record.levelname.lower()}: {record.getMessage()}" + (
            f" ({cause})" if cause else ""
        )


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Send the package's warnings to stderr as single lines meanwhile."""
    log = logging.getLogger("remembrancer")
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLine())
    before, log.propagate = log.propagate, False
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.propagate = before
