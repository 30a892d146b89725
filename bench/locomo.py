"""LoCoMo: do the turns that hold the answer come back? Beside it plain BM25 on the same turns."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import remembrancer
from remembrancer import Weights

from . import report
from .datasets import Chat, Message, load_chats
from .metrics import (
    Case,
    Figures,
    best_elsewhere,
    frac_at,
    group_sizes,
    retrieval_figures,
)
from .retrieval import SYSTEMS, Advance, Asked, ask, bm25_rows, retain_chats

LIMIT = 50
SPEECH = "cat1-4"  # what weights are chosen by

# Around the defaults, one thing changed at a time.
GRID = {
    "defaults": Weights(),
    "keywords": Weights(text=0.3, window=0.3, vector=0.2, window_vector=0.2),
    "more keywords": Weights(text=0.4, window=0.3, vector=0.15, window_vector=0.15),
    "vectors": Weights(text=0.1, window=0.1, vector=0.4, window_vector=0.4),
    "alone": Weights(text=0.3, window=0.1, vector=0.4, window_vector=0.2),
    "windows": Weights(text=0.1, window=0.3, vector=0.2, window_vector=0.4),
    "windows only": Weights(text=0.0, window=0.4, vector=0.0, window_vector=0.6),
    "turn only": Weights(text=0.4, window=0.0, vector=0.6, window_vector=0.0),
    "no speaker": Weights(speaker=0.0),
    "more speaker": Weights(speaker=0.3),
    "no time": Weights(time=0.0),
    "more time": Weights(time=0.4),
    "no length": Weights(length=0.0),
    "less length": Weights(length=0.2),
    "more length": Weights(length=0.5),
}

_ALONE = {
    "text": 0.0, "window": 0.0, "vector": 0.0, "window_vector": 0.0, "speaker": 0.0, "role": 0.0,
    "time": 0.0, "length": 0.0, "standing": 0.0,
}  # fmt: skip
ARMS = {arm: Weights(**{**_ALONE, arm: 1.0}) for arm in list(_ALONE)[:4]}
"""Each arm as a search of its own: the sum of them must not be worse than the best of them."""


def run(chats: Sequence[Chat], folder: Path, embedder: str) -> Figures:
    """Measure LoCoMo chats with a memory in `folder`."""
    asked = Asked()
    with remembrancer.open(folder, embedder=embedder) as memory, report.progress() as bars:
        retaining = bars.add_task("retain", total=sum(len(c.sessions) for c in chats))
        turns, seconds = retain_chats(memory, chats, lambda: bars.advance(retaining))
        asking = bars.add_task("recall", total=len(chats))
        cases = []
        for chat in chats:
            cases.append(ask(memory, chat, LIMIT, asked))
            bars.advance(asking)
        weighing = bars.add_task("leave one out", total=len(chats) * (len(GRID) - 1))
        loo = leave_one_out(memory, chats, cases, lambda: bars.advance(weighing))
        loo |= arms_alone(memory, chats, cases) | strangers(memory, chats)
    flat = [case for of_chat in cases for case in of_chat]
    figures = group_sizes(flat) | retrieval_figures(flat)
    for prefix, rows in bm25_rows(chats, spoken_text).items():
        figures |= retrieval_figures(rows, prefix)
    figures |= loo | asked.figures()
    figures["retain.turns_per_s"] = turns / seconds
    return figures


def leave_one_out(
    memory: remembrancer.Memory,
    chats: Sequence[Chat],
    by_default: Sequence[Sequence[Case]],
    advance: Advance,
) -> Figures:
    """Measure each chat with the weights of `GRID` that are best on all the others."""
    if len(chats) < 2:
        return {}
    values = {"defaults": [_fractions(cases) for cases in by_default]}
    for name, weights in GRID.items():
        if name in values:
            continue
        values[name] = []
        for chat in chats:
            values[name].append(_fractions(ask(memory, chat, LIMIT, weights=weights)))
            advance()
    chosen = [values[best_elsewhere(values, i)][i] for i in range(len(chats))]
    flat = [v for chat in chosen for v in chat]
    means = {n: sum(map(sum, v)) / max(1, sum(map(len, v))) for n, v in values.items()}
    report.show(f"frac@10.{SPEECH} by weights", means)
    return {f"loo.frac@10.{SPEECH}": sum(flat) / len(flat)} if flat else {}


def arms_alone(
    memory: remembrancer.Memory, chats: Sequence[Chat], fused: Sequence[Sequence[Case]]
) -> Figures:
    """Measure each arm alone, and how far above the best of them the sum is."""
    figures: Figures = {}
    for arm, weights in ARMS.items():
        values = [v for c in chats for v in _fractions(ask(memory, c, LIMIT, weights=weights))]
        figures[f"arm.{arm}.frac@10.{SPEECH}"] = sum(values) / max(1, len(values))
    whole = [v for cases in fused for v in _fractions(cases)]
    if whole:
        figures["arm.fused_above_best"] = sum(whole) / len(whole) - max(figures.values())
    return figures


def strangers(memory: remembrancer.Memory, chats: Sequence[Chat]) -> Figures:
    """Ask each chat its own questions and those of the next chat, of which it knows nothing.

    `known.*` and `unknown.*` are the shares that recall and reflect answer, by their defaults.
    """
    if len(chats) < 2:
        return {}
    figures: Figures = {}
    for name, shift in (("known", 0), ("unknown", 1)):
        recalled, told = [], []
        for i, chat in enumerate(chats):
            bank = chats[(i + shift) % len(chats)].name
            for question in chat.questions:
                recalled.append(bool(memory.recall(question.text, bank=bank, limit=1)))
                told.append(bool(memory.reflect(question.text, bank=bank).based_on))
        figures[f"{name}.recall_answers"] = sum(recalled) / max(1, len(recalled))
        figures[f"{name}.reflect_answers"] = sum(told) / max(1, len(told))
    return figures


def spoken_text(message: Message) -> str:
    """Return what plain BM25 reads of a turn."""
    return f"{message.speaker}: {message.text}"


def main(argv: Sequence[str] | None = None) -> Figures:
    """Run from the command line."""
    parser = report.parser(
        "locomo", __doc__ or "", "python -m bench.locomo locomo10.json --json locomo.json"
    )
    parser.add_argument("data", type=Path, help="a LoCoMo file")
    parser.add_argument("--embedder", default="bge-small", help="as the setting of that name")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        figures = run(load_chats(options.data), Path(folder), options.embedder)
    report.show_retrieval("LoCoMo, turns", figures, SYSTEMS)
    shown = ("loo.", "arm.", "known.", "unknown.", "recall.", "retain.")
    rest = {n: v for n, v in figures.items() if n.startswith(shown)}
    report.show("", rest)
    report.write(options.json, figures)
    return figures


def _fractions(cases: Sequence[Case]) -> list[float]:
    return [frac_at(case, 10) for case in cases if SPEECH in case.groups]


if __name__ == "__main__":
    main()
