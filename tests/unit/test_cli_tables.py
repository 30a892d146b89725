"""Tables of the command line: no column is cut off or left out, whatever has room for them."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.table import Table

from remembrancer.faces.cli import output

KEY = "01a23227-b91a-7000-96cd-c2bd28ab2b77"


def shown(monkeypatch: pytest.MonkeyPatch, *, width: int, terminal: bool) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=terminal, color_system=None)
    monkeypatch.setattr(output, "results", lambda: console)
    table = Table(box=None, pad_edge=False)
    for title in ("id", "permissions", "banks"):
        table.add_column(title, overflow="fold", no_wrap=title == "id")
    table.add_row(KEY, "read write", "customer-* team-*")
    output.write_table(table)
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize(("width", "terminal"), [(80, False), (40, False), (40, True), (80, True)])
def test_no_column_is_lost(monkeypatch: pytest.MonkeyPatch, width: int, terminal: bool) -> None:
    told = shown(monkeypatch, width=width, terminal=terminal)
    assert told[0].split() == ["id", "permissions", "banks"]
    if width == 40 or not terminal:
        assert told[1:] == [f"{KEY}  read write   customer-* team-*"]


def test_a_terminal_wraps_what_can_be_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    told = shown(monkeypatch, width=64, terminal=True)
    assert [line.split()[-1] for line in told[1:]] == ["customer-*", "team-*"]
