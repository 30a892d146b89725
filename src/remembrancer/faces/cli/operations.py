"""`remembrancer operations`: the work that is queued, runs, or has ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Bank, Data, StoreUrl, examples, settings_of
from .output import results, write_json
from .session import must_exist, with_app

if TYPE_CHECKING:
    from ...app import App
    from ...nouns.memory import BankRef, Job
    from ...verbs.operations import Operations

NAME = "operations"
_SHAPE = "{id, kind, state, created_at, updated_at, document, attempts, error, progress, result}"
EPILOG = examples(
    "remembrancer operations list --bank ann --state failed",
    "remembrancer operations retry 0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10 --bank ann",
)

group = typer.Typer(
    name=NAME,
    help="Work in the background: list, show, cancel, retry. A server or `worker` does it.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Named = Annotated[str, typer.Argument(metavar="ID", help="Of the operation.")]


class _State(StrEnum):
    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


@group.command(
    "list",
    epilog=examples(
        "remembrancer operations list --bank ann --state pending",
        json=f"{{bank, total, operations: [{_SHAPE}]}}",
    ),
)
def list_operations(
    bank: Bank = "default",
    state: Annotated[_State | None, typer.Option(help="Only these.", show_default=False)] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most.")] = 20,
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """List operations, the last queued first."""
    settings = settings_of(data, store, "none")
    must_exist(settings)

    async def work(app: App) -> tuple[list[Job], int]:
        from ...nouns.memory import JobState  # noqa: PLC0415
        from ...nouns.names import bank_ref  # noqa: PLC0415

        ref, wanted = bank_ref(bank), None if state is None else JobState(state.value)
        found = await app.store.jobs(ref, state=wanted, limit=limit)
        return found, await app.store.job_count(ref, state=wanted)

    jobs, total = with_app(settings, work)
    shapes = [_shape(job) for job in jobs]
    if json:
        write_json({"bank": bank, "total": total, "operations": shapes})
        return
    for each in shapes:
        _print(each)
    results().print(f"{len(shapes):,} of {total:,} operations")


@group.command(
    "show",
    epilog=examples(
        "remembrancer operations show 0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10 --bank ann", json=_SHAPE
    ),
)
def show(
    operation: Named,
    bank: Bank = "default",
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """Show how an operation stands, and what came of it."""
    _print(_after(operation, bank, data, store), json)


@group.command(
    "cancel",
    epilog=examples(
        "remembrancer operations cancel 0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10 --bank ann",
        json=_SHAPE,
    ),
)
def cancel(
    operation: Named,
    bank: Bank = "default",
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """Cancel what has not ended; a document that was being replaced is whole."""
    _print(_after(operation, bank, data, store, lambda verbs, ref, i: verbs.cancel(ref, i)), json)


@group.command(
    "retry",
    epilog=examples(
        "remembrancer operations retry 0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10 --bank ann", json=_SHAPE
    ),
)
def retry(
    operation: Named,
    bank: Bank = "default",
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """Queue what failed or was cancelled again."""
    _print(_after(operation, bank, data, store, lambda verbs, ref, i: verbs.retry(ref, i)), json)


def _after(
    operation: str,
    bank: str,
    data: Path | None,
    store: str | None,
    change: Callable[[Operations, BankRef, bytes], Awaitable[None]] | None = None,
) -> dict[str, Any]:
    """Change an operation, if so asked, and return how it stands."""
    from ...nouns.errors import NotFound  # noqa: PLC0415
    from ...nouns.ids import parse_id  # noqa: PLC0415

    operation_id = parse_id(operation, "id")
    settings = settings_of(data, store, "none")
    must_exist(settings)

    async def work(app: App) -> dict[str, Any]:
        from ...nouns.names import bank_ref  # noqa: PLC0415

        ref = bank_ref(bank)
        if change is not None:
            await change(app.operations, ref, operation_id)
        found = await app.operations.get(ref, operation_id)
        if found is None:
            raise NotFound(f"there is no such operation in bank {bank}", field="id")
        told = {"progress": found.progress, "result": found.result, "attempts": found.attempts}
        return {**_shape(found.job), **told}

    return with_app(settings, work)


def _shape(job: Job) -> dict[str, Any]:
    from ...nouns.clock import iso  # noqa: PLC0415
    from ...nouns.ids import to_uuid  # noqa: PLC0415

    return {
        "id": to_uuid(job.id),
        "kind": job.kind,
        "state": job.state.value,
        "created_at": iso(job.created_at),
        "updated_at": iso(job.updated_at),
        "document": job.document,
        "attempts": job.attempts,
        "error": job.error,
        "progress": job.progress,
        "result": job.result,
    }


def _print(shape: dict[str, Any], json: bool = False) -> None:
    if json:
        write_json(shape)
        return
    about = f"  {shape['document']}" if shape["document"] else ""
    error = f"  {shape['error']}" if shape["error"] else ""
    line = f"{shape['id']}  {shape['kind']}  {shape['state']}  {shape['updated_at']}{about}{error}"
    results().print(line, soft_wrap=True)
