"""`…/occurrences`: what fell due: listed, acknowledged, put off, dismissed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field

from ...app import App
from ...keeping.intentions import Offer
from ...nouns.errors import InvalidInput
from ...nouns.ids import parse_id
from ...nouns.intention import OccurrenceState
from ...nouns.memory import BankRef
from ...verbs.reminding.occurrences import MOST_LEASE_S, MOST_SNOOZE_S, SECOND_US
from ...verbs.reminding.scheduling import UTC, in_words
from .answers import OpenApp, answer
from .auditing import audited
from .banks import NamedBank, Offset
from .body import Wire, body_of
from .ceiling import MaxTierRank, ceiling_of
from .errors import BANK_ERRORS
from .intention_shapes import Millis, Number, OccurrenceWithIntention, shown_offer, us
from .schema import reads

PATH = "/v1/default/banks/{bank_id}/occurrences"
MAX_PAGE = 1_000

router = APIRouter(tags=["Intentions"])

State = Literal["due", "leased", "snoozed", "acked", "dismissed", "expired", "dead_letter"]
W = TypeVar("W", bound=Wire)


class AnswerRequest(Wire):
    """Which lease this answers."""

    token: int | None = Field(
        None, description="As it came with the lease; without it whatever stands is answered."
    )
    max_tier_rank: Number | None = Field(None, alias="maxTierRank")


class NackRequest(AnswerRequest):
    """It could not be shown."""

    delay_seconds: Annotated[float, Field(ge=0, le=MOST_SNOOZE_S, allow_inf_nan=False)] = Field(
        0, alias="delaySeconds", description="Before it is offered again."
    )


class SnoozeRequest(AnswerRequest):
    """When it is to come back: one of the three."""

    until: Millis | None = Field(None, description="Unix milliseconds.")
    seconds: Annotated[float, Field(gt=0, le=MOST_SNOOZE_S, allow_inf_nan=False)] | None = None
    at: str | None = Field(None, description="In words: 'tomorrow at 9'.")
    zone: str | None = Field(None, description="IANA name, for `at`; the intention's by default.")


class ExtendRequest(AnswerRequest):
    """How much longer the lease is to last."""

    lease_seconds: Annotated[float, Field(ge=1, le=MOST_LEASE_S, allow_inf_nan=False)] = Field(
        60, alias="leaseSeconds", description="From now."
    )


class OccurrenceListResponse(BaseModel):
    """Occurrences, newest first."""

    items: list[OccurrenceWithIntention]
    limit: int
    offset: int


def optional_body_of(model: type[W]) -> Callable[[Request], AsyncIterator[W]]:
    """As `body_of`, for routes whose body may be left out."""
    full = body_of(model)

    async def read(request: Request) -> AsyncIterator[W]:
        headers = request.headers
        if headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers:
            yield model()
            return
        async for value in full(request):
            yield value

    return read


@router.get(
    PATH,
    operation_id="list_occurrences",
    summary="List occurrences",
    response_model=OccurrenceListResponse,
    responses=BANK_ERRORS,
)
async def list_occurrences(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    state: Annotated[list[State] | None, Query()] = None,
    intention_id: Annotated[str | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 100,
    offset: Offset = 0,
    max_tier_rank: MaxTierRank = None,
) -> Response:
    """List occurrences, newest first; of some states, or of one intention."""
    found = await app.store.offers(
        bank,
        states=None if state is None else [OccurrenceState(s) for s in state],
        intention_ids=None if intention_id is None else [parse_id(intention_id, "intention_id")],
        ceiling=ceiling_of(request, max_tier_rank),
        limit=limit,
        offset=offset,
    )
    now = app.clock.now_us()
    items = [shown_offer(o.occurrence, o.intention, now) for o in found]
    return answer(
        request,
        OccurrenceListResponse(items=items, limit=limit, offset=offset),
        queries=("state", "intention_id", "limit", "offset", "maxTierRank"),
    )


@router.get(
    PATH + "/{occurrence_id}",
    operation_id="get_occurrence",
    summary="Get an occurrence",
    response_model=OccurrenceWithIntention,
    responses=BANK_ERRORS,
)
async def get_occurrence(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    occurrence_id: str,
    max_tier_rank: MaxTierRank = None,
) -> Response:
    """Return an occurrence as it stands."""
    ceiling = ceiling_of(request, max_tier_rank)
    offer = await app.occurrences.get(bank, _id(occurrence_id), ceiling)
    return _told(request, app, offer, queries=("maxTierRank",))


@router.post(
    PATH + "/{occurrence_id}/ack",
    operation_id="ack_occurrence",
    summary="Acknowledge",
    response_model=OccurrenceWithIntention,
    responses=BANK_ERRORS,
    openapi_extra=reads(AnswerRequest),
)
async def ack_occurrence(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    occurrence_id: str,
    body: Annotated[AnswerRequest, Depends(optional_body_of(AnswerRequest))],
) -> Response:
    """It was done, or shown: it is not offered again."""
    ceiling = ceiling_of(request, body.max_tier_rank)
    offer = await app.occurrences.ack(bank, _id(occurrence_id), body.token, ceiling)
    return _told(request, app, offer)


@router.post(
    PATH + "/{occurrence_id}/dismiss",
    operation_id="dismiss_occurrence",
    summary="Dismiss",
    response_model=OccurrenceWithIntention,
    responses=BANK_ERRORS,
    openapi_extra=reads(AnswerRequest),
)
async def dismiss_occurrence(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    occurrence_id: str,
    body: Annotated[AnswerRequest, Depends(optional_body_of(AnswerRequest))],
) -> Response:
    """It is not wanted: it is not offered again."""
    ceiling = ceiling_of(request, body.max_tier_rank)
    offer = await app.occurrences.dismiss(bank, _id(occurrence_id), body.token, ceiling)
    return _told(request, app, offer)


@router.post(
    PATH + "/{occurrence_id}/nack",
    operation_id="nack_occurrence",
    summary="Give back",
    response_model=OccurrenceWithIntention,
    responses=BANK_ERRORS,
    openapi_extra=reads(NackRequest),
)
async def nack_occurrence(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    occurrence_id: str,
    body: Annotated[NackRequest, Depends(optional_body_of(NackRequest))],
) -> Response:
    """It could not be shown: it is offered again, at once or after a delay."""
    ceiling = ceiling_of(request, body.max_tier_rank)
    offer = await app.occurrences.nack(
        bank, _id(occurrence_id), body.token, ceiling, body.delay_seconds
    )
    return _told(request, app, offer)


@router.post(
    PATH + "/{occurrence_id}/snooze",
    operation_id="snooze_occurrence",
    summary="Snooze",
    response_model=OccurrenceWithIntention,
    responses=BANK_ERRORS,
    openapi_extra=reads(SnoozeRequest),
)
async def snooze_occurrence(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    occurrence_id: str,
    body: Annotated[SnoozeRequest, Depends(body_of(SnoozeRequest))],
) -> Response:
    """It is to come back later: at a time, after some seconds, or when words say."""
    ceiling = ceiling_of(request, body.max_tier_rank)
    wanted = _id(occurrence_id)
    until = await until_of(app, bank, wanted, body, ceiling)
    offer = await app.occurrences.snooze(bank, wanted, body.token, ceiling, until)
    return _told(request, app, offer)


@router.post(
    PATH + "/{occurrence_id}/extend",
    operation_id="extend_occurrence",
    summary="Extend the lease",
    response_model=OccurrenceWithIntention,
    responses=BANK_ERRORS,
    openapi_extra=reads(ExtendRequest),
)
async def extend_occurrence(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    occurrence_id: str,
    body: Annotated[ExtendRequest, Depends(optional_body_of(ExtendRequest))],
) -> Response:
    """Hold a lease for longer: so many seconds from now."""
    ceiling = ceiling_of(request, body.max_tier_rank)
    offer = await app.occurrences.extend(
        bank, _id(occurrence_id), body.token, ceiling, body.lease_seconds
    )
    return _told(request, app, offer)


def _id(text: str) -> bytes:
    return parse_id(text, "occurrence_id")


async def until_of(
    app: App, bank: BankRef, wanted: bytes, body: SnoozeRequest, ceiling: float | None
) -> int:
    """Return when an occurrence is to come back, in microseconds."""
    if sum(each is not None for each in (body.until, body.seconds, body.at)) != 1:
        raise InvalidInput("give one of until, seconds and at", field="until")
    now = app.clock.now_us()
    if body.seconds is not None:
        return now + int(body.seconds * SECOND_US)
    if body.at is None:
        return us(body.until) or 0
    offer = await app.occurrences.get(bank, wanted, ceiling)
    zone = body.zone or offer.intention.options.get("zone") or UTC
    return in_words(body.at, now, zone).trigger_at or now


def _told(request: Request, app: App, offer: Offer, queries: tuple[str, ...] = ()) -> Response:
    if request.method != "GET":
        app.watch.wake()
        audited(request, state=str(offer.occurrence.state))
    shape = shown_offer(offer.occurrence, offer.intention, app.clock.now_us())
    return answer(request, shape, queries=queries)
