"""`…/profile` and `…/background`: who a bank is."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field

from .answers import OpenApp, answer
from .banks import (
    PATH,
    BankProfileResponse,
    Disposition,
    DispositionTraits,
    NamedBank,
    disposition_of,
    profile_of,
    traits_of,
)
from .body import Wire, body_of
from .errors import BANK_ERRORS
from .schema import reads

router = APIRouter(tags=["Banks"])


class UpdateDispositionRequest(Wire):
    """How the bank is to reason."""

    disposition: DispositionTraits


class AddBackgroundRequest(Wire):
    """Text to add to the mission."""

    content: str
    update_disposition: bool = Field(
        True, description="Without effect: nothing is inferred from the text."
    )


class BackgroundResponse(BaseModel):
    """The mission as it is now."""

    mission: str
    background: str | None = Field(None, description="A former name of `mission`.")
    disposition: Disposition | None = None


@router.get(
    f"{PATH}/profile",
    operation_id="get_bank_profile",
    summary="Get a bank's profile",
    response_model=BankProfileResponse,
    responses=BANK_ERRORS,
)
async def get_bank_profile(request: Request, app: OpenApp, bank: NamedBank) -> Response:
    """Say who a bank is."""
    return answer(request, profile_of(await app.banks.get(bank)))


@router.put(
    f"{PATH}/profile",
    operation_id="update_bank_disposition",
    summary="Set a bank's disposition",
    response_model=BankProfileResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(UpdateDispositionRequest),
)
async def update_bank_disposition(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    body: Annotated[UpdateDispositionRequest, Depends(body_of(UpdateDispositionRequest))],
) -> Response:
    """Set how a bank reasons; makes the bank when it is new."""
    found = await app.banks.update(bank, updates=traits_of(body.disposition), where="disposition")
    return answer(request, profile_of(found))


@router.post(
    f"{PATH}/background",
    operation_id="add_bank_background",
    summary="Add to a bank's mission",
    deprecated=True,
    response_model=BackgroundResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(AddBackgroundRequest),
)
async def add_bank_background(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    body: Annotated[AddBackgroundRequest, Depends(body_of(AddBackgroundRequest))],
) -> Response:
    """Add lines to a bank's mission, those that stand there already left out."""
    config = (await app.banks.add_to_mission(bank, body.content)).config
    given = "update_disposition" in body.model_fields_set
    return answer(
        request,
        BackgroundResponse(
            mission=config.reflect_mission,
            background=config.reflect_mission,
            disposition=disposition_of(config),
        ),
        ignored=["update_disposition"] if given else (),
    )
