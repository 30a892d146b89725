"""`…/events`: what has happened, told to a bank; what waits for it falls due at once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field

from ...nouns.clock import to_us
from ...nouns.errors import InvalidInput
from ...nouns.intention import Event
from ...verbs.reminding.conditions import LEAST_MS, MOST_MS
from ...verbs.reminding.events import MOST_EVENTS, NewEvent
from ...verbs.reminding.reminders import of_item
from .answers import OpenApp, answer
from .auditing import audited
from .banks import NamedBank
from .body import Wire, body_of
from .ceiling import MaxTierRank, ceiling_of
from .errors import BANK_ERRORS
from .intention_shapes import Millis, OccurrenceItem, ms, shown_occurrence, us
from .schema import reads

PATH = "/v1/default/banks/{bank_id}/events"
MAX_PAGE = 1_000

router = APIRouter(tags=["Intentions"])

Since = Annotated[float | None, Query(ge=LEAST_MS, le=MOST_MS, allow_inf_nan=False)]


class EventFields(Wire):
    """What happened."""

    id: str | None = Field(
        None, description="The caller's own; an event whose id is known changes nothing."
    )
    name: str | None = Field(None, description="Matched exactly, case counts.")
    time: Millis | str | None = Field(
        None, description="Unix milliseconds or ISO 8601 (UTC without offset); now by default."
    )
    payload: dict[str, Any] | None = None


class EventsRequest(EventFields):
    """One event, or several as `items`."""

    items: Annotated[list[EventFields], Field(min_length=1, max_length=MOST_EVENTS)] | None = None


class EventItem(BaseModel):
    """A kept event. Times are Unix milliseconds."""

    id: str
    name: str
    time: int
    received_at: int
    payload: dict[str, Any] | None


class EventsResponse(BaseModel):
    """The events as they are kept, in the order given, and the occurrences that they made."""

    items: list[EventItem]
    new_ids: list[str] = Field(description="Of those that were not known.")
    occurrences: list[OccurrenceItem]


class EventListResponse(BaseModel):
    """Kept events, oldest first."""

    items: list[EventItem]
    limit: int


@router.post(
    PATH,
    operation_id="create_events",
    summary="Tell events",
    response_model=EventsResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(EventsRequest),
)
async def create_events(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    body: Annotated[EventsRequest, Depends(body_of(EventsRequest))],
    max_tier_rank: MaxTierRank = None,
) -> Response:
    """Tell what has happened; kept, and what waits for it is due, when it answers.

    Told again under the same id, an event changes nothing.
    """
    told: list[EventFields] = [body] if body.items is None else list(body.items)
    events = []
    for number, each in enumerate(told):
        with of_item(number, body.items is not None):
            events.append(_event(each))
    done = await app.events(bank, events, ceiling_of(request, max_tier_rank))
    app.watch.wake()
    audited(request, events=len(done.new), occurrences=len(done.occurrences))
    return answer(
        request,
        EventsResponse(
            items=[_shown(e) for e in done.events],
            new_ids=[e.id for e in done.events if e.id in done.new],
            occurrences=[shown_occurrence(o) for o in done.occurrences],
        ),
        queries=("maxTierRank",),
    )


@router.get(
    PATH,
    operation_id="list_events",
    summary="List events",
    response_model=EventListResponse,
    responses=BANK_ERRORS,
)
async def list_events(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    name: Annotated[list[str] | None, Query()] = None,
    since: Since = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 100,
) -> Response:
    """List kept events, oldest first: of some names, or all; from a time on."""
    found = await app.events.listing(bank, name, us(since), limit)
    return answer(
        request,
        EventListResponse(items=[_shown(e) for e in found], limit=limit),
        queries=("name", "since", "limit"),
    )


def _event(told: EventFields) -> NewEvent:
    if told.name is None:
        raise InvalidInput("name is missing: say what has happened", field="name")
    return NewEvent(told.name, told.id, _time(told.time), told.payload or {})


def _time(told: float | str | None) -> int | None:
    if not isinstance(told, str):
        return us(told)
    try:
        read = datetime.fromisoformat(told)
    except ValueError:
        raise InvalidInput(
            f"time {told[:40]!r} is no ISO 8601 time: write it like 2026-05-08T09:00:00Z",
            field="time",
        ) from None
    return to_us(read if read.tzinfo else read.replace(tzinfo=UTC))


def _shown(event: Event) -> EventItem:
    return EventItem(
        id=event.id,
        name=event.name,
        time=ms(event.at) or 0,
        received_at=event.received_at // 1_000,
        payload=dict(event.data) or None,
    )
