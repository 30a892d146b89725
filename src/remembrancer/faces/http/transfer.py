"""`…/document-transfer`: documents out of a bank and into another one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from ...nouns.errors import TooLarge
from ...nouns.ids import to_uuid
from ...verbs.transferring.importing import OnConflict
from .answers import OpenApp, answer
from .banks import NamedBank
from .errors import BANK_ERRORS, Fault, HTTPError, Refused
from .multipart import Forms, takes
from .schema import fails_with

PATH = "/v1/default/banks/{bank_id}/document-transfer"
MAX_NAMED = 100  # documents; an address cannot be much longer

router = APIRouter(tags=["Document Transfer"])


class DocumentExportSubmitResponse(BaseModel):
    """The operation that exports; its result tells where the archive is."""

    operation_id: str
    status: str = "pending"


class DocumentImportSubmitResponse(BaseModel):
    """The operation that imports."""

    operation_id: str
    status: str = "pending"


@router.post(
    PATH + "/export",
    operation_id="export_documents",
    summary="Export documents",
    status_code=202,
    response_model=DocumentExportSubmitResponse,
    responses=BANK_ERRORS,
)
async def export_documents(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    document_id: Annotated[list[str] | None, Query(max_length=MAX_NAMED)] = None,
    include_observations: Annotated[bool, Query()] = False,
) -> Response:
    """Write documents to an archive in the background: those named, or all.

    When the operation is completed, its `result_metadata` has `download_url`: fetch it within a
    day, and before anything in the bank is forgotten, which drops its archives.
    """
    job = await app.exports.enqueue(bank, document_id)
    app.worker.wake()
    return answer(
        request,
        DocumentExportSubmitResponse(operation_id=to_uuid(job.id)),
        queries=("document_id", "include_observations"),
        ignored=("include_observations",) if include_observations else (),
        status=202,
    )


@router.post(
    PATH,
    operation_id="import_documents",
    summary="Import documents",
    status_code=202,
    response_model=DocumentImportSubmitResponse,
    responses=BANK_ERRORS,
    openapi_extra=takes(files={"file": False}),
)
async def import_documents(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    on_conflict: Annotated[OnConflict, Query()] = "skip",
) -> Response:
    """Retain the documents of an archive in the background, with their times and tags.

    A document whose name is taken is skipped, or replaces the one that is there; with `error`
    nothing is imported then.
    """
    forms: Forms = request.app.state.forms
    async with forms.read(request, 1) as form:
        files = form.files.get("file", [])
        if not files:
            raise Refused(
                422, Fault("file: send the archive in the part named file", path=("file",))
            )
        try:
            job = await app.imports.enqueue(bank, files[0].file, on_conflict)
        except TooLarge as error:
            raise Refused(
                413, Fault(error.message, error.code, path=("file",), limit=error.limit)
            ) from None
    app.worker.wake()
    return answer(
        request,
        DocumentImportSubmitResponse(operation_id=to_uuid(job.id)),
        queries=("on_conflict",),
        status=202,
    )


@router.get(
    PATH,
    operation_id="export_documents_sync_removed",
    summary="Removed",
    deprecated=True,
    status_code=410,
    response_model=HTTPError,
    responses={410: fails_with(HTTPError)},
)
async def export_documents_sync_removed(_: NamedBank) -> Any:
    """Say where exports went."""
    raise Refused(
        410,
        Fault("exports run in the background now: POST …/document-transfer/export", "removed"),
    )
