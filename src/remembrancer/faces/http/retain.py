"""`POST …/memories`: retain, in Hindsight's words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
)

from ...nouns.ids import to_uuid
from ...nouns.memory import BankRef, Job
from ...nouns.text import clean
from ...verbs.retain import Retained
from ...verbs.units import Item
from .answers import OpenApp, answer
from .banks import NamedBank
from .body import Wire, body_of
from .errors import BANK_ERRORS
from .moments import WhenSaid
from .schema import reads

# What stands beside a content is copied to each of its units, so it has to be short.
NOTE_CHARS = 10_000
NAME_CHARS = 512
TAG_CHARS = 256
TAGS = 100
ENTITIES = 500
METADATA_CHARS = 16_384

router = APIRouter(tags=["Memory"])


def _tags(value: Any) -> Any:
    """Turn a plain text, or a list spelled as JSON, into a list."""
    if not isinstance(value, str):
        return value
    if value.strip().startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            pass
    return [value] if value.strip() else []


def _metadata(value: dict[str, str] | None) -> dict[str, str] | None:
    size = sum(len(k) + len(v) for k, v in (value or {}).items())
    if size > METADATA_CHARS:
        raise ValueError(f"holds {size} characters; the limit is {METADATA_CHARS}, keys included")
    return value


_Tag = Annotated[str, StringConstraints(max_length=TAG_CHARS)]
_TAG_LIST = {"type": "array", "items": {"type": "string", "maxLength": TAG_CHARS}}
Tags = Annotated[
    Annotated[list[_Tag], Field(max_length=TAGS)] | None,
    BeforeValidator(_tags),
    WithJsonSchema(
        {"anyOf": [{**_TAG_LIST, "maxItems": TAGS}, {"type": "string"}, {"type": "null"}]}
    ),
]
Metadata = Annotated[dict[str, str] | None, AfterValidator(_metadata)]


class EntityInput(Wire):
    """A name that a content mentions."""

    text: str = Field(max_length=TAG_CHARS)
    type: str | None = None


class MemoryItem(Wire):
    """Single memory item for retain."""

    content: str
    timestamp: WhenSaid = Field(
        None, description="When it was said; its UTC offset is kept. `unset` and null: now."
    )
    context: str | None = Field(None, max_length=NOTE_CHARS)
    metadata: Metadata = None
    document_id: str | None = Field(
        None, max_length=NAME_CHARS, description="Optional document ID for this memory item."
    )
    tags: Tags = None
    entities: Annotated[list[EntityInput], Field(max_length=ENTITIES)] | None = None
    update_mode: Literal["replace"] | None = Field(
        None, description="What happens to a document of the same id: it is replaced."
    )

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "content": "Alice mentioned she's working on a new ML model",
                "context": "team meeting",
                "document_id": "meeting_notes_2024_01_15",
                "metadata": {"channel": "engineering", "source": "slack"},
                "timestamp": "2024-01-15T10:30:00Z",
            }
        }
    )


class RetainRequest(Wire):
    """Request model for retain endpoint."""

    items: list[MemoryItem]
    in_background: bool = Field(
        False,
        alias="async",
        title="Async",
        description="If true, process asynchronously in background. If false, wait for "
        "completion (default: false)",
    )

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "async": False,
                "items": [
                    {
                        "content": "Alice works at Google",
                        "context": "work",
                        "document_id": "conversation_123",
                    },
                    {
                        "content": "Bob went hiking yesterday",
                        "document_id": "conversation_123",
                        "timestamp": "2024-01-15T10:00:00Z",
                    },
                ],
            }
        }
    )


class TokenUsage(BaseModel):
    """Tokens that a language model used: none."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    thoughts_tokens: int = 0


class RetainIssue(BaseModel):
    """What did not succeed for some memories. They are kept and can be found by their words."""

    type: Literal["reading_failed", "embedding_waits"]
    count: int
    message: str


class RetainResponse(BaseModel):
    """Response model for retain endpoint."""

    success: bool
    bank_id: str
    items_count: int
    in_background: bool = Field(
        alias="async",
        title="Async",
        description="Whether the operation was processed asynchronously",
    )
    operation_id: str | None = Field(None, description="Where to ask after it; async only.")
    usage: TokenUsage | None = None
    facts_count: int | None = Field(None, description="Facts that were read; sync only.")
    unit_ids: list[str] | None = Field(None, description="Ids of new memories and their facts.")
    document_ids: list[str] | None = None
    unchanged_document_ids: list[str] | None = Field(
        None, description="Documents that stood there already, word for word."
    )
    errors: list[RetainIssue] | None = None

    model_config = ConfigDict(
        populate_by_name=True,
        json_schema_extra={
            "example": {"async": False, "bank_id": "user123", "items_count": 2, "success": True}
        },
    )


@router.post(
    "/v1/default/banks/{bank_id}/memories",
    operation_id="retain_memories",
    summary="Retain memories",
    response_model=RetainResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(RetainRequest),
)
async def retain_memories(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    body: Annotated[RetainRequest, Depends(body_of(RetainRequest))],
) -> Response:
    """Retain memory items with automatic fact extraction.

    Contents are kept verbatim and can be found at once; facts, names and dates in them are read
    by rules, without a language model. Items with the same `document_id` become one document;
    one that is there already is replaced, or left alone when nothing in it differs.

    With `async` the items are stored as a durable operation and worked on in the background.
    """
    items = [_item(each) for each in body.items]
    if body.in_background:
        job = await app.queued.enqueue(bank, items)
        app.worker.wake()
        return answer(request, _queued(bank, len(items), job))
    return answer(request, _done(bank, await app.retain(bank, items)))


def _item(item: MemoryItem) -> Item:
    return Item(
        content=item.content,
        timestamp=item.timestamp.us if item.timestamp else None,
        offset_min=item.timestamp.offset_min if item.timestamp else None,
        note=item.context,
        metadata=item.metadata or None,
        document=_name(item.document_id),
        tags=tuple(item.tags or ()),
        entities=tuple(e.text for e in item.entities or ()),
    )


def _name(document_id: str | None) -> str | None:
    return clean(document_id).strip() or None if document_id else None


def _queued(bank: BankRef, count: int, job: Job) -> RetainResponse:
    return RetainResponse(
        success=True,
        bank_id=bank.bank,
        items_count=count,
        in_background=True,
        operation_id=to_uuid(job.id),
    )


def _done(bank: BankRef, done: Retained) -> RetainResponse:
    return RetainResponse(
        success=True,
        bank_id=bank.bank,
        items_count=done.items,
        in_background=False,
        usage=TokenUsage(),
        facts_count=done.facts,
        unit_ids=[to_uuid(i) for i in done.unit_ids],
        document_ids=done.documents,
        unchanged_document_ids=done.unchanged,
        errors=list(_issues(done)),
    )


def _issues(done: Retained) -> Iterator[RetainIssue]:
    if done.unread:
        yield RetainIssue(
            type="reading_failed",
            count=done.unread,
            message=f"{done.unread} memories are kept without facts: reading them failed",
        )
    if done.unembedded:
        yield RetainIssue(
            type="embedding_waits",
            count=done.unembedded,
            message=f"{done.unembedded} memories wait for the embedder; until then they are "
            "found by their words alone",
        )
