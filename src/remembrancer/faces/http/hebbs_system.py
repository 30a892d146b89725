"""HEBBS's `GET /v1/system/health`."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from ..._version import __version__
from .answers import OpenApp, answer
from .health import ready

ENGINE = "remembrancer"

router = APIRouter()


class SystemHealth(BaseModel):
    """Whether this server can serve, and what it is."""

    status: str = Field(description="healthy or unhealthy.")
    version: str
    engine: str


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
