"""`/v1/policy`: what holds for all memories of a tenant, and what was forgotten by it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field

from ...verbs.decay import Decayed, Run
from ...verbs.policy import MAX_MEMORIES, MAX_SNAPSHOTS
from ...verbs.tenant_banks import own_of
from .access import Calling
from .answers import OpenApp, answer
from .auditing import audited_in
from .banks import Offset
from .body import Wire, body_of
from .errors import ENTITY_ERRORS
from .hebbs_shapes import home_of
from .schema import reads

_MOST_RECEIPTS = 1_000

router = APIRouter(tags=["Memory"])


class PolicyRequest(Wire):
    """What to change; what is left out or null stays."""

    max_snapshots_per_memory: Annotated[int, Field(ge=0, le=MAX_SNAPSHOTS)] | None = Field(
        None, description="Earlier states of a memory that are kept, up to 10,000."
    )
    auto_forget_threshold: Annotated[float, Field(ge=0, le=2)] | None = Field(
        None, description="Forget memories that have decayed below; 0: none. Off until it is set."
    )
    decay_half_life_days: Annotated[float, Field(ge=0.001, le=100_000)] | None = Field(
        None, description="Days in which an unused memory loses half its worth."
    )
    max_age_days: Annotated[float, Field(ge=0, le=100_000)] | None = Field(
        None, description="Forget memories kept longer ago; 0: none."
    )
    max_memories: Annotated[int, Field(ge=0, le=MAX_MEMORIES)] | None = Field(
        None, description="Of an entity that holds more, forget the least worth; 0: no bound."
    )


class PolicyRun(BaseModel):
    """A run that has ended. Times are microseconds since 1970."""

    run_id: str
    started_at: int
    ended_at: int
    entity_count: int = Field(description="Entities looked at.")
    examined_count: int = Field(description="Memories looked at.")
    forgotten_count: int
    below_threshold_count: int
    over_age_count: int
    over_count_count: int


class PolicyResponse(BaseModel):
    """What holds now."""

    applied: bool = Field(description="Whether this request set it.")
    max_snapshots_per_memory: int
    auto_forget_threshold: float
    decay_half_life_days: float
    max_age_days: float
    max_memories: int
    auto_forget: bool = Field(description="Whether memories are forgotten by it.")
    running: bool = Field(description="A run is queued or under way.")
    last_run: PolicyRun | None


class RunResponse(BaseModel):
    """The run that was queued, or waits already."""

    run_id: str


class ForgottenItem(BaseModel):
    """A memory that is gone."""

    memory_id: str
    reason: str = Field(description="below_threshold, over_age or over_count.")


class PolicyReceipt(BaseModel):
    """What one transaction of a run has erased, facts read from it not counted."""

    run_id: str
    forgotten_at: int
    memories: list[ForgottenItem]


class ReceiptsResponse(BaseModel):
    """Receipts of an entity, newest first; the last thousand are kept."""

    receipts: list[PolicyReceipt]
    total: int


@router.get(
    "/v1/policy",
    operation_id="get_policy",
    summary="Get the policy",
    response_model=PolicyResponse,
    responses=ENTITY_ERRORS,
)
async def get_policy(request: Request, app: OpenApp, caller: Calling) -> Response:
    """Return what holds for all memories of the tenant, and how its runs stand."""
    state = await app.memories.decay.state(caller.tenant)
    return answer(request, _shown(state, applied=False), nulls=True)


@router.put(
    "/v1/policy",
    operation_id="set_policy",
    summary="Set the policy",
    response_model=PolicyResponse,
    responses=ENTITY_ERRORS,
    openapi_extra=reads(PolicyRequest),
)
@router.post(
    "/v1/policy",
    operation_id="post_policy",
    summary="Set the policy",
    response_model=PolicyResponse,
    responses=ENTITY_ERRORS,
    openapi_extra=reads(PolicyRequest),
)
async def set_policy(
    request: Request,
    app: OpenApp,
    caller: Calling,
    body: Annotated[PolicyRequest, Depends(body_of(PolicyRequest))],
) -> Response:
    """Change what is given; needs the permission admin, and a key that reaches all entities.

    The next run acts on it.
    """
    house = own_of(caller)
    await app.memories.policies.change(
        caller.tenant,
        max_snapshots=body.max_snapshots_per_memory,
        auto_forget_threshold=body.auto_forget_threshold,
        decay_half_life_days=body.decay_half_life_days,
        max_age_days=body.max_age_days,
        max_memories=body.max_memories,
    )
    audited_in(request, house, fields=sorted(body.model_fields_set))
    state = await app.memories.decay.state(caller.tenant)
    return answer(request, _shown(state, applied=True), nulls=True)


@router.post(
    "/v1/policy/run",
    operation_id="run_policy",
    summary="Act on the policy",
    status_code=202,
    response_model=RunResponse,
    responses=ENTITY_ERRORS,
)
async def run_policy(request: Request, app: OpenApp, caller: Calling) -> Response:
    """Forget now what the policy says, in the background.

    Needs the permission admin, and a key that reaches all entities.
    """
    house = own_of(caller)
    run_id = await app.memories.decay.request(caller.tenant)
    audited_in(request, house, run_id=run_id)
    app.worker.wake()
    return answer(request, RunResponse(run_id=run_id), status=202)


@router.get(
    "/v1/policy/receipts",
    operation_id="list_policy_receipts",
    summary="List what the policy has forgotten",
    response_model=ReceiptsResponse,
    responses=ENTITY_ERRORS,
)
async def list_receipts(
    request: Request,
    app: OpenApp,
    caller: Calling,
    entity_id: Annotated[
        str | None, Query(description="Without one, the memories that belong to none.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=_MOST_RECEIPTS)] = 100,
    offset: Offset = 0,
) -> Response:
    """List the ids of what was forgotten of an entity by the policy, and why."""
    ref = home_of(caller, entity_id)
    found, total = await app.memories.decay.receipts(ref, limit, offset)
    receipts = [
        {
            "run_id": record.data["run_id"],
            "forgotten_at": record.created_at,
            "memories": [
                {"memory_id": memory_id, "reason": why}
                for memory_id, why in record.data["memories"]
            ],
        }
        for record in found
    ]
    told = {"receipts": receipts, "total": total}
    return answer(request, told, queries=("entity_id", "limit", "offset"))


def _shown(state: Decayed, *, applied: bool) -> dict[str, Any]:
    policy = state.policy
    return {
        "applied": applied,
        "max_snapshots_per_memory": policy.max_snapshots,
        "auto_forget_threshold": policy.auto_forget_threshold,
        "decay_half_life_days": policy.decay_half_life_days,
        "max_age_days": policy.max_age_days,
        "max_memories": policy.max_memories,
        "auto_forget": policy.acts,
        "running": state.running,
        "last_run": None if state.last is None else _run(state.last),
    }


def _run(run: Run) -> dict[str, Any]:
    tally = run.tally
    return {
        "run_id": run.run_id,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "entity_count": tally.banks,
        "examined_count": tally.examined,
        "forgotten_count": tally.forgotten,
        "below_threshold_count": tally.below_threshold,
        "over_age_count": tally.over_age,
        "over_count_count": tally.over_count,
    }
