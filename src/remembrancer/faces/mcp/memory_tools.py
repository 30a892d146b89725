"""The tools that keep, find, prime, answer and forget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from .tool import AnyTool, Arguments, Call, Id, InBank, Json, Tool, asking, given, tags_of, whole
from .ways import Ask, path_of

TagsMatch = Literal["any", "all", "any_strict", "all_strict", "exact"]
Kinds = list[Literal["world", "experience", "observation"]]

_BATCH = 25  # items a request while the progress is told
_WHEN = "When it was said, ISO 8601 with an offset; now by default."


class GivenFact(Arguments):
    """A fact that you have read in the content yourself."""

    text: str = Field(description="The fact, in one sentence.")
    quote: str | None = Field(None, description="The words of the content that state it.")
    entities: list[str] | None = None


class RetainArguments(InBank):
    """What `retain` takes."""

    content: str = Field(description="What to keep, in plain words, or a chat with 'Name: …' lines")
    context: str | None = Field("general", description="What it is about, such as 'team meeting'.")
    timestamp: str | None = Field(None, description=_WHEN)
    tags: list[str] | None = Field(None, description="Labels to filter by later.")
    metadata: dict[str, str] | None = Field(None, description="Strings to keep with it.")
    document_id: str | None = Field(
        None, description="Your name for it: the same name again replaces what was kept under it."
    )
    update_mode: Literal["replace", "append"] | None = Field(
        None, description="'append' puts it after the end of the document."
    )
    facts: list[GivenFact] | None = Field(
        None,
        description="Facts that you have read in the content yourself, kept instead of those that "
        "would be read. What the content does not say is refused, and told back.",
    )


class ManyItem(Arguments):
    """One of many things to keep."""

    content: str
    context: str | None = None
    timestamp: str | None = Field(None, description=_WHEN)
    tags: list[str] | None = None
    metadata: dict[str, str] | None = None
    document_id: str | None = None


class RetainManyArguments(InBank):
    """What `retain_many` takes."""

    items: list[ManyItem] = Field(min_length=1, max_length=1_000)


class RecallArguments(InBank):
    """What `recall` takes."""

    query: str = Field(description="A question in plain words; times in it are understood.")
    max_tokens: int = Field(4096, ge=1, description="Of all memories together, at most.")
    budget: Literal["low", "mid", "high"] = Field("high", description="How far to look.")
    types: Kinds | None = Field(None, description="Only of these kinds; all by default.")
    tags: list[str] | None = Field(None, description="Labels to filter by.")
    tags_match: TagsMatch = Field(
        "any", description="The strict ones leave out what has no tags; exact: these and no others."
    )
    query_timestamp: str | None = Field(
        None, description="When the question is asked, for 'yesterday' and the like."
    )
    min_relevance: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Leave out what is less likely than this to bear on the question; 0: nothing. "
        "By default nothing comes back when nothing is known of it.",
    )


class ReflectArguments(InBank):
    """What `reflect` takes."""

    query: str = Field(description="A question to answer from what is kept.")
    context: str | None = Field(None, description="Why it is asked.")
    budget: Literal["low", "mid", "high"] = "low"
    max_tokens: int = Field(4096, ge=1)
    response_schema: dict[str, Any] | None = Field(
        None, description="JSON Schema of an object to fill."
    )
    tags: list[str] | None = None
    tags_match: TagsMatch = "any"


class PrimeArguments(InBank):
    """What `prime` takes."""

    cue: str | None = Field(None, description="What the conversation is about, if it is known.")
    max_memories: int | None = Field(None, ge=1, le=200, description="20 by default.")
    max_tokens: int | None = Field(None, ge=1, description="Of the whole text, at most.")
    zone: str | None = Field(None, description="IANA name of the zone to spell times in.")


class ForgetArguments(InBank):
    """What `forget` takes."""

    memory_ids: list[str] | None = Field(
        None, max_length=1_000, description="Ids, as recall and list_memories return them."
    )
    document_ids: list[str] | None = Field(
        None, max_length=1_000, description="Whole documents, as list_documents names them."
    )

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.memory_ids and not self.document_ids:
            raise ValueError("name what to forget: memory_ids or document_ids")
        return self


class ListArguments(InBank):
    """What `list_memories` takes."""

    q: str | None = Field(None, description="A part of the text.")
    type: Literal["world", "experience", "observation"] | None = None
    tags: list[str] | None = None
    document_id: str | None = None
    limit: int = Field(50, ge=1, le=1_000)
    offset: int = Field(0, ge=0)


class MemoryArguments(InBank):
    """What names one memory."""

    memory_id: Id = Field(description="As recall and list_memories return it.")


class UpdateMemoryArguments(MemoryArguments):
    """What `update_memory` takes."""

    text: str | None = Field(None, description="The corrected text.")
    context: str | None = None
    reason: str | None = Field(None, description="Why; kept in its history.")


class InvalidateArguments(MemoryArguments):
    """What `invalidate_memory` takes."""

    reason: str | None = Field(None, description="Why; kept in its history.")


class ClearArguments(InBank):
    """What `clear_memories` takes."""

    type: Literal["world", "experience", "observation"] | None = Field(
        None, description="Only memories of this type."
    )


def _retain(background: bool) -> Any:
    def ask(given_: RetainArguments, bank: str) -> Ask:
        item = given(given_)
        return Ask("POST", path_of(bank, "memories"), body={"items": [item], "async": background})

    return ask


async def _retain_many(arguments: RetainManyArguments, call: Call) -> Json:
    items = [given(item) for item in arguments.items]
    done: list[Json] = []
    for start in range(0, len(items), _BATCH):
        part = items[start : start + _BATCH]
        body = {"items": part, "async": False}
        done.append(await call.ask(Ask("POST", path_of(call.bank, "memories"), body=body)))
        await call.progress(start + len(part), len(items), "items kept")
    return {"success": True, "bank_id": call.bank, "items_count": len(items), "parts": done}


def _recall(arguments: RecallArguments, bank: str) -> Ask:
    body = {"cut_off": True, **given(arguments)}
    return Ask("POST", path_of(bank, "memories", "recall"), body=body)


def _reflect(arguments: ReflectArguments, bank: str) -> Ask:
    return Ask("POST", path_of(bank, "reflect"), body=given(arguments))


async def _prime(arguments: PrimeArguments, call: Call) -> Json:
    body = {
        "entity_id": call.bank,
        "similarity_cue": arguments.cue,
        "max_memories": arguments.max_memories,
        "max_tokens": arguments.max_tokens,
        "zone": arguments.zone,
        "format": "text",
    }
    body = {name: value for name, value in body.items() if value is not None}
    return whole(await call.ask(Ask("POST", "/v1/prime", body=body)))


def _forget(arguments: ForgetArguments, bank: str) -> Ask:
    return Ask("POST", "/v1/forget", body={"entity_id": bank, **given(arguments)})


def _list(arguments: ListArguments, bank: str) -> Ask:
    query = {**given(arguments), "tags": tags_of(arguments.tags)}
    return Ask("GET", path_of(bank, "memories", "list"), query)


def _get(arguments: MemoryArguments, bank: str) -> Ask:
    return Ask("GET", path_of(bank, "memories", arguments.memory_id))


def _history(arguments: MemoryArguments, bank: str) -> Ask:
    return Ask("GET", path_of(bank, "memories", arguments.memory_id, "history"))


def _update(arguments: UpdateMemoryArguments, bank: str) -> Ask:
    path = path_of(bank, "memories", arguments.memory_id)
    return Ask("PATCH", path, body=given(arguments, "memory_id"))


def _invalidate(arguments: InvalidateArguments, bank: str) -> Ask:
    path = path_of(bank, "memories", arguments.memory_id)
    body = {"state": "invalidated", **given(arguments, "memory_id")}
    return Ask("PATCH", path, body=body)


def _clear(arguments: ClearArguments, bank: str) -> Ask:
    return Ask("DELETE", path_of(bank, "memories"), {"type": arguments.type})


TOOLS: Sequence[AnyTool] = (
    asking(
        "retain",
        "Keep something",
        "Store information in long-term memory: what the user said about themselves, decisions, "
        "preferences, facts, events. Durable when it returns; reading it for facts goes on in the "
        "background, see get_operation.",
        RetainArguments,
        _retain(background=True),
        "retain_memories",
    ),
    asking(
        "sync_retain",
        "Keep something, and wait",
        "Store information in long-term memory and wait until it can be recalled with all its "
        "facts.",
        RetainArguments,
        _retain(background=False),
        "retain_memories",
    ),
    Tool(
        "retain_many",
        "Keep many things",
        "Store up to 1,000 items in long-term memory, with progress; for imports.",
        RetainManyArguments,
        _retain_many,
    ),
    asking(
        "recall",
        "Find memories",
        "Search long-term memory for what answers a question, best first, with dates and sources. "
        "Use it before answering about the user, past events or earlier decisions.",
        RecallArguments,
        _recall,
        "recall_memories",
        reads=True,
    ),
    Tool(
        "prime",
        "Start a conversation",
        "Return one text to start a conversation with: standing instructions, what holds now, what "
        "is recent and relevant, and what is due. Call it once at the start.",
        PrimeArguments,
        _prime,
        reads=True,
    ),
    asking(
        "reflect",
        "Answer from memory",
        "Answer a question in words from what is kept, with the memories that it is based on.",
        ReflectArguments,
        _reflect,
        "reflect",
        reads=True,
    ),
    asking(
        "forget",
        "Forget",
        "Erase memories by id, or whole documents by name, for good; returns a receipt.",
        ForgetArguments,
        _forget,
        "forget",
        destroys=True,
    ),
    asking(
        "list_memories",
        "List memories",
        "List what is kept, newest first, filtered by text, type, tags or document.",
        ListArguments,
        _list,
        "list_memories",
        reads=True,
    ),
    asking(
        "get_memory",
        "Look at a memory",
        "Return one memory with its source, dates and links.",
        MemoryArguments,
        _get,
        "get_memory",
        reads=True,
    ),
    asking(
        "get_memory_history",
        "History of a memory",
        "Return what was changed in a memory, when and why.",
        MemoryArguments,
        _history,
        "get_memory_history",
        reads=True,
    ),
    asking(
        "update_memory",
        "Correct a memory",
        "Replace the text of a memory that is wrong; what stood there is kept in its history.",
        UpdateMemoryArguments,
        _update,
        "update_memory",
        destroys=True,
    ),
    asking(
        "invalidate_memory",
        "Mark a memory as wrong",
        "Keep a memory but find it no more; update_memory or the console can bring it back.",
        InvalidateArguments,
        _invalidate,
        "update_memory",
        destroys=True,
    ),
    asking(
        "clear_memories",
        "Empty a bank",
        "Erase all memories of a bank, or all of a type. The bank itself stays.",
        ClearArguments,
        _clear,
        "clear_memories",
        destroys=True,
    ),
)
