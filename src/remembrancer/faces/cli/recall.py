"""`remembrancer recall`: ask a memory."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from .options import (
    MEMORY_JSON,
    AsJson,
    Bank,
    Data,
    Embedder,
    StoreUrl,
    Tags,
    examples,
    moment,
    offset_minutes,
    settings_of,
)
from .output import remark, results, write_json, write_line
from .session import must_exist, note_unknown_bank, with_app

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ...app import App
    from ...verbs.recall import RecallOptions
    from ..library.results import Answers, Fact, Found, Memory

NAME = "recall"
EPILOG = examples(
    'remembrancer recall "Where does Ann live?" --bank ann',
    'remembrancer recall "What did we plan last week?" -b ann --now 2026-05-08',
    'remembrancer recall "allergies" -b ann --limit 3 --json',
    json=f"{{question, bank, answers: [{{rank, score, relevance, {MEMORY_JSON}, why: "
    "{keyword, window_keyword, cosine, window_cosine, speaker, role, time, length, standing}}], "
    "considered, tokens, revision, timings: {embed_ms, search_ms, rows_ms, total_ms}, degraded, "
    "known, cut_off}; with --neighbours each answer has before and after, lists of memories",
)


def command(
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="In plain words; may name a time.")
    ],
    bank: Bank = "default",
    limit: Annotated[int, typer.Option("--limit", "-n", help="Answers at most.")] = 10,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            help="Estimated tokens of all answers at most; 4096 by default.", show_default=False
        ),
    ] = None,
    now: Annotated[
        str | None,
        typer.Option(
            metavar="ISO",
            help="When it is asked, for 'last week' and the like.",
            show_default=False,
        ),
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of", metavar="ISO", help="Answer with what held then.", show_default=False
        ),
    ] = None,
    tags: Tags = None,
    tags_match: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="any, all, any_strict, all_strict, exact; the strict ones leave out what has no "
            "tags.",
        ),
    ] = "any",
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Tell why each answer is there, and what was cut off."),
    ] = False,
    min_relevance: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="Leave out what is less likely than this to answer, 0 to 1; 0: nothing. By "
            "default nothing is answered when nothing is known.",
            show_default=False,
        ),
    ] = None,
    neighbours: Annotated[
        int,
        typer.Option(metavar="N", help="Show N turns before and after each answer, 10 at most."),
    ] = 0,
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
    embedder: Embedder = None,
) -> None:
    """Find what answers a question, best first, verbatim, with the facts read from it."""
    settings = settings_of(data, store, embedder, recall_max_tokens=max_tokens)
    asked, then = moment(now, "now"), moment(as_of, "as-of")
    must_exist(settings)

    async def work(app: App) -> tuple[Answers, str | None]:
        from ...nouns.memory import DEFAULT_TENANT, BankRef  # noqa: PLC0415
        from ..library.results import answers_of  # noqa: PLC0415

        options = _options(limit, settings.recall_max_tokens, asked, then, tags, tags_match)
        options = replace(
            options, min_relevance=min_relevance, trace=explain, neighbours=neighbours
        )
        found = await app.recall(BankRef(DEFAULT_TENANT, bank), question, options)
        return answers_of(found), await note_unknown_bank(app, DEFAULT_TENANT, bank)

    answers, note = with_app(settings, work)
    if note:
        remark(note, "yellow")
    if json:
        _write_json(question, bank, answers)
    else:
        _show(answers, explain)


def _options(
    limit: int,
    max_tokens: int,
    asked: datetime | None,
    then: datetime | None,
    tags: list[str] | None,
    tags_match: str,
) -> RecallOptions:
    from ...finding.tagging import TagFilter, TagMatch  # noqa: PLC0415
    from ...nouns.clock import to_us  # noqa: PLC0415
    from ...nouns.errors import InvalidInput  # noqa: PLC0415
    from ...verbs.recall import RecallOptions  # noqa: PLC0415

    if tags_match not in list(TagMatch):
        known = ", ".join(TagMatch)
        raise InvalidInput(f"--tags-match {tags_match!r}: choose {known}", field="tags_match")
    return RecallOptions(
        limit=limit,
        max_tokens=max_tokens,
        now=None if asked is None else to_us(asked),
        offset_min=offset_minutes(asked),
        as_of=None if then is None else to_us(then),
        tags=TagFilter(tuple(tags), TagMatch(tags_match)) if tags else None,
    )


def _write_json(question: str, bank: str, answers: Answers) -> None:
    from .shapes import found_shape  # noqa: PLC0415

    write_json(
        {
            "question": question,
            "bank": bank,
            "answers": [found_shape(i, found) for i, found in enumerate(answers, 1)],
            "considered": answers.considered,
            "tokens": answers.tokens,
            "revision": answers.revision,
            "timings": asdict(answers.timings),
            "degraded": answers.degraded,
            "known": answers.known,
            "cut_off": answers.cut_off,
        }
    )


def _show(answers: Answers, explain: bool) -> None:
    out = results()
    reasons = answers.explain() if explain else [None] * len(answers)
    for rank, (found, reason) in enumerate(zip(answers, reasons, strict=True), 1):
        _show_one(out, rank, found, reason)
    if answers.cut_off and (explain or not answers):
        remark(answers.cut_off, "yellow")
        if not answers:
            remark("--min-relevance 0 shows what was cut off")
    if answers.degraded:
        remark(answers.degraded, "yellow")
    count = "nothing found" if not answers else f"{len(answers)} of {answers.considered} found"
    times = answers.timings
    remark(
        f"{count} in {times.total_ms:.1f} ms (question {times.embed_ms:.1f}, search "
        f"{times.search_ms:.1f}, rows {times.rows_ms:.1f})"
    )


def _show_one(out: Console, rank: int, found: Found, reason: str | None) -> None:
    from rich.text import Text  # noqa: PLC0415

    from .dates import day_and_time, period  # noqa: PLC0415
    from .shapes import who  # noqa: PLC0415

    memory = found.memory
    head = Text.assemble(
        (f"{rank:>2}  ", "bold"),
        (f"{found.score:.3f}", "dim"),
        "  ",
        (f"{who(memory)}, " if who(memory) else "", "bold cyan"),
        (day_and_time(memory.said_at), "cyan"),
    )
    if memory.occurred is not None:
        head.append(f"  [{period(memory.occurred)}]", "green")
    if not found.holds:
        since = f" since {day_and_time(found.valid_until)}" if found.valid_until else ""
        head.append(f"  no longer so{since}", "yellow")
    if found.contradicts:
        head.append(f"  contradicts {', '.join(found.contradicts)}", "yellow")
    write_line(out, head)
    for near in found.before:
        write_line(out, Text(_said(near), "dim"), 6)
    write_line(out, Text(memory.text), 4)
    for near in found.after:
        write_line(out, Text(_said(near), "dim"), 6)
    for fact in memory.facts:
        write_line(out, _fact_line(fact), 4)
    if reason is not None:
        write_line(out, Text(f"because: {reason}", "dim"), 4)
        arms = ", ".join(
            f"{name} {'none' if value is None else format(value, '.3f')}"
            for name, value in asdict(found.why).items()
        )
        write_line(out, Text(f"why: {arms}", "dim"), 4)
    write_line(out, Text(f"id {memory.id}", "dim"), 4)


def _said(memory: Memory) -> str:
    from .shapes import who  # noqa: PLC0415

    return f"{who(memory)}: {memory.text}" if who(memory) else memory.text


def _fact_line(fact: Fact) -> Text:
    from rich.text import Text  # noqa: PLC0415

    from .dates import period  # noqa: PLC0415

    line = Text.assemble(("- ", "dim"), (f"{fact.subject}: " if fact.subject else "", "bold"))
    line.append(fact.text)
    marks = [fact.modality] if fact.modality != "asserted" else []
    marks += ["negated"] if fact.negated else []
    if marks:
        line.append(f" ({', '.join(marks)})", "yellow")
    if fact.occurred is not None:
        line.append(f" [{period(fact.occurred)}]", "green")
    return line
