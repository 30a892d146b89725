"""`/v1/keys`: API keys of a tenant, for its administrators; `/v1/auth/whoami`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import AliasChoices, BaseModel, Field

from ...app import App
from ...nouns.caller import Caller, Permission, Rate
from ...nouns.errors import Forbidden
from ...verbs.access.key_options import MOST_GRACE_S, KeyOptions, granted, may_hold
from ...verbs.access.key_rows import Key, NewKey
from ...verbs.access.keys import PREFIX
from .access import Calling
from .answers import OpenApp, answer
from .body import Wire, body_of
from .errors import ENTITY_ERRORS
from .moments import When, spell
from .occurrences import optional_body_of
from .schema import reads

PATH = "/v1/keys"
_TRANSPORT = "http"
_SECRET = {"Cache-Control": "no-store"}

router = APIRouter(tags=["Keys"])

Bound = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class RateLimit(Wire):
    """A token bucket."""

    per_second: Bound
    burst: Annotated[float, Field(ge=1, allow_inf_nan=False)] = Field(description="At once.")


class RateLimits(Wire):
    """Limits of a key's own; a class that is left out has the server's."""

    read: RateLimit | None = None
    write: RateLimit | None = None
    admin: RateLimit | None = None


class CreateKeyRequest(Wire):
    """What a key is for."""

    name: str = Field(
        validation_alias=AliasChoices("name", "label"),
        description="Who uses it; `label` is another name.",
    )
    tenant: str | None = Field(
        None, description="The caller's own by default; another one needs cross_tenant."
    )
    permissions: list[str] = Field(
        default_factory=lambda: [Permission.READ.value, Permission.WRITE.value],
        description=f"Some of {', '.join(Permission)}; none implies another one.",
    )
    banks: list[str] = Field(
        default_factory=list,
        description="Patterns of the banks it reaches, such as customer-*; all when empty.",
    )
    max_tier_rank: float | None = Field(
        None, description="Highest tier rank of intentions that it sees.", allow_inf_nan=False
    )
    expires_at: When = Field(None, description="ISO 8601; never by default.")
    rates: RateLimits | None = None


class RotateKeyRequest(Wire):
    """How long the old secret is still taken."""

    grace_seconds: Annotated[float, Field(ge=0, le=MOST_GRACE_S, allow_inf_nan=False)] = 0


class KeyItem(BaseModel):
    """A key without its secret."""

    id: str
    name: str
    label: str = Field(description="As `name`.")
    prefix: str = Field(description="How every key begins; nothing else of one is kept.")
    tenant: str
    permissions: list[str]
    role: str = Field(description="admin, writer or reader, by the permissions.")
    banks: list[str]
    max_tier_rank: float | None
    expires_at: str | None
    rates: dict[str, RateLimit]
    created_at: str | None
    last_used_at: str | None = Field(description="To five minutes.")
    rotated_at: str | None
    revoked_at: str | None
    revoked_at_too: str | None = Field(serialization_alias="revokedAt")


class CreatedKey(KeyItem):
    """A key with its secret, which is shown this once."""

    key: str
    api_key: str = Field(description="As `key`.")


class KeyListResponse(BaseModel):
    """Keys, newest first, revoked ones too."""

    keys: list[KeyItem]
    total: int


class WhoAmI(BaseModel):
    """Who calls, and what it may do."""

    authenticated: bool = Field(description="False while no key is asked for.")
    tenant: str
    key_id: str | None
    name: str | None
    permissions: list[str]
    banks: list[str]
    max_tier_rank: float | None
    expires_at: str | None


@router.get(
    "/v1/auth/whoami",
    operation_id="whoami",
    summary="Who am I",
    response_model=WhoAmI,
    responses=ENTITY_ERRORS,
)
async def whoami(request: Request, caller: Calling) -> Response:
    """Say whose key this is, and what it permits."""
    body = WhoAmI(
        authenticated=caller.key_id is not None,
        tenant=caller.tenant,
        key_id=caller.key_id,
        name=caller.name,
        permissions=sorted(caller.permissions),
        banks=list(caller.banks),
        max_tier_rank=caller.max_tier_rank,
        expires_at=spell(caller.expires_at),
    )
    return answer(request, body, nulls=True)


async def _admin(app: OpenApp, caller: Calling) -> Caller:
    """Return who administers keys.

    Raises:
        Forbidden: no key is asked for yet. Whoever makes the first one shuts out all others, so
            that is left to the owner of the data.
    """
    if not await app.gate.asks():
        raise Forbidden(
            "auth is off here: make the first key where the data is, with "
            "`remembrancer keys create NAME --permission admin`, or set REMEMBRANCER_API_KEY"
        )
    return caller


Administrator = Annotated[Caller, Depends(_admin)]


@router.post(
    PATH,
    operation_id="create_key",
    summary="Create an API key",
    status_code=201,
    response_model=CreatedKey,
    responses=ENTITY_ERRORS,
    openapi_extra=reads(CreateKeyRequest),
)
async def create_key(
    request: Request,
    app: OpenApp,
    caller: Administrator,
    body: Annotated[CreateKeyRequest, Depends(body_of(CreateKeyRequest))],
) -> Response:
    """Create a key; it is shown this once. It can do nothing that the caller's own cannot."""
    options = KeyOptions(
        name=body.name,
        tenant=caller.tenant if body.tenant is None else body.tenant,
        permissions=may_hold(body.permissions),
        banks=tuple(body.banks),
        max_tier_rank=body.max_tier_rank,
        expires_at=body.expires_at.us if body.expires_at else None,
        rates=_rates(body.rates),
    )
    made = await app.keys.create(granted(caller, options), by=caller.key_id, transport=_TRANSPORT)
    return answer(request, _created(made), nulls=True, headers=_SECRET, status=201)


@router.get(
    PATH,
    operation_id="list_keys",
    summary="List API keys",
    response_model=KeyListResponse,
    responses=ENTITY_ERRORS,
)
async def list_keys(request: Request, app: OpenApp, caller: Administrator) -> Response:
    """List the keys of the caller's tenant; of all tenants with cross_tenant."""
    keys = [_shown(key) for key in await app.keys.list(_tenant(caller))]
    return answer(request, KeyListResponse(keys=keys, total=len(keys)), nulls=True)


@router.delete(
    f"{PATH}/{{key_id}}",
    operation_id="revoke_key",
    summary="Revoke an API key",
    response_model=KeyItem,
    responses=ENTITY_ERRORS,
)
async def revoke_key(
    request: Request, app: OpenApp, caller: Administrator, key_id: str
) -> Response:
    """Refuse a key from now on: here at once, in other processes within five seconds."""
    key = await app.keys.revoke(
        key_id, tenant=_tenant(caller), by=caller.key_id, transport=_TRANSPORT
    )
    return answer(request, _shown(key), nulls=True)


@router.post(
    f"{PATH}/{{key_id}}/rotate",
    operation_id="rotate_key",
    summary="Rotate an API key",
    response_model=CreatedKey,
    responses=ENTITY_ERRORS,
    openapi_extra=reads(RotateKeyRequest),
)
async def rotate_key(
    request: Request,
    app: OpenApp,
    caller: Administrator,
    key_id: str,
    body: Annotated[RotateKeyRequest, Depends(optional_body_of(RotateKeyRequest))],
) -> Response:
    """Give a key another secret; the old one is taken for `grace_seconds` more."""
    await _check_within(app, caller, key_id)
    made = await app.keys.rotate(
        key_id,
        body.grace_seconds,
        tenant=_tenant(caller),
        by=caller.key_id,
        transport=_TRANSPORT,
    )
    return answer(request, _created(made), nulls=True, headers=_SECRET)


async def _check_within(app: App, caller: Caller, key_id: str) -> None:
    """Check that a key can do nothing that the caller's cannot: its secret is about to be told."""
    key = await app.keys.get(key_id, _tenant(caller))
    if key.id == caller.key_id:
        return
    most = granted(caller, key.options)
    if _bounds(most) != _bounds(key.options):
        raise Forbidden(
            f"key {key.id} may do more than this one: it has a higher tier rank, lasts longer, or "
            "may ask more often"
        )


def _bounds(options: KeyOptions) -> tuple[object, ...]:
    rates = {name: rate for name, rate in options.rates.items() if name in options.permissions}
    return options.max_tier_rank, options.expires_at, rates


def _tenant(caller: Caller) -> str | None:
    return None if caller.may(Permission.CROSS_TENANT) else caller.tenant


def _rates(told: RateLimits | None) -> dict[Permission, Rate]:
    given = {name: getattr(told, name) for name in RateLimits.model_fields} if told else {}
    return {
        Permission(name): Rate(rate.per_second, rate.burst)
        for name, rate in given.items()
        if rate is not None
    }


def _role(permissions: frozenset[Permission]) -> str:
    if Permission.ADMIN in permissions:
        return "admin"
    return "writer" if Permission.WRITE in permissions else "reader"


def _shown(key: Key) -> KeyItem:
    options = key.options
    return KeyItem(
        id=key.id,
        name=options.name,
        label=options.name,
        prefix=PREFIX,
        tenant=options.tenant,
        permissions=sorted(options.permissions),
        role=_role(options.permissions),
        banks=list(options.banks),
        max_tier_rank=options.max_tier_rank,
        expires_at=spell(options.expires_at),
        rates={
            name: RateLimit(per_second=rate.per_second, burst=rate.burst)
            for name, rate in options.rates.items()
        },
        created_at=spell(key.created_at),
        last_used_at=spell(key.last_used_at),
        rotated_at=spell(key.rotated_at),
        revoked_at=spell(key.revoked_at),
        revoked_at_too=spell(key.revoked_at),
    )


def _created(made: NewKey) -> CreatedKey:
    return CreatedKey(**_shown(made.key).model_dump(), key=made.secret, api_key=made.secret)
