"""MemoryService: remember, get, recall, prime, revise, forget, and the tenant's policy."""

from __future__ import annotations

from typing import Any

from ...app import App
from ...nouns.caller import Caller, Permission
from ...nouns.errors import InvalidInput
from ...nouns.memory import BankRef
from ...nouns.names import OF_TENANT
from ...verbs.criteria import Criteria
from ...verbs.lookup import Kept
from ...verbs.recalling.origins import Origin
from ...verbs.revise import Revision
from ...verbs.strategies import Asked, Search
from ...verbs.tenant_banks import own_of
from .auditing import changed, noter
from .calls import Calls
from .prime import prime
from .shapes import STRATEGIES, answer, fill_memory, fill_results, filled_policy
from .values import (
    bank_of,
    from_struct,
    home_of,
    link_type,
    optional,
    optional_plain,
    origin_named,
    origin_of,
    ties,
    time_of,
    unit_id,
    weights_of,
)

_NO_POLICY = frozenset({"tenant_id", "run"})
_REPLACE = 2  # CONTEXT_MODE_REPLACE
_WAYS = {number: way for way, number in STRATEGIES.items()}


class MemoryService:
    """The calls of the service; see `hebbs.proto`."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._memories = app.memories

    def handlers(self, calls: Calls) -> dict[str, Any]:
        """Return the handlers by method."""
        read, write, admin = Permission.READ, Permission.WRITE, Permission.ADMIN
        return {
            "Remember": calls.unary("remember", "RememberRequest", write, self._remember),
            "Get": calls.unary("get", "GetRequest", read, self._get),
            "Recall": calls.unary("recall", "RecallRequest", read, self._recall),
            "Prime": calls.unary("prime", "PrimeRequest", read, self._prime),
            "Revise": calls.unary("revise", "ReviseRequest", write, self._revise),
            "Forget": calls.unary("forget", "ForgetRequest", write, self._forget),
            "SetPolicy": calls.unary("set_policy", "SetPolicyRequest", admin, self._set_policy),
        }

    async def _remember(self, caller: Caller, request: Any) -> Any:
        ref = home_of(caller, optional(request, "entity_id"))
        kind = optional(request, "kind")
        unit = await self._memories.remember(
            ref,
            request.content,
            importance=optional_plain(request, "importance"),
            attributes=from_struct(request.context),
            ties=ties(request.edges),
            derived=origin_of(kind or 0) is Origin.DERIVED,
        )
        changed(ref, "memory.remember", memory_id=unit.id.hex())
        made = answer("RememberResponse")
        kept = await self._memories.lookup.several(ref, [unit.id])
        await self._fill(made.memory, kept[0] if kept else Kept(ref, unit))
        return made

    async def _get(self, caller: Caller, request: Any) -> Any:
        kept = await self._memories.lookup(
            caller, unit_id(request.memory_id), vectors=request.embeddings
        )
        found = answer("GetResponse")
        await self._fill(found.memory, kept, history=True)
        return found

    async def _recall(self, caller: Caller, request: Any) -> Any:
        like = from_struct(request.cue_context, "cue_context")
        top_k = optional(request, "top_k")
        reinforce = optional(request, "reinforce")
        found = await self._memories.strategies(
            caller,
            request.cue,
            [_search(caller, config) for config in request.strategies],
            Asked(
                top_k=10 if top_k is None else top_k,
                weights=weights_of(request),
                attributes=like,
                origin=origin_named(like.get("kind")),
                reinforce=reinforce is not False and caller.may(Permission.WRITE),
                vectors=request.embeddings,
            ),
        )
        told = answer("RecallResponse")
        worth = await self._memories.lookup.worth([each.kept for each in found.memories])
        fill_results(told.results, found.memories, worth)
        for failure in found.failures:
            told.strategy_errors.add(strategy=STRATEGIES[failure.way], message=failure.message)
        return told

    async def _prime(self, caller: Caller, request: Any) -> Any:
        if not request.entity_id.strip():
            raise InvalidInput("entity_id must not be empty", field="entity_id", limit=1)
        return await prime(self._app, caller, request)

    async def _revise(self, caller: Caller, request: Any) -> Any:
        context = from_struct(request.context) if request.HasField("context") else None
        revision = Revision(
            content=optional(request, "content"),
            importance=optional_plain(request, "importance"),
            attributes=context,
            replaces=request.context_mode == _REPLACE,
            ties=ties(request.edges),
            bank=bank_of(caller, optional(request, "entity_id")),
        )
        kept = await self._memories.revise(
            caller, unit_id(request.memory_id), revision, noter("memory.revise")
        )
        told = answer("ReviseResponse")
        await self._fill(told.memory, kept, history=True)
        return told

    async def _forget(self, caller: Caller, request: Any) -> Any:
        ids = tuple(unit_id(each, "memory_ids") for each in request.memory_ids)
        kind = optional(request, "memory_kind")
        done = await self._memories.forget_matching(
            caller,
            Criteria(
                ids=ids or None,
                bank=bank_of(caller, optional(request, "entity_id")),
                unused_since=time_of(
                    optional(request, "staleness_threshold_us"), "staleness_threshold_us"
                ),
                used_below=optional(request, "access_count_floor"),
                origin=origin_of(kind or 0),
                worth_below=optional_plain(request, "decay_score_floor"),
            ),
            noter("memory.forget"),
        )
        self._app.worker.wake()
        told = answer("ForgetResponse")
        told.forgotten_count = done.asked
        told.cascade_count = max(0, len(done.erased) - done.asked) + done.earlier
        told.truncated = done.truncated
        told.tombstone_count = len(done.erased)
        told.erased_ids.extend(done.erased)
        return told

    async def _set_policy(self, caller: Caller, request: Any) -> Any:
        given = [field.name for field, _ in request.ListFields() if field.name not in _NO_POLICY]
        tenant = own_of(caller) if given or request.run else BankRef(caller.tenant, OF_TENANT)
        await self._memories.policies.change(
            caller.tenant,
            max_snapshots=optional(request, "max_snapshots_per_memory"),
            auto_forget_threshold=optional_plain(request, "auto_forget_threshold"),
            decay_half_life_days=optional_plain(request, "decay_half_life_days"),
            max_age_days=optional_plain(request, "max_age_days"),
            max_memories=optional(request, "max_memories"),
        )
        if given:
            changed(tenant, "policy.update", fields=sorted(given))
        decay = self._memories.decay
        if request.run:
            changed(tenant, "policy.run", run_id=await decay.request(caller.tenant))
            self._app.worker.wake()
        return filled_policy(await decay.state(caller.tenant))

    async def _fill(self, target: Any, kept: Kept, *, history: bool = False) -> None:
        worth = await self._memories.lookup.worth([kept])
        fill_memory(target, kept, worth[0], history=history)


def _search(caller: Caller, config: Any) -> Search:
    way = _WAYS.get(config.strategy_type)
    if way is None:
        raise InvalidInput(
            "strategy_type must be SIMILARITY, TEMPORAL, CAUSAL or ANALOGICAL", field="strategies"
        )
    seed = optional(config, "seed_memory_id")
    depth, alpha = optional(config, "max_depth"), optional_plain(config, "analogical_alpha")
    span = optional(config, "time_range")
    return Search(
        way,
        bank=bank_of(caller, optional(config, "entity_id")),
        top_k=optional(config, "top_k"),
        since=time_of(span.start_us, "time_range.start_us") if span is not None else None,
        until=time_of(span.end_us, "time_range.end_us") if span is not None else None,
        seed=unit_id(seed, "seed_memory_id") if seed else None,
        types=tuple(link_type(number) for number in config.edge_types),
        max_depth=5 if depth is None else depth,
        alpha=0.5 if alpha is None else min(1.0, max(0.0, alpha)),
    )
