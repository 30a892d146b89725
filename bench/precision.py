"""PrecisionMemBench: is what comes back right, and only that? Beliefs are kept, queries ask.

Each belief is retained as one text, "type: names: what it says", in its user's bank, with its
scopes as tags, under a document of its own. One that superseded others is retained under the
document of the first of them, which replaces them, and keeps their names; one that was resolved is
forgotten. A case is one recall of its scopes (a query without a word asks nothing, and gets
nothing). What its `mustInclude` and `shouldOnlyInclude` name is right, anything else is wrong.
Where nothing is right, precision is 1 when nothing comes back and else 0, and recall is 1; where
something is and nothing comes back, both are 0.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import remembrancer

from . import report
from .metrics import Figures, percentile

MOST = 50  # answers, where a case names no budget
MIN_RELEVANCE = 0.2  # of an answer; see `recall`
_RIGHT = (
    ("pinnedFacts", "mustInclude"),
    ("relevantBeliefs", "shouldOnlyInclude"),
    ("openQuestions", "mustInclude"),
)

Row = Mapping[str, Any]


def retain_beliefs(memory: remembrancer.Memory, beliefs: Sequence[Row]) -> None:
    """Keep beliefs through the public API; see the module."""
    by_id = {belief["_id"]: belief for belief in beliefs}
    for belief in beliefs:
        heir = heir_of(belief, by_id)
        if heir is not belief:
            _retain(memory, belief, (), heir["_id"])
    for belief in beliefs:
        if heir_of(belief, by_id) is belief:
            old = [o for o in beliefs if o is not belief and heir_of(o, by_id) is belief]
            _retain(memory, belief, [name for o in old for name in o["aliases"]], belief["_id"])
        if belief["resolved_at"]:
            memory.forget(documents=[belief["_id"]], bank=belief["user_id"])


def heir_of(belief: Row, by_id: Mapping[str, Row]) -> Row:
    """Return the belief that holds in the place of one, itself when it does."""
    seen = set()
    while belief["superseded_by"] in by_id and belief["_id"] not in seen:
        seen.add(belief["_id"])
        belief = by_id[belief["superseded_by"]]
    return belief


def text_of(belief: Row, more: Sequence[str] = ()) -> str:
    """Return the text that a belief is kept as; `more` are further names of it."""
    names = [belief["canonical_name"].replace("_", " "), *belief["aliases"], *more]
    kind = belief["type"].replace("_", " ")
    return f"{kind}: {', '.join(dict.fromkeys(names))}: {belief['content']}"


def right_of(case: Row) -> frozenset[str]:
    """Return the ids of what a case says should come back."""
    expected = case["expect"]
    return frozenset(name for part, key in _RIGHT for name in expected.get(part, {}).get(key) or ())


def run(beliefs: Sequence[Row], cases: Sequence[Row], folder: Path, options: Any) -> Figures:
    """Measure the cases with a memory in `folder`."""
    with remembrancer.open(folder, embedder=options.embedder) as memory:
        retain_beliefs(memory, beliefs)
        user = beliefs[0]["user_id"]
        ask_all(memory, cases, user, None)  # what is loaded at first use is
        figures = ask_all(memory, cases, user, options.min_relevance, options.show)
        for name, least in (("default", None), ("off", 0.0)):
            for figure, value in ask_all(memory, cases, user, least).items():
                if figure in ("precision", "recall"):
                    figures[f"{name}.{figure}"] = value
    return figures


def ask_all(
    memory: remembrancer.Memory,
    cases: Sequence[Row],
    user: str,
    least: float | None,
    show: bool = False,
) -> Figures:
    """Ask every case; return the means."""
    precisions, recalls, passed, times = [], [], 0, []
    for case in cases:
        right = right_of(case)
        started = time.perf_counter()
        got = _ask(memory, case, user, least)
        times.append((time.perf_counter() - started) * 1e3)
        precision, recall = judge(got, right)
        precisions.append(precision)
        recalls.append(recall)
        passed += got == right
        if show and got != right:
            wrong, missed = sorted(got - right), sorted(right - got)
            report.console.print(f"{case['caseId']}: wrong {wrong}, missed {missed}")
    return {
        "n": len(cases),
        "precision": sum(precisions) / len(cases),
        "recall": sum(recalls) / len(cases),
        "passed": passed,
        "p50_ms": percentile(times, 50),
    }


def judge(got: frozenset[str], right: frozenset[str]) -> tuple[float, float]:
    """Return precision and recall of a returned set."""
    if not right:
        return float(not got), 1.0
    hits = len(got & right)
    return (hits / len(got) if got else 0.0), hits / len(right)


def main(argv: Sequence[str] | None = None) -> Figures:
    """Run from the command line."""
    parser = report.parser(
        "precision",
        __doc__ or "",
        "python -m bench.precision beliefs.json cases.json --json precision.json",
    )
    parser.add_argument("beliefs", type=Path, help="the beliefs")
    parser.add_argument("cases", type=Path, help="the cases")
    parser.add_argument("--embedder", default="bge-small", help="as the setting of that name")
    parser.add_argument(
        "--min-relevance",
        type=float,
        default=MIN_RELEVANCE,
        help=f"of an answer, as `recall` takes it; {MIN_RELEVANCE} by default. The figures "
        "`default.` are those of recall as it is, `off.` those without any cut-off",
    )
    parser.add_argument("--show", action="store_true", help="print what was wrong or missed")
    options = parser.parse_args(argv)
    beliefs = json.loads(options.beliefs.read_text(encoding="utf-8"))
    cases = json.loads(options.cases.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        figures = run(beliefs, cases, Path(folder), options)
    report.show(f"PrecisionMemBench, min_relevance {options.min_relevance}", figures)
    report.write(options.json, figures)
    return figures


def _retain(memory: remembrancer.Memory, belief: Row, more: Sequence[str], document: str) -> None:
    memory.retain(
        text_of(belief, more),
        bank=belief["user_id"],
        document=document,
        tags=belief["scope"],
        metadata={"belief": belief["_id"]},
    )


def _ask(memory: remembrancer.Memory, case: Row, user: str, least: float | None) -> frozenset[str]:
    most = case.get("budget", {}).get("maxBeliefs", MOST)
    if most < 1 or not any(c.isalnum() for c in case["query"]):
        return frozenset()
    found = memory.recall(
        case["query"],
        bank=case.get("userId", user),
        limit=most,
        max_tokens=100_000,
        tags=case["scope"],
        tags_match="any_strict",
        min_relevance=least,
    )
    return frozenset(answer.memory.metadata["belief"] for answer in found)


if __name__ == "__main__":
    main()
