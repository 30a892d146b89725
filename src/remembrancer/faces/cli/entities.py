"""`remembrancer entities`: list who and what is mentioned; merge, split, rename, give aliases."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from .options import AsJson, Bank, Data, StoreUrl, examples, settings_of
from .output import counted, results, write_json, write_table
from .session import must_exist, tell_unknown_bank, with_app

if TYPE_CHECKING:
    from ...app import App
    from ...nouns.memory import BankRef, Entity
    from ...verbs.entities import Entities, EntityPage

T = TypeVar("T")

NAME = "entities"
_SHAPE = "{id, name, kind, aliases: [...], mentions, first_seen, last_seen}"
EPILOG = examples(
    "remembrancer entities list --bank ann",
    'remembrancer entities merge "Robert Ek" Bob --bank ann',
    "remembrancer entities split Robert --name Bob 0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10",
    'remembrancer entities rename Bob "Robert Ek"',
    'remembrancer entities alias "Robert Ek" Bobby --remove Rob',
)

group = typer.Typer(
    name=NAME,
    help="Who and what memories mention: list, merge, split, rename, alias. An ENTITY is named by "
    "a name, an alias, or its id.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Named = Annotated[str, typer.Argument(metavar="ENTITY", help="Its name, an alias, or its id.")]


@group.command(
    "list",
    epilog=examples(
        "remembrancer entities list --bank ann --containing ber",
        json=f"{{bank, total, entities: [{_SHAPE}]}}",
    ),
)
def list_entities(
    bank: Bank = "default",
    containing: Annotated[
        str | None,
        typer.Option("--containing", "-q", metavar="TEXT", help="A part of a name or alias."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Entities at most.")] = 100,
    offset: Annotated[int, typer.Option("--offset", min=0, help="Leave out so many.")] = 0,
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """List entities, most mentioned first."""

    async def work(verbs: Entities, ref: BankRef) -> EntityPage:
        return await verbs.listing(ref, containing=containing, limit=limit, offset=offset)

    page = _run(bank, data, store, work)
    if json:
        shapes = [_shape(entity) for entity in page.items]
        write_json({"bank": bank, "total": page.total, "entities": shapes})
        return
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("entity", "kind", "also called"):
        table.add_column(name, overflow="fold")
    table.add_column("mentions", justify="right")
    for entity in page.items:
        table.add_row(
            entity.name, entity.kind, ", ".join(entity.aliases), f"{entity.mention_count:,}"
        )
    if page.items:
        write_table(table)
    shown = len(page.items)
    results().print(f"{shown:,} of {page.total:,} entities" if shown else "no entities")


@group.command(
    "merge",
    epilog=examples('remembrancer entities merge "Robert Ek" Bob Bobby --bank ann', json=_SHAPE),
)
def merge(
    entity: Named,
    others: Annotated[
        list[str], typer.Argument(metavar="OTHER...", help="What becomes part of it.")
    ],
    bank: Bank = "default",
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """Make other entities part of one; their names become its aliases."""

    async def work(verbs: Entities, ref: BankRef) -> Entity:
        merged = [await verbs.which(ref, other) for other in others]
        return await verbs.merge(ref, await verbs.which(ref, entity), merged)

    _show(_run(bank, data, store, work), json)


@group.command(
    "split",
    epilog=examples(
        "remembrancer entities split Robert --name Bob 0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10",
        json=_SHAPE,
    ),
)
def split(
    entity: Named,
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Of memories.")],
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="Whom they mention; may be new.")
    ],
    bank: Bank = "default",
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """Let some memories mention the entity of another name instead, which is shown."""
    from ...nouns.ids import parse_id  # noqa: PLC0415

    unit_ids = [parse_id(each, "ids") for each in ids]

    async def work(verbs: Entities, ref: BankRef) -> Entity:
        return await verbs.split(ref, await verbs.which(ref, entity), name, unit_ids)

    _show(_run(bank, data, store, work), json)


@group.command(
    "rename",
    epilog=examples('remembrancer entities rename Bob "Robert Ek" --bank ann', json=_SHAPE),
)
def rename(
    entity: Named,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its new name.")],
    bank: Bank = "default",
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """Give an entity another name; the older one becomes an alias."""

    async def work(verbs: Entities, ref: BankRef) -> Entity:
        entity_id = await verbs.which(ref, entity)
        await verbs.change(ref, entity_id, name=name)
        return (await verbs.get(ref, entity_id)).entity

    _show(_run(bank, data, store, work), json)


@group.command(
    "alias",
    epilog=examples(
        'remembrancer entities alias "Robert Ek" Bobby --remove Rob --bank ann',
        json=f"{_SHAPE}, or null",
    ),
)
def alias(
    entity: Named,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Aliases to add.")
    ] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option("--remove", metavar="NAME", help="One to take away; may be given again."),
    ] = None,
    bank: Bank = "default",
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """Add aliases to an entity, or remove some; what is retained later finds it by them."""

    async def work(verbs: Entities, ref: BankRef) -> Entity | None:
        entity_id = await verbs.which(ref, entity)
        return await verbs.change(ref, entity_id, add=names or [], drop=remove or [])

    _show(_run(bank, data, store, work), json)


def _run(
    bank: str,
    data: Path | None,
    store: str | None,
    work: Callable[[Entities, BankRef], Awaitable[T]],
) -> T:
    """Do work on the entities of a bank; no embedder is loaded for it."""
    from ...nouns.names import bank_ref  # noqa: PLC0415

    settings = settings_of(data, store, "none")
    must_exist(settings)
    ref = bank_ref(bank)

    async def run(app: App) -> T:
        found = await work(app.entities, ref)
        await tell_unknown_bank(app, ref)
        return found

    return with_app(settings, run)


def _shape(entity: Entity) -> dict[str, Any]:
    from dataclasses import asdict  # noqa: PLC0415

    from ..library.entities import entity_of  # noqa: PLC0415

    return asdict(entity_of(entity))


def _show(entity: Entity | None, json: bool) -> None:
    if json:
        write_json(None if entity is None else _shape(entity))
        return
    if entity is None:
        results().print("nothing mentions it, and it has no alias left: it is gone")
        return
    also = f", also called {', '.join(entity.aliases)}" if entity.aliases else ""
    mentions = counted(entity.mention_count, "mention")
    results().print(f"{entity.name}{also}: {mentions}", soft_wrap=True)
