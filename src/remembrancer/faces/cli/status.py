"""`remembrancer status`: what is here, and whether all is well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .options import AsJson, Data, Embedder, StoreUrl, examples, settings_of
from .output import results, write_json, write_table
from .session import must_exist, with_app

if TYPE_CHECKING:
    from ...verbs.status import Status

NAME = "status"
EPILOG = examples(
    "remembrancer status",
    "remembrancer status --data ./data --json",
    json="{version, store: {ok, engine, schema, path, size_bytes}, embedder: {model, dim, ...} "
    "or null, pending_vectors, banks: [{bank, units, documents, revision, created_at, "
    "updated_at}], bank_count, notes: [...]}",
)


def command(
    data: Data = None, store: StoreUrl = None, embedder: Embedder = None, json: AsJson = False
) -> None:
    """Show version, store, embedder, banks with their counts, and what should be known."""
    settings = settings_of(data, store, embedder)
    must_exist(settings)
    found = with_app(settings, lambda app: app.status())
    if json:
        write_json(_shape(found))
    else:
        _show(found)


def _shape(found: Status) -> dict[str, Any]:
    from ...nouns.clock import iso  # noqa: PLC0415

    return {
        "version": found.version,
        "store": dict(found.store),
        "embedder": dict(found.embedder) if found.embedder else None,
        "pending_vectors": found.pending_vectors,
        "banks": [
            {
                "bank": bank.ref.bank,
                "units": bank.unit_count,
                "documents": bank.document_count,
                "revision": bank.revision,
                "created_at": iso(bank.created_at),
                "updated_at": iso(bank.updated_at),
            }
            for bank in found.banks
        ],
        "bank_count": found.bank_count,
        "notes": list(found.notes),
    }


def _show(found: Status) -> None:
    from rich.table import Table  # noqa: PLC0415

    from ...nouns.clock import from_us  # noqa: PLC0415
    from .dates import day_and_time  # noqa: PLC0415

    out = results()
    store = found.store
    embedder = found.embedder
    size = f"{store['size_bytes'] / 1e6:,.1f} MB"
    health = "ok" if store["ok"] else "NOT READABLE"
    out.print(f"remembrancer {found.version}", style="bold")
    place = store.get("path") or store.get("url")
    out.print(f"store     {place} ({store['engine']}, {size}, {health})", soft_wrap=True)
    model = f"{embedder['model']}, {embedder['dim']} dimensions" if embedder else "none"
    out.print(f"embedder  {model}", soft_wrap=True)
    if found.banks:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("bank", overflow="fold")
        for name in ("units", "documents", "revision"):
            table.add_column(name, justify="right", min_width=len(name))
        table.add_column("last change (UTC)", min_width=len("Wed 30 Dec 2026 23:59"))
        for bank in found.banks:
            table.add_row(
                bank.ref.bank,
                f"{bank.unit_count:,}",
                f"{bank.document_count:,}",
                str(bank.revision),
                day_and_time(from_us(bank.updated_at)),
            )
        out.print()
        write_table(table)
        if found.bank_count > len(found.banks):
            out.print(f"and {found.bank_count - len(found.banks):,} more banks", style="dim")
    else:
        out.print("no banks yet")
    for note in found.notes:
        out.print(f"note: {note}", style="yellow", soft_wrap=True)
