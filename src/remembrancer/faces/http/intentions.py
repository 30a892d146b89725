"""`…/intentions`: what to do later: registered, listed, changed, removed; and what is due now."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from pydantic import BaseModel, Field

from ...app import App
from ...nouns.caller import Permission
from ...nouns.errors import InvalidInput, NotFound
from ...nouns.ids import parse_id, to_uuid
from ...nouns.intention import IntentionState
from ...nouns.memory import BankRef
from ...verbs.check import MOST_EVENTS, MOST_OFFERS, CheckOptions, Mode
from ...verbs.remind import MOST_PREVIEWED
from ...verbs.reminding.occurrences import MOST_LEASE_S
from ...verbs.reminding.reminders import Reminder, of_item
from .access import Calling
from .answers import OpenApp, answer
from .auditing import audited, unaudited
from .banks import Limit, NamedBank, Offset
from .body import Wire, body_of
from .ceiling import MaxTierRank, ceiling_of
from .errors import BANK_ERRORS
from .intention_shapes import (
    DueItem,
    IntentionItem,
    IntentionRequest,
    Millis,
    Number,
    RegisterRequest,
    UpdateIntentionRequest,
    Vector,
    changes_of,
    ms,
    reminder_of,
    shown,
    shown_due,
    us,
    vector_of,
)
from .schema import reads

PATH = "/v1/default/banks/{bank_id}/intentions"

FEW = 20  # items up to which a request is read at once, not in a thread

router = APIRouter(tags=["Intentions"])

Included = Literal["cueEmbedding"]
Include = Annotated[list[Included] | None, Query(description="What else to show.")]
State = Literal["proposed", "active", "paused", "done", "cancelled", "expired"]


class RegisteredIntention(IntentionItem):
    """The intention as it stands."""

    warnings: list[str] | None = None


class RegisteredIntentions(BaseModel):
    """The intentions as they stand, in the order given."""

    items: list[IntentionItem]
    warnings: list[str]


class IntentionListResponse(BaseModel):
    """A page of intentions in the order of registration."""

    items: list[IntentionItem]
    total: int
    limit: int
    offset: int


class PreviewResponse(BaseModel):
    """When an intention fires next, in Unix milliseconds; empty where no time says."""

    id: str
    next: list[int]


class RemovedResponse(BaseModel):
    """An intention was erased, with its occurrences."""

    success: bool
    removed: int


class CheckRequest(Wire):
    """What is known now. Keys may be camelCase or snake_case."""

    now: Millis | None = Field(
        None, description="Unix milliseconds. Later than the server's clock it counts for peek."
    )
    events: Annotated[list[str], Field(max_length=MOST_EVENTS)] = Field(
        default_factory=list, description="Names of what has just happened; they are not kept."
    )
    query_text: str | None = Field(
        None, alias="queryText", description="What is talked about; it is embedded here."
    )
    query_embedding: Vector | None = Field(None, alias="queryEmbedding")
    max_tier_rank: Number | None = Field(
        None, alias="maxTierRank", description="May only lower the caller's own ceiling."
    )
    mode: Literal["lease", "consume", "peek"] = "lease"
    lease_seconds: Annotated[float, Field(ge=1, le=MOST_LEASE_S, allow_inf_nan=False)] = Field(
        60, alias="leaseSeconds"
    )
    limit: Annotated[int, Field(ge=1, le=MOST_OFFERS)] = 100
    include: list[Included] = Field(default_factory=list)


class CheckResponse(BaseModel):
    """What is due, by importance and then in the order of registration."""

    items: list[DueItem]
    remaining: int = Field(description="Due too, beyond the limit; they stay due.")
    now: int
    mode: str
    warnings: list[str]


@router.post(
    PATH,
    operation_id="create_intentions",
    summary="Register intentions",
    status_code=201,
    response_model=RegisteredIntention | RegisteredIntentions,
    responses=BANK_ERRORS,
    openapi_extra=reads(RegisterRequest),
)
async def create_intentions(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    body: Annotated[RegisterRequest, Depends(body_of(RegisterRequest))],
    idempotency_key: Annotated[str | None, Header()] = None,
    include: Include = None,
) -> Response:
    """Register what to do later; durable when it answers.

    What can never fire is refused. With an `Idempotency-Key`, or an `id` of the caller's own, it is
    registered once, however often the request is sent.
    """
    asked: list[IntentionRequest] = [body] if body.items is None else list(body.items)
    own = await _ids(app, bank, idempotency_key, len(asked))
    now, many = app.clock.now_us(), body.items is not None
    if len(asked) > FEW:
        reminders, warnings = await asyncio.to_thread(_read, asked, own, now, many)
    else:
        reminders, warnings = _read(asked, own, now, many)
    made = await app.remind(bank, reminders, ceiling=ceiling_of(request, None))
    warnings += made.warnings
    app.watch.wake()
    audited(request, intentions=len(made.intentions))
    wanted = frozenset(include or ())
    items = [shown(i, wanted) for i in made.intentions]
    if body.items is not None:
        return answer(
            request,
            RegisteredIntentions(items=items, warnings=warnings),
            queries=("include",),
            status=201,
        )
    told = RegisteredIntention(**items[0].model_dump(), warnings=warnings or None)
    return answer(request, told, queries=("include",), status=201)


@router.get(
    PATH,
    operation_id="list_intentions",
    summary="List intentions",
    response_model=IntentionListResponse,
    responses=BANK_ERRORS,
)
async def list_intentions(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    state: Annotated[list[State] | None, Query()] = None,
    limit: Limit = 100,
    offset: Offset = 0,
    max_tier_rank: MaxTierRank = None,
    include: Include = None,
) -> Response:
    """List intentions in the order of registration; of some states, or all."""
    states = None if state is None else [IntentionState(s) for s in state]
    ceiling = ceiling_of(request, max_tier_rank)
    found, total = await app.remind.listing(bank, states, limit, offset, ceiling)
    items = [shown(i, frozenset(include or ())) for i in found]
    return answer(
        request,
        IntentionListResponse(items=items, total=total, limit=limit, offset=offset),
        queries=("state", "limit", "offset", "maxTierRank", "include"),
    )


@router.post(
    PATH + "/check",
    operation_id="check_intentions",
    summary="Check what is due",
    response_model=CheckResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(CheckRequest),
)
async def check_intentions(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    caller: Calling,
    body: Annotated[CheckRequest, Depends(body_of(CheckRequest))],
) -> Response:
    """Return what is due now: by time, by events told, by what is talked about.

    With `lease` each is the caller's for a while: acknowledge it, or it is offered again. With
    `consume` it is done with at once. With `peek` nothing changes; the others need the permission
    write.
    """
    if body.mode == "peek":
        unaudited(request)
    else:
        caller.needs(Permission.WRITE)
    most = app.settings.max_query_chars
    if body.query_text is not None and len(body.query_text) > most:
        raise InvalidInput(
            f"queryText has {len(body.query_text)} characters; the limit is {most}",
            field="queryText",
            limit=most,
        )
    found = await app.check(
        bank,
        CheckOptions(
            now=us(body.now),
            events=body.events,
            text=body.query_text,
            vector=vector_of(body.query_embedding),
            ceiling=ceiling_of(request, body.max_tier_rank),
            mode=Mode(body.mode),
            lease_s=body.lease_seconds,
            limit=body.limit,
        ),
    )
    if body.mode != "peek":
        audited(request, mode=body.mode, occurrences=len(found.due))
    wanted = frozenset(body.include)
    told = CheckResponse(
        items=[shown_due(due, wanted) for due in found.due],
        remaining=found.remaining,
        now=ms(found.now) or 0,
        mode=body.mode,
        warnings=list(found.warnings),
    )
    return answer(request, told)


@router.get(
    PATH + "/{intention_id}",
    operation_id="get_intention",
    summary="Get an intention",
    response_model=IntentionItem,
    responses=BANK_ERRORS,
)
async def get_intention(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    intention_id: str,
    max_tier_rank: MaxTierRank = None,
    include: Include = None,
) -> Response:
    """Return an intention as it stands."""
    ceiling = ceiling_of(request, max_tier_rank)
    found = await app.remind.get(bank, parse_id(intention_id, "intention_id"), ceiling)
    return answer(
        request, shown(found, frozenset(include or ())), queries=("maxTierRank", "include")
    )


@router.patch(
    PATH + "/{intention_id}",
    operation_id="update_intention",
    summary="Change an intention",
    response_model=IntentionItem,
    responses=BANK_ERRORS,
    openapi_extra=reads(UpdateIntentionRequest),
)
async def update_intention(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    intention_id: str,
    body: Annotated[UpdateIntentionRequest, Depends(body_of(UpdateIntentionRequest))],
    max_tier_rank: MaxTierRank = None,
) -> Response:
    """Change an intention: what is left out stays, null takes away.

    `cancelled` ends what is open of it. `paused` makes nothing new; what is open stays open.
    """
    ceiling = ceiling_of(request, max_tier_rank)
    wanted = parse_id(intention_id, "intention_id")
    stored = await app.remind.get(bank, wanted, ceiling)
    changes = changes_of(body, stored, app.clock.now_us())
    made = await app.remind.revise(bank, wanted, changes, ceiling)
    app.watch.wake()
    return answer(request, shown(made), queries=("maxTierRank",))


@router.delete(
    PATH + "/{intention_id}",
    operation_id="delete_intention",
    summary="Remove an intention",
    response_model=RemovedResponse,
    responses=BANK_ERRORS,
)
async def delete_intention(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    intention_id: str,
    max_tier_rank: MaxTierRank = None,
) -> Response:
    """Erase an intention with its occurrences."""
    wanted = parse_id(intention_id, "intention_id")
    removed = await app.remind.remove(bank, [wanted], ceiling_of(request, max_tier_rank))
    if not removed:
        raise NotFound(
            f"there is no intention {to_uuid(wanted)} in this bank", field="intention_id"
        )
    return answer(request, RemovedResponse(success=True, removed=removed), queries=("maxTierRank",))


@router.get(
    PATH + "/{intention_id}/preview",
    operation_id="preview_intention",
    summary="Preview the next occurrences",
    response_model=PreviewResponse,
    responses=BANK_ERRORS,
)
async def preview_intention(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    intention_id: str,
    limit: Annotated[int, Query(ge=1, le=MOST_PREVIEWED)] = 5,
    max_tier_rank: MaxTierRank = None,
) -> Response:
    """Tell when an intention fires next."""
    ceiling = ceiling_of(request, max_tier_rank)
    found = await app.remind.get(bank, parse_id(intention_id, "intention_id"), ceiling)
    times = [ms(at) or 0 for at in app.remind.preview(found, limit)]
    return answer(
        request,
        PreviewResponse(id=to_uuid(found.id), next=times),
        queries=("limit", "maxTierRank"),
    )


def _read(
    asked: Sequence[IntentionRequest], own: Sequence[bytes | None], now: int, many: bool
) -> tuple[list[Reminder], list[str]]:
    """Return what to register, and what is doubtful of it."""
    reminders: list[Reminder] = []
    warnings: list[str] = []
    for number, each in enumerate(asked):
        with of_item(number, many):
            reminder, doubts = reminder_of(each, now, own[number])
        reminders.append(reminder)
        warnings += doubts
    return reminders, warnings


async def _ids(app: App, bank: BankRef, key: str | None, count: int) -> list[bytes] | list[None]:
    """Return the ids that a key stands for; without a key none are given."""
    return [None] * count if key is None else await app.once(bank, key, count)
