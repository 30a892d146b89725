"""Shows what the demo did, for a terminal of 80 columns or more."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ....nouns.clock import from_us
from ....nouns.intention import Intention
from ....nouns.memory import Modality, Polarity, Unit
from ....verbs.check import Due
from ...library.results import Memory, Period, PrimedContext
from ..dates import day, period
from ..shapes import context_line, who
from .play import Asked, Forgotten, Kept, spread
from .restart import Heard, Told
from .script import Script

_FACTS = 12


def opening(out: Console, script: Script) -> None:
    """Say what the demo works on."""
    first, last = script.sessions[0].started, script.sessions[-1].started
    turns = sum(len(s.messages) for s in script.sessions)
    out.print(
        Panel(
            f"A made-up conversation of Maya and her assistant: {len(script.sessions)} sessions, "
            f"{turns} turns,\n{day(first)} to {day(last)}. "
            f"The clock of this demo starts on {day(script.clock)}.\n"
            "Everything below is measured or read back now, on this machine.",
            title="Remembrancer",
            border_style="cyan",
        )
    )


def kept(out: Console, done: Kept) -> None:
    """Show what was retained, and some facts with the dates that were resolved."""
    _heading(out, "1. retain: keep what was said")
    out.print(
        f"{done.turns} turns kept verbatim; {done.facts} facts and {done.entities} entities read "
        f"from them, in {done.seconds:.2f} s\n(and {done.warm_seconds:.2f} s to load the model)."
    )
    chosen = spread(done.dated, _FACTS)
    out.print(f"{len(chosen)} of the {len(done.dated)} facts that name a time:\n", style="dim")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True)
    table.add_column("said", no_wrap=True, style="dim")
    table.add_column("about", style="bold", max_width=14)
    table.add_column("fact", ratio=1)
    table.add_column("time meant", style="green", max_width=24)
    for fact in chosen:
        table.add_row(*_fact_cells(fact))
    out.print(table)


def asked(out: Console, question: Asked) -> None:
    """Show a question with its best answers."""
    answers = question.answers
    body = Table.grid(padding=(0, 1))
    for rank, found in enumerate(answers, 1):
        body.add_row(Text(str(rank), "bold"), _answer(found.memory, found.score))
    if not answers:
        body.add_row(Text("no answer", "dim"))
    out.print(
        Panel(
            body,
            title=Text(question.question, "bold"),
            title_align="left",
            subtitle=Text(f"{answers.timings.total_ms:.1f} ms", "dim"),
            subtitle_align="right",
            border_style="blue",
        )
    )


def heading_recall(out: Console) -> None:
    """Begin the second part."""
    _heading(out, "2. recall: find it again")


def primed(out: Console, cue: str, context: PrimedContext) -> None:
    """Show a primed context as the text that a prompt would take."""
    _heading(out, "3. prime: what a conversation should start with")
    out.print(f"cue: {cue}\n", style="dim")
    for memory in context.memories:
        line = Text(context_line(memory.memory))
        line.stylize("dim", 0, len("[2026-01-01]"))
        out.print(Padding(line, (0, 0, 0, 2)))
    out.print(
        f"\n{len(context.memories)} memories: {context.temporal_count} recent, "
        f"{context.similarity_count} similar to the cue; {context.total_ms:.1f} ms",
        style="dim",
    )


def intended(out: Console, script: Script, done: Kept) -> None:
    """Show the intentions that were found in what was said."""
    _heading(out, "4. remind: what it is to come back to")
    out.print("Found in the conversation, each linked to the turn that says it:\n", style="dim")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True)
    table.add_column("what", ratio=1)
    table.add_column("when", style="green", ratio=1)
    table.add_column("state", no_wrap=True, style="dim")
    for intention in done.intentions:
        table.add_row(intention.content, _trigger(intention, script.clock), intention.state.value)
    out.print(table)


def reminded(
    out: Console, script: Script, early: Sequence[Due], due: Sequence[Due], source: Unit | None
) -> None:
    """Show that a reminder comes when it is due, and not before."""
    before = script.due - timedelta(seconds=1)
    out.print("This demo's clock is put forward by two days.\n", style="dim")
    out.print(_due_panel(f"{before:%a %d %b %H:%M:%S}: what is due?", early, None))
    out.print(_due_panel(f"{script.due:%a %d %b %H:%M:%S}: what is due?", due, source))


def brought_up(out: Console, talk: str, due: Sequence[Due]) -> None:
    """Show the reminder that a topic brings up."""
    out.print(_due_panel(f"“{talk}”", due, None))


def told(out: Console, first: Told) -> None:
    """Show what a server was told before it was stopped; the reminder comes in part 4."""
    out.print("A server, on the real clock and over the same folder:\n", style="dim")
    table = _times()
    table.add_row(f"{first.at:%H:%M:%S}", f"is told at {first.url}:")
    table.add_row("", Text(f"“{first.sentence}”", "bold"))
    table.add_row(f"{first.stopped_at:%H:%M:%S}", f"has stopped, with exit code {first.exit_code}")
    out.print(table)


def heard(out: Console, second: Heard) -> None:
    """Show the reminder that another server has sent when its time had come."""
    out.print("\nThe sentence that the stopped server was told in part 1:\n", style="dim")
    table = _times()
    rows = [
        (second.started_at, f"another server is up at {second.url}"),
        (second.due_at, "it is due"),
    ]
    for at, what in sorted(rows):
        table.add_row(f"{at:%H:%M:%S}", what)
    table.add_row(
        f"{second.at:%H:%M:%S}",
        f"and sent, {second.late_s:.2f} s later; acknowledged there: {second.state}",
    )
    out.print(table)
    out.print(
        Panel(
            Text(second.content, "bold"),
            title=Text("intention.due", "bold"),
            title_align="left",
            border_style="magenta",
        )
    )


def _times() -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(style="green", no_wrap=True)
    table.add_column()
    return table


def _due_panel(title: str, due: Sequence[Due], source: Unit | None) -> Panel:
    body = Text("nothing", "dim")
    if due:
        body = Text("\n".join(each.intention.content for each in due), "bold")
    if source is not None:
        body.append(f"\nbecause {source.speaker} said: {source.text}", "dim")
    return Panel(body, title=Text(title, "bold"), title_align="left", border_style="magenta")


def _trigger(intention: Intention, clock: datetime) -> str:
    if intention.trigger_at is not None:
        return f"{from_us(intention.trigger_at).astimezone(clock.tzinfo):%a %d %b %Y %H:%M}"
    return f"when it is about: {intention.cue_text or intention.trigger_event}"


def forgotten(out: Console, secret: Asked, done: Forgotten) -> None:
    """Show a memory before and after it was forgotten."""
    _heading(out, "5. forget: erase, not hide")
    asked(out, secret)
    receipt = done.receipt
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    table.add_row("asked to forget", done.target.id)
    table.add_row("receipt", f"{len(receipt.erased)} erased (the turn and the facts read from it)")
    table.add_row("", f"{len(receipt.missing)} missing, bank at revision {receipt.revision}")
    table.add_row("swept from disk", "yes" if done.swept else "not yet")
    table.add_row("took", f"{done.seconds:.2f} s")
    out.print(table)
    out.print("\nThe same question again:", style="dim")
    asked(out, done.after)
    out.print("The bytes of all files of the data folder, searched:", style="dim")
    places = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True)
    places.add_column("words", ratio=1)
    places.add_column("before", justify="right")
    places.add_column("after", justify="right", style="bold")
    for words, count in done.places_before.items():
        left = done.places_after[words]
        places.add_row(words, f"{count} times", f"{left} times" if left else "not found")
    out.print(places)


def summary(out: Console, done: Kept, questions: Sequence[Asked], context: PrimedContext) -> None:
    """Show the timings."""
    _heading(out, "6. timings")
    times = [q.answers.timings.total_ms for q in questions]
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(justify="right")
    table.add_column(style="dim")
    table.add_row("retain", f"{done.turns / done.seconds:.0f} turns/s", "read, embedded, on disk")
    table.add_row(
        "recall",
        f"{statistics.median(times):.1f} ms",
        f"p50 of {len(times)} questions, each embedded",
    )
    table.add_row("prime", f"{context.total_ms:.1f} ms", f"{len(context.memories)} memories")
    out.print(table)


def onward(out: Console) -> None:
    """Say what to try next."""
    _heading(out, "next")
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(style="dim")
    table.add_row("remembrancer serve --data ./data", "with a console; in a checkout: make serve")
    table.add_row("remembrancer demo --keep", "leaves this conversation for your questions")
    table.add_row("docs/start.md", "the first ten minutes")
    out.print(table)


def _heading(out: Console, text: str) -> None:
    out.print()
    out.rule(Text(text, "bold cyan"), align="left", style="cyan")


def _answer(memory: Memory, score: float) -> Text:
    line = Text(f"{who(memory)}, {day(memory.said_at)}", "cyan")
    if memory.occurred is not None:
        line = Text.assemble(line, (f"  about {period(memory.occurred)}", "green"))
    return Text.assemble(line, (f"  {score:.2f}", "dim"), "\n", memory.text)


def _fact_cells(fact: Unit) -> tuple[str, str, str, str]:
    marks = [fact.modality.value] if fact.modality is not Modality.ASSERTED else []
    marks += ["negated"] if fact.polarity is Polarity.NEGATED else []
    text = fact.text + (f" ({', '.join(marks)})" if marks else "")
    said = _local(fact.mentioned_at, fact)
    return f"{said:%Y-%m-%d}", fact.subject or "", text, period(_occurred(fact))


def _occurred(fact: Unit) -> Period | None:
    if fact.occurred_start is None or fact.occurred_end is None:
        return None
    return _local(fact.occurred_start, fact), _local(fact.occurred_end, fact)


def _local(us: int, fact: Unit) -> datetime:
    return from_us(us).astimezone(timezone(timedelta(minutes=fact.offset_min or 0)))
