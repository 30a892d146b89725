"""`…/intentions.ics` and `…/intentions/ics`: intentions out to a calendar, and in from one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from ...nouns.intention import IntentionState
from ...reading.icalendar import MOST_BYTES
from .answers import OpenApp, answer
from .auditing import audited
from .banks import PATH, NamedBank
from .body import Bodies
from .ceiling import MaxTierRank, ceiling_of
from .errors import BANK_ERRORS, Fault, Refused
from .intention_shapes import IntentionItem, shown
from .intentions import State

_TYPE = "text/calendar"

router = APIRouter(tags=["Intentions"])


class SkippedEntry(BaseModel):
    """An entry of the calendar that was not imported."""

    uid: str
    reason: str


class ImportedResponse(BaseModel):
    """The intentions of a calendar as they stand."""

    items: list[IntentionItem]
    new_count: int
    known_count: int
    skipped: list[SkippedEntry]


@router.get(
    PATH + "/intentions.ics",
    operation_id="export_intentions_ics",
    summary="Export intentions as a calendar",
    response_class=Response,
    responses={**BANK_ERRORS, 200: {"content": {_TYPE: {}}}},
)
async def export_ics(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    state: Annotated[list[State] | None, Query()] = None,
    max_tier_rank: MaxTierRank = None,
) -> Response:
    """Return intentions as an iCalendar file: of some states, or all that have not ended."""
    states = None if state is None else [IntentionState(s) for s in state]
    text = await app.calendars.export(bank, states, ceiling_of(request, max_tier_rank))
    return Response(text, media_type=f"{_TYPE}; charset=utf-8")


@router.post(
    PATH + "/intentions/ics",
    operation_id="import_intentions_ics",
    summary="Import intentions from a calendar",
    response_model=ImportedResponse,
    responses=BANK_ERRORS,
    openapi_extra={
        "requestBody": {"required": True, "content": {_TYPE: {"schema": {"type": "string"}}}}
    },
)
async def import_ics(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    zone: Annotated[str, Query(description="Of times that name none.")] = "UTC",
) -> Response:
    """Register the to-dos and events of an iCalendar file; known ones are left alone.

    What cannot be used is skipped and told.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _TYPE:
        raise Refused(
            415, Fault(f"send a calendar, with the header Content-Type: {_TYPE}", "media_type")
        )
    bodies: Bodies = request.app.state.bodies
    async with bodies.read(request) as data:
        done = await app.calendars.load(
            bank, bytes(data[: MOST_BYTES + 1]), zone, ceiling_of(request, None)
        )
    app.watch.wake()
    audited(request, intentions=done.new)
    told = ImportedResponse(
        items=[shown(i) for i in done.intentions],
        new_count=done.new,
        known_count=len(done.intentions) - done.new,
        skipped=[SkippedEntry(uid=s.uid, reason=s.reason) for s in done.skipped],
    )
    return answer(request, told, queries=("zone",))
