"""Runs the command line as its users do: as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from remembrancer.faces.cli.main import app
from stores_kit import stored

ESCAPE = "\x1b"


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def placed(args: Sequence[str]) -> list[str]:
    """Return arguments with the store of the folder that they name, if it is not in there."""
    named = dict(pairwise(args)).get("--data")
    store = stored(Path(named)).get("store") if named and "--store" not in args else None
    return [*args, "--store", store] if store else list(args)


@dataclass(frozen=True)
class Cli:
    """The command on one data folder, with the stand-in embedder.

    Rows are in the store that this run is about, also those of another folder that is named.
    """

    folder: Path

    def environment(self, **more: str) -> dict[str, str]:
        keep = {k: v for k, v in os.environ.items() if not k.startswith("REMEMBRANCER_")}
        for name in ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "NO_COLOR"):
            keep.pop(name, None)
        ours = {"REMEMBRANCER_DATA": str(self.folder), "REMEMBRANCER_EMBEDDER": "hash:64"}
        kept = {f"REMEMBRANCER_{k.upper()}": v for k, v in stored(self.folder).items()}
        return {**keep, **ours, **kept, **more}

    def command(self, args: Sequence[str]) -> list[str]:
        return [sys.executable, "-m", "remembrancer", *placed(args)]

    def __call__(self, *args: str, stdin: str = "", **environment: str) -> Ran:
        done = subprocess.run(
            self.command(args),
            input=stdin,
            env=self.environment(**environment),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def here(self, *args: str, stdin: str = "", **environment: str) -> Ran:
        """Run in this process, which is quicker."""
        ours = self.environment(**environment)
        hidden = {name: None for name in os.environ if name not in ours}
        done = CliRunner(env={**hidden, **ours}).invoke(
            app, placed(args), input=stdin, prog_name="remembrancer"
        )
        return Ran(done.exit_code, done.stdout, done.stderr)

    def ok(self, *args: str, stdin: str = "", **environment: str) -> Ran:
        ran = self.here(*args, stdin=stdin, **environment)
        assert ran.code == 0, ran.err
        return ran
