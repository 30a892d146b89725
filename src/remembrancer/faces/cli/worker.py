"""`remembrancer worker`: work on what is queued, in a process apart from the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .options import Data, Embedder, StoreUrl, examples, settings_of
from .output import remark

if TYPE_CHECKING:
    from ...settings import Settings

NAME = "worker"
EPILOG = examples(
    "remembrancer worker --data ./data",
    "remembrancer worker --data ./data --slots 8",
    "REMEMBRANCER_WORKER=false remembrancer serve --data ./data    # and workers beside it",
)


def command(
    data: Data = None,
    store: StoreUrl = None,
    embedder: Embedder = None,
    slots: Annotated[
        int | None,
        typer.Option(
            envvar="REMEMBRANCER_WORKER_SLOTS",
            metavar="N",
            help="How many jobs at once; 2 by default.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Work on what is queued, until interrupted.

    Any number of workers, servers and commands may share one folder. What a worker leaves
    unfinished when it stops is given back at once; what one leaves that is killed is taken over
    when its lease runs out (REMEMBRANCER_WORKER_LEASE_S).
    """
    settings = settings_of(data, store, embedder, worker_slots=slots, worker=True)
    import asyncio  # noqa: PLC0415

    asyncio.run(_work(settings))


async def _work(settings: Settings) -> None:
    import asyncio  # noqa: PLC0415
    import signal  # noqa: PLC0415

    from ...app import App  # noqa: PLC0415
    from ..logs import logging_to  # noqa: PLC0415
    from ..tracing import traces_sent  # noqa: PLC0415

    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    with logging_to(settings), traces_sent():
        app = await App.open(settings, watch=True)
        try:
            remark(f"working on {settings.folder} with {settings.worker_slots} slots")
            await stop.wait()
        finally:
            await app.close()
