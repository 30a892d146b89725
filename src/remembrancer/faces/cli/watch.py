"""`remembrancer watch`: what is remembered, forgotten and due, as it happens."""

from __future__ import annotations

import json as json_lines
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...nouns.errors import InvalidInput
from .options import AsJson, Bank, Data, StoreUrl, examples, settings_of
from .output import remark, results

if TYPE_CHECKING:
    from ...app import App
    from ...settings import Settings

NAME = "watch"
EPILOG = examples(
    "remembrancer watch --bank ann",
    "remembrancer watch --bank ann --url http://localhost:6381 --api-key rmb_…",
    "remembrancer watch --bank ann --seconds 60 --json",
    json="a line each: {kind: remembered, forgotten or due, at, id, text}",
)
_POLL_S = 0.5


def command(
    bank: Bank = "default",
    url: Annotated[
        str | None,
        typer.Option(
            envvar="REMEMBRANCER_URL",
            help="Of a running server, instead of opening the data folder here.",
            show_default=False,
        ),
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option(
            "--api-key", envvar="REMEMBRANCER_API_KEY", help="For that server.", show_default=False
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0, help="End after so long; else when interrupted.", show_default=False),
    ] = None,
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """Show changes of a bank and due intentions until interrupted; nothing counts as done by it."""
    import asyncio  # noqa: PLC0415

    tell = _json if json else _line
    until = None if seconds is None else time.monotonic() + seconds
    if url is not None:
        asyncio.run(_remote(url, api_key, bank, until, tell))
    else:
        asyncio.run(_here(settings_of(data, store, "none"), bank, until, tell))


Tell = Callable[[dict[str, Any]], None]


async def _here(settings: Settings, bank: str, until: float | None, tell: Tell) -> None:
    import asyncio  # noqa: PLC0415

    from ...app import App  # noqa: PLC0415
    from ...nouns.names import bank_ref  # noqa: PLC0415
    from .watching import Watched  # noqa: PLC0415

    app: App = await App.open(settings, background=False)
    try:
        watched = Watched(app, bank_ref(bank))
        await watched.begin()
        remark(f"watching bank {bank}; interrupt to end")
        while until is None or time.monotonic() < until:
            for event in await watched.news():
                tell(event)
            await asyncio.sleep(_POLL_S)
        for event in await watched.news():
            tell(event)
    finally:
        await app.close()


async def _remote(url: str, key: str | None, bank: str, until: float | None, tell: Tell) -> None:
    import asyncio  # noqa: PLC0415
    from importlib.util import find_spec  # noqa: PLC0415

    if find_spec("httpx") is None:
        raise InvalidInput("--url needs the package httpx: pip install 'remembrancer[client]'")
    from .watching import WatchedServer  # noqa: PLC0415

    watched = WatchedServer(url, key, bank)
    try:
        await watched.begin()
        remark(f"watching bank {bank}; interrupt to end")
        while until is None or time.monotonic() < until:
            for event in await watched.news():
                tell(event)
            await asyncio.sleep(2 * _POLL_S)
        for event in await watched.news():
            tell(event)
    finally:
        await watched.close()


def _json(event: dict[str, Any]) -> None:
    sys.stdout.write(json_lines.dumps(event, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _line(event: dict[str, Any]) -> None:
    from rich.text import Text  # noqa: PLC0415

    styles = {"remembered": "green", "forgotten": "red", "due": "bold yellow"}
    line = Text(f"{event['kind']:<11}", style=styles[event["kind"]])
    line.append(f"{event['at']}  ", style="dim").append(event["text"] or event["id"])
    results().print(line, soft_wrap=True)
