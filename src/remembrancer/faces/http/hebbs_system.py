"""HEBBS's `GET /v1/system/health`, and `/v1/policy`: what holds for all memories of a tenant."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field

from ..._version import __version__
from ...verbs.policy import MAX_SNAPSHOTS, Policy
from .access import Calling
from .answers import OpenApp, answer
from .body import Wire, body_of
from .errors import ENTITY_ERRORS
from .health import ready
from .schema import reads

ENGINE = "remembrancer"

router = APIRouter()


class SystemHealth(BaseModel):
    """Whether this server can serve, and what it is."""

    status: str = Field(description="healthy or unhealthy.")
    version: str
    engine: str


class PolicyRequest(Wire):
    """What to change; what is left out or null stays."""

    max_snapshots_per_memory: Annotated[int, Field(ge=0, le=MAX_SNAPSHOTS)] | None = Field(
        None, description="Earlier states of a memory that are kept, up to 10,000."
    )
    auto_forget_threshold: Annotated[float, Field(ge=0, le=2)] | None = Field(
        None, description="Memories that have decayed below may be forgotten; 0: none."
    )
    decay_half_life_days: Annotated[float, Field(ge=0.001, le=100_000)] | None = Field(
        None, description="Days in which an unused memory loses half its worth."
    )


class PolicyResponse(BaseModel):
    """What holds now."""

    applied: bool = Field(description="Whether this request set it.")
    max_snapshots_per_memory: int
    auto_forget_threshold: float
    decay_half_life_days: float


@router.get(
    "/v1/system/health",
    operation_id="system_health",
    tags=["Monitoring"],
    response_model=SystemHealth,
    responses={503: {"model": SystemHealth}},
)
async def system_health(request: Request, app: OpenApp) -> Response:
    """Say whether the store can be read, and which version this is; needs no key."""
    good = await ready(app)
    body = SystemHealth(
        status="healthy" if good else "unhealthy", version=__version__, engine=ENGINE
    )
    return answer(request, body, status=200 if good else 503)


@router.get(
    "/v1/policy",
    operation_id="get_policy",
    summary="Get the policy",
    tags=["Memory"],
    response_model=PolicyResponse,
    responses=ENTITY_ERRORS,
)
async def get_policy(request: Request, app: OpenApp, caller: Calling) -> Response:
    """Return what holds for all memories of the tenant."""
    return answer(request, _shown(await app.memories.policies.of(caller.tenant), applied=False))


@router.put(
    "/v1/policy",
    operation_id="set_policy",
    summary="Set the policy",
    tags=["Memory"],
    response_model=PolicyResponse,
    responses=ENTITY_ERRORS,
    openapi_extra=reads(PolicyRequest),
)
@router.post(
    "/v1/policy",
    operation_id="post_policy",
    summary="Set the policy",
    tags=["Memory"],
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
    """Change what is given; needs the permission admin."""
    policy = await app.memories.policies.change(
        caller.tenant,
        max_snapshots=body.max_snapshots_per_memory,
        auto_forget_threshold=body.auto_forget_threshold,
        decay_half_life_days=body.decay_half_life_days,
    )
    return answer(request, _shown(policy, applied=True))


def _shown(policy: Policy, *, applied: bool) -> PolicyResponse:
    return PolicyResponse(
        applied=applied,
        max_snapshots_per_memory=policy.max_snapshots,
        auto_forget_threshold=policy.auto_forget_threshold,
        decay_half_life_days=policy.decay_half_life_days,
    )
