"""Opens the memory for the length of one command."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ...nouns.errors import NotFound
from .output import remark, warnings_as_lines

if TYPE_CHECKING:
    from ...app import App
    from ...nouns.memory import BankRef
    from ...settings import Settings

T = TypeVar("T")

_DATABASE = "memory.db"


def with_app(settings: Settings, work: Callable[[App], Awaitable[T]]) -> T:
    """Open the memory, do the work, close it; background work is left to servers."""
    import asyncio  # noqa: PLC0415

    from ...app import App  # noqa: PLC0415

    async def run() -> T:
        app = await App.open(settings, background=False)
        try:
            return await work(app)
        finally:
            await app.close()

    with warnings_as_lines():
        return asyncio.run(run())


def must_exist(settings: Settings) -> None:
    """Refuse a folder that is not there: reading from a mistyped one would only make it.

    Raises:
        NotFound: says so and how to go on.
    """
    from ...keeping.opening import on_postgres, store_folder  # noqa: PLC0415

    if on_postgres(settings) or store_folder(settings).is_dir():
        return
    option, hint = (
        ("data DIR", _one_here(settings)) if settings.store is None else ("store URL", "")
    )
    raise NotFound(
        f"there is no memory in {store_folder(settings)} yet: `remembrancer retain FILE` makes "
        f"one, --{option} names another folder{hint}",
        field=option.partition(" ")[0],
    )


async def note_unknown_bank(app: App, tenant: str, bank: str) -> str | None:
    """Return a remark when a bank does not exist, with the names of some that do."""
    from ...nouns.memory import BankRef  # noqa: PLC0415

    if await app.store.bank(BankRef(tenant, bank)) is not None:
        return None
    names = [b.ref.bank for b in await app.store.banks(tenant, limit=10)]
    choose = " (--bank names one)" if names else ""
    there = app.settings.folder if app.settings.store is None else "this store"
    return (
        f"there is no bank {bank!r} in {there}; banks: {', '.join(names) or 'none yet'}{choose}"
        f"{_one_here(app.settings)}"
    )


async def tell_unknown_bank(app: App, ref: BankRef) -> None:
    """Remark on a bank that does not exist, of which nothing can be shown."""
    note = await note_unknown_bank(app, ref.tenant, ref.bank)
    if note:
        remark(note, "yellow")


def _one_here(settings: Settings) -> str:
    """Hint at the folder that `make serve` and the guides use, where it is and is not meant."""
    here = Path("data")
    if not (here / _DATABASE).is_file() or here.resolve() == settings.folder.resolve():
        return ""
    return "; there is one in ./data: --data ./data, or REMEMBRANCER_DATA=./data"
