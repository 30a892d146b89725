"""Prime: translates the request to the verb's options, and its context to the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...app import App
from ...nouns.caller import Caller, Permission
from ...nouns.errors import InvalidInput
from ...reading.recurrence.zones import zone_of
from ...verbs.bank_config import Effective
from ...verbs.check import Due
from ...verbs.lookup import Kept
from ...verbs.prime import Order, Primed, PrimeOptions, Strategy, defaults
from ...verbs.priming.text import compose
from ...verbs.recalling.searches import Way
from .shapes import STRATEGIES, answer, fill_memory
from .values import optional, optional_plain, time_of, weights_of

_FORMATS = ("json", "text")


async def prime(app: App, caller: Caller, request: Any) -> Any:
    """Prime from an entity of the caller's, and return the answer."""
    ref = caller.bank(request.entity_id, "entity_id")
    text = _one_of(request, "format", _FORMATS) == "text"
    zone = zone_of(request.zone) if request.zone else None
    options = _options(request, await app.configs.of(ref))
    if not caller.may(Permission.WRITE):
        options = replace(options, reinforce=False)
    context = await app.prime(ref, replace(options, facts=text))
    due = await app.due(ref, options.cue, caller.max_tier_rank) if context.intends else []
    told = answer("PrimeResponse")
    kept = [Kept(ref, m.unit, m.curation, m.basis) for m in context.memories]
    if request.embeddings:
        ids = [each.unit.id for each in kept]
        found = await app.memories.lookup.several(ref, ids, vectors=True)
        vectors = {each.unit.id: each.vector for each in found}
        kept = [replace(each, vector=vectors.get(each.unit.id)) for each in kept]
    worth = await app.memories.lookup.worth(kept)
    for primed, each, value in zip(context.memories, kept, worth, strict=True):
        result = told.results.add()
        fill_memory(result.memory, each, value)
        _fill_reason(result, primed)
    told.temporal_count = context.temporal_count
    told.similarity_count = context.similarity_count
    if context.degraded is not None:
        told.degraded = context.degraded
    if text:
        told.text = compose(context, due, zone=zone, max_tokens=options.max_tokens)
    for item in due:
        _fill_due(told.due.add(), item)
    return told


def _options(request: Any, config: Effective) -> PrimeOptions:
    window = time_of(optional(request, "recency_window_us"), "recency_window_us")
    ratio = optional_plain(request, "temporal_ratio")
    return replace(
        defaults(config, optional(request, "max_memories"), ratio, window),
        cue=optional(request, "similarity_cue"),
        weights=weights_of(request),
        reinforce=optional(request, "reinforce") is not False,
        order=Order(_one_of(request, "order", [each.value for each in Order])),
        max_tokens=optional(request, "max_tokens"),
        now=time_of(optional(request, "now_us"), "now_us"),
    )


def _one_of(request: Any, field: str, known: Any) -> str:
    """Return what a field says; the first of `known` when it is not set.

    Raises:
        InvalidInput: it says anything else.
    """
    given: str = getattr(request, field) or known[0]
    if given not in known:
        raise InvalidInput(f"{field} must be {' or '.join(known)}", field=field)
    return given


def _fill_reason(result: Any, primed: Primed) -> None:
    result.score, result.relevance = primed.score, primed.relevance
    detail = result.strategy_details.add(relevance=primed.relevance)
    if primed.strategy is Strategy.TEMPORAL:
        detail.strategy_type = STRATEGIES[Way.TEMPORAL]
        detail.timestamp = max(0, primed.unit.mentioned_at)
        detail.rank = primed.rank or 0
    else:
        detail.strategy_type = STRATEGIES[Way.SIMILARITY]
        detail.distance = 1 - primed.relevance


def _fill_due(target: Any, due: Due) -> None:
    intention = due.intention
    target.intention_id = intention.id
    target.occurrence_id = due.occurrence.id
    target.content = intention.content
    target.due_at = max(0, due.occurrence.due_at)
    target.importance = intention.importance
    target.late_us = max(0, due.late_us)
    if intention.source_id is not None:
        target.source_memory_id = intention.source_id
