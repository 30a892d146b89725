"""Tells in words why an answer is there, and why there are no others."""

from __future__ import annotations

from collections.abc import Mapping

from .recollection import Answer, Arms, Recollection
from .trace import BM25, GRAPH, SEMANTIC, TEMPORAL, Trace

_WAYS = {
    SEMANTIC: "by meaning",
    BM25: "by words",
    GRAPH: "by what it is linked to",
    TEMPORAL: "by time",
}
_MUCH = 0.999  # of `Arms.length`


def explain(answer: Answer, ranks: Mapping[str, int] | None = None) -> str:
    """Return why an answer is there: what each arm found, and how likely it answers.

    Args:
        answer: of a recall.
        ranks: its places in the methods that found it, see `trace.Fused`.
    """
    told = _told(answer.arms)
    if ranks:
        places = [f"{rank} {_WAYS.get(way, way)}" for way, rank in ranks.items()]
        told.append(f"place {', '.join(places)}")
    if not answer.truth.holds:
        told.append("no longer so")
    if answer.proof.count > 1:
        told.append(f"said {answer.proof.count} times")
    if answer.relevance is not None:
        told.append(f"{_percent(answer.relevance)} likely to answer")
    return "; ".join(told) or "asked for by its id"


def explain_cut(found: Recollection) -> str | None:
    """Return why there are no other answers; None when nothing was cut off by relevance."""
    told = []
    if found.cut:
        further = "further " if found.answers else ""
        were = "candidate was" if found.cut == 1 else "candidates were"
        told.append(f"{found.cut} {further}{were} cut off as not relevant")
    if found.asked:
        ask = "only asks" if found.asked == 1 else "only ask"
        candidates = "" if told else "candidate " if found.asked == 1 else "candidates "
        told.append(f"{found.asked} {candidates}{ask}")
    if not told or found.answers:
        return "; ".join(told) or None
    likely = ""
    if found.known is not None and not found.asked:
        likely = f"an answer is {_percent(found.known)} likely; "
    return f"nothing known: {likely}{'; '.join(told)}"


def ranks_of(trace: Trace | None) -> dict[bytes, dict[str, int]]:
    """Return the places of the candidates of a trace in the methods that found them, by id."""
    return {} if trace is None else {fused.unit.id: fused.ranks for fused in trace.fused}


def _told(arms: Arms) -> list[str]:
    told = []
    if arms.keyword > 0:
        told.append(f"shares words with the question (BM25 {arms.keyword:.2f})")
    if arms.window_keyword > arms.keyword:
        told.append(f"with what was said before it more (BM25 {arms.window_keyword:.2f})")
    if arms.cosine is None:
        told.append("found by its words alone, since it is not embedded")
    else:
        told.append(f"alike in meaning (cosine {arms.cosine:.2f})")
        if arms.window_cosine is not None and arms.window_cosine > arms.cosine:
            told.append(f"after what was said before it more (cosine {arms.window_cosine:.2f})")
    if arms.speaker:
        told.append("said by a speaker that the question names")
    if arms.role:
        told.append("said by the one that the question is about")
    if arms.time >= 1:
        told.append("happened in the time that the question names")
    elif arms.time > 0:
        told.append("said in the time that the question names")
    if arms.standing:
        told.append("a standing instruction or preference")
    elif arms.length >= _MUCH:
        told.append("says much")
    return told


def _percent(value: float) -> str:
    """Spell a probability in whole percent: below 1 % as such."""
    return "under 1 %" if value < 0.01 else f"{value * 100:.0f} %"
