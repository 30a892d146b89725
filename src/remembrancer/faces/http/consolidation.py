"""`…/consolidate` and what belongs to it, in Hindsight's words."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field, model_validator

from ...nouns.ids import to_uuid
from .answers import OpenApp, answer
from .auditing import audited
from .banks import PATH, DeleteResponse, NamedBank
from .body import Wire
from .errors import BANK_ERRORS
from .occurrences import optional_body_of
from .retain import SCOPES, TAGS, Tag
from .schema import reads

router = APIRouter(tags=["Consolidation"])


Scopes = Annotated[list[Annotated[list[Tag], Field(max_length=TAGS)]], Field(max_length=SCOPES)]


class ConsolidationRequest(Wire):
    """What to consolidate; a body of null is none."""

    observation_scopes: (
        Annotated[list[Annotated[list[Tag], Field(max_length=TAGS)]], Field(max_length=SCOPES)]
        | None
    ) = Field(None, description="Only observations with one of these sets of tags; all by default.")

    @model_validator(mode="before")
    @classmethod
    def _none(cls, value: Any) -> Any:
        return {} if value is None else value


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
    openapi_extra=reads(ConsolidationRequest),
)
async def consolidate(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    body: Annotated[ConsolidationRequest, Depends(optional_body_of(ConsolidationRequest))],
) -> Response:
    """Have observations made of what memories come to together, in the background.

    Groups whose memories have not changed are left alone, so with nothing new it costs nothing.
    Memories are told together within a scope: when they have the same tags, unless the items that
    they came with say otherwise (`observation_scopes`).
    """
    job, known = await app.consolidate.enqueue(bank, body.observation_scopes)
    app.thinker.wake()
    audited(request, operation_id=to_uuid(job.id))
    told = ConsolidationResponse(operation_id=to_uuid(job.id), deduplicated=known)
    return answer(request, told)


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
