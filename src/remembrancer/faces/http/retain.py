"""`POST …/memories`: retain, in Hindsight's words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

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
from ...verbs.modelling.scopes import COMBINED_TAGS
from ...verbs.retain import Retained
from ...verbs.retaining.given import MOST_FACTS, MOST_NAMES, QUOTE_CHARS, TEXT_CHARS, GivenFact
from ...verbs.retaining.given import NAME_CHARS as FACT_NAME_CHARS
from ...verbs.retaining.units import Item
from .answers import OpenApp, answer
from .auditing import audited
from .banks import NamedBank
from .body import Wire, body_of
from .errors import BANK_ERRORS, Fault, HTTPError, Refused
from .memory_shapes import chunk_id
from .moments import Moment, Unset, When, WhenSaidIfEver
from .schema import fails_with, reads

# What stands beside a content is copied to each of its units, so it has to be short.
NOTE_CHARS = 10_000
NAME_CHARS = 512
TAG_CHARS = 256
TAGS = 100
ENTITIES = 500
METADATA_CHARS = 16_384
SCOPES = 100
EMPTY_CHUNKS = 100  # named in an answer
REFUSED = 100  # facts named in an answer

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


def _uuid(value: str | None) -> str | None:
    try:
        return value and str(UUID(value))
    except ValueError:
        raise ValueError("must be a UUID, such as 2f1c9c1e-8f1b-4b7e-9a57-3c8f0d1e2a3b") from None


Tag = Annotated[str, StringConstraints(max_length=TAG_CHARS)]
_TAG_LIST = {"type": "array", "items": {"type": "string", "maxLength": TAG_CHARS}}
Tags = Annotated[
    Annotated[list[Tag], Field(max_length=TAGS)] | None,
    BeforeValidator(_tags),
    WithJsonSchema(
        {"anyOf": [{**_TAG_LIST, "maxItems": TAGS}, {"type": "string"}, {"type": "null"}]}
    ),
]
ObservationScopes = (
    Literal["per_tag", "combined", "all_combinations", "shared"]
    | Annotated[
        list[Annotated[list[Tag], Field(max_length=TAGS)]],
        Field(max_length=SCOPES),
    ]
    | None
)
OperationId = Annotated[
    str | None,
    AfterValidator(_uuid),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}),
]
Metadata = Annotated[dict[str, str] | None, AfterValidator(_metadata)]


class EntityInput(Wire):
    """A name that a content mentions."""

    text: str = Field(max_length=TAG_CHARS)
    type: str | None = None


class GivenFactInput(Wire):
    """A fact that the caller has extracted from the content."""

    text: str = Field(max_length=TEXT_CHARS, description="The fact, in one sentence.")
    quote: str | None = Field(
        None,
        max_length=QUOTE_CHARS,
        description="The words of the content that state it; looked for by default.",
    )
    entities: (
        Annotated[
            list[Annotated[str, StringConstraints(max_length=FACT_NAME_CHARS)]],
            Field(max_length=MOST_NAMES),
        ]
        | None
    ) = None
    occurred_start: When = Field(
        None, description="When it happened, by a date that the content tells."
    )
    occurred_end: When = None


class MemoryItem(Wire):
    """Single memory item for retain."""

    content: str
    timestamp: WhenSaidIfEver = Field(
        None,
        description="When it was said; its UTC offset is kept. Null: now. `unset`: nobody knows, "
        "so no “yesterday” in it is a date.",
    )
    context: str | None = Field(None, max_length=NOTE_CHARS)
    metadata: Metadata = None
    document_id: str | None = Field(
        None, max_length=NAME_CHARS, description="Optional document ID for this memory item."
    )
    tags: Tags = None
    entities: Annotated[list[EntityInput], Field(max_length=ENTITIES)] | None = None
    resolve_entities: bool = Field(
        True, description="If false, the names in it are taken as they are spelled."
    )
    observation_scopes: ObservationScopes = Field(
        None,
        description="Which observations it counts for: those with all of its tags (`combined`, the "
        "default), with each one of them (`per_tag`), with each set of them "
        f"(`all_combinations`; {COMBINED_TAGS} tags at most), with none (`shared`), or with the "
        "sets of tags given.",
    )
    strategy: str | None = Field(
        None, max_length=NAME_CHARS, description="Kept with the document; there are none yet."
    )
    update_mode: Literal["replace", "append"] | None = Field(
        None,
        description="What happens to a document of the same id: it is replaced, but for what "
        "still says the same, or the content is put after its end.",
    )
    facts: Annotated[list[GivenFactInput], Field(max_length=MOST_FACTS)] | None = Field(
        None,
        description="Facts that you have extracted yourself, in the place of those that would be "
        "read. Each has to stand in the content; what does not is refused, and told back.",
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
    document_tags: Tags = Field(
        None, description="Tags for all items, beside their own.", deprecated=True
    )
    operation_id: OperationId = Field(
        None,
        description="A UUID of the caller's choice for an async call: sent again, it is the same "
        "operation.",
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
    """Tokens that language models used while the caller waited: none, for they read later."""

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


class FactRefused(BaseModel):
    """A fact that was handed in and does not stand in its content."""

    item: int = Field(description="Number of the item in the request, from 0.")
    fact: int = Field(description="Number of the fact in the item, from 0.")
    reason: str = Field(
        description="`no_quote`: the content does not say it; `invented_name`, `invented_number`, "
        "`invented_date`, `other_words`: it says more; `polarity`: one denies what the other "
        "affirms; `question`: it is asked; `hidden`: it is pasted or code; `too_long`."
    )


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
    usage: TokenUsage | None = Field(
        None,
        description="What language models used until the answer; sync only. What they use "
        "afterwards, `usage` in the `result_metadata` of `reading_operation_ids` tells.",
    )
    reading_operation_ids: list[str] | None = Field(
        None, description="Operations in which a language model reads what was retained."
    )
    facts_count: int | None = Field(None, description="Facts that were read; sync only.")
    duplicates_count: int | None = Field(
        None, description="Those of them that say what was known: kept as more proof; sync only."
    )
    facts_given_count: int | None = Field(
        None, description="Facts that were handed in; only with `facts` in an item, sync only."
    )
    facts_refused_count: int | None = None
    facts_refused: list[FactRefused] | None = Field(
        None, description=f"The first {REFUSED} of those that were not taken, and why."
    )
    unit_ids: list[str] | None = Field(None, description="Ids of new memories and their facts.")
    document_ids: list[str] | None = None
    chunks_count: int | None = Field(None, description="Chunks of the documents; sync only.")
    chunks_read_count: int | None = Field(
        None, description="Those of them in which something was new; sync only."
    )
    empty_chunks_count: int | None = Field(
        None, description="Chunks that were read and gave no fact; sync only."
    )
    empty_chunk_ids: list[str] | None = Field(
        None, description=f"Ids of the first {EMPTY_CHUNKS} of those."
    )
    coverage: float | None = Field(
        None,
        description="Share of the letters and digits of the contents that stand in memories, 0 to "
        "1; sync only.",
    )
    unchanged_document_ids: list[str] | None = Field(
        None, description="Documents that stood there already, word for word."
    )
    intentions_count: int | None = Field(
        None, description="What the contents say is to be done later, registered anew; sync only."
    )
    intention_ids: list[str] | None = None
    revision: int | None = Field(
        None, description="The bank's after this, for `min_revision` of reads; sync only."
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
    responses={**BANK_ERRORS, 400: fails_with(HTTPError)},
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
    by rules, and, where a language model is configured, by that in operations of their own. With
    `facts` in an item these are kept instead, as far as they stand in it.

    Items with the same `document_id` become one document. One that is there already is left alone
    when nothing in it differs; else it is replaced at one stroke: what still says the same keeps
    its ids, and only the rest is read. With `update_mode` `append` the contents are put after its
    end instead.

    With `async` the items are stored as a durable operation and worked on in the background.
    """
    for number, each in enumerate(body.items):
        _check_mode(number, each)
    items = [_item(each, body.document_tags or ()) for each in body.items]
    ignored = ["items.strategy"] if any(item.strategy for item in items) else []
    if body.in_background:
        key = UUID(body.operation_id).bytes if body.operation_id else None
        job = await app.queued.enqueue(bank, items, operation_id=key)
        app.worker.wake()
        audited(request, items=len(items), operation_id=to_uuid(job.id))
        return answer(request, _queued(bank, len(items), job), ignored=ignored)
    if body.operation_id:
        ignored.insert(0, "operation_id")
    kept = await app.retain(bank, items)
    audited(request, items=kept.items, documents=len(kept.documents), units=len(kept.unit_ids))
    return answer(request, _done(bank, kept), ignored=ignored)


def _check_mode(number: int, item: MemoryItem) -> None:
    if item.update_mode == "append" and _name(item.document_id) is None:
        fault = Fault(
            f"items.{number}.document_id is needed to append: name the document that the content "
            "is added to",
            path=("items", number, "document_id"),
        )
        raise Refused(400, fault)


def _item(item: MemoryItem, tags: Sequence[str]) -> Item:
    said = item.timestamp if isinstance(item.timestamp, Moment) else None
    return Item(
        content=item.content,
        timestamp=said.us if said else None,
        offset_min=said.offset_min if said else None,
        note=item.context,
        metadata=item.metadata or None,
        document=_name(item.document_id),
        tags=tuple(dict.fromkeys((*(item.tags or ()), *tags))),
        entities=tuple(e.text for e in item.entities or ()),
        entity_kinds={e.text: e.type for e in item.entities or () if e.type} or None,
        resolve_entities=item.resolve_entities,
        undated=isinstance(item.timestamp, Unset),
        append=item.update_mode == "append",
        observation_scopes=item.observation_scopes,
        strategy=item.strategy,
        facts=None if item.facts is None else tuple(map(_given, item.facts)),
    )


def _given(fact: GivenFactInput) -> GivenFact:
    start = fact.occurred_start.us if fact.occurred_start else None
    end = fact.occurred_end.us if fact.occurred_end else None
    return GivenFact(fact.text, fact.quote, tuple(fact.entities or ()), start, end)


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
        reading_operation_ids=[to_uuid(i) for i in done.reading_jobs] or None,
        facts_count=done.facts,
        facts_given_count=done.given,
        facts_refused_count=None if done.given is None else len(done.refused),
        facts_refused=None
        if done.given is None
        else [
            FactRefused(item=each.item, fact=each.fact, reason=each.reason)
            for each in done.refused[:REFUSED]
        ],
        duplicates_count=done.duplicates,
        unit_ids=[to_uuid(i) for i in done.unit_ids],
        document_ids=done.documents,
        unchanged_document_ids=done.unchanged,
        chunks_count=done.chunks,
        chunks_read_count=done.chunks_read,
        empty_chunks_count=len(done.empty_chunks),
        empty_chunk_ids=[
            chunk_id(bank.bank, name, index) for name, index in done.empty_chunks[:EMPTY_CHUNKS]
        ],
        coverage=round(done.coverage, 4),
        intentions_count=len(done.intention_ids),
        intention_ids=[to_uuid(i) for i in done.intention_ids],
        revision=done.revision,
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
