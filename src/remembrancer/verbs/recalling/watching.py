"""Watches recalls: where the time of each went, and why one was slow."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from ...nouns.ids import to_uuid
from ...nouns.memory import BankRef
from ..meters import RECALL_STAGES, SLOW_RECALLS, Histogram, Meters
from .explain import explain, explain_cut
from .recollection import RecallOptions, Recollection

_SHOWN = 3  # answers that are explained
_BANKS_NAMED = 10

log = logging.getLogger(__name__)


class RecallWatch:
    """Is told of every recall.

    Args:
        meters: that count it.
        slow_ms: a recall that takes longer is logged; 0: none is.
        with_text: also log the question and the answers' texts.
    """

    def __init__(self, meters: Meters, slow_ms: float, *, with_text: bool) -> None:
        self._meters = meters
        self._slow_ms = slow_ms
        self._with_text = with_text
        self._times: dict[str, Histogram] = {}

    def told(
        self,
        refs: Sequence[BankRef],
        question: str,
        options: RecallOptions,
        found: Recollection,
        total_ms: float,
    ) -> None:
        """Count a recall, and log it when it was slow."""
        stages = stages_ms(found, total_ms)
        for stage, ms in stages.items():
            times = self._times.get(stage)
            if times is None:
                times = self._times[stage] = self._meters.timer(RECALL_STAGES, stage=stage)
            times.add(ms / 1e3)
        if not 0 < self._slow_ms <= total_ms:
            return
        self._meters.add(SLOW_RECALLS)
        slowest = max(stages, key=lambda stage: stages[stage])
        told = _facts(refs, options, found)
        told |= {f"{stage}_ms": round(ms, 1) for stage, ms in stages.items()}
        told["total_ms"] = round(total_ms, 1)
        if self._with_text:
            told["question"] = question
            told["answers"] = [answer.unit.text for answer in found.answers[:_SHOWN]]
        log.warning(
            "slow recall: %.0f ms, of which %s took %.0f",
            total_ms,
            _STAGES[slowest],
            stages[slowest],
            extra={"fields": told},
        )


_STAGES = {
    "embed": "embedding the question",
    "search": "bringing the index up to date and searching it",
    "rows": "reading rows",
    "rerank": "the reranker",
}


def stages_ms(found: Recollection, total_ms: float) -> dict[str, float]:
    """Return where the time went, in milliseconds; `rerank` is what came after the search."""
    times = found.timings
    return {
        "embed": times.embed_ms,
        "search": times.search_ms,
        "rows": times.rows_ms,
        "rerank": max(0.0, total_ms - times.total_ms),
    }


def _facts(refs: Sequence[BankRef], options: RecallOptions, found: Recollection) -> dict[str, Any]:
    """Return what explains a recall, without a word of the question or of a memory."""
    return {
        "tenant": refs[0].tenant if refs else None,
        "banks": [ref.bank for ref in refs[:_BANKS_NAMED]],
        "bank_count": len(refs),
        "candidates": found.considered,
        "answer_count": len(found.answers),
        "tokens": found.tokens,
        "limit": options.limit,
        "related": options.related,
        "trace": options.trace,
        "filtered": options.tags is not None or options.kinds is not None,
        "degraded": found.degraded is not None,
        "cut": explain_cut(found),
        "best": [
            {"id": to_uuid(answer.unit.id), "why": explain(answer)}
            for answer in found.answers[:_SHOWN]
        ],
    }
