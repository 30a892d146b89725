"""Health, version and status: what an operator and a client ask first."""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from ..._version import __version__
from ...app import App
from ...nouns.caller import Permission
from ...nouns.errors import RemembrancerError
from ...verbs.status import BANKS_SHOWN
from ...verbs.thinking.minds import VERBS
from .access import Calling
from .answers import OpenApp, answer
from .banks import Limit, Offset
from .errors import ENTITY_ERRORS
from .mcp_route import AVAILABLE
from .moments import spell

router = APIRouter(tags=["Monitoring"])


class HealthResponse(BaseModel):
    """Whether requests can be served."""

    status: str
    database: str
    db_acquire_ms: float
    db_pool_waiting: int = 0


class LivenessResponse(BaseModel):
    """That the process lives."""

    status: str
    version: str
    uptime_seconds: float


_BANK = "/v1/default/banks/{bank_id}"
_FEATURES = {
    "observations": ("post", f"{_BANK}/consolidate"),
    "bank_config_api": ("get", f"{_BANK}/config"),
    "bank_llm_health": ("post", f"{_BANK}/health/llm"),
    "file_upload_api": ("post", f"{_BANK}/files/retain"),
    "document_export_api": ("post", f"{_BANK}/document-transfer/export"),
    "document_import_api": ("post", f"{_BANK}/document-transfer"),
    "audit_log": ("get", f"{_BANK}/audit-logs"),
    "llm_trace": ("get", f"{_BANK}/llm-requests"),
}
"""A feature is there when its route is."""

_OF_ALL = frozenset({"ok", "engine", "schema"})
"""What the store says of itself that tells nothing of anybody."""


class FeaturesInfo(BaseModel):
    """What this server can do, in Hindsight's terms."""

    observations: bool
    mcp: bool
    worker: bool = Field(description="Whether this process works on what is queued.")
    bank_config_api: bool
    bank_llm_health: bool
    file_upload_api: bool
    document_export_api: bool
    document_import_api: bool
    audit_log: bool
    llm_trace: bool
    store_document_text: bool


class VersionResponse(BaseModel):
    """The version, and what it can do."""

    api_version: str
    features: FeaturesInfo


class ProbeResponse(BaseModel):
    """A probe's answer."""

    status: str
    reason: str | None = None


class BankStatus(BaseModel):
    """A bank and its size."""

    bank_id: str
    units: int
    documents: int
    revision: int
    updated_at: str | None


class StatusResponse(BaseModel):
    """What is here, which models are in use, and whether all is well."""

    version: str
    store: dict[str, Any]
    embedder: dict[str, Any] | None
    llm: dict[str, Any] | None = Field(
        description="Language models by verb, and what this key's tenant has used today (UTC)."
    )
    pending_vectors: int | None = Field(description="Null for keys of one tenant.")
    index_memory_bytes: int | None = Field(description="Null for keys of one tenant.")
    banks: list[BankStatus] = Field(description="A page of the banks, by name.")
    bank_count: int = Field(description="How many banks there are for this key.")
    notes: list[str]


class Index(BaseModel):
    """What this server is, and where its description stands."""

    name: str
    version: str
    openapi: str
    routes: list[str]


# Probes of containers and monitors ask with HEAD, too.
@router.get(
    "/health",
    operation_id="health",
    response_model=HealthResponse,
    responses={503: {"model": HealthResponse}},
)
@router.get(
    "/health/ready",
    operation_id="health_ready",
    response_model=HealthResponse,
    responses={503: {"model": HealthResponse}},
)
@router.head("/health", include_in_schema=False)
@router.head("/health/ready", include_in_schema=False)
async def health(request: Request, app: OpenApp) -> Response:
    """Say whether the store can be read; 503 when it cannot, or when this process is to stop."""
    started = time.perf_counter()
    draining: bool = request.app.state.draining
    good = await ready(app)
    body = HealthResponse(
        status="draining" if draining else "healthy" if good else "unhealthy",
        database="connected" if good else "unavailable",
        db_acquire_ms=round((time.perf_counter() - started) * 1e3, 3),
    )
    return answer(request, body, status=200 if good and not draining else 503)


@router.get("/health/live", operation_id="health_live", response_model=LivenessResponse)
@router.head("/health/live", include_in_schema=False)
async def live(request: Request) -> Response:
    """Say that the process lives; touches nothing."""
    uptime = time.monotonic() - request.app.state.started
    body = LivenessResponse(status="alive", version=__version__, uptime_seconds=round(uptime, 3))
    return answer(request, body)


@router.get("/version", operation_id="get_version", response_model=VersionResponse)
async def version(request: Request, app: OpenApp) -> Response:
    """Say which version this is, and what it can do."""
    there = request.app.state.methods
    features = FeaturesInfo(
        **{name: method in there.get(path, ()) for name, (method, path) in _FEATURES.items()},
        mcp=AVAILABLE,
        worker=app.settings.worker,
        store_document_text=True,
    )
    return answer(request, VersionResponse(api_version=__version__, features=features))


@router.get("/v1/health/live", operation_id="probe_live", response_model=ProbeResponse)
@router.get("/v1/health/liveness", operation_id="probe_liveness", response_model=ProbeResponse)
@router.head("/v1/health/live", include_in_schema=False)
@router.head("/v1/health/liveness", include_in_schema=False)
async def probe_live(request: Request) -> Response:
    """Say that the process lives."""
    return answer(request, ProbeResponse(status="alive"))


@router.get(
    "/v1/health/ready",
    operation_id="probe_ready",
    response_model=ProbeResponse,
    responses={503: {"model": ProbeResponse}},
)
@router.get(
    "/v1/health/readiness",
    operation_id="probe_readiness",
    response_model=ProbeResponse,
    responses={503: {"model": ProbeResponse}},
)
@router.head("/v1/health/ready", include_in_schema=False)
@router.head("/v1/health/readiness", include_in_schema=False)
async def probe_ready(request: Request, app: OpenApp) -> Response:
    """Say whether the store can be read; 503 when it cannot, or when this process is to stop."""
    draining: bool = request.app.state.draining
    if not draining and await ready(app):
        return answer(request, ProbeResponse(status="ready"))
    reason = "told to stop" if draining else "the store cannot be read"
    body = ProbeResponse(status="not_ready", reason=reason)
    return answer(request, body, status=503)


@router.get(
    "/v1/status", operation_id="status", response_model=StatusResponse, responses=ENTITY_ERRORS
)
async def status(
    request: Request,
    app: OpenApp,
    caller: Calling,
    limit: Limit = BANKS_SHOWN,
    offset: Offset = 0,
) -> Response:
    """Report what is here; sizes over all tenants need the permission cross_tenant."""
    found = await app.status(caller.tenant, limit=1)
    banks, total = await app.banks.listed(
        caller.tenant,
        limit=limit,
        offset=offset,
        reaches=caller.reaches if caller.banks else None,
    )
    whole = caller.may(Permission.CROSS_TENANT)
    body = StatusResponse(
        version=found.version,
        store={k: v for k, v in found.store.items() if whole or k in _OF_ALL},
        embedder=dict(found.embedder) if found.embedder is not None else None,
        llm=await _llm(app, caller.tenant),
        pending_vectors=found.pending_vectors if whole else None,
        index_memory_bytes=found.index_memory_bytes if whole else None,
        banks=[
            BankStatus(
                bank_id=b.ref.bank,
                units=b.unit_count,
                documents=b.document_count,
                revision=b.revision,
                updated_at=spell(b.updated_at),
            )
            for b in (each.bank for each in banks)
        ],
        bank_count=total,
        notes=list(found.notes) if whole else [],
    )
    return answer(request, body, queries=("limit", "offset"), nulls=True)


@router.get("/", operation_id="index", response_model=Index)
async def index(request: Request) -> Response:
    """Say what this server is, and where its description stands."""
    there: dict[str, frozenset[str]] = request.app.state.methods
    routes = [f"{method.upper()} {path}" for path, methods in there.items() for method in methods]
    body = Index(
        name="Remembrancer", version=__version__, openapi="/openapi.json", routes=sorted(routes)
    )
    return answer(request, body)


async def _llm(app: App, tenant: str) -> dict[str, Any] | None:
    """Return which model does which work, and what was used; None without any."""
    models = {verb: m.name if (m := app.minds.of(verb)) is not None else None for verb in VERBS}
    if not any(models.values()):
        return None
    spent = await app.minds.ledger.spent_by(tenant)
    caps = app.minds.ledger.caps
    return {
        "models": models,
        "tokens_today": spent.tokens,
        "calls_today": spent.calls,
        "failed_today": spent.failed,
        "tokens_cap": caps.tenant_tokens,
        "calls_cap": caps.tenant_calls,
    }


async def ready(app: App) -> bool:
    """Return whether the store can be read."""
    try:
        return bool((await app.store.health())["ok"])
    except RemembrancerError:
        return False
