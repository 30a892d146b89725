"""`…/consolidate` and what belongs to it, in Hindsight's words."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from ...nouns.ids import to_uuid
from .answers import OpenApp, answer
from .auditing import audited
from .banks import PATH, DeleteResponse, NamedBank
from .errors import BANK_ERRORS

router = APIRouter(tags=["Consolidation"])


class ConsolidationResponse(BaseModel):
    """The operation that consolidates."""

    operation_id: str
    deduplicated: bool = Field(False, description="It was waiting already.")


class RecoverConsolidationResponse(BaseModel):
    """How many failed consolidations were queued again."""

    retried_count: int


@router.post(
    f"{PATH}/consolidate",
    operation_id="consolidate",
    summary="Consolidate memories",
    response_model=ConsolidationResponse,
    responses=BANK_ERRORS,
)
async def consolidate(request: Request, app: OpenApp, bank: NamedBank) -> Response:
    """Have observations made of what memories come to together, in the background.

    Groups whose memories have not changed are left alone, so with nothing new it costs nothing. A
    body is not read: memories are told together when they have the same tags.
    """
    job, known = await app.consolidate.enqueue(bank)
    app.thinker.wake()
    audited(request, operation_id=to_uuid(job.id))
    body = ConsolidationResponse(operation_id=to_uuid(job.id), deduplicated=known)
    return answer(request, body)


@router.post(
    f"{PATH}/consolidation/recover",
    operation_id="recover_consolidation",
    summary="Recover failed consolidations",
    response_model=RecoverConsolidationResponse,
    responses=BANK_ERRORS,
)
async def recover_consolidation(request: Request, app: OpenApp, bank: NamedBank) -> Response:
    """Queue failed consolidations again."""
    count = await app.consolidate.recover(bank)
    app.thinker.wake()
    return answer(request, RecoverConsolidationResponse(retried_count=count))


@router.delete(
    f"{PATH}/observations",
    operation_id="clear_observations",
    summary="Clear observations",
    response_model=DeleteResponse,
    responses=BANK_ERRORS,
)
async def clear_observations(request: Request, app: OpenApp, bank: NamedBank) -> Response:
    """Erase the observations that consolidation has made; the next one makes them anew."""
    count = await app.consolidate.clear(bank)
    told = DeleteResponse(
        success=True, message=f"{count} observations were erased", deleted_count=count
    )
    return answer(request, told)
