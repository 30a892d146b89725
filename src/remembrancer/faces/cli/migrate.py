"""`remembrancer migrate`: bring a store's schema up to date before servers use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .options import AsJson, Data, StoreUrl, examples, settings_of
from .output import results, warnings_as_lines, write_json

if TYPE_CHECKING:
    from ...settings import Settings

NAME = "migrate"
EPILOG = examples(
    "remembrancer migrate --store postgresql://me@db/memory",
    "remembrancer migrate --check --store postgresql://me@db/memory    (1: it is behind)",
    json="{before, after, known}",
)


def command(
    data: Data = None,
    store: StoreUrl = None,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit with 1 if it is behind.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Create the store's tables or bring them up to date; may be run again at any time.

    Servers do so themselves when they start. What is up to date already is not touched.
    """
    settings = settings_of(data, store)
    import asyncio  # noqa: PLC0415

    with warnings_as_lines():
        before, after, known = asyncio.run(_migrate(settings, check))
    if json:
        write_json({"before": before, "after": after, "known": known})
    elif after == known:
        results().print(f"schema {before} -> {after}: up to date", soft_wrap=True)
    else:
        results().print(f"schema {after}: behind, {known} is the newest", soft_wrap=True)
    if after < known:
        raise typer.Exit(1)


async def _migrate(settings: Settings, check: bool) -> tuple[int, int, int]:
    from ...keeping.opening import open_store  # noqa: PLC0415
    from ...nouns.clock import SystemClock  # noqa: PLC0415

    store = open_store(settings, SystemClock())
    before, known = await store.schema()
    if check:
        return before, before, known
    await store.open()
    await store.close()
    after, known = await store.schema()
    return before, after, known
