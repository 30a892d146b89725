"""The trace of a recall, in Hindsight's words."""

from __future__ import annotations

from typing import Any

from ...nouns.ids import to_uuid
from ...nouns.memory import Kind, Unit
from ...verbs.recall import RecallOptions, Recollection
from ...verbs.recalling.explain import explain, explain_cut, ranks_of
from ...verbs.recalling.trace import GRAPH, METHODS, Hit, Trace
from .moments import spell


def shape_trace(
    question: str, budget: str, options: RecallOptions, found: Recollection, trace: Trace
) -> dict[str, Any]:
    """Return the `trace` object.

    `rrf_merged` is our own fusion, which adds scaled scores instead of ranks, and `reranked` the
    same order again, since no reranker is used.
    """
    ranks = ranks_of(trace)
    return {
        "query": _query(question, budget, options, trace),
        "retrieval_results": _retrieval(options, trace),
        "rrf_merged": [
            {
                **_node(fused.unit),
                "rrf_score": fused.score,
                "source_ranks": fused.ranks,
                "final_rrf_rank": rank,
            }
            for rank, fused in enumerate(trace.fused, 1)
        ],
        "reranked": [
            {
                **_node(fused.unit),
                "rerank_score": fused.score,
                "rerank_rank": rank,
                "rrf_rank": rank,
                "rank_change": 0,
                "score_components": fused.shares,
            }
            for rank, fused in enumerate(trace.fused, 1)
        ],
        "entry_points": [],
        "visits": [],
        "pruned": [],
        "summary": _summary(found, trace),
        "final_results": [
            {
                **_node(answer.unit),
                "rank": rank,
                "score": answer.score,
                "relevance": answer.relevance,
                "explanation": explain(answer, ranks.get(answer.unit.id)),
            }
            for rank, answer in enumerate(found.answers, 1)
        ],
    }


def _query(question: str, budget: str, options: RecallOptions, trace: Trace) -> dict[str, Any]:
    told: dict[str, Any] = {
        "text": question,
        "embedding": [] if trace.vector is None else [float(v) for v in trace.vector],
        "budget": budget,
        "max_tokens": options.max_tokens,
    }
    if options.now is not None:
        told["timestamp"] = spell(options.now, options.offset_min)
    if trace.since is not None or trace.until is not None:
        told["temporal_constraint"] = {
            name: spell(us, options.offset_min)
            for name, us in (("start", trace.since), ("end", trace.until))
            if us is not None
        }
    return told


def _retrieval(options: RecallOptions, trace: Trace) -> list[dict[str, Any]]:
    """Return each method's results, a list for each fact type that it found."""
    kinds = list(Kind) if options.kinds is None else sorted(set(options.kinds))
    lists = []
    for method in METHODS:
        hits = trace.found[method]
        for kind in kinds:
            mine = [hit for hit in hits if hit.unit.kind is kind]
            if mine or kind is kinds[0]:  # each method is there, whether it found anything or not
                lists.append(_method(method, kind, mine, trace))
    return lists


def _method(method: str, kind: Kind, hits: list[Hit], trace: Trace) -> dict[str, Any]:
    graph = method == GRAPH
    return {
        "method_name": method,
        "fact_type": kind.name.lower(),
        "results": [
            {**_node(hit.unit), "rank": rank, "score": hit.score, "score_name": method}
            for rank, hit in enumerate(hits, 1)
        ],
        "duration_seconds": trace.graph_s if graph else trace.search_s,
        "metadata": {"ranked": trace.graph_ranked} if graph else {"measured": "all arms together"},
    }


def _summary(found: Recollection, trace: Trace) -> dict[str, Any]:
    times = found.timings
    phases = {
        "generate_query_embedding": times.embed_ms / 1e3,
        "search": trace.search_s,
        "graph": trace.graph_s,
        "fetch": times.rows_ms / 1e3,
    }
    return {
        "total_nodes_visited": trace.candidates,
        "total_nodes_pruned": 0,
        "results_returned": len(found.answers),
        "total_duration_seconds": times.total_ms / 1e3,
        "phase_metrics": [
            {"phase_name": name, "duration_seconds": seconds} for name, seconds in phases.items()
        ],
        "known": found.known,
        "cut_off": explain_cut(found),
    }


def _node(unit: Unit) -> dict[str, Any]:
    node = {
        "node_id": to_uuid(unit.id),
        "text": unit.text,
        "fact_type": unit.kind.name.lower(),
        "mentioned_at": spell(unit.mentioned_at, unit.offset_min),
    }
    if unit.note:
        node["context"] = unit.note
    return node
