"""Reorders the first answers by a reranker, within bounds of candidates and time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...models.reranker import Reranker
from ...nouns.errors import ModelUnavailable
from .echoes import told_first
from .recollection import Answer, payload_tokens

SHARE = 0.6
"""What the reranker counts against the fused score, both scaled over the candidates: a reranker
alone loses answers that only the time or the speaker tells."""


@dataclass(frozen=True, slots=True)
class Reranking:
    """A reranker and its bounds: candidates that it reads, seconds that are waited for it."""

    reranker: Reranker
    candidates: int
    seconds: float

    async def __call__(
        self, question: str, answers: Sequence[Answer]
    ) -> tuple[tuple[Answer, ...], str | None]:
        """Return the answers reordered, or as they were and why."""
        head = answers[: self.candidates]
        if len(head) < 2:
            return tuple(answers), None
        texts = [answer.unit.text for answer in head]
        try:
            async with asyncio.timeout(self.seconds):
                scores = await self.reranker.scores(question, texts)
        except TimeoutError:
            return tuple(answers), f"not reranked: it took more than {self.seconds:g} s"
        except ModelUnavailable as error:
            return tuple(answers), f"not reranked: {error.message}"
        fused = _scaled([answer.score for answer in head])
        blend = SHARE * _scaled(scores) + (1 - SHARE) * fused
        order = np.argsort(-blend, kind="stable")
        ranked = (*(head[i] for i in order.tolist()), *answers[self.candidates :])
        return tuple(told_first(ranked)), None


def within(
    answers: Sequence[Answer], limit: int, max_tokens: int
) -> tuple[tuple[Answer, ...], int]:
    """Return the first answers that fit the limit and the token budget, and their tokens."""
    kept: list[Answer] = []
    left = max_tokens
    for answer in answers:
        cost = payload_tokens(answer.unit)
        if cost <= left and len(kept) < limit:
            left -= cost
            kept.append(answer)
    return tuple(kept), max_tokens - left


def _scaled(values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    found = np.array(values, dtype=np.float64)
    span = found.max() - found.min()
    return (found - found.min()) / span if span > 0 else np.zeros(len(found))
