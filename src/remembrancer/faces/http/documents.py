"""Documents and their chunks: list, look at, tag, read again, delete."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import unquote_to_bytes

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from ...keeping.browse import UnitTime
from ...nouns.errors import InvalidInput, NotFound
from ...nouns.ids import to_uuid
from ...nouns.text import clean
from .access import Calling
from .answers import OpenApp, answer
from .banks import PATH, Limit, NamedBank, Offset
from .body import Wire, body_of
from .document_shapes import (
    ChunkResponse,
    DeleteDocumentResponse,
    DocumentResponse,
    ListChunksResponse,
    ListDocumentsResponse,
    ListedDocument,
    ReprocessDocumentResponse,
    UpdateDocumentResponse,
    chunk_of,
    common,
    scopes_of,
)
from .errors import BANK_ERRORS, Fault, Refused
from .memories import Match, Tags, tag_filter
from .retain import Tags as NewTags
from .schema import reads
from .windows import WINDOW, EndDate, StartDate, window

DOCUMENTS = f"{PATH}/documents"
DOCUMENT = f"{DOCUMENTS}/{{document_id:path}}"

router = APIRouter(tags=["Documents"])


async def _document_of(document_id: Annotated[str, Path(title="Document Id")]) -> str:
    # `EncodedBanks` leaves this part of a path encoded, so that "a%2Fchunks" is no chunks of "a".
    try:
        return unquote_to_bytes(document_id).decode()
    except UnicodeDecodeError:
        raise InvalidInput(
            "document_id must be percent-encoded UTF-8", field="document_id"
        ) from None


NamedDocument = Annotated[str, Depends(_document_of)]


class UpdateDocumentRequest(Wire):
    """New tags of a document and of all memories made from it."""

    tags: NewTags = None


@router.get(
    DOCUMENTS,
    operation_id="list_documents",
    summary="List documents",
    response_model=ListDocumentsResponse,
    responses=BANK_ERRORS,
)
async def list_documents(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    q: Annotated[
        str | None, Query(max_length=1_000, description="A part of the id, letter case aside.")
    ] = None,
    tags: Tags = None,
    tags_match: Annotated[Match, Query()] = "any_strict",
    time_field: Annotated[
        Literal["created_at", "updated_at"] | None, Query(description="By which time.")
    ] = None,
    start_date: StartDate = None,
    end_date: EndDate = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """List documents, newest update first, or by `time_field`."""
    found, total = await app.browse.documents(
        bank,
        name=clean(q or ""),
        tags=tag_filter(tags, tags_match),
        during=window(time_field, start_date, end_date, unnamed=UnitTime.UPDATED),
        limit=limit,
        offset=offset,
    )
    return answer(
        request,
        ListDocumentsResponse(
            items=[ListedDocument(**common(bank, shown)) for shown in found],
            total=total,
            limit=limit,
            offset=offset,
        ),
        nulls=True,
        queries=("q", "tags", "tags_match", *WINDOW, "limit", "offset"),
    )


@router.get(
    f"{DOCUMENT}/chunks",
    operation_id="list_document_chunks",
    summary="List the chunks of a document",
    response_model=ListChunksResponse,
    responses=BANK_ERRORS,
)
async def list_document_chunks(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    document_id: NamedDocument,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """List a document's chunks in order."""
    shown = await app.browse.chunks(bank, document_id, limit=limit, offset=offset)
    return answer(
        request,
        ListChunksResponse(
            items=[chunk_of(bank, shown.document, chunk) for chunk in shown.chunks],
            total=shown.total,
            limit=limit,
            offset=offset,
        ),
        queries=("limit", "offset"),
    )


@router.post(
    f"{DOCUMENT}/reprocess",
    operation_id="reprocess_document",
    summary="Reprocess a document",
    response_model=ReprocessDocumentResponse,
    responses=BANK_ERRORS,
)
async def reprocess_document(
    request: Request, app: OpenApp, bank: NamedBank, document_id: NamedDocument
) -> Response:
    """Read a document again in the background; its memories keep their ids."""
    job = await app.reprocess.enqueue(bank, document_id)
    app.worker.wake()
    return answer(
        request,
        ReprocessDocumentResponse(
            success=True, operation_id=to_uuid(job.id), items_count=job.items
        ),
    )


@router.get(
    DOCUMENT,
    operation_id="get_document",
    summary="Get a document",
    response_model=DocumentResponse,
    responses=BANK_ERRORS,
)
async def get_document(
    request: Request, app: OpenApp, bank: NamedBank, document_id: NamedDocument
) -> Response:
    """Show a document with its text."""
    shown = await app.browse.document(bank, document_id)
    params = shown.document.params or {}
    return answer(
        request,
        DocumentResponse(
            **common(bank, shown),
            original_text=shown.text,
            nodes_by_fact_type={kind.name.lower(): n for kind, n in shown.kinds.items()},
            observation_scopes=scopes_of(params),
        ),
        nulls=True,
    )


@router.patch(
    DOCUMENT,
    operation_id="update_document",
    summary="Update a document",
    response_model=UpdateDocumentResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(UpdateDocumentRequest),
)
async def update_document(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    document_id: NamedDocument,
    body: Annotated[UpdateDocumentRequest, Depends(body_of(UpdateDocumentRequest))],
) -> Response:
    """Give a document and all its memories other tags; nothing is read again."""
    if body.tags is None:
        raise Refused(422, Fault("give the new tags, [] for none", "missing", path=("tags",)))
    tags = tuple(dict.fromkeys(clean(tag) for tag in body.tags if clean(tag).strip()))
    await app.curate.retag(bank, document_id, tags)
    return answer(request, UpdateDocumentResponse())


@router.delete(
    DOCUMENT,
    operation_id="delete_document",
    summary="Delete a document",
    response_model=DeleteDocumentResponse,
    responses=BANK_ERRORS,
)
async def delete_document(
    request: Request, app: OpenApp, bank: NamedBank, document_id: NamedDocument
) -> Response:
    """Erase a document with all memories made from it."""
    receipt = await app.forget(bank, documents=[document_id])
    if not receipt.documents:
        raise NotFound(f"there is no document {document_id!r} in this bank", field="document_id")
    app.worker.wake()
    count = len(receipt.erased)
    return answer(
        request,
        DeleteDocumentResponse(
            success=True,
            message=f"erased the document and {count} memory units",
            document_id=document_id,
            memory_units_deleted=count,
        ),
    )


@router.get(
    "/v1/default/chunks/{chunk_id:path}",
    operation_id="get_chunk",
    summary="Get a chunk",
    response_model=ChunkResponse,
    responses=BANK_ERRORS,
)
async def getchunk_of(request: Request, app: OpenApp, caller: Calling, chunk_id: str) -> Response:
    """Show a chunk by its id, BANK_DOCUMENT_INDEX."""
    bank, document, chunk = await app.browse.chunk(caller.tenant, chunk_id)
    if not caller.reaches(bank.bank):
        raise NotFound(f"there is no chunk {chunk_id!r}", field="chunk_id")
    return answer(request, chunk_of(bank, document, chunk))
