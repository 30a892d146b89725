"""`remembrancer prime`: the context that a conversation should start with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .options import MEMORY_JSON, AsJson, Bank, Data, Embedder, StoreUrl, examples, settings_of
from .output import remark, results, write_json
from .session import must_exist, note_unknown_bank, with_app

if TYPE_CHECKING:
    from ...app import App
    from ...settings import Settings
    from ...verbs.prime import PrimeOptions
    from ..library.results import PrimedContext

NAME = "prime"
EPILOG = examples(
    "remembrancer prime --bank ann",
    "remembrancer prime --bank ann --cue 'the move to Berlin' --max 8",
    "remembrancer prime -b ann --cue music --ratio 0 > context.txt",
    json=f"{{bank, cue, memories: [{{score, relevance, strategy, {MEMORY_JSON}}}], "
    "temporal_count, similarity_count, embed_ms, total_ms, degraded}",
)


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
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
    embedder: Embedder = None,
) -> None:
    """Print a context to start a conversation with, as text: recent and similar memories."""
    settings = settings_of(
        data, store, embedder, prime_max_memories=most, prime_temporal_ratio=ratio
    )
    must_exist(settings)

    async def work(app: App) -> tuple[PrimedContext, str | None]:
        from ...nouns.memory import DEFAULT_TENANT, BankRef  # noqa: PLC0415
        from ..library.results import context_of  # noqa: PLC0415

        context = await app.prime(BankRef(DEFAULT_TENANT, bank), _options(settings, cue))
        return context_of(context), await note_unknown_bank(app, DEFAULT_TENANT, bank)

    context, note = with_app(settings, work)
    if note:
        remark(note, "yellow")
    if json:
        _write_json(bank, cue, context)
    else:
        _show(context)


def _options(settings: Settings, cue: str | None) -> PrimeOptions:
    from ...nouns.clock import DAY_US  # noqa: PLC0415
    from ...verbs.prime import PrimeOptions  # noqa: PLC0415

    return PrimeOptions(
        max_memories=settings.prime_max_memories,
        cue=cue,
        temporal_ratio=settings.prime_temporal_ratio,
        window_us=int(settings.prime_window_days * DAY_US),
    )


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
        }
    )


def _show(context: PrimedContext) -> None:
    from .shapes import context_line  # noqa: PLC0415

    out = results()
    for primed in context.memories:
        out.print(context_line(primed.memory), soft_wrap=True)
    if context.degraded:
        remark(context.degraded, "yellow")
    remark(
        f"{len(context.memories)} memories ({context.temporal_count} recent, "
        f"{context.similarity_count} similar) in {context.total_ms:.1f} ms"
    )
