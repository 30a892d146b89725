"""`remembrancer reflect`: answer a question in words, out of what is remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Bank, Data, Embedder, StoreUrl, examples, moment, settings_of
from .output import remark, results, write_json
from .session import must_exist, note_unknown_bank, with_app

if TYPE_CHECKING:
    from ...app import App
    from ...verbs.answering import Answered

NAME = "reflect"
EPILOG = examples(
    'remembrancer reflect "What do I know about the flat?" --bank ann',
    'remembrancer reflect "Who is coming?" --bank ann --context "the party in July" --json',
    json="{question, bank, text, based_on: [{id, text}]}",
)


def command(
    question: Annotated[str, typer.Argument(help="In words.")],
    bank: Bank = "default",
    context: Annotated[
        str | None, typer.Option(help="What it is asked about.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Memories at most.")] = 10,
    now: Annotated[
        str | None,
        typer.Option(metavar="ISO", help="When it is asked; now by default.", show_default=False),
    ] = None,
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
    embedder: Embedder = None,
) -> None:
    """Answer a question in words, with their sources: quoted, or in those of a language model."""
    said = moment(now, "now")
    settings = settings_of(data, store, embedder)
    must_exist(settings)

    async def work(app: App) -> tuple[Answered, str | None]:
        from ...nouns.clock import to_us  # noqa: PLC0415
        from ...nouns.names import bank_ref  # noqa: PLC0415
        from ...verbs.reflect import ReflectOptions  # noqa: PLC0415

        ref = bank_ref(bank)
        at = None if said is None else to_us(said)
        options = ReflectOptions(limit=limit, context=context, now=at)
        found = await app.answering(ref, question, options)
        return found, await note_unknown_bank(app, ref.tenant, bank)

    answered, note = with_app(settings, work)
    found = answered.found
    if note:
        remark(note, "yellow")
    if answered.degraded:
        remark(answered.degraded, "yellow")
    based_on = [_shape(answer) for answer in found.based_on]
    if json:
        write_json({"question": question, "bank": bank, "text": found.text, "based_on": based_on})
        return
    results().print(found.text, soft_wrap=True)
    for each in based_on:
        remark(f"id {each['id']}")


def _shape(answer: Any) -> dict[str, str]:
    from ...nouns.ids import to_uuid  # noqa: PLC0415

    return {"id": to_uuid(answer.unit.id), "text": answer.unit.text}
