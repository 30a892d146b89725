"""Erasing: `POST /v1/forget`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import AliasChoices, BaseModel, Field

from ...app import App
from ...nouns.caller import Caller
from ...nouns.errors import InvalidInput
from ...nouns.ids import parse_id
from ...nouns.memory import BankRef
from ...verbs.forget import Receipt
from .access import Calling
from .answers import OpenApp, answer
from .body import Wire, body_of
from .errors import ENTITY_ERRORS
from .schema import reads

MOST_IDS = 10_000  # of one request

router = APIRouter()

Names = Annotated[list[str], Field(max_length=MOST_IDS)]


class ForgetRequest(Wire):
    """What to erase: memories by id, documents by name."""

    entity_id: str | None = Field(
        None, description="Entity (bank) they belong to; needed for documents."
    )
    memory_ids: Names = Field(
        default_factory=list,
        validation_alias=AliasChoices("memory_ids", "ids"),
        description="UUIDs, 32 hex digits, or 26 Crockford characters; `ids` is another name.",
    )
    document_ids: Names = Field(default_factory=list)


class ForgetResponse(BaseModel):
    """The receipt. What it lists is invisible now and gone from disk within a minute."""

    forgotten_count: int
    cascade_count: int = Field(description="What went with it: facts read from it.")
    truncated: bool = False
    tombstone_count: int = 0
    memory_ids: list[str] = Field(description="Everything that was erased, as 32 hex digits.")
    document_ids: list[str]
    missing_ids: list[str] = Field(description="Asked for, and not there.")


@router.post(
    "/v1/forget",
    operation_id="forget",
    summary="Forget",
    tags=["Memory"],
    response_model=ForgetResponse,
    responses=ENTITY_ERRORS,
    openapi_extra=reads(ForgetRequest),
)
async def forget(
    request: Request,
    app: OpenApp,
    caller: Calling,
    body: Annotated[ForgetRequest, Depends(body_of(ForgetRequest))],
) -> Response:
    """Erase memories and documents for good, with the facts read from them."""
    ids = list(dict.fromkeys(parse_id(i, "memory_ids") for i in body.memory_ids))
    if body.entity_id is not None:
        ref = caller.bank(body.entity_id, "entity_id")
        receipts = [await app.forget(ref, unit_ids=ids, documents=body.document_ids)]
        missing = set(receipts[0].missing)
    else:
        receipts, missing = await _forget_anywhere(app, caller, ids, body.document_ids)
    app.worker.wake()
    erased = [i for r in receipts for i in r.erased]
    documents = [name for r in receipts for name in r.documents]
    found = len(erased) if documents else min(len(erased), len(ids) - len(missing))
    return answer(
        request,
        ForgetResponse(
            forgotten_count=found,
            cascade_count=len(erased) - found,
            memory_ids=[i.hex() for i in erased],
            document_ids=documents,
            missing_ids=[i.hex() for i in ids if i in missing],
        ),
    )


async def _forget_anywhere(
    app: App, caller: Caller, ids: Sequence[bytes], documents: Sequence[str]
) -> tuple[list[Receipt], set[bytes]]:
    """Erase memories whose banks are looked up; return the receipts and what was not found."""
    if documents or not ids:
        raise InvalidInput(
            "name memory_ids, or an entity_id with memory_ids or document_ids",
            field="entity_id",
            limit=1,
        )
    found = await app.store.locate(caller.tenant, ids)
    places = {unit_id: ref for unit_id, ref in found.items() if caller.reaches(ref.bank)}
    banks: dict[BankRef, list[bytes]] = {}
    for unit_id, ref in places.items():
        banks.setdefault(ref, []).append(unit_id)
    receipts = [await app.forget(ref, unit_ids=mine) for ref, mine in banks.items()]
    gone = {i for r in receipts for i in r.missing}
    return receipts, {i for i in ids if i not in places or i in gone}
