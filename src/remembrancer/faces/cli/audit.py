"""`remembrancer audit verify`: check that nobody has changed the audit log."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from ...nouns.errors import InvalidInput
from .options import AsJson, Data, StoreUrl, examples, settings_of
from .output import results, write_json
from .session import must_exist, with_app

if TYPE_CHECKING:
    from ...app import App
    from ...verbs.audit_chain import Verified

group = typer.Typer(
    name="audit",
    help="The audit log.",
    epilog=examples("remembrancer audit verify --bank ann"),
    no_args_is_help=True,
)

_HEAD = re.compile(r"(\d{1,18}):([0-9a-f]{64})")


@group.command(
    "verify",
    epilog=examples(
        "remembrancer audit verify --bank ann",
        "remembrancer audit verify --keys",
        "remembrancer audit verify --bank ann --expect 12:9f86d081…",
        json="{ok, entries, older, trimmed, head, faults: [...]}",
    ),
)
def verify(
    bank: Annotated[str, typer.Option("--bank", "-b", help="Whose log.")] = "default",
    tenant: Annotated[str, typer.Option("--tenant", help="Whose bank.")] = "default",
    keys: Annotated[
        bool, typer.Option("--keys", help="The log of API keys instead of a bank's.")
    ] = False,
    expect: Annotated[
        str | None,
        typer.Option(
            "--expect", metavar="N:HASH", help="The head of an earlier check.", show_default=False
        ),
    ] = None,
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """Check the hash chain of an audit log; exit with 1 when it does not hold.

    The last line is the head of the chain: keep it elsewhere, and give it to the next check, which
    then also finds a chain that somebody made anew.
    """
    expected = _head(expect)
    settings = settings_of(data, store, "none")
    must_exist(settings)

    async def work(app: App) -> Verified:
        from ...nouns.memory import BankRef  # noqa: PLC0415
        from ...verbs.access.keys import BANK  # noqa: PLC0415
        from ...verbs.audit_chain import verify  # noqa: PLC0415

        return await verify(app.store, BANK if keys else BankRef(tenant, bank), expected)

    found = with_app(settings, work)
    head = f"{found.head[0]}:{found.head[1]}"
    if json:
        told = {"entries": found.entries, "older": found.older, "trimmed": found.trimmed}
        write_json({"ok": found.ok, **told, "head": head, "faults": found.faults})
    else:
        results().print(
            f"{found.entries} entries, {found.trimmed} dropped for age, {found.older} from before "
            "there was a chain"
        )
        for fault in found.faults:
            results().print(f"wrong: {fault}", soft_wrap=True)
        results().print(f"head {head}", soft_wrap=True)
    if not found.ok:
        raise typer.Exit(1)


def _head(text: str | None) -> tuple[int, str] | None:
    if text is None:
        return None
    found = _HEAD.fullmatch(text)
    if found is None:
        raise InvalidInput(
            "expect must be N:HASH, as an earlier check has printed it", field="expect"
        )
    return int(found[1]), found[2]
