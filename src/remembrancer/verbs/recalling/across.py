"""recall over several banks: searched one by one, then scored as if they were one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ...finding.fusion import shares, summed
from ...finding.terms import words
from ...keeping.store import Store
from ...keeping.view import Reader
from ...nouns.errors import TooLarge
from ...nouns.memory import BankRef
from ...nouns.spans import traced
from ..recall import BankFound, Recall, timings
from .echoes import told_first
from .included import Fetched, Include, Included, cut, fetch
from .neighbours import fitted
from .recollection import Answer, RecallOptions, Recollection, payload_tokens
from .truth import current_first

MAX_BANKS = 100
_AT_ONCE = 4  # banks searched at the same time


class Across:
    """The verb; everything it needs is passed in."""

    def __init__(self, recall: Recall, store: Store) -> None:
        self._recall = recall
        self._store = store

    @traced("recall")
    async def __call__(
        self, refs: Sequence[BankRef], question: str, options: RecallOptions | None = None
    ) -> Recollection:
        """Answer a question from several banks; those that do not exist have no answers.

        Each arm is scaled over the candidates of all banks, so that a bank without any good answer
        does not put its best one on top. There is no trace.

        Raises:
            InvalidInput: what a recall refuses, or more than `MAX_BANKS` banks.
        """
        options = options or RecallOptions()
        question = self._recall.checked(question, options)
        refs = list(dict.fromkeys(refs))
        if len(refs) > MAX_BANKS:
            raise TooLarge(
                f"banks names {len(refs)} banks; the limit is {MAX_BANKS}",
                field="banks",
                limit=MAX_BANKS,
            )
        started = time.perf_counter()
        vector, degraded = await self._recall.embed(question, options)
        own = await self._recall.as_user(question, options)
        embedded = time.perf_counter()
        # Which scores are high enough is known when all banks have answered.
        least = replace(options.least, final=None) if options.least else None
        alone = replace(options, least=least, include=None, trace=False)
        gate = asyncio.Semaphore(_AT_ONCE)

        async def one(ref: BankRef) -> BankFound:
            async with gate:
                return await self._recall.search_bank(ref, question, vector, alone, own)

        found = await asyncio.gather(*map(one, refs))
        answers, tokens = fitted(*_merged(refs, found, question, options), options.max_tokens)
        included = await self._included(refs, answers, options.include)
        done = Recollection(
            answers,
            considered=sum(len(each.candidates.ids) for each in found),
            tokens=tokens,
            revision=0,
            timings=timings(started, embedded, sum(each.rows_ms for each in found)),
            degraded=degraded or next((f.degraded for f in found if f.degraded), None),
            included=included,
            embedded=any(each.embedded for each in found),
            cut=sum(each.cut for each in found),
            asked=sum(each.asked for each in found),
        )
        self._recall.told(refs, question, options, done, started)
        return done

    async def _included(
        self, refs: Sequence[BankRef], answers: Sequence[Answer], include: Include | None
    ) -> Included | None:
        if include is None:
            return None
        fetched: dict[str | None, Fetched] = {}
        for ref in refs:
            mine = [answer for answer in answers if answer.bank == ref.bank]
            if mine:
                fetched[ref.bank] = await self._store.read(ref, partial(_fetched, mine, include))
        return cut(answers, fetched, include)


def _fetched(answers: Sequence[Answer], include: Include, reader: Reader) -> Fetched:
    return fetch(reader, answers, include)


def _merged(
    refs: Sequence[BankRef], found: Sequence[BankFound], question: str, options: RecallOptions
) -> tuple[tuple[Answer, ...], int]:
    """Score the answers over the candidates of all banks, and cut them to the limits."""
    if not found:
        return (), 0
    candidates = [[each.candidates, *([each.late] if each.late else [])] for each in found]
    arms = np.concatenate([c.arms for mine in candidates for c in mine], axis=1)
    scores = iter(summed(shares(arms, options.weights)).tolist())
    answers: list[Answer] = []
    for ref, each, mine in zip(refs, found, candidates, strict=True):
        known = {unit_id: next(scores) for c in mine for unit_id in c.id_list()}
        answers += [a._replace(score=known[a.unit.id], bank=ref.bank) for a in each.answers]
    final = options.least.final if options.least else None
    if final is not None:
        answers = [answer for answer in answers if answer.score >= final]
    answers.sort(key=lambda answer: (-answer.score, answer.unit.id))
    kept: list[Answer] = []
    left = options.max_tokens
    for answer in told_first(current_first(answers, set(words(question)))):
        cost = payload_tokens(answer.unit)
        if cost <= left and len(kept) < options.limit:
            left -= cost
            kept.append(answer)
    return tuple(kept), options.max_tokens - left
