"""`…/config`: what a bank sets for itself, and what holds for it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field

from ...nouns.memory import BankRef
from ...verbs.bank_config import BankConfig, Effective
from .answers import OpenApp, answer
from .banks import PATH, NamedBank
from .body import Wire, body_of
from .errors import BANK_ERRORS
from .schema import reads

router = APIRouter(tags=["Banks"])


class BankConfigUpdate(Wire):
    """What to set; null unsets."""

    updates: dict[str, Any] = Field(
        description=f"By name. Names: {', '.join(sorted(BankConfig.model_fields))}."
    )


class BankConfigResponse(BaseModel):
    """What holds for a bank."""

    bank_id: str
    config: dict[str, Any] = Field(
        description="What holds: what the bank sets, and beneath that what the server sets."
    )
    overrides: dict[str, Any] = Field(description="What the bank sets.")
    inactive: list[str] = Field(description="What the bank sets that has no effect here.")


@router.get(
    f"{PATH}/config",
    operation_id="get_bank_config",
    summary="Get a bank's settings",
    response_model=BankConfigResponse,
    responses=BANK_ERRORS,
)
async def get_bank_config(request: Request, app: OpenApp, bank: NamedBank) -> Response:
    """Say what holds for a bank; one that does not exist has the server's settings."""
    return answer(request, _spelled(bank, await app.banks.config(bank)))


@router.patch(
    f"{PATH}/config",
    operation_id="update_bank_config",
    summary="Change a bank's settings",
    response_model=BankConfigResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(BankConfigUpdate),
)
async def update_bank_config(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    body: Annotated[BankConfigUpdate, Depends(body_of(BankConfigUpdate))],
) -> Response:
    """Set or unset settings; makes the bank when it is new.

    All names of a bank template are kept. Those without effect here are told as `inactive`.
    """
    found = await app.banks.update(bank, updates=body.updates)
    return answer(request, _spelled(bank, found.config))


@router.delete(
    f"{PATH}/config",
    operation_id="reset_bank_config",
    summary="Unset a bank's settings",
    response_model=BankConfigResponse,
    responses=BANK_ERRORS,
)
async def reset_bank_config(request: Request, app: OpenApp, bank: NamedBank) -> Response:
    """Unset everything that a bank sets, its mission and disposition among it."""
    return answer(request, _spelled(bank, await app.banks.reset(bank)))


def _spelled(bank: BankRef, config: Effective) -> BankConfigResponse:
    return BankConfigResponse(
        bank_id=bank.bank,
        config=config.values,
        overrides=dict(config.overrides),
        inactive=config.inactive,
    )
