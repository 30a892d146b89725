"""How documents and their chunks are written."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from ...nouns.memory import BankRef, Chunk, Document
from ...nouns.text import ERASED
from ...verbs.browse import ShownDocument
from .memory_shapes import chunk_id
from .moments import spell


class ListedDocument(BaseModel):
    """A document as listed."""

    id: str
    bank_id: str
    content_hash: str | None
    created_at: str
    updated_at: str
    text_length: int
    memory_unit_count: int
    retain_params: dict[str, Any] | None
    document_metadata: dict[str, Any] | None
    tags: list[str]


class ListDocumentsResponse(BaseModel):
    """Documents, newest update first."""

    items: list[ListedDocument]
    total: int
    limit: int
    offset: int


class DocumentResponse(BaseModel):
    """A document with its text; each character that was forgotten is U+2588."""

    id: str
    bank_id: str
    original_text: str | None
    content_hash: str | None
    created_at: str
    updated_at: str
    text_length: int
    memory_unit_count: int
    nodes_by_fact_type: dict[str, int] | None
    tags: list[str]
    document_metadata: dict[str, Any] | None
    retain_params: dict[str, Any] | None
    observation_scopes: str | list[list[str]] | None


class UpdateDocumentResponse(BaseModel):
    """It is done."""

    success: bool = True


class DeleteDocumentResponse(BaseModel):
    """What went with a document."""

    success: bool
    message: str
    document_id: str
    memory_units_deleted: int


class ChunkResponse(BaseModel):
    """A piece of a document, verbatim."""

    chunk_id: str
    document_id: str
    bank_id: str
    chunk_index: int
    chunk_text: str
    created_at: str


class ListChunksResponse(BaseModel):
    """A document's chunks in order; joined, they are its text."""

    items: list[ChunkResponse]
    total: int
    limit: int
    offset: int


class ReprocessDocumentResponse(BaseModel):
    """The operation that reads the document again."""

    success: bool
    operation_id: str
    items_count: int


def common(bank: BankRef, shown: ShownDocument) -> dict[str, Any]:
    """Return what a document shows in every shape."""
    document = shown.document
    return {
        "id": document.name,
        "bank_id": bank.bank,
        "content_hash": _hash(document),
        "created_at": spell(document.created_at),
        "updated_at": spell(document.updated_at),
        "text_length": document.length,
        "memory_unit_count": shown.count,
        "retain_params": _params(document),
        "document_metadata": dict(document.metadata) if document.metadata else None,
        "tags": list(document.tags),
    }


def _hash(document: Document) -> str | None:
    """Return the content's hash; none once a part of it was forgotten."""
    return None if document.content_hash.startswith(ERASED) else document.content_hash or None


def _params(document: Document) -> dict[str, Any] | None:
    """Return what retain was told, without what it keeps for itself."""
    if not document.params:
        return None
    told = {k: v for k, v in document.params.items() if k != "reading"}
    told["items"] = [
        {**item, "timestamp": spell(item.get("timestamp"), item.get("offset_min"))}
        for item in told.get("items", ())
    ]
    return told


def scopes_of(params: Any) -> Any:
    """Return the observation scopes that the items were retained with, when there is one."""
    found = (item.get("observation_scopes") for item in params.get("items", ()))
    return next((scopes for scopes in found if scopes), None)


def chunk_of(bank: BankRef, document: Document, chunk: Chunk) -> ChunkResponse:
    """Write a chunk."""
    return ChunkResponse(
        chunk_id=chunk_id(bank.bank, document.name, chunk.index),
        document_id=document.name,
        bank_id=bank.bank,
        chunk_index=chunk.index,
        chunk_text=chunk.text,
        created_at=spell(document.created_at) or "",
    )
