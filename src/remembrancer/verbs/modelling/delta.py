"""Brings what a mental model says up to date: new memories change the blocks that they bear on.

The text stays but for what the model changes, and each change has to stand in the memories shown
or in the text. What cannot be brought up to date so is written anew, and it is told why.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from ...keeping.store import Store
from ...models.llm.structured import ask_for
from ...models.llm.types import LlmFailed, Prompt
from ...nouns.memory import SHOWN_ONLY, BankRef, LinkType
from ...nouns.text import clean, estimate_tokens
from ...reading.asking.answer_prompt import Evidence
from ...reading.asking.delta_prompt import (
    MOST_CHANGES,
    RULES,
    Change,
    DeltaReply,
    delta_prompt,
)
from ...reading.asking.grounding import ungrounded
from ..answering import Answered, dates_of, evidence_of, within
from ..directives import Directive, Directives
from ..recall import Answer
from ..reflect import Reflect, Reflection, ReflectOptions
from ..thinking.minds import REFLECT, Minds
from .shelf import Shown

MOST_LINKS = 150
"""Memories that a text may rest on before it is written anew."""

_EVIDENCE_TOKENS = 8_000
_MORE_TOKENS = 400  # of an answer, beside the text itself


class Why(StrEnum):
    """Why a text is written anew rather than brought up to date."""

    NO_BASELINE = "no_baseline_content"
    OTHER_QUESTION = "source_query_changed"
    SKIPPED = "delta_ops_all_skipped"


@dataclass(frozen=True, slots=True)
class Delta:
    """What bringing up to date came to.

    `answered` has the new text, and is shown the memories that it newly rests on; None: write it
    anew, for `why` (None: `warning` says). `kept` are the links of the older text, by id with
    their weights. `nothing`: no memory is new. `failed`: why the model gave no answer.
    """

    answered: Answered | None = None
    why: Why | None = None
    warning: str | None = None
    kept: Mapping[bytes, float] = field(default_factory=dict)
    nothing: bool = False
    failed: str | None = None
    applied: tuple[Mapping[str, Any], ...] = ()
    skipped: tuple[Mapping[str, Any], ...] = ()


class DeltaWriter:
    """Brings texts up to date; everything it needs is passed in."""

    def __init__(
        self, store: Store, reflect: Reflect, minds: Minds, directives: Directives
    ) -> None:
        self._store = store
        self._reflect = reflect
        self._minds = minds
        self._directives = directives

    async def __call__(self, ref: BankRef, shown: Shown, options: ReflectOptions) -> Delta:
        """Return what would change.

        Raises:
            BudgetSpent: there is no budget left now.
        """
        model = shown.model
        if not shown.content or not model.unit:
            return Delta(why=Why.NO_BASELINE)
        if model.asked is not None and model.asked != model.source_query:
            return Delta(why=Why.OTHER_QUESTION)
        task = self._minds.task(ref, REFLECT)
        if task is None:
            return Delta(warning="without a language model the whole text is written each time")
        kept, taken_out = await self._links(ref, bytes.fromhex(model.unit))
        if taken_out:
            return Delta(warning="a memory that the text rests on was taken out", kept=kept)
        found = await self._reflect(ref, model.source_query, replace(options, related=True))
        since = model.refreshed_at or 0
        fresh = [
            a
            for a in found.answers
            if a.unit.id not in kept or (a.unit.updated_at or a.unit.created_at) > since
        ]
        fresh = list(within(fresh, _EVIDENCE_TOKENS))
        if not fresh:
            return Delta(Answered(_same(found, shown.content)), kept=kept, nothing=True)
        if len({*kept, *(a.unit.id for a in fresh)}) > MOST_LINKS:
            return Delta(warning=f"the text rests on more than {MOST_LINKS} memories", kept=kept)
        directives = await self._directives.told(ref, model.tags, every=False)
        blocks = blocks_of(shown.content)
        evidence = [evidence_of(each) for each in fresh]
        asked = delta_prompt(
            model.source_query, blocks, evidence, directives=[d.content for d in directives]
        )
        task.scope = "mental_model_delta"
        most = model.max_tokens + _MORE_TOKENS
        prompt = Prompt(RULES, asked, DeltaReply.model_json_schema(), most)
        done = Answered(
            _same(found, shown.content), directives=directives, shown=tuple(fresh), by_model=True
        )
        try:
            reply = (await ask_for(task, prompt, DeltaReply, wasted=task.wasted)).value
        except LlmFailed as failed:
            done = replace(done, usage=task.usage, by_model=False, calls=tuple(task.times_ms))
            return Delta(done, kept=kept, failed=failed.message)
        done = replace(done, usage=task.usage, calls=tuple(task.times_ms))
        told = await asyncio.to_thread(
            _applied, reply.changes, blocks, fresh, evidence, directives, model.max_tokens
        )
        if reply.changes and not told.applied:
            return Delta(done, Why.SKIPPED, kept=kept, skipped=tuple(told.skipped))
        text = "\n\n".join(told.blocks)
        found = replace(done.found, text=text, based_on=tuple(told.used.values()))
        return Delta(
            replace(done, found=found),
            kept=kept,
            applied=tuple(told.applied),
            skipped=tuple(told.skipped),
        )

    async def _links(self, ref: BankRef, unit_id: bytes) -> tuple[dict[bytes, float], bool]:
        """Return what a text rests on, and whether any of that was taken out by people."""
        async with self._store.snapshot(ref) as view:
            links = await view.neighbours([unit_id], [LinkType.INSIGHT_FROM], 1, MOST_LINKS * 2)
            kept = {k.target: k.weight for k in links if k.source == unit_id}
            basis = [i for i, weight in kept.items() if weight > SHOWN_ONLY]
            curations = await view.curations(basis)
        return kept, any(c.invalid for c in curations.values())


def blocks_of(text: str) -> list[str]:
    """Return the paragraphs of a text."""
    return [part.strip() for part in text.split("\n\n") if part.strip()]


@dataclass(slots=True)
class _Told:
    blocks: list[str]
    applied: list[Mapping[str, Any]] = field(default_factory=list)
    skipped: list[Mapping[str, Any]] = field(default_factory=list)
    used: dict[bytes, Answer] = field(default_factory=dict)


def _applied(
    changes: Sequence[Change],
    blocks: Sequence[str],
    fresh: Sequence[Answer],
    evidence: Sequence[Evidence],
    directives: Sequence[Directive],
    max_tokens: int,
) -> _Told:
    """Make the changes that hold, each on the text as the ones before it left it."""
    said = [
        part
        for each in evidence
        for part in (each.text, each.speaker, each.said, each.happened, each.note)
        if part
    ]
    shown = (*said, *blocks, *(d.content for d in directives))
    dates = [date for each in fresh for date in dates_of(each.unit)]
    told = _Told([])
    now: dict[int, list[str]] = {0: [], **{n: [b] for n, b in enumerate(blocks, 1)}}
    for change in changes[:MOST_CHANGES]:
        text = clean(change.text).strip()
        used = [fresh[n - 1] for n in dict.fromkeys(change.used) if 1 <= n <= len(fresh)]
        fault = _wrong(change, text, len(blocks), used)
        if fault is None and text:
            found = ungrounded(
                text, shown, dates=dates, shared=0, counts_to=len(evidence), free=True
            )
            fault = found.value if found is not None else None
        tried = dict(now)
        if fault is None:
            tried[change.block] = _changed(change.op, text, now[change.block])
            whole = "\n\n".join(b for n in sorted(tried) for b in tried[n])
            if not whole:
                fault = "nothing would be left"
            elif change.op != "delete" and estimate_tokens(whole) > max_tokens:
                fault = f"the text would be longer than {max_tokens} tokens"
        # No text in what is told of a change: it may be shown where forgetting does not reach.
        note: dict[str, Any] = {"op": change.op, "block": change.block}
        if fault is not None:
            told.skipped.append({**note, "reason": fault})
            continue
        now = tried
        told.applied.append(note)
        told.used |= {each.unit.id: each for each in used}
    told.blocks = [block for n in sorted(now) for block in now[n]]
    return told


def _wrong(change: Change, text: str, count: int, used: Sequence[Answer]) -> str | None:
    least = 0 if change.op == "insert_after" else 1
    if not least <= change.block <= count:
        return "there is no such block"
    if change.op != "delete" and not text:
        return "it has no text"
    return None if used else "it rests on no memory"


def _changed(op: str, text: str, blocks: list[str]) -> list[str]:
    if op == "insert_after":
        return [*blocks, text]
    return [text, *blocks[1:]] if op == "replace" else blocks[1:]


def _same(found: Reflection, text: str) -> Reflection:
    return replace(found, text=text, based_on=())
