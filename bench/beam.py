"""BEAM: do the messages that hold the answer come back, by ability? Beside it plain BM25."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import remembrancer

from . import report
from .datasets import Chat, load_chats
from .metrics import Figures, group_sizes, retrieval_figures
from .retrieval import SYSTEMS, Asked, ask, bm25_rows, retain_chats

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
    figures = group_sizes(cases) | retrieval_figures(cases)
    for prefix, rows in bm25_rows(chats, lambda message: message.text).items():
        figures |= retrieval_figures(rows, prefix)
    figures |= asked.figures()
    figures["retain.messages_per_s"] = messages / seconds
    return figures


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
    report.show("", {n: v for n, v in figures.items() if n.startswith(("recall.", "retain."))})
    report.write(options.json, figures)
    return figures


if __name__ == "__main__":
    main()
