"""`remembrancer reembed`: move a store to another embedding model."""

from __future__ import annotations

import time

from .options import AsJson, Data, Embedder, StoreUrl, examples, settings_of
from .output import progress_bar, results, warnings_as_lines, write_json
from .session import must_exist

NAME = "reembed"
EPILOG = examples(
    "remembrancer reembed --embedder bge-small",
    "remembrancer reembed --data ./data --embedder openai:text-embedding-3-small",
    json="{embedder, embedded, seconds}",
)


def command(
    data: Data = None, store: StoreUrl = None, embedder: Embedder = None, json: AsJson = False
) -> None:
    """Move a store to another embedder, in the background of its use.

    Searches use the former vectors until the last one is made; then all change at once. Stopped
    half-way, the next run goes on where it was.
    """
    settings = settings_of(data, store, embedder)
    must_exist(settings)
    import asyncio  # noqa: PLC0415

    from ...app import reembed_store  # noqa: PLC0415

    started = time.perf_counter()
    with warnings_as_lines(), progress_bar("embedding") as progress:
        embedded = asyncio.run(reembed_store(settings, progress))
    seconds = time.perf_counter() - started
    if json:
        write_json({"embedder": settings.embedder, "embedded": embedded, "seconds": seconds})
    else:
        results().print(
            f"embedded {embedded:,} units with {settings.embedder} in {seconds:.2f} s; "
            "the store uses it from now on",
            soft_wrap=True,
        )
