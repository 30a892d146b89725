"""Banks on the wire: which one a path or a body names; listing, making and deleting them."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import unquote, unquote_to_bytes

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BaseModel, Field
from starlette.types import ASGIApp, Receive, Scope, Send

from ...nouns.caller import Caller
from ...nouns.errors import InvalidInput
from ...nouns.memory import BankRef, Kind
from ...nouns.names import MAX_BANK_CHARS
from ...verbs.bank_config import Effective
from ...verbs.banks import Described
from .access import Calling
from .answers import OpenApp, answer
from .body import Wire, body_of
from .errors import BANK_ERRORS
from .moments import spell
from .schema import reads

PREFIX = "/v1/default/banks/"
PATH = f"{PREFIX}{{bank_id}}"
_DOCUMENTS = "documents/"  # the part of a path after which a document is named
MAX_PAGE = 10_000
MAX_OFFSET = 1 << 31

router = APIRouter(tags=["Banks"])

Trait = Annotated[int, Field(ge=1, le=5)]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE)]
Offset = Annotated[int, Query(ge=0, le=MAX_OFFSET)]


class EncodedBanks:
    """Keeps the names of banks and documents in a path percent-encoded.

    So a slash in a name is no border: `documents/a%2Fchunks` is not the chunks of `a`.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http" and scope["path"].startswith(PREFIX):
            raw = scope.get("raw_path") or b""
            if raw.startswith(PREFIX.encode()):
                bank, slash, rest = raw.decode("latin-1").removeprefix(PREFIX).partition("/")
                path = rest if rest.startswith(_DOCUMENTS) else unquote(rest)
                scope = {**scope, "path": f"{PREFIX}{bank}{slash}{path}"}
        await self._app(scope, receive, send)


def named_bank(caller: Caller, bank_id: str) -> BankRef:
    """Return the caller's bank that a percent-encoded part of a path names.

    Raises:
        InvalidInput: no bank can have that name.
        Forbidden: the caller does not reach it.
    """
    try:
        name = unquote_to_bytes(bank_id).decode()
    except UnicodeDecodeError:
        raise InvalidInput(
            f"bank_id must be percent-encoded UTF-8 of 1 to {MAX_BANK_CHARS} characters",
            field="bank_id",
            limit=MAX_BANK_CHARS,
        ) from None
    return caller.bank(name, "bank_id")


async def _bank_of(caller: Calling, bank_id: Annotated[str, Path(title="Bank Id")]) -> BankRef:
    return named_bank(caller, bank_id)


NamedBank = Annotated[BankRef, Depends(_bank_of)]


class DispositionTraits(Wire):
    """How a bank reasons, each trait from 1 to 5."""

    skepticism: Trait
    literalism: Trait
    empathy: Trait


class CreateBankRequest(Wire):
    """What to make of a bank; what is left out or null stays as it is."""

    name: str | None = Field(None, description="What people see; the bank's id by default.")
    disposition: DispositionTraits | None = None
    disposition_skepticism: Trait | None = None
    disposition_literalism: Trait | None = None
    disposition_empathy: Trait | None = None
    mission: str | None = Field(None, description="What the bank is for.")
    background: str | None = Field(None, description="A former name of `mission`.")
    reflect_mission: str | None = Field(None, description="Another name of `mission`.")
    retain_mission: str | None = None
    retain_extraction_mode: str | None = None
    retain_custom_instructions: str | None = None
    retain_chunk_size: int | None = None
    retain_structured_chunk_size: int | None = None
    enable_observations: bool | None = None
    observations_mission: str | None = None
    enable_temporal_retrieval: bool | None = None
    enable_graph_retrieval: bool | None = None
    enable_reranking: bool | None = None


class Disposition(BaseModel):
    """How a bank reasons, each trait from 1 to 5."""

    skepticism: int
    literalism: int
    empathy: int


class BankProfileResponse(BaseModel):
    """Who a bank is."""

    bank_id: str
    name: str
    disposition: Disposition
    mission: str
    background: str | None = Field(None, description="A former name of `mission`.")


class BankListItem(BaseModel):
    """A bank as listed."""

    bank_id: str
    name: str | None = None
    disposition: Disposition
    mission: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    fact_count: int = Field(0, description="Memories: sources, facts and observations.")
    last_document_at: str | None = None
    last_write_at: str | None = Field(None, description="When its newest memory was made.")


class BankListResponse(BaseModel):
    """Banks by id."""

    banks: list[BankListItem]
    total: int
    limit: int
    offset: int


class DeleteResponse(BaseModel):
    """What went."""

    success: bool
    message: str | None = None
    deleted_count: int | None = None


@router.get(
    "/v1/default/banks",
    operation_id="list_banks",
    summary="List banks",
    response_model=BankListResponse,
    responses=BANK_ERRORS,
)
async def list_banks(
    request: Request,
    app: OpenApp,
    caller: Calling,
    q: Annotated[str | None, Query(description="Part of an id or a name.")] = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """List banks by id."""
    banks, total = await app.banks.listed(
        caller.tenant,
        containing=q,
        limit=limit,
        offset=offset,
        reaches=caller.reaches if caller.banks else None,
    )
    body = BankListResponse(
        banks=[_listed(bank) for bank in banks], total=total, limit=limit, offset=offset
    )
    return answer(request, body, queries=("q", "limit", "offset"))


@router.put(
    PATH,
    operation_id="create_or_update_bank",
    summary="Make a bank or change it",
    response_model=BankProfileResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(CreateBankRequest),
)
@router.patch(
    PATH,
    operation_id="update_bank",
    summary="Change a bank or make it",
    response_model=BankProfileResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(CreateBankRequest),
)
async def update_bank(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    body: Annotated[CreateBankRequest, Depends(body_of(CreateBankRequest))],
) -> Response:
    """Make a bank, or change what is given of it."""
    updates = _updates(body)
    found = await app.banks.update(bank, name=body.name, updates=updates, where="")
    return answer(request, profile_of(found))


@router.delete(
    PATH,
    operation_id="delete_bank",
    summary="Delete a bank",
    response_model=DeleteResponse,
    responses=BANK_ERRORS,
)
async def delete_bank(request: Request, app: OpenApp, bank: NamedBank) -> Response:
    """Delete a bank with everything in it, for good. One that does not exist is gone already."""
    there = await app.store.bank(bank) is not None
    count = await app.banks.delete(bank)
    said = f"deleted the bank and {count} memories" if there else "there was no such bank"
    return answer(request, DeleteResponse(success=True, message=said, deleted_count=count))


@router.delete(
    f"{PATH}/memories",
    operation_id="clear_memories",
    summary="Clear memories",
    tags=["Memory"],
    response_model=DeleteResponse,
    responses=BANK_ERRORS,
)
async def clear_memories(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    kind: Annotated[
        Literal["world", "experience", "observation"] | None,
        Query(alias="type", description="Only memories of this type."),
    ] = None,
) -> Response:
    """Erase all memories, or those of a type, for good. The bank and its settings stay."""
    count = await app.banks.clear(bank, Kind[kind.upper()] if kind else None)
    app.worker.wake()
    said = f"erased {count} {f'{kind} ' if kind else ''}memories"
    body = DeleteResponse(success=True, message=said, deleted_count=count)
    return answer(request, body, queries=("type",))


def profile_of(found: Described) -> BankProfileResponse:
    """Spell a bank's profile."""
    return BankProfileResponse(
        bank_id=found.bank.ref.bank,
        name=found.name,
        disposition=disposition_of(found.config),
        mission=found.config.reflect_mission,
        background=found.config.reflect_mission,
    )


def disposition_of(config: Effective) -> Disposition:
    """Spell what holds for a bank."""
    return Disposition(
        skepticism=config.disposition_skepticism,
        literalism=config.disposition_literalism,
        empathy=config.disposition_empathy,
    )


def traits_of(disposition: DispositionTraits) -> dict[str, int]:
    """Return a disposition as settings of a bank."""
    names = DispositionTraits.model_fields
    return {f"disposition_{name}": getattr(disposition, name) for name in names}


def _updates(body: CreateBankRequest) -> dict[str, Any]:
    """Return the settings that a request gives; of several names of one, the newest wins."""
    missions = (body.reflect_mission, body.mission, body.background)
    renamed = {"name", "disposition", "mission", "background", "reflect_mission"}
    plain = {n: getattr(body, n) for n in CreateBankRequest.model_fields.keys() - renamed}
    updates = {
        **(traits_of(body.disposition) if body.disposition else {}),
        **{name: value for name, value in plain.items() if value is not None},
    }
    mission = next((text for text in missions if text is not None), None)
    return updates if mission is None else {**updates, "reflect_mission": mission}


def _listed(found: Described) -> BankListItem:
    bank = found.bank
    return BankListItem(
        bank_id=bank.ref.bank,
        name=found.name,
        disposition=disposition_of(found.config),
        mission=found.config.reflect_mission,
        created_at=spell(bank.created_at),
        updated_at=spell(bank.updated_at),
        fact_count=bank.unit_count,
        last_document_at=spell(bank.document_at),
        last_write_at=spell(bank.written_at),
    )
