"""What the wire shows of a memory, and of why it was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...verbs.decay import Decayed
from ...verbs.lookup import Kept, embedding
from ...verbs.recalling.searches import Detail, Reached, Way
from .proto import message
from .values import EDGE_TYPES, KINDS, entity_of, fill_struct

STRATEGIES = {Way.SIMILARITY: 1, Way.TEMPORAL: 2, Way.CAUSAL: 3, Way.ANALOGICAL: 4}


def fill_memory(target: Any, kept: Kept, worth: float, *, history: bool = False) -> None:
    """Write a memory; `worth` is its decay score, `history` shows what it was before.

    Its embedding is written when `kept` has it.
    """
    unit = kept.unit
    target.memory_id = unit.id
    target.content = unit.text
    target.importance = unit.importance
    if unit.attributes:
        fill_struct(target.context, unit.attributes)
    entity = entity_of(kept.ref)
    if entity is not None:
        target.entity_id = entity
    if kept.vector is not None:
        target.embedding.extend(embedding(kept.vector).tolist())
    target.created_at = _time(unit.created_at)
    target.updated_at = _time(unit.created_at if unit.updated_at is None else unit.updated_at)
    target.last_accessed_at = _time(kept.used_at)
    target.access_count = unit.access_count
    target.decay_score = worth
    target.kind = KINDS[kept.origin]
    target.logical_clock = kept.edits
    target.source_memory_ids.extend(kept.basis)
    if history:
        _fill_history(target, kept)


def _fill_history(target: Any, kept: Kept) -> None:
    for entry in kept.earlier:
        state, was = target.revised_from.add(), entry["was"]
        state.revised_at = _time(entry["at"])
        if "text" in was:
            state.content = was["text"]
        if "importance" in was:
            state.importance = was["importance"]
        if "attributes" in was:
            fill_struct(state.context, was["attributes"] or {})


def fill_results(target: Any, found: Sequence[Reached], worth: Sequence[float]) -> None:
    """Write what a recall reached."""
    for reached, value in zip(found, worth, strict=True):
        result = target.add()
        fill_memory(result.memory, reached.kept, value)
        result.score = reached.score
        result.relevance = reached.relevance
        for detail in reached.details:
            _fill_detail(result.strategy_details.add(), detail)


def _fill_detail(target: Any, detail: Detail) -> None:
    target.strategy_type = STRATEGIES[detail.way]
    target.relevance = detail.relevance
    if detail.timestamp is not None:
        target.timestamp = _time(detail.timestamp)
    if detail.link_type in EDGE_TYPES:
        target.causal_edge_type = EDGE_TYPES[detail.link_type]
    if detail.seed is not None:
        target.seed_id = detail.seed
    for name in ("distance", "rank", "depth", "embedding_similarity", "structural_similarity"):
        value = getattr(detail, name)
        if value is not None:
            setattr(target, name, value)


def filled_policy(state: Decayed) -> Any:
    """Return what a policy is and how its runs stand, as the answer to setting it."""
    policy, run = state.policy, state.last
    told = answer("SetPolicyResponse", applied=True, running=state.running)
    told.policy.max_snapshots_per_memory = policy.max_snapshots
    told.policy.auto_forget_threshold = policy.auto_forget_threshold
    told.policy.decay_half_life_days = policy.decay_half_life_days
    told.policy.max_age_days = policy.max_age_days
    told.policy.max_memories = policy.max_memories
    told.policy.auto_forget = policy.acts
    if run is not None:
        told.last_run.started_at = _time(run.started_at)
        told.last_run.ended_at = _time(run.ended_at)
        told.last_run.examined_count = run.tally.examined
        told.last_run.forgotten_count = run.tally.forgotten
        told.last_run.below_threshold_count = run.tally.below_threshold
        told.last_run.over_age_count = run.tally.over_age
        told.last_run.over_count_count = run.tally.over_count
        told.last_run.entity_count = run.tally.banks
    return told


def _time(us: int) -> int:
    return max(0, us)  # the wire has no times before 1970


def answer(name: str, **fields: Any) -> Any:
    """Return a message of that name with these fields."""
    return message(name)(**fields)
