"""The help of the command line, and what an interrupted or failed command does."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from remembrancer.faces.cli import main, version
from remembrancer.faces.cli.dates import period
from remembrancer.nouns.errors import NotFound

COMMANDS = sorted(get_command(main.app).commands)  # type: ignore[attr-defined]


def help_of(*args: str) -> str:
    result = CliRunner().invoke(main.app, [*args, "--help"], prog_name="remembrancer")
    assert result.exit_code == 0
    return result.output


def test_all_commands_are_there() -> None:
    names = (
        "retain recall reflect history prime forget entities status serve worker reembed backup "
        "demo version keys remind intentions import export documents operations doctor watch "
        "restore migrate move mcp eval audit backups "
        "encryption-key encrypt rotate-key"
    )
    assert sorted(names.split()) == COMMANDS
    shown = help_of()
    assert all(command in shown for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(command: str) -> None:
    examples = help_of(command).partition("Examples")[2]
    assert f"remembrancer {command}" in examples


@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_documented_where_it_is_offered(command: str) -> None:
    shown = help_of(command)
    assert ("--json" in shown.partition("Examples")[0]) == ("\n JSON" in shown)


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from remembrancer.faces.cli.main import app\n"
        "try:\n"
        "    app(['--help'], prog_name='remembrancer')\n"
        "except SystemExit:\n"
        "    pass\n"
        "heavy = {'numpy', 'onnxruntime', 'fastapi', 'pydantic', 'sqlite3', 'asyncio'}\n"
        "sys.exit(' '.join(heavy & set(sys.modules)) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("raised", "code", "says"),
    [
        (KeyboardInterrupt(), 130, ""),
        (NotFound("no such thing"), 1, "error: no such thing\n"),
        (FileNotFoundError(2, "No such file", "x.txt"), 1, "error: No such file: x.txt\n"),
        (RuntimeError("boom"), 1, "error: unexpected RuntimeError: boom"),
    ],
)
def test_failures_become_exit_codes(
    monkeypatch: pytest.MonkeyPatch, raised: BaseException, code: int, says: str
) -> None:
    def fail(text: str) -> None:
        raise raised

    monkeypatch.delenv("REMEMBRANCER_TRACEBACK", raising=False)
    monkeypatch.setattr(version.typer, "echo", fail)
    result = CliRunner().invoke(main.app, ["version"])
    assert result.exit_code == code
    assert result.stdout == ""
    assert result.stderr.startswith(says)
    assert bool(result.stderr) == bool(says)


def at(text: str, zone: timezone = UTC) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


@pytest.mark.parametrize(
    ("start", "end", "spelled"),
    [
        ("2026-05-08", "2026-05-09", "Fri 8 May 2026"),
        ("2026-05-01", "2026-06-01", "May 2026"),
        ("2026-06-01", "2026-09-01", "Jun 2026 to Aug 2026"),
        ("2026-01-01", "2027-01-01", "2026"),
        ("2020-01-01", "2030-01-01", "2020 to 2029"),
        ("2026-05-11", "2026-05-18", "11 to 17 May 2026"),
        ("2026-02-28", "2026-03-02", "28 Feb to 1 Mar 2026"),
        ("2026-05-08T18:30", "2026-05-08T18:31", "Fri 8 May 2026 18:30"),
    ],
)
def test_periods_are_spelled_shortly(start: str, end: str, spelled: str) -> None:
    assert period((at(start), at(end))) == spelled
    lisbon = timezone(timedelta(hours=1))
    assert period((at(start, lisbon), at(end, lisbon))) == spelled
