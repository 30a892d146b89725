"""`remembrancer prime`: the context that a conversation should start with."""

from __future__ import annotations

from dataclasses import asdict, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from .options import (
    MEMORY_JSON,
    AsJson,
    Bank,
    Data,
    Embedder,
    StoreUrl,
    examples,
    moment,
    settings_of,
)
from .output import counted, remark, results, write_json
from .session import must_exist, note_unknown_bank, with_app

if TYPE_CHECKING:
    from ...app import App
    from ..library.results import PrimedContext

NAME = "prime"
EPILOG = examples(
    "remembrancer prime --bank ann",
    "remembrancer prime --bank ann --cue 'the move to Berlin' --max 8",
    "remembrancer prime -b ann --cue music --prompt --max-tokens 800 > context.txt",
    json=f"{{bank, cue, memories: [{{score, relevance, strategy, {MEMORY_JSON}}}], "
    "temporal_count, similarity_count, embed_ms, total_ms, degraded, text, due: [{id, "
    "occurrence_id, content, importance, due_at, late, missed, state}]}",
)


class Order(StrEnum):
    """How the memories are sorted; see `verbs.prime.Order`, which would take long to import."""

    SCORE = "score"
    BLOCKS = "blocks"


def command(
    bank: Bank = "default",
    cue: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="What the conversation is about; without one the most recent come.",
            show_default=False,
        ),
    ] = None,
    most: Annotated[
        int | None,
        typer.Option("--max", metavar="N", help="Memories; 20 by default.", show_default=False),
    ] = None,
    ratio: Annotated[
        float | None,
        typer.Option(
            metavar="R",
            help="Share of recent ones: 0 all similar, 1 all recent; .5 by default.",
            show_default=False,
        ),
    ] = None,
    order: Annotated[
        Order,
        typer.Option(help="blocks: recent ones, oldest first, then similar ones by score."),
    ] = Order.SCORE,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, help="Estimated tokens of all texts at most.", show_default=False
        ),
    ] = None,
    now: Annotated[
        str | None,
        typer.Option(
            metavar="ISO", help="The time that ages are counted from.", show_default=False
        ),
    ] = None,
    prompt: Annotated[
        bool,
        typer.Option("--prompt", help="Print it as one text for a prompt: facts, recent, due."),
    ] = False,
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
    embedder: Embedder = None,
) -> None:
    """Print a context to start a conversation with, as text: recent and similar memories."""
    settings = settings_of(data, store, embedder)
    asked = moment(now, "now")
    must_exist(settings)

    async def work(app: App) -> tuple[PrimedContext, str | None]:
        from ...nouns.clock import to_us  # noqa: PLC0415
        from ...nouns.memory import DEFAULT_TENANT, BankRef  # noqa: PLC0415
        from ...verbs.prime import Order as Orders  # noqa: PLC0415
        from ...verbs.prime import defaults  # noqa: PLC0415
        from ...verbs.priming.text import compose  # noqa: PLC0415
        from ..library.results import context_of  # noqa: PLC0415

        ref = BankRef(DEFAULT_TENANT, bank)
        options = replace(
            defaults(await app.configs.of(ref), most, ratio),
            cue=cue,
            order=Orders(order.value),
            max_tokens=max_tokens,
            facts=prompt,
            now=None if asked is None else to_us(asked),
        )
        found = await app.prime(ref, options)
        due = await app.due(ref, cue) if found.intends else []
        text = compose(found, due, max_tokens=max_tokens) if prompt else None
        note = await note_unknown_bank(app, DEFAULT_TENANT, bank)
        return context_of(found, due, text), note

    context, note = with_app(settings, work)
    if note:
        remark(note, "yellow")
    if json:
        _write_json(bank, cue, context)
    elif context.text is not None:
        results().print(context.text, soft_wrap=True)
    else:
        _show(context)


def _write_json(bank: str, cue: str | None, context: PrimedContext) -> None:
    from .shapes import primed_shape  # noqa: PLC0415

    write_json(
        {
            "bank": bank,
            "cue": cue,
            "memories": [primed_shape(m) for m in context.memories],
            "temporal_count": context.temporal_count,
            "similarity_count": context.similarity_count,
            "embed_ms": context.embed_ms,
            "total_ms": context.total_ms,
            "degraded": context.degraded,
            "text": context.text,
            "due": [asdict(each) for each in context.due],
        }
    )


def _show(context: PrimedContext) -> None:
    from .shapes import context_line  # noqa: PLC0415

    out = results()
    for due in context.due:
        out.print(f"to do: {due.content}", soft_wrap=True)
    for primed in context.memories:
        out.print(context_line(primed.memory), soft_wrap=True)
    if context.degraded:
        remark(context.degraded, "yellow")
    remark(
        f"{counted(len(context.memories), 'memory', 'memories')} ({context.temporal_count} recent, "
        f"{context.similarity_count} similar) in {context.total_ms:.1f} ms"
    )
