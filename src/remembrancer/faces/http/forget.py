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
from ...verbs.criteria import Criteria
from ...verbs.forget import Receipt
from ...verbs.noting import some_ids
from .access import Calling
from .answers import OpenApp, answer
from .auditing import noter
from .body import Wire, body_of
from .errors import ENTITY_ERRORS
from .hebbs_shapes import origin_named
from .prime import Int64
from .schema import reads

MOST_IDS = 10_000  # of one request

router = APIRouter()

Names = Annotated[list[str], Field(max_length=MOST_IDS)]


class ForgetRequest(Wire):
    """What to erase: memories by id, documents by name, or memories that meet criteria.

    Of criteria, ids and an entity all that are given must be met. An entity alone is all of it.
    """

    entity_id: str | None = Field(
        None, description="Entity (bank) they belong to; needed for documents."
    )
    memory_ids: Names = Field(
        default_factory=list,
        validation_alias=AliasChoices("memory_ids", "ids"),
        description="UUIDs, 32 hex digits, or 26 Crockford characters; `ids` is another name.",
    )
    document_ids: Names = Field(default_factory=list)
    staleness_threshold_us: Int64 | None = Field(
        None, description="Last used before this time, in microseconds since 1970."
    )
    access_count_floor: Int64 | None = Field(None, description="Used less often than this.")
    memory_kind: str | None = Field(
        None, description="episode, revision, document, proposition or insight."
    )
    decay_score_floor: Annotated[float, Field(allow_inf_nan=False)] | None = Field(
        None, description="Worth less than this by now."
    )

    @property
    def narrows(self) -> bool:
        """Whether a criterion beside ids and names is given."""
        given = (self.staleness_threshold_us, self.access_count_floor)
        return any(c is not None for c in (*given, self.memory_kind, self.decay_score_floor))


class ForgetResponse(BaseModel):
    """The receipt. What it lists is invisible now and gone from disk within a minute."""

    forgotten_count: int
    cascade_count: int = Field(
        description="What went with it: facts read from it, and by criteria earlier states, too."
    )
    truncated: bool = Field(False, description="There may be more: call again.")
    tombstone_count: int = Field(description="Ids that `memory_ids` lists.")
    memory_ids: list[str] = Field(description="Everything that was erased, as 32 hex digits.")
    document_ids: list[str]
    missing_ids: list[str] = Field(description="Asked for, and not there.")
    revision: int | None = Field(
        None, description="The bank's after this, for `min_revision` of reads; when it was one."
    )


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
    for name in ("memory_ids", "document_ids"):
        if name in body.model_fields_set and not getattr(body, name) and not body.document_ids:
            # A list that came out empty must not widen what is erased.
            raise InvalidInput(f"{name} must not be empty: leave it out", field=name, limit=1)
    if body.narrows or not (body.memory_ids or body.document_ids):
        receipt = await _forget_matching(request, app, caller, body)
    else:
        receipt = await _forget_named(request, app, caller, body)
    app.worker.wake()
    return answer(request, receipt)


async def _forget_named(
    request: Request, app: App, caller: Caller, body: ForgetRequest
) -> ForgetResponse:
    """Erase what is named by id or name."""
    ids = list(dict.fromkeys(parse_id(i, "memory_ids") for i in body.memory_ids))
    if body.entity_id is not None:
        ref = caller.bank(body.entity_id, "entity_id")
        done = {ref: await _forgotten(request, app, ref, ids, body.document_ids)}
        missing = set(done[ref].missing)
    else:
        done, missing = await _forget_anywhere(request, app, caller, ids, body.document_ids)
    erased = [i for r in done.values() for i in r.erased]
    documents = [name for r in done.values() for name in r.documents]
    found = len(erased) if documents else min(len(erased), len(ids) - len(missing))
    return ForgetResponse(
        forgotten_count=found,
        cascade_count=len(erased) - found,
        tombstone_count=len(erased),
        memory_ids=[i.hex() for i in erased],
        document_ids=documents,
        missing_ids=[i.hex() for i in ids if i in missing],
        revision=next(iter(done.values())).revision if len(done) == 1 else None,
    )


async def _forget_matching(
    request: Request, app: App, caller: Caller, body: ForgetRequest
) -> ForgetResponse:
    """Erase what meets criteria.

    Raises:
        InvalidInput: there are none, or some that are not known.
    """
    if body.document_ids:
        raise InvalidInput(
            "document_ids go with no other criteria: forget them by a call of their own",
            field="document_ids",
        )
    if unknown := [name for name in request.state.ignored if name != "tenant_id"]:
        # A criterion that is not followed would widen what is erased.
        raise InvalidInput(
            "criteria hold names that are not known; see the documentation for those that are",
            field=unknown[0],
        )
    ids = tuple(dict.fromkeys(parse_id(i, "memory_ids") for i in body.memory_ids))
    done = await app.memories.forget_matching(
        caller,
        Criteria(
            ids=ids or None,
            bank=None if body.entity_id is None else caller.bank(body.entity_id, "entity_id"),
            unused_since=body.staleness_threshold_us,
            used_below=body.access_count_floor,
            origin=origin_named(body.memory_kind, "memory_kind"),
            worth_below=body.decay_score_floor,
        ),
        noter(request),
    )
    return ForgetResponse(
        forgotten_count=done.asked,
        cascade_count=max(0, len(done.erased) - done.asked) + done.earlier,
        truncated=done.truncated,
        tombstone_count=len(done.erased),
        memory_ids=[i.hex() for i in done.erased],
        document_ids=[],
        missing_ids=[],
    )


async def _forgotten(
    request: Request,
    app: App,
    ref: BankRef,
    ids: Sequence[bytes],
    documents: Sequence[str] = (),
) -> Receipt:
    """Erase what is named of one bank, and note it."""
    receipt = await app.forget(ref, unit_ids=ids, documents=documents)
    if receipt.erased or receipt.documents:
        noter(request)(ref, documents=len(receipt.documents), **some_ids(receipt.erased))
    return receipt


async def _forget_anywhere(
    request: Request, app: App, caller: Caller, ids: Sequence[bytes], documents: Sequence[str]
) -> tuple[dict[BankRef, Receipt], set[bytes]]:
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
    done = {ref: await _forgotten(request, app, ref, mine) for ref, mine in banks.items()}
    gone = {i for r in done.values() for i in r.missing}
    return done, {i for i in ids if i not in places or i in gone}
