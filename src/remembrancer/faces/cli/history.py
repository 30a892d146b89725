"""`remembrancer history`: the values that an attribute had, one after the other."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from .options import AsJson, Bank, Data, Embedder, StoreUrl, examples, moment, settings_of
from .output import results, write_json
from .session import must_exist, tell_unknown_bank, with_app

if TYPE_CHECKING:
    from ...app import App
    from ..library.results import HeldValue

NAME = "history"
EPILOG = examples(
    'remembrancer history "Where does Ann live?" --bank ann',
    "remembrancer history 0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10 --bank ann --as-of 2025-01-01",
    json="{what, bank, values: [{id, memory_id, text, subject, slot, value, stance, said_at, "
    "valid_from, valid_until, superseded_by, contradicts, holds}]}",
)


def command(
    what: Annotated[str, typer.Argument(help="A question, or the id of a memory or a fact.")],
    bank: Bank = "default",
    as_of: Annotated[
        str | None,
        typer.Option(metavar="ISO", help="What held then; now by default.", show_default=False),
    ] = None,
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
    embedder: Embedder = None,
) -> None:
    """Show what was true when: oldest first, a star before what holds."""
    at = moment(as_of, "as_of")
    settings = settings_of(data, store, embedder)
    must_exist(settings)

    async def work(app: App) -> list[HeldValue]:
        from ...nouns.clock import to_us  # noqa: PLC0415
        from ...nouns.errors import InvalidInput  # noqa: PLC0415
        from ...nouns.ids import parse_id  # noqa: PLC0415
        from ...nouns.names import bank_ref  # noqa: PLC0415
        from ...verbs.recall import RecallOptions  # noqa: PLC0415
        from ..library.results import held_of  # noqa: PLC0415

        ref, us = bank_ref(bank), None if at is None else to_us(at)
        try:
            unit_id = parse_id(what)
        except InvalidInput:
            found = await app.truth.asked(ref, what, RecallOptions(limit=5, as_of=us))
        else:
            found = await app.truth.history(ref, unit_id, us)
        if not found:
            await tell_unknown_bank(app, ref)
        return [held_of(each) for each in found]

    found = with_app(settings, work)
    if json:
        write_json({"what": what, "bank": bank, "values": [asdict(each) for each in found]})
        return
    for each in found:
        results().print(_line(each), soft_wrap=True)
    if not found:
        results().print("nothing is known of how it changed")


def _line(held: HeldValue) -> str:
    from .dates import day  # noqa: PLC0415

    begins = day(held.valid_from) if held.valid_from else "?"
    ends = day(held.valid_until) if held.valid_until else ""
    mark = "*" if held.holds else " "
    return f"{mark} {held.value}  [{begins} to {ends or 'now'}]  {held.text}"
