"""`remembrancer documents`: what was handed in, verbatim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Bank, Data, StoreUrl, examples, settings_of
from .output import results, write_json
from .session import must_exist, tell_unknown_bank, with_app

if TYPE_CHECKING:
    from ...app import App
    from ...verbs.browse import ShownDocument

NAME = "documents"
_SHAPE = "{name, created_at, updated_at, length, memories, tags: [...], metadata: {...}}"
EPILOG = examples(
    "remembrancer documents list --bank ann --containing letter",
    "remembrancer documents show chat.txt --bank ann",
)

group = typer.Typer(
    name=NAME,
    help="The documents of a bank: list them, show one. `forget --document` erases one.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@group.command(
    "list",
    epilog=examples(
        "remembrancer documents list --bank ann --limit 20",
        json=f"{{bank, total, documents: [{_SHAPE}]}}",
    ),
)
def list_documents(
    bank: Bank = "default",
    containing: Annotated[
        str, typer.Option("--containing", "-q", metavar="TEXT", help="A part of the name.")
    ] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Documents at most.")] = 100,
    offset: Annotated[int, typer.Option("--offset", min=0, help="Leave out so many.")] = 0,
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """List documents, newest change first."""
    settings = settings_of(data, store, "none")
    must_exist(settings)

    async def work(app: App) -> tuple[list[ShownDocument], int]:
        from ...nouns.names import bank_ref  # noqa: PLC0415

        ref = bank_ref(bank)
        found, total = await app.browse.documents(ref, name=containing, limit=limit, offset=offset)
        if not total:
            await tell_unknown_bank(app, ref)
        return found, total

    found, total = with_app(settings, work)
    shapes = [_shape(each) for each in found]
    if json:
        write_json({"bank": bank, "total": total, "documents": shapes})
        return
    for each in shapes:
        line = f"{each['name']}  {each['memories']:,} memories and facts, "
        results().print(
            f"{line}{each['length']:,} characters, {each['updated_at']}", soft_wrap=True
        )
    results().print(f"{len(shapes):,} of {total:,} documents")


@group.command(
    "show",
    epilog=examples(
        "remembrancer documents show chat.txt --bank ann",
        json=f"{_SHAPE[:-1]}, text}}",
    ),
)
def show(
    name: Annotated[str, typer.Argument(help="Its name.")],
    bank: Bank = "default",
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """Print a document as it was handed in; what was forgotten of it is blacked out."""
    settings = settings_of(data, store, "none")
    must_exist(settings)

    async def work(app: App) -> ShownDocument:
        from ...nouns.names import bank_ref  # noqa: PLC0415

        return await app.browse.document(bank_ref(bank), name)

    found = with_app(settings, work)
    if json:
        write_json({**_shape(found), "text": found.text})
    else:
        results().print(found.text or "", soft_wrap=True)


def _shape(shown: ShownDocument) -> dict[str, Any]:
    from ...nouns.clock import iso  # noqa: PLC0415

    document = shown.document
    return {
        "name": document.name,
        "created_at": iso(document.created_at),
        "updated_at": iso(document.updated_at),
        "length": document.length,
        "memories": shown.count,
        "tags": list(document.tags),
        "metadata": dict(document.metadata or {}),
    }
