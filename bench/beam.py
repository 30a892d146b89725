"""BEAM: do the messages that hold the answer come back, by ability? Beside it plain BM25.

`both@10.contradiction_resolution` is the share of questions about a contradiction for which all
messages of it are among the first ten. `prime.ABILITY` is the share of the gold messages in a prime
of 20 memories with the question as its cue, asked the day after the chat.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import remembrancer

from . import report
from .datasets import Chat, load_chats
from .metrics import Case, Figures, frac_at, group_sizes, retrieval_figures
from .retrieval import SYSTEMS, Asked, ask, bm25_rows, retain_chats, spoken

SHOWN = ("both@", "prime.", "recall.", "retain.")
PRIMED = 20
PRIME_FOR = ("preference_following", "instruction_following")
CONTRADICTION = "contradiction_resolution"
LIMIT = 200  # long messages come in passages; this leaves 50 distinct ones


def run(chats: Sequence[Chat], folder: Path, embedder: str) -> Figures:
    """Measure BEAM chats with a memory in `folder`."""
    asked = Asked()
    with remembrancer.open(folder, embedder=embedder) as memory, report.progress() as bars:
        retaining = bars.add_task("retain", total=sum(len(c.sessions) for c in chats))
        messages, seconds = retain_chats(memory, chats, lambda: bars.advance(retaining))
        asking = bars.add_task("recall", total=len(chats))
        cases = []
        for chat in chats:
            cases += ask(memory, chat, LIMIT, asked)
            bars.advance(asking)
        primed = prime_figures(memory, chats)
    figures = group_sizes(cases) | retrieval_figures(cases)
    for prefix, rows in bm25_rows(chats, lambda message: message.text).items():
        figures |= retrieval_figures(rows, prefix)
    if f"all@10.{CONTRADICTION}" in figures:
        figures[f"both@10.{CONTRADICTION}"] = figures[f"all@10.{CONTRADICTION}"]
    figures |= primed | asked.figures()
    figures["retain.messages_per_s"] = messages / seconds
    return figures


def prime_figures(memory: remembrancer.Memory, chats: Sequence[Chat]) -> Figures:
    """Prime for each question of the abilities that live on what was said to hold always."""
    shares: dict[str, list[float]] = {ability: [] for ability in PRIME_FOR}
    for chat in chats:
        turns = {s.name: [m.id for m in spoken(s)] for s in chat.sessions}
        for question in chat.questions:
            ability = question.groups[-1]
            if ability not in shares:
                continue
            context = memory.prime(
                bank=chat.name,
                cue=question.text,
                max_memories=PRIMED,
                now=chat.asked_at,
                reinforce=False,
            )
            told = [m.memory for m in context.memories]
            got = [turns[m.metadata["session"]][m.turn] for m in told]
            shares[ability].append(frac_at(Case(got, question.gold, ()), PRIMED))
    return {f"prime.{name}": sum(v) / len(v) for name, v in shares.items() if v}


def main(argv: Sequence[str] | None = None) -> Figures:
    """Run from the command line."""
    parser = report.parser(
        "beam", __doc__ or "", "python -m bench.beam beam100k.json --json beam.json"
    )
    parser.add_argument("data", type=Path, help="a BEAM file")
    parser.add_argument("--embedder", default="bge-small", help="as the setting of that name")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        figures = run(load_chats(options.data), Path(folder), options.embedder)
    report.show_retrieval("BEAM, messages", figures, SYSTEMS)
    report.show("", {n: v for n, v in figures.items() if n.startswith(SHOWN)})
    report.write(options.json, figures)
    return figures


if __name__ == "__main__":
    main()
