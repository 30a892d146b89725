"""`remembrancer keys`: make, list, revoke and rotate API keys; who did so."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from .options import AsJson, Data, StoreUrl, examples, moment, settings_of
from .output import counted, remark, results, write_json, write_table
from .session import must_exist, with_app

if TYPE_CHECKING:
    from ...app import App
    from ...settings import Settings
    from ...verbs.access.key_rows import Key, NewKey

T = TypeVar("T")

NAME = "keys"
_TRANSPORT = "cli"
_SHAPE = (
    "{id, name, tenant, permissions: [...], banks: [...], max_tier_rank, expires_at, created_at, "
    "last_used_at, rotated_at, revoked_at}"
)
_WITH_SECRET = _SHAPE.replace("{id,", "{key, id,")
EPILOG = examples(
    "remembrancer keys create laptop",
    "remembrancer keys create ops --permission admin --permission read",
    "remembrancer keys create acme-bot --tenant acme --reaches 'customer-*' --expires 2027-01-01",
    "remembrancer keys list",
    "remembrancer keys rotate 0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10 --grace 3600",
    "remembrancer keys revoke 0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10",
)

group = typer.Typer(
    name=NAME,
    help="API keys: who may use the server, as which tenant, for what. From the first one on, a "
    "server asks for them; one that runs learns of it within five seconds.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
)

KeyId = Annotated[str, typer.Argument(metavar="ID", help="As listed.")]


@group.command(
    "create",
    epilog=examples(
        "remembrancer keys create laptop",
        "remembrancer keys create dashboard --permission read --reaches 'team-*'",
        json=_WITH_SECRET,
    ),
)
def create(
    name: Annotated[str, typer.Argument(help="Who uses it.")],
    tenant: Annotated[str, typer.Option("--tenant", help="Whose data.")] = "default",
    permission: Annotated[
        list[str] | None,
        typer.Option(
            "--permission",
            "-p",
            help="read, write, admin or cross_tenant; may be given again. read and write by "
            "default.",
        ),
    ] = None,
    reaches: Annotated[
        list[str] | None,
        typer.Option(
            "--reaches",
            metavar="PATTERN",
            help="Banks it reaches, such as 'customer-*'; may be given again. All by default.",
        ),
    ] = None,
    max_tier_rank: Annotated[
        float | None,
        typer.Option("--max-tier-rank", help="Highest tier rank of intentions that it sees."),
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", metavar="TIME", help="ISO 8601; never by default.")
    ] = None,
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """Make a key and print it. It is shown this once."""
    settings = settings_of(data, store, "none")
    until = moment(expires, "expires")

    async def work(app: App) -> NewKey:
        from ...nouns.clock import to_us  # noqa: PLC0415
        from ...verbs.access.key_options import KeyOptions, may_hold  # noqa: PLC0415

        options = KeyOptions(
            name=name,
            tenant=tenant,
            permissions=may_hold(permission or ["read", "write"]),
            banks=tuple(reaches or ()),
            max_tier_rank=max_tier_rank,
            expires_at=None if until is None else to_us(until),
        )
        return await app.keys.create(options, transport=_TRANSPORT)

    _show_new(with_app(settings, work), json)


@group.command(
    "list",
    epilog=examples("remembrancer keys list --tenant acme", json=f"{{keys: [{_SHAPE}]}}"),
)
def list_keys(
    tenant: Annotated[
        str | None, typer.Option("--tenant", help="Of this tenant; of all by default.")
    ] = None,
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """List keys, newest first, revoked ones too."""

    async def work(app: App) -> list[Key]:
        return [*await app.keys.list(tenant)]

    keys = _run(data, store, work)
    if json:
        write_json({"keys": [_shape(key) for key in keys]})
        return
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("id", "name", "tenant", "permissions", "banks", "last used", "state"):
        table.add_column(title, overflow="fold", no_wrap=title == "id")
    for key in keys:
        shape = _shape(key)
        table.add_row(
            key.id,
            key.options.name,
            key.options.tenant,
            " ".join(shape["permissions"]),
            " ".join(key.options.banks) or "all",
            (shape["last_used_at"] or "never")[:16],
            _state(shape),
        )
    if keys:
        write_table(table)
    results().print(counted(len(keys), "key") if keys else "no keys: servers ask for none")


@group.command(
    "revoke",
    epilog=examples("remembrancer keys revoke 0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10", json=_SHAPE),
)
def revoke(
    key_id: KeyId,
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """Refuse a key from now on; servers that run learn of it within five seconds."""

    async def work(app: App) -> Key:
        return await app.keys.revoke(key_id, transport=_TRANSPORT)

    key = _run(data, store, work)
    if json:
        write_json(_shape(key))
    else:
        results().print(f"revoked {key.options.name} ({key.id})", soft_wrap=True)


@group.command(
    "rotate",
    epilog=examples(
        "remembrancer keys rotate 0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10 --grace 3600",
        json=_WITH_SECRET,
    ),
)
def rotate(
    key_id: KeyId,
    grace: Annotated[
        float,
        typer.Option("--grace", metavar="SECONDS", help="How long the old one is still taken."),
    ] = 0,
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """Give a key another secret and print it. It is shown this once."""

    async def work(app: App) -> NewKey:
        return await app.keys.rotate(key_id, grace, transport=_TRANSPORT)

    _show_new(_run(data, store, work), json)


@group.command(
    "log",
    epilog=examples(
        "remembrancer keys log --limit 20",
        json="{entries: [{at, action, transport, key_id, tenant, permissions: [...], by}]}",
    ),
)
def log(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Entries at most.")] = 100,
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """Tell which keys were made, rotated and revoked, newest first; `by` is the key that asked."""

    async def work(app: App) -> list[dict[str, Any]]:
        from ...nouns.clock import iso  # noqa: PLC0415

        return [
            {
                "at": iso(entry.created_at),
                "action": entry.data["action"],
                "transport": entry.data["transport"],
                **entry.data["metadata"],
            }
            for entry in await app.keys.log(limit)
        ]

    entries = _run(data, store, work)
    if json:
        write_json({"entries": entries})
        return
    for entry in entries:
        by = f" by {entry['by']}" if entry["by"] else ""
        results().print(
            f"{entry['at']} {entry['action']} {entry['key_id']} of {entry['tenant']} "
            f"({entry['transport']}{by})",
            soft_wrap=True,
        )


def _run(data: Path | None, store: str | None, work: Callable[[App], Awaitable[T]]) -> T:
    """Do work on the keys of a memory that is there; no embedder is loaded for it."""
    settings: Settings = settings_of(data, store, "none")
    must_exist(settings)
    return with_app(settings, work)


def _show_new(made: NewKey, json: bool) -> None:
    if json:
        write_json({"key": made.secret, **_shape(made.key)})
        return
    sys.stdout.write(f"{made.secret}\n")
    remark(f"{made.key.options.name}, id {made.key.id}: keep it, it is not shown again")


def _state(shape: dict[str, Any]) -> str:
    if shape["revoked_at"]:
        return f"revoked {shape['revoked_at'][:10]}"
    return f"until {shape['expires_at'][:16]}" if shape["expires_at"] else "valid"


def _shape(key: Key) -> dict[str, Any]:
    from ...nouns.clock import iso  # noqa: PLC0415

    options = key.options
    return {
        "id": key.id,
        "name": options.name,
        "tenant": options.tenant,
        "permissions": sorted(options.permissions),
        "banks": list(options.banks),
        "max_tier_rank": options.max_tier_rank,
        "expires_at": iso(options.expires_at),
        "created_at": iso(key.created_at),
        "last_used_at": iso(key.last_used_at),
        "rotated_at": iso(key.rotated_at),
        "revoked_at": iso(key.revoked_at),
    }
