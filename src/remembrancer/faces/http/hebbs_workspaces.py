"""`/v1/workspaces`: the tenants that a key may name, each with what it holds; a new one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BaseModel, Field

from ...app import App
from ...keeping.store import Tenant
from ...nouns.caller import Caller, Permission
from ...nouns.errors import Conflict, Forbidden, InvalidInput, NotFound
from ...nouns.names import tenant_name
from ...verbs.access.key_options import KeyOptions, granted
from ...verbs.tenant_banks import holding_of
from .access import Calling
from .answers import OpenApp, answer
from .body import Wire, body_of
from .errors import ENTITY_ERRORS
from .schema import reads

_PAGE = 1_000
_MOST = 10_000
_SLUG_CHARS = 64
_PLAIN = re.compile(r"[a-z0-9_]+")
_SECRET = {"Cache-Control": "no-store"}
_OWN = frozenset({Permission.READ, Permission.WRITE, Permission.ADMIN})

router = APIRouter(tags=["Keys"])


class CreateWorkspaceRequest(Wire):
    """What to call it."""

    name: str = Field(description="Its slug is made of the letters and digits in it.")


class WorkspaceStats(BaseModel):
    """What it holds. `files` are documents."""

    memories: int
    files: int


class Workspace(BaseModel):
    """A tenant under HEBBS's name for it."""

    slug: str = Field(description="The tenant, as in /v1/workspaces/SLUG/prime.")
    name: str
    stats: WorkspaceStats


class WorkspaceList(BaseModel):
    """Those that the key may name."""

    workspaces: list[Workspace]
    total: int


class WorkspaceResponse(BaseModel):
    """One of them."""

    workspace: Workspace


class CreatedWorkspace(WorkspaceResponse):
    """A workspace, and a key for it, which is shown this once."""

    api_key: str | None = Field(description="Null where no key is asked for.")


@router.get(
    "/v1/workspaces",
    operation_id="list_workspaces",
    summary="List workspaces",
    response_model=WorkspaceList,
    responses=ENTITY_ERRORS,
)
async def list_workspaces(
    request: Request,
    app: OpenApp,
    caller: Calling,
    limit: Annotated[int, Query(ge=1, le=_MOST)] = _PAGE,
    after: Annotated[str, Query(description="Go on after this slug.")] = "",
) -> Response:
    """List the caller's own workspace; all of them where the caller may name any."""
    if _names_any(caller):
        found = await _all(app, caller, after, limit)
    else:
        found = [await holding_of(app.store, caller)]
    shown = [_shown(tenant) for tenant in found]
    return answer(
        request,
        {"workspaces": shown, "total": len(shown)},
        queries=("limit", "after"),
    )


@router.get(
    "/v1/workspaces/{slug}",
    operation_id="get_workspace",
    summary="Get a workspace",
    response_model=WorkspaceResponse,
    responses=ENTITY_ERRORS,
)
async def get_workspace(
    request: Request, app: OpenApp, caller: Calling, slug: Annotated[str, Path()]
) -> Response:
    """Return one workspace that the key may name."""
    if slug != caller.tenant and not _names_any(caller):
        raise NotFound(f"there is no workspace {slug!r} for this key", field="slug")
    tenant = await holding_of(app.store, replace(caller, tenant=tenant_name(slug, "slug")))
    return answer(request, {"workspace": _shown(tenant)})


@router.post(
    "/v1/workspaces",
    operation_id="create_workspace",
    summary="Create a workspace",
    status_code=201,
    response_model=CreatedWorkspace,
    responses=ENTITY_ERRORS,
    openapi_extra=reads(CreateWorkspaceRequest),
)
async def create_workspace(
    request: Request,
    app: OpenApp,
    caller: Calling,
    body: Annotated[CreateWorkspaceRequest, Depends(body_of(CreateWorkspaceRequest))],
) -> Response:
    """Make a tenant with a key of its own; needs the permission cross_tenant.

    409 when there is one of that name that holds something, or has a key.
    """
    if not _names_any(caller):
        raise Forbidden(
            "insufficient permissions: requires cross_tenant; ask an administrator for a key that "
            "has it"
        )
    slug = _slug(body.name)
    tenant = await app.store.tenant(slug)
    keys = await app.keys.list(slug)
    if tenant.memories or tenant.documents or any(key.revoked_at is None for key in keys):
        raise Conflict(f"there is a workspace {slug!r} already", field="name")
    secret = None
    if caller.key_id is not None:
        options = KeyOptions(name=f"workspace {slug}", tenant=slug, permissions=_OWN)
        secret = (
            await app.keys.create(granted(caller, options), by=caller.key_id, transport="http")
        ).secret
    told: dict[str, Any] = {
        "workspace": _shown(tenant) | {"name": body.name.strip()},
        "api_key": secret,
    }
    return answer(request, told, nulls=True, headers=_SECRET, status=201)


async def _all(app: App, caller: Caller, after: str, limit: int) -> list[Tenant]:
    found = await app.store.tenants(after, limit)
    if caller.reaches_all:
        return found
    return [await holding_of(app.store, replace(caller, tenant=each.name)) for each in found]


def _names_any(caller: Caller) -> bool:
    return caller.may(Permission.CROSS_TENANT)


def _slug(name: str) -> str:
    """Return a workspace's name as a tenant can have it.

    Raises:
        InvalidInput: there is no letter or digit in it.
    """
    slug = "-".join(_PLAIN.findall(name.lower()))[:_SLUG_CHARS].strip("-")
    if not slug:
        raise InvalidInput("name must hold ASCII letters or digits", field="name", limit=1)
    return slug


def _shown(tenant: Tenant) -> dict[str, Any]:
    return {
        "slug": tenant.name,
        "name": tenant.name,
        "stats": {"memories": tenant.memories, "files": tenant.documents},
    }
