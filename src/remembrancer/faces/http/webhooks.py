"""`…/webhooks`: who is told of what happens in a bank, in Hindsight's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field

from ...keeping.records import Record
from ...nouns.memory import BankRef
from ...verbs.telling.webhooks import CONSOLIDATION_COMPLETED, METHODS, HttpConfig, Webhook
from .answers import OpenApp, answer
from .auditing import audited
from .banks import DeleteResponse, NamedBank, Offset
from .body import Wire, body_of
from .ceiling import ceiling_of
from .errors import BANK_ERRORS
from .moments import spell
from .schema import reads

PATH = "/v1/default/banks/{bank_id}/webhooks"
MAX_PAGE = 200

router = APIRouter(tags=["Webhooks"])


class WebhookHttpConfig(Wire):
    """How a webhook is called."""

    method: str = Field("POST", description=f"One of {', '.join(METHODS)}.")
    timeout_seconds: int = Field(30, description="From 1 to 60.")
    headers: dict[str, str] = Field(default_factory=dict)
    params: dict[str, str] = Field(default_factory=dict, description="Added to the URL's query.")


class CreateWebhookRequest(Wire):
    """A webhook to keep."""

    url: str
    secret: str | None = Field(None, description="Signs what is sent; never shown again in full.")
    event_types: list[str] = Field(default_factory=lambda: [CONSOLIDATION_COMPLETED])
    enabled: bool = True
    http_config: WebhookHttpConfig = Field(default_factory=WebhookHttpConfig)
    acknowledges: bool = Field(
        True, description="Whether a 2xx answer to intention.due acknowledges the occurrence."
    )


class UpdateWebhookRequest(Wire):
    """What to change; what is left out or null stays. An empty secret takes it away."""

    url: str | None = None
    secret: str | None = None
    event_types: list[str] | None = None
    enabled: bool | None = None
    http_config: WebhookHttpConfig | None = None
    acknowledges: bool | None = None


class WebhookResponse(BaseModel):
    """A webhook. Of the secret only its end is shown."""

    id: str
    bank_id: str | None
    url: str
    secret: str | None
    event_types: list[str]
    enabled: bool
    http_config: WebhookHttpConfig
    acknowledges: bool
    max_tier_rank: float | None = Field(
        description="Intentions ranked higher are not sent: the ceiling of the key that set the "
        "webhook up or changed it last."
    )
    created_at: str | None
    updated_at: str | None


class WebhookListResponse(BaseModel):
    """A bank's webhooks, newest first."""

    items: list[WebhookResponse]
    total: int
    limit: int
    offset: int


class WebhookDeliveryResponse(BaseModel):
    """One event sent, or to be sent, to one webhook."""

    id: str
    webhook_id: str | None
    url: str
    event_type: str
    status: str = Field(
        description="pending, completed or failed; of intention.due dead_letter instead of failed, "
        "and dropped when it had ended before it was sent"
    )
    attempts: int
    next_retry_at: str | None
    last_error: str | None
    last_response_status: int | None
    last_response_body: str | None
    last_attempt_at: str | None
    occurrence_id: str | None = Field(description="Of intention.due: what fell due.")
    created_at: str | None
    updated_at: str | None


class WebhookDeliveryListResponse(BaseModel):
    """Deliveries, newest first."""

    items: list[WebhookDeliveryResponse]
    next_cursor: str | None


@router.post(
    PATH,
    operation_id="create_webhook",
    summary="Create webhook",
    status_code=201,
    response_model=WebhookResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(CreateWebhookRequest),
)
async def create_webhook(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    body: Annotated[CreateWebhookRequest, Depends(body_of(CreateWebhookRequest))],
) -> Response:
    """Tell a URL of what happens in a bank from now on."""
    kept = await app.webhooks.create(
        bank,
        Webhook(
            id="",
            url=body.url,
            secret=body.secret or None,
            event_types=tuple(dict.fromkeys(body.event_types)),
            enabled=body.enabled,
            http=_config(body.http_config),
            acknowledges=body.acknowledges,
            ceiling=ceiling_of(request, None),
        ),
    )
    audited(request, webhook_id=kept.id)
    return answer(request, _shown(bank, kept), nulls=True, status=201)


@router.get(
    PATH,
    operation_id="list_webhooks",
    summary="List webhooks",
    response_model=WebhookListResponse,
    responses=BANK_ERRORS,
)
async def list_webhooks(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 100,
    offset: Offset = 0,
) -> Response:
    """List a bank's webhooks, newest first."""
    found = await app.webhooks.list(bank)
    body = WebhookListResponse(
        items=[_shown(bank, each) for each in found[offset : offset + limit]],
        total=len(found),
        limit=limit,
        offset=offset,
    )
    return answer(request, body, nulls=True, queries=("limit", "offset"))


@router.patch(
    PATH + "/{webhook_id}",
    operation_id="update_webhook",
    summary="Update webhook",
    response_model=WebhookResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(UpdateWebhookRequest),
)
async def update_webhook(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    webhook_id: str,
    body: Annotated[UpdateWebhookRequest, Depends(body_of(UpdateWebhookRequest))],
) -> Response:
    """Change a webhook; what is left out or null stays as it is."""
    changes = {**_changes(body), "ceiling": ceiling_of(request, None)}
    kept = await app.webhooks.update(bank, webhook_id, changes)
    return answer(request, _shown(bank, kept), nulls=True)


@router.delete(
    PATH + "/{webhook_id}",
    operation_id="delete_webhook",
    summary="Delete webhook",
    response_model=DeleteResponse,
    responses=BANK_ERRORS,
)
async def delete_webhook(
    request: Request, app: OpenApp, bank: NamedBank, webhook_id: str
) -> Response:
    """Delete a webhook; what waits to be sent to it is not sent any more."""
    await app.webhooks.delete(bank, webhook_id)
    told = DeleteResponse(success=True, message="the webhook was deleted", deleted_count=1)
    return answer(request, told)


@router.get(
    PATH + "/{webhook_id}/deliveries",
    operation_id="list_webhook_deliveries",
    summary="List webhook deliveries",
    response_model=WebhookDeliveryListResponse,
    responses=BANK_ERRORS,
)
async def list_deliveries(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    webhook_id: str,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50,
    cursor: Annotated[str | None, Query()] = None,
) -> Response:
    """List what was sent to a webhook and what came of it, newest first."""
    ceiling = ceiling_of(request, None)
    page = await app.webhooks.deliveries(bank, webhook_id, limit, cursor, ceiling)
    return answer(
        request,
        WebhookDeliveryListResponse(
            items=[_delivery(record) for record in page.records], next_cursor=page.next_cursor
        ),
        nulls=True,
        queries=("limit", "cursor"),
    )


@router.post(
    PATH + "/{webhook_id}/deliveries/{delivery_id}/replay",
    operation_id="replay_webhook_delivery",
    summary="Replay a delivery",
    status_code=202,
    response_model=WebhookDeliveryResponse,
    responses=BANK_ERRORS,
)
async def replay_delivery(
    request: Request, app: OpenApp, bank: NamedBank, webhook_id: str, delivery_id: str
) -> Response:
    """Send a due intention once more, with all attempts: after a dead letter, for example."""
    record = await app.replay(bank, webhook_id, delivery_id, ceiling_of(request, None))
    app.courier.wake()
    audited(request, webhook_id=webhook_id, delivery_id=delivery_id)
    return answer(request, _delivery(record), nulls=True, status=202)


def _config(config: WebhookHttpConfig) -> HttpConfig:
    return HttpConfig(
        config.method.upper(), config.timeout_seconds, dict(config.headers), dict(config.params)
    )


def _changes(body: UpdateWebhookRequest) -> Mapping[str, Any]:
    changes: dict[str, Any] = {}
    if body.url is not None:
        changes["url"] = body.url
    if body.secret is not None:
        changes["secret"] = body.secret or None
    if body.event_types is not None:
        changes["event_types"] = tuple(dict.fromkeys(body.event_types))
    if body.enabled is not None:
        changes["enabled"] = body.enabled
    if body.http_config is not None:
        changes["http"] = _config(body.http_config)
    if body.acknowledges is not None:
        changes["acknowledges"] = body.acknowledges
    return changes


def _shown(bank: BankRef, webhook: Webhook) -> WebhookResponse:
    return WebhookResponse(
        id=webhook.id,
        bank_id=bank.bank,
        url=webhook.url,
        secret=webhook.masked_secret,
        event_types=list(webhook.event_types),
        enabled=webhook.enabled,
        http_config=WebhookHttpConfig(
            method=webhook.http.method,
            timeout_seconds=webhook.http.timeout_seconds,
            headers=dict(webhook.http.headers),
            params=dict(webhook.http.params),
        ),
        acknowledges=webhook.acknowledges,
        max_tier_rank=webhook.ceiling,
        created_at=spell(webhook.created_at),
        updated_at=spell(webhook.updated_at),
    )


def _delivery(record: Record) -> WebhookDeliveryResponse:
    data = record.data
    return WebhookDeliveryResponse(
        id=record.key,
        webhook_id=data["webhook_id"],
        url=data["url"],
        event_type=data["event_type"],
        status=data["status"],
        attempts=data["attempts"],
        next_retry_at=spell(data["next_retry_at"]),
        last_error=data.get("last_error"),
        last_response_status=data.get("last_response_status"),
        last_response_body=data.get("last_response_body"),
        last_attempt_at=spell(data.get("last_attempt_at")),
        occurrence_id=data.get("occurrence_id"),
        created_at=spell(record.created_at),
        updated_at=spell(record.updated_at),
    )
