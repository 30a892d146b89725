"""`remembrancer serve`: run the server."""

from __future__ import annotations

from typing import Annotated

import typer

from ..loading import uncollected
from .options import Data, Embedder, StoreUrl, examples, settings_of

NAME = "serve"
EPILOG = examples(
    "remembrancer serve",
    "remembrancer serve --data ./data --http 127.0.0.1:7000 --grpc off",
    "REMEMBRANCER_EMBEDDER=none remembrancer serve",
    "remembrancer serve --store postgresql://me@db/memory --workers 4",
)


def command(
    data: Data = None,
    store: StoreUrl = None,
    embedder: Embedder = None,
    http: Annotated[
        str | None,
        typer.Option(
            envvar="REMEMBRANCER_HTTP",
            metavar="HOST:PORT",
            help="Of the HTTP face; 127.0.0.1:6381 by default.",
            show_default=False,
        ),
    ] = None,
    grpc: Annotated[
        str | None,
        typer.Option(
            envvar="REMEMBRANCER_GRPC",
            metavar="HOST:PORT",
            help="Of the gRPC face, 'off' for none; 127.0.0.1:6380 by default.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            envvar="REMEMBRANCER_WORKERS",
            metavar="N",
            help="Server processes on these addresses, each replaced when it dies; 1 by default.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Serve a memory until interrupted. Options win over environment variables.

    Told to stop (SIGTERM), it ends what it has begun first; with REMEMBRANCER_DRAIN_S it says so
    many seconds before that it is not ready.
    """
    settings = settings_of(data, store, embedder, http=http, grpc=grpc, workers=workers)
    if settings.workers > 1:
        with uncollected():
            from ..supervising import supervise  # noqa: PLC0415

        supervise(settings, settings.workers)
    else:
        with uncollected():
            from ..serving import run  # noqa: PLC0415

        run(settings)
