"""`remembrancer intentions`: list what is to be done later, check what is due, remove it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ...nouns.errors import InvalidInput, NotFound
from ...nouns.ids import parse_id, to_uuid
from .options import AsJson, Bank, Data, Embedder, StoreUrl, examples, settings_of
from .output import counted, remark, results, write_json
from .remind import ITEM_JSON, item, waits_for
from .session import must_exist, with_app

if TYPE_CHECKING:
    from ...app import App
    from ...nouns.intention import Intention
    from ...nouns.memory import BankRef
    from ...verbs.check import Checked, Due

T = TypeVar("T")

NAME = "intentions"
EPILOG = examples(
    "remembrancer intentions list --bank ann",
    "remembrancer intentions check --bank ann --event deploy",
    "remembrancer intentions remove 0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10 --bank ann",
)

group = typer.Typer(
    name=NAME,
    help="What is to be done later: list it, check what is due, remove it. `remembrancer remind` "
    "registers it.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@group.command(
    "list",
    epilog=examples(
        "remembrancer intentions list --state active --bank ann",
        json=f"{{bank, total, items: [{ITEM_JSON}]}}",
    ),
)
def list_intentions(
    bank: Bank = "default",
    state: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STATE",
            help="proposed, active, paused, done, cancelled, expired; may be given again.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most.")] = 100,
    offset: Annotated[int, typer.Option("--offset", min=0, help="Leave out so many.")] = 0,
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """List intentions in the order of registration."""
    from ...nouns.intention import IntentionState  # noqa: PLC0415

    if unknown := set(state or ()) - set(IntentionState):
        raise InvalidInput(
            f"--state {sorted(unknown)[0]!r}: choose {', '.join(IntentionState)}", field="state"
        )
    states = [IntentionState(each) for each in state] if state else None

    async def work(app: App, ref: BankRef) -> tuple[list[Intention], int]:
        return await app.remind.listing(ref, states, limit, offset)

    found, total = _run(bank, data, store, "none", work)
    if json:
        write_json({"bank": bank, "total": total, "items": [item(i) for i in found]})
        return
    for i in found:
        done = "" if i.state is IntentionState.ACTIVE else f"  ({i.state})"
        results().print(f"{to_uuid(i.id)}  {i.content}  [{waits_for(i)}]{done}", soft_wrap=True)
    count = f"{len(found):,} of {counted(total, 'intention')}"
    results().print(count if found else "no intentions")


@group.command(
    "check",
    epilog=examples(
        'remembrancer intentions check --about "which recipe shall we cook?" --bank ann',
        "remembrancer intentions check --peek --json",
        json="{bank, items: [{…as in list, occurrence: {id, token, due_at, late, missed_count, "
        "…}}], remaining, warnings: [...]}",
    ),
)
def check(
    bank: Bank = "default",
    event: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="What has just happened; may be given again."),
    ] = None,
    about: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What is talked about.", show_default=False),
    ] = None,
    peek: Annotated[bool, typer.Option("--peek", help="Only look: all stays due.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", help="At most.")] = 100,
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
    embedder: Embedder = None,
) -> None:
    """Show what is due now, most important first, and count it as done; with --peek only look."""
    from ...verbs.check import CheckOptions, Mode  # noqa: PLC0415

    mode = Mode.PEEK if peek else Mode.CONSUME
    options = CheckOptions(events=event or (), text=about, mode=mode, limit=limit)

    async def work(app: App, ref: BankRef) -> Checked:
        return await app.check(ref, options)

    found = _run(bank, data, store, embedder, work)
    for warning in found.warnings:
        remark(warning, "yellow")
    if json:
        write_json(
            {
                "bank": bank,
                "items": [_due(each) for each in found.due],
                "remaining": found.remaining,
                "warnings": list(found.warnings),
            }
        )
        return
    for due in found.due:
        late = f"  ({due.late_us // 60_000_000:,} min late)" if due.late else ""
        missed = f"  (for {due.occurrence.missed:,} missed ones, too)"
        line = f"{due.intention.content}{late}{missed if due.occurrence.missed else ''}"
        results().print(line, soft_wrap=True)
    if not found.due:
        results().print("nothing is due")
    if found.remaining:
        remark(f"{found.remaining:,} more are due")


@group.command(
    "remove",
    epilog=examples(
        "remembrancer intentions remove 0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10 --bank ann",
        json="{bank, removed}",
    ),
)
def remove(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Of intentions.")],
    bank: Bank = "default",
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """Erase intentions with their occurrences."""
    wanted = [parse_id(each, "ids") for each in ids]

    async def work(app: App, ref: BankRef) -> int:
        return await app.remind.remove(ref, wanted)

    removed = _run(bank, data, store, "none", work)
    if json:
        write_json({"bank": bank, "removed": removed})
    if not removed:
        raise NotFound(f"none of these is in bank {bank}: nothing was removed")
    if not json:
        results().print(f"removed {removed:,}")


def _due(due: Due) -> dict[str, Any]:
    from ..http.intention_shapes import shown_due  # noqa: PLC0415

    return shown_due(due).model_dump(by_alias=True, exclude_none=True)


def _run(
    bank: str,
    data: Path | None,
    store: str | None,
    embedder: str | None,
    work: Callable[[App, BankRef], Awaitable[T]],
) -> T:
    from ...nouns.names import bank_ref  # noqa: PLC0415

    settings = settings_of(data, store, embedder)
    must_exist(settings)
    ref = bank_ref(bank)

    async def run(app: App) -> T:
        return await work(app, ref)

    return with_app(settings, run)
