"""`remembrancer forget`: erase memories for good."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...nouns.errors import InvalidInput, NotFound
from .erasing import erase, erase_tenant, write_receipt
from .options import AsJson, Bank, Data, Embedder, StoreUrl, examples, settings_of
from .output import progress_bar, remark, results, write_json
from .session import must_exist, with_app
from .sweep import Swept, tell_swept

if TYPE_CHECKING:
    from ...app import App
    from ...verbs.forget import Receipt

NAME = "forget"
EPILOG = examples(
    "remembrancer forget 0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10 --bank ann",
    "remembrancer forget --document chat.json --bank ann --yes",
    "remembrancer forget --entity 'Ben Ode' --bank ann --receipt ben.json    (a person)",
    "remembrancer forget --all --bank ann --receipt ann.json    (the whole bank)",
    "remembrancer forget --tenant acme --receipt acme.json    (a tenant with all banks)",
    json="{bank, erased: [ids], documents: [...], missing: [ids], missing_documents: [...], "
    "revision, swept}; with --entity, --all or --tenant the receipt: {format, version, bank, "
    "entity, whole, erased: [ids], erased_count, intentions: [ids], remaining, at, swept, copies}",
)


@dataclass(frozen=True, slots=True)
class _Done:
    receipt: Receipt
    swept: Swept


def command(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Of memories or facts.")
    ] = None,
    documents: Annotated[
        list[str] | None,
        typer.Option(
            "--document", "-d", metavar="NAME", help="A whole document; may be given again."
        ),
    ] = None,
    entity: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="All that mentions a person or thing: a name, an alias, an id.",
            show_default=False,
        ),
    ] = None,
    whole: Annotated[bool, typer.Option("--all", help="The bank with everything in it.")] = False,
    tenant: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A tenant with all its banks; its data key goes first, where texts are sealed.",
            show_default=False,
        ),
    ] = None,
    receipt: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write what was erased.", show_default=False),
    ] = None,
    bank: Bank = "default",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
    embedder: Embedder = None,
) -> None:
    """Erase memories by id, or whole documents: from rows, indexes and the bytes on disk.

    A fact and the turn that says it are one memory: they go together. Copies made by `backup`
    are not touched.
    """
    settings = settings_of(data, store, embedder)
    must_exist(settings)
    names = documents or []
    if tenant is not None:
        if ids or names or entity is not None or whole:
            raise InvalidInput("give --tenant alone: it takes all of its banks", field="tenant")
        erase_tenant(settings, tenant, receipt, ask=not yes, json=json)
        return
    if entity is not None or whole:
        if ids or names or (entity is not None and whole):
            raise InvalidInput("give one of IDs, --document, --entity and --all", field="entity")
        erase(settings, bank, entity, receipt, ask=not yes, json=json)
        return

    async def work(app: App) -> _Done:
        lines = await _look_up(app, bank, ids or [], names)
        if lines and not yes:
            _confirm(lines)
        return await _forget(app, bank, ids or [], names)

    done = with_app(settings, work)
    shape = _shape(bank, names, done)
    if receipt is not None:
        write_receipt(receipt, shape)
    if json:
        write_json(shape)
    nothing = not shape["erased"] and not shape["documents"]
    if not json and not nothing:
        _show(shape)
    if nothing:
        raise NotFound(f"none of these is in bank {bank}: nothing was forgotten")
    tell_swept(settings, done.swept, quiet=json)


async def _look_up(app: App, bank: str, ids: Sequence[str], documents: Sequence[str]) -> list[str]:
    """Return what would be erased, as lines for people."""
    from ...nouns.ids import parse_id  # noqa: PLC0415
    from ...nouns.memory import DEFAULT_TENANT, BankRef  # noqa: PLC0415

    if not ids and not documents:
        raise InvalidInput("name what to forget: IDs or --document NAME", field="ids", limit=1)
    lines = []
    async with app.store.snapshot(BankRef(DEFAULT_TENANT, bank)) as view:
        units = await view.units([parse_id(i) for i in ids])
        sources = await view.units([u.source_id or u.id for u in units])
        lines += [u.text for u in {u.id: u for u in sources}.values()]
        for name in documents:
            document = await view.document(name)
            if document is not None:
                count = len(await view.units_of(document.id))
                lines.append(f"document {name} with {count:,} memories and facts")
    return lines


def _confirm(lines: Sequence[str]) -> None:
    if not sys.stdin.isatty():
        raise InvalidInput("nobody is here to confirm: add --yes", field="yes")
    for line in lines:
        remark(f"  {line}", "yellow")
    typer.confirm(f"Forget {'these' if len(lines) != 1 else 'this'} for good?", abort=True)


async def _forget(app: App, bank: str, ids: Sequence[str], documents: Sequence[str]) -> _Done:
    from ...nouns.ids import parse_id  # noqa: PLC0415
    from ...nouns.memory import DEFAULT_TENANT, BankRef  # noqa: PLC0415
    from .sweep import sweep_now  # noqa: PLC0415

    ref = BankRef(DEFAULT_TENANT, bank)
    receipt = await app.forget(ref, unit_ids=[parse_id(i) for i in ids], documents=documents)
    if not receipt.erased and not receipt.documents:
        return _Done(receipt, Swept(done=False))
    with progress_bar("removing from disk"):
        return _Done(receipt, await sweep_now(app, ref))


def _shape(bank: str, documents: Sequence[str], done: _Done) -> dict[str, Any]:
    from ...nouns.ids import to_uuid  # noqa: PLC0415

    receipt = done.receipt
    return {
        "bank": bank,
        "erased": [to_uuid(i) for i in receipt.erased],
        "documents": list(receipt.documents),
        "missing": [to_uuid(i) for i in receipt.missing],
        "missing_documents": [d for d in documents if d not in receipt.documents],
        "revision": receipt.revision,
        "swept": done.swept.done,
    }


def _show(shape: dict[str, Any]) -> None:
    out = results()
    for name in shape["documents"]:
        out.print(f"forgot document {name}", soft_wrap=True)
    if shape["erased"]:
        out.print(f"forgot {len(shape['erased'])} memories and facts:", style="bold")
        for unit_id in shape["erased"]:
            out.print(f"  {unit_id}", soft_wrap=True)
    for missing in (*shape["missing"], *shape["missing_documents"]):
        remark(f"not in bank {shape['bank']}: {missing}", "yellow")
