"""`remembrancer import`: exports of other programs, notes, mails and calendars into a bank."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Bank, Data, Embedder, StoreUrl, Tags, Tenant, examples, settings_of
from .output import counted, remark, remarks, results, write_json
from .session import with_app

if TYPE_CHECKING:
    from ...app import App
    from ...verbs.transferring.report import Report

NAME = "import"
EPILOG = examples(
    "remembrancer import chatgpt-export.zip --bank ann",
    "remembrancer import ~/Notes --bank ann --format obsidian --tag notes",
    "remembrancer import memory.jsonl --bank agent --format mcp",
    "remembrancer import ann.jsonl --bank ann --data ./new    (what `export` wrote)",
    "remembrancer import mail.mbox --bank ann --dry-run",
    json="{bank, formats: {format: files}, documents, replaced, unchanged, memories, intentions, "
    "intentions_there, graph, graph_there, unembedded, left_count, reasons: {why: count}, "
    "left: [{where, why, count}], dry_run, seconds}",
)


class _Format(StrEnum):
    AUTO = "auto"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    MEM0 = "mem0"
    HINDSIGHT = "hindsight"
    HEBBS = "hebbs"
    MCP = "mcp"
    MARKDOWN = "markdown"
    OBSIDIAN = "obsidian"
    CSV = "csv"
    JSONL = "jsonl"
    MBOX = "mbox"
    ICS = "ics"
    BANK = "bank"
    ARCHIVE = "archive"


def command(
    path: Annotated[
        Path, typer.Argument(metavar="FILE_OR_FOLDER", help="A file, a folder, or a ZIP file.")
    ],
    bank: Bank = "default",
    wanted: Annotated[
        _Format, typer.Option("--format", "-f", help="What it is; auto: each file's own.")
    ] = _Format.AUTO,
    tags: Tags = None,
    anew: Annotated[
        bool,
        typer.Option("--anew", help="Also documents of which something was forgotten since."),
    ] = False,
    as_named: Annotated[
        bool,
        typer.Option("--as-named", help="Each exported bank into the bank that it was of."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be taken.")
    ] = False,
    json: AsJson = False,
    tenant: Tenant = "default",
    data: Data = None,
    store: StoreUrl = None,
    embedder: Embedder = None,
) -> None:
    """Take what other programs keep into a bank.

    Everything has a name of its own, so an import that was stopped is simply run again: it goes on
    where it was, and nothing is taken twice. What is not taken is told with the reason.
    """
    settings = settings_of(data, store, embedder).model_copy(update={"auth": "off"})
    started = time.perf_counter()

    async def work(app: App) -> Report:
        from ...nouns.names import bank_ref, tenant_name  # noqa: PLC0415
        from ...reading.importing.detect import Format  # noqa: PLC0415
        from ...verbs.transferring.take import Take  # noqa: PLC0415
        from .graph import GraphKeeping  # noqa: PLC0415

        ref = bank_ref(bank, tenant=tenant_name(tenant))
        graph = GraphKeeping(app, bank) if tenant == "default" else None
        take = Take(app.store, app.retain, app.calendars, keep_graph=graph)
        chosen = None if wanted is _Format.AUTO else Format(wanted.value)
        try:
            with _counting(path.name) as progress:
                return await take(
                    ref,
                    path.expanduser(),
                    wanted=chosen,
                    tags=tags or (),
                    anew=anew,
                    as_named=as_named,
                    dry_run=dry_run,
                    progress=progress,
                )
        finally:
            if graph is not None:
                await graph.close()

    report = with_app(settings, work)
    shape = _shape(bank, report, dry_run, round(time.perf_counter() - started, 3))
    if json:
        write_json(shape)
    else:
        _show(shape)
    if shape["left_count"] and path.expanduser().is_file() and not any(_told(shape)):
        raise typer.Exit(1)  # nothing came of the file that was named


@contextmanager
def _counting(label: str) -> Iterator[Callable[[int, str], None] | None]:
    """Yield a callback that shows how much was looked at; None without a terminal."""
    console = remarks()
    if not console.is_terminal:
        yield None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.completed} read"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, where: bar.update(task, completed=done, description=where[-60:])


def _shape(bank: str, report: Report, dry_run: bool, seconds: float) -> dict[str, Any]:
    return {
        "bank": bank,
        "formats": dict(report.formats),
        "documents": report.documents,
        "replaced": report.replaced,
        "unchanged": report.unchanged,
        "memories": report.memories,
        "intentions": report.intentions,
        "intentions_there": report.intentions_there,
        "graph": report.graph,
        "graph_there": report.graph_there,
        "unembedded": report.unembedded,
        "left_count": report.left_count,
        "reasons": dict(report.reasons.most_common()),
        "left": [{"where": e.where, "why": e.why, "count": e.count} for e in report.left],
        "dry_run": dry_run,
        "seconds": seconds,
    }


_COUNTED = (  # of what, in the singular and the plural
    ("documents", "document", "documents"),
    ("replaced", "document replaced", "documents replaced"),
    ("unchanged", "document there already", "documents there already"),
    ("memories", "memory", "memories"),
    ("intentions", "intention", "intentions"),
    ("intentions_there", "intention there already", "intentions there already"),
    ("graph", "node, observation or relation", "nodes, observations and relations"),
    ("graph_there", "of these there already", "of these there already"),
)


def _told(shape: dict[str, Any]) -> Iterator[str]:
    """Yield in words what was taken, or is there already."""
    for key, one, many in _COUNTED:
        if shape[key]:
            yield counted(shape[key], one, many)


def _show(shape: dict[str, Any]) -> None:
    out = results()
    formats = ", ".join(f"{name} ({count})" for name, count in shape["formats"].items())
    told = [*_told(shape)]
    did = "would take" if shape["dry_run"] else "took"
    out.print(f"read {formats or 'nothing'}", soft_wrap=True)
    summary = f"{did} into bank {shape['bank']}: {'; '.join(told) or 'nothing'}"
    out.print(f"{summary}; {shape['seconds']:.2f} s", style="bold", soft_wrap=True)
    for why, count in shape["reasons"].items():
        out.print(f"left {count:,}: {why}", soft_wrap=True)
    if shape["left"]:
        remark("--json names each that was left")
    if shape["unembedded"]:
        remark(f"{shape['unembedded']} memories wait for the embedder; words find them meanwhile")
