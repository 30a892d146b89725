"""ProactiveMemBench: does prime bring what an utterance should bring to mind, unasked?

A user's sessions are retained in one bank, a document a session. Each utterance is the cue of a
prime, the day after the last session. It should bring three concepts, such as "Recipe Notes": one
counts as brought when a primed memory holds at least half of its words (stemmed, stop words left
out; one of one or of two), and in `all_words` when one holds all of them. No model judges, so a
concept that the chat puts into other words counts as missed, and one whose words stand in a memory
about something else as brought; `chance` is the figure for as many memories drawn at random.
`tokens` is the mean estimate of what the primed memories take in a prompt.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import remembrancer
from remembrancer.finding.terms import Analyzer
from remembrancer.nouns.text import estimate_tokens

from . import report
from .metrics import Figures, percentile

MEMORIES = 20  # of a prime

_ANALYZER = Analyzer()

Row = Mapping[str, Any]


def retain_user(memory: remembrancer.Memory, topic: Row, bank: str) -> datetime:
    """Retain a user's sessions; return the day after the last turn."""
    last: datetime | None = None
    for session in topic["conversations"]:
        turns = session["turns"]
        memory.retain(
            [{k: turn[k] for k in ("role", "content", "timestamp")} for turn in turns],
            bank=bank,
            document=f"session-{session['session_id']}",
            timestamp=datetime.fromisoformat(turns[0]["timestamp"]),
        )
        ends = datetime.fromisoformat(turns[-1]["timestamp"])
        last = ends if last is None else max(last, ends)
    if last is None:
        raise ValueError("the file has no conversations")
    return last + timedelta(days=1)


def brought(concept: str, texts: Sequence[Collection[int]], share: float) -> bool:
    """Tell whether a memory holds a share of a concept's words.

    Args:
        concept: a few words.
        texts: the terms of each memory.
        share: 0 to 1.
    """
    wanted = set(_ANALYZER.terms(concept))
    return any(len(wanted & set(text)) >= max(1, share * len(wanted)) for text in texts)


def run(topics: Sequence[Row], folder: Path, options: Any) -> Figures:
    """Measure the utterances of several users with a memory in `folder`."""
    half: dict[str, list[float]] = {}
    whole: list[float] = []
    luck: list[float] = []
    tokens: list[float] = []
    times: list[float] = []
    chance = random.Random(11)
    with remembrancer.open(folder, embedder=options.embedder) as memory:
        for number, topic in enumerate(topics):
            bank = f"user-{number}"
            now = retain_user(memory, topic, bank)
            said = [t["content"] for c in topic["conversations"] for t in c["turns"]]
            for question in topic["questions"]:
                started = time.perf_counter()
                context = memory.prime(
                    bank=bank,
                    cue=question["question"],
                    max_memories=options.memories,
                    now=now,
                    reinforce=False,
                )
                times.append((time.perf_counter() - started) * 1e3)
                texts = [m.text for m in context.memories]
                tokens.append(sum(map(estimate_tokens, texts)))
                primed = [_ANALYZER.terms(text) for text in texts]
                drawn = [
                    _ANALYZER.terms(t) for t in chance.sample(said, min(len(texts), len(said)))
                ]
                for concept in (each["concept"] for each in question["candidate_set"]):
                    found = float(brought(concept, primed, 0.5))
                    for group in ("", f".{topic['topic']}"):
                        half.setdefault(group, []).append(found)
                    whole.append(float(brought(concept, primed, 1.0)))
                    luck.append(float(brought(concept, drawn, 0.5)))
    figures = {f"brought{group}": sum(v) / len(v) for group, v in half.items()}
    return figures | {
        "all_words": sum(whole) / len(whole),
        "chance": sum(luck) / len(luck),
        "tokens": sum(tokens) / len(tokens),
        "p50_ms": percentile(times, 50),
        "n": len(whole),
    }


def main(argv: Sequence[str] | None = None) -> Figures:
    """Run from the command line."""
    parser = report.parser(
        "proactive",
        __doc__ or "",
        "python -m bench.proactive cooking.json fitness.json --json proactive.json",
    )
    parser.add_argument("data", type=Path, nargs="+", help="files of the bench, a user each")
    parser.add_argument("--embedder", default="bge-small", help="as the setting of that name")
    parser.add_argument("--memories", type=int, default=MEMORIES, help="of a prime; 20 by default")
    options = parser.parse_args(argv)
    topics = [json.loads(path.read_text(encoding="utf-8")) for path in options.data]
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        figures = run(topics, Path(folder), options)
    report.show(f"ProactiveMemBench, prime of {options.memories}", figures)
    report.write(options.json, figures)
    return figures


if __name__ == "__main__":
    main()
