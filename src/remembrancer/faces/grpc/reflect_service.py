"""ReflectService: what memories have in common, and the insights made of it."""

from __future__ import annotations

from typing import Any

from ...app import App
from ...nouns.caller import Caller, Permission
from ...nouns.errors import InvalidInput
from ...nouns.ids import to_ulid
from ...nouns.memory import BankRef
from ...verbs.contradictions import MOST_PAIRS, SNIPPET, Verdict
from ...verbs.insight_prompts import CHECK, SYSTEM, spelled
from ...verbs.insights import Cluster, Insight
from .auditing import noter
from .calls import Calls
from .shapes import answer, fill_memory
from .values import bank_of, entity_of, optional, optional_plain, plain, text_id, time_of


class ReflectService:
    """The calls of the service; see `hebbs.proto`."""

    def __init__(self, app: App) -> None:
        self._memories = app.memories
        self._distil = app.distil

    def handlers(self, calls: Calls) -> dict[str, Any]:
        """Return the handlers by method."""
        read, write, admin = Permission.READ, Permission.WRITE, Permission.ADMIN
        unary = calls.unary
        return {
            "Reflect": unary("reflect", "ReflectRequest", admin, self._reflect),
            "GetInsights": unary("get_insights", "GetInsightsRequest", read, self._insights),
            "ReflectPrepare": unary(
                "reflect_prepare", "ReflectPrepareRequest", admin, self._prepare
            ),
            "ReflectCommit": unary("reflect_commit", "ReflectCommitRequest", admin, self._commit),
            "ContradictionPrepare": unary(
                "contradiction_prepare", "ContradictionPrepareRequest", read, self._contradictions
            ),
            "ContradictionCommit": unary(
                "contradiction_commit", "ContradictionCommitRequest", write, self._settle
            ),
        }

    async def _reflect(self, caller: Caller, request: Any) -> Any:
        bank, since = _scope(caller, request)
        done = await self._distil(caller, bank, since, noter("insights.make"))
        return answer(
            "ReflectResponse",
            insights_created=done.created,
            clusters_found=done.clusters,
            clusters_processed=done.processed,
            memories_processed=done.read,
        )

    async def _insights(self, caller: Caller, request: Any) -> Any:
        limit = optional(request, "max_results")
        found = await self._memories.insights.listed(
            caller,
            bank_of(caller, optional(request, "entity_id")),
            least=optional_plain(request, "min_confidence") or 0.0,
            limit=100 if limit is None else limit,
        )
        told = answer("GetInsightsResponse")
        for kept, worth in zip(found, await self._memories.lookup.worth(found), strict=True):
            fill_memory(told.insights.add(), kept, worth)
        return told

    async def _prepare(self, caller: Caller, request: Any) -> Any:
        bank, since = _scope(caller, request)
        prepared = await self._memories.insights.prepare(caller, bank, since)
        told = answer("ReflectPrepareResponse")
        told.session_id = to_ulid(prepared.session)
        told.memories_processed = prepared.read
        told.existing_insight_count = prepared.existing
        for number, cluster in enumerate(prepared.clusters):
            _fill_prompt(told.clusters.add(), number, cluster)
        return told

    async def _commit(self, caller: Caller, request: Any) -> Any:
        session = text_id(request.session_id, "session_id")
        insights = [_insight(each) for each in request.insights]
        told = answer("ReflectCommitResponse")
        made = await self._memories.insights.commit(
            caller, session, insights, noter("insights.commit")
        )
        told.insights_created = sum(made.values())
        return told

    async def _contradictions(self, caller: Caller, request: Any) -> Any:
        limit = optional(request, "max_candidates")
        pairs = await self._memories.contradictions.prepare(
            caller,
            bank_of(caller, optional(request, "entity_id")),
            MOST_PAIRS if limit is None else limit,
        )
        told = answer("ContradictionPrepareResponse")
        for pair in pairs:
            entity = entity_of(pair.newer.ref)
            told.candidates.add(
                pending_id=pair.name,
                memory_id_a=pair.older.unit.id.hex(),
                memory_id_b=pair.newer.unit.id.hex(),
                content_a_snippet=pair.older.unit.text[:SNIPPET],
                content_b_snippet=pair.newer.unit.text[:SNIPPET],
                classifier_score=pair.score,
                classifier_method=pair.method.value,
                similarity=pair.similarity,
                created_at=max(0, pair.newer.unit.created_at),
                **({} if entity is None else {"entity_id": entity}),
            )
        return told

    async def _settle(self, caller: Caller, request: Any) -> Any:
        verdicts = [
            Verdict(each.pending_id, each.verdict, plain(each.confidence))
            for each in request.verdicts
        ]
        done = await self._memories.contradictions.commit(
            caller, verdicts, noter("contradictions.commit")
        )
        return answer(
            "ContradictionCommitResponse",
            contradictions_confirmed=done.contradictions,
            revisions_created=done.revisions,
            dismissed=done.dismissed,
        )


def _scope(caller: Caller, request: Any) -> tuple[BankRef | None, int | None]:
    """Return which bank, None for all of the tenant's, and since when."""
    match request.scope.WhichOneof("scope"):
        case "entity":
            scope = request.scope.entity
            bank = bank_of(caller, scope.entity_id)
            if bank is None:
                raise InvalidInput("entity_id must not be empty", field="scope.entity.entity_id")
        case _:
            scope, bank = getattr(request.scope, "global"), None
    return bank, time_of(optional(scope, "since_us"), "scope.since_us")


def _insight(given: Any) -> Insight:
    return Insight(
        given.content,
        plain(given.confidence),
        tuple(text_id(each, "source_memory_ids") for each in given.source_memory_ids),
        tuple(given.tags),
        optional(given, "cluster_id"),
    )


def _fill_prompt(target: Any, number: int, cluster: Cluster) -> None:
    target.cluster_id = number
    target.member_count = len(cluster.members)
    target.proposal_system_prompt = SYSTEM
    target.validation_context = CHECK
    for kept in cluster.members:
        unit = kept.unit
        entity = entity_of(kept.ref)
        target.memory_ids.append(unit.id.hex())
        target.memories.add(
            memory_id=unit.id.hex(),
            content=unit.text,
            importance=unit.importance,
            created_at=max(0, unit.created_at),
            **({} if entity is None else {"entity_id": entity}),
        )
    target.proposal_user_prompt = spelled(cluster)
