"""`remembrancer doctor`: what is wrong here, and how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from ...nouns.errors import InvalidInput
from .options import AsJson, Data, Embedder, StoreUrl, examples, settings_of
from .output import results, write_json

if TYPE_CHECKING:
    from ...settings import Settings
    from ..doctor.finding import Finding

NAME = "doctor"
EPILOG = examples(
    "remembrancer doctor",
    "remembrancer doctor --data ./data --json",
    json="{state: ok, warn or fail, findings: [{name, state, seen, mend}]}",
)
_STYLES = {"ok": "green", "warn": "yellow", "fail": "red"}


def command(
    json: AsJson = False, data: Data = None, store: StoreUrl = None, embedder: Embedder = None
) -> None:
    """Check settings, clock, folder, disk, extras, model, store, ports and who may reach them.

    Nothing is changed: a store of an older version is not brought up to date. The exit code is 1
    when a check fails.
    """
    findings = _findings(data, store, embedder)
    states = {finding.state.value for finding in findings}
    worst = next((state for state in ("fail", "warn") if state in states), "ok")
    if json:
        told = [
            {"name": f.name, "state": f.state.value, "seen": f.seen, "mend": f.mend}
            for f in findings
        ]
        write_json({"state": worst, "findings": told})
    else:
        for finding in findings:
            _show(finding)
    if worst == "fail":
        raise typer.Exit(1)


def _findings(data: Any, store: str | None, embedder: str | None) -> list[Finding]:
    import asyncio  # noqa: PLC0415

    from ..doctor.finding import fail  # noqa: PLC0415
    from .output import warnings_as_lines  # noqa: PLC0415

    try:
        settings = settings_of(data, store, embedder)
    except InvalidInput as error:
        return [fail("settings", error.message, "mend the option or the environment variable")]
    with warnings_as_lines():
        return asyncio.run(_examined(settings))


async def _examined(settings: Settings) -> list[Finding]:
    from ...nouns.clock import SystemClock  # noqa: PLC0415
    from ..doctor.checks import examine  # noqa: PLC0415

    return [finding async for finding in examine(settings, SystemClock())]


def _show(finding: Finding) -> None:
    from rich.text import Text  # noqa: PLC0415

    state = finding.state.value
    line = Text(f"{state:<5}", style=_STYLES[state])
    line.append(f"{finding.name:<11}", style="bold").append(finding.seen)
    results().print(line, soft_wrap=True)
    if finding.mend:
        results().print(Text(f"{'':<16}{finding.mend}", style="dim"), soft_wrap=True)
