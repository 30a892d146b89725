"""Memories one by one: list, look at, correct, take out, bring back."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import AfterValidator, BaseModel, Field, RootModel, StringConstraints

from ...finding.tagging import TagFilter, TagMatch
from ...nouns.ids import parse_id
from ...nouns.memory import Kind, Layer, Precision
from ...nouns.text import clean
from ...verbs.browse import Query as Wanted
from ...verbs.curate import LEAVE, Edit, Leave
from .answers import OpenApp, answer
from .auditing import audited
from .banks import PATH, Limit, NamedBank, Offset
from .body import Wire, body_of
from .errors import BANK_ERRORS, Fault, Refused
from .memory_shapes import (
    HistoryEntry,
    ListMemoryUnitsResponse,
    MemoryResponse,
    detailed,
    listed,
    told,
)
from .moments import Moment, read_moment
from .retain import ENTITIES, NOTE_CHARS, TAG_CHARS
from .schema import reads
from .windows import WINDOW, EndDate, StartDate, TimeField, window

TEXT_CHARS = 20_000  # of one memory: a passage, not a document
REASON_CHARS = 2_000
_DAY_CHARS = 10  # of 2024-01-15, which names no time of day

_LAYERS: dict[str | None, tuple[Layer, ...]] = {
    None: (Layer.SOURCE, Layer.OBSERVATION),
    "source": (Layer.SOURCE,),
    "fact": (Layer.FACT,),
    "observation": (Layer.OBSERVATION,),
    "all": tuple(Layer),
}
_INVALID: dict[str, bool | None] = {"valid": False, "invalidated": True, "all": None}

router = APIRouter(tags=["Memory"])

Match = Literal["any", "all", "any_strict", "all_strict", "exact"]
Tags = Annotated[list[str] | None, Query(description="May be given several times.")]
Type = Annotated[Literal["world", "experience", "observation"] | None, Query(alias="type")]
Part = Annotated[
    str | None, Query(max_length=1_000, description="A part of the text, letter case aside.")
]


def _some(value: str | None) -> str | None:
    if value is not None and not value.strip():
        raise ValueError("must not be empty")
    return value


class UpdateMemoryRequest(Wire):
    """What to change; what is left out, or null, stays."""

    text: Annotated[str | None, Field(max_length=TEXT_CHARS), AfterValidator(_some)] = None
    context: str | None = Field(None, max_length=NOTE_CHARS, description='`""` clears it.')
    occurred_start: str | None = Field(None, description='ISO 8601; `""` clears it.')
    occurred_end: str | None = Field(None, description='ISO 8601; `""` clears it.')
    fact_type: Literal["world", "experience"] | None = None
    entities: (
        Annotated[
            list[Annotated[str, StringConstraints(max_length=TAG_CHARS), AfterValidator(_some)]],
            Field(max_length=ENTITIES),
        ]
        | None
    ) = Field(None, description="All names that it mentions from now on; `[]` detaches them.")
    resolve_entities: bool = True
    state: Literal["valid", "invalidated"] | None = None
    reason: str | None = Field(None, max_length=REASON_CHARS, description="Kept in its history.")


class MemoryHistory(RootModel[list[HistoryEntry]]):
    """What was done to a memory, newest first."""


class ClearMemoryObservationsResponse(BaseModel):
    """How many observations went."""

    deleted_count: int


@router.get(
    f"{PATH}/memories/list",
    operation_id="list_memories",
    summary="List memory units",
    response_model=ListMemoryUnitsResponse,
    responses=BANK_ERRORS,
)
async def list_memories(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    kind: Type = None,
    q: Part = None,
    state: Annotated[Literal["valid", "invalidated", "all"], Query()] = "valid",
    document_id: Annotated[str | None, Query()] = None,
    entity_id: Annotated[str | None, Query()] = None,
    tags: Tags = None,
    tags_match: Annotated[Match, Query()] = "any",
    time_field: TimeField = None,
    start_date: StartDate = None,
    end_date: EndDate = None,
    layer: Annotated[Literal["source", "fact", "observation", "all"] | None, Query()] = None,
    duplicates: Annotated[
        Literal["fold", "show"], Query(description="fold: what says the same is shown once.")
    ] = "fold",
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """List memories by when they were said, or by `time_field`, newest first."""
    wanted = Wanted(
        layers=_LAYERS[layer],
        invalid=_INVALID[state],
        kind=Kind[kind.upper()] if kind else None,
        text=clean(q or ""),
        tags=tag_filter(tags, tags_match),
        document=document_id,
        entity_id=parse_id(entity_id, "entity_id") if entity_id else None,
        during=window(time_field, start_date, end_date),
        folded=duplicates == "fold",
    )
    shelf = await app.browse.memories(bank, wanted, limit=limit, offset=offset)
    return answer(
        request,
        ListMemoryUnitsResponse(
            items=[listed(bank, shown) for shown in shelf.items],
            total=shelf.total,
            limit=limit,
            offset=offset,
        ),
        nulls=True,
        queries=(
            *("type", "q", "state", "document_id", "entity_id", "tags", "tags_match"),
            *(*WINDOW, "layer", "duplicates", "limit", "offset"),
        ),
    )


@router.get(
    f"{PATH}/memories/{{memory_id}}",
    operation_id="get_memory",
    summary="Get memory unit",
    response_model=MemoryResponse,
    responses=BANK_ERRORS,
)
async def get_memory(request: Request, app: OpenApp, bank: NamedBank, memory_id: str) -> Response:
    """Show one memory, a source or a fact; its id may be spelled in any way."""
    return answer(request, await _detail(app, bank, parse_id(memory_id, "memory_id")), nulls=True)


@router.patch(
    f"{PATH}/memories/{{memory_id}}",
    operation_id="update_memory",
    summary="Update memory unit",
    response_model=MemoryResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(UpdateMemoryRequest),
)
async def update_memory(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    memory_id: str,
    body: Annotated[UpdateMemoryRequest, Depends(body_of(UpdateMemoryRequest))],
) -> Response:
    """Correct a memory, take it out, or bring it back."""
    unit_id = parse_id(memory_id, "memory_id")
    await app.curate(bank, unit_id, _edit(body))
    audited(request, fields=sorted(_given(body)))
    return answer(request, await _detail(app, bank, unit_id), nulls=True)


@router.get(
    f"{PATH}/memories/{{memory_id}}/history",
    operation_id="get_memory_history",
    summary="Get memory history",
    response_model=MemoryHistory,
    responses=BANK_ERRORS,
)
async def get_memory_history(
    request: Request, app: OpenApp, bank: NamedBank, memory_id: str
) -> Response:
    """Show what was done to a memory, newest first: at most 50 entries."""
    unit_id = parse_id(memory_id, "memory_id")
    history = await app.curate.history(bank, unit_id)
    return answer(request, MemoryHistory([told(each, None) for each in history]), nulls=True)


@router.delete(
    f"{PATH}/memories/{{memory_id}}/observations",
    operation_id="clear_memory_observations",
    summary="Clear the observations of a memory",
    response_model=ClearMemoryObservationsResponse,
    responses=BANK_ERRORS,
)
async def clear_memory_observations(
    request: Request, app: OpenApp, bank: NamedBank, memory_id: str
) -> Response:
    """Erase the observations that were derived from a memory."""
    count = await app.curate.drop_observations(bank, parse_id(memory_id, "memory_id"))
    audited(request, deleted_count=count)
    return answer(request, ClearMemoryObservationsResponse(deleted_count=count))


def tag_filter(tags: list[str] | None, match: Match) -> TagFilter | None:
    """Return a filter of query parameters; `exact` without tags asks for what has none."""
    wanted = tuple(clean(tag) for tag in tags or ())
    return TagFilter(wanted, TagMatch(match)) if wanted or match == "exact" else None


async def _detail(app: OpenApp, bank: NamedBank, unit_id: bytes) -> MemoryResponse:
    detail = await app.browse.memory(bank, unit_id)
    curation = detail.shown.curation
    history = reversed(curation.data.get("history", ())) if curation else ()
    return detailed(bank, detail, list(history))


def _given(body: UpdateMemoryRequest) -> set[str]:
    names = set(UpdateMemoryRequest.model_fields) - {"reason", "resolve_entities"}
    return {name for name in names if getattr(body, name) is not None}


def _edit(body: UpdateMemoryRequest) -> Edit:
    if not _given(body):
        raise Refused(
            422,
            Fault(
                "name what to change: text, context, occurred_start, occurred_end, fact_type, "
                "entities or state",
                "missing",
            ),
        )
    start, first = _moment(body.occurred_start, "occurred_start")
    end, last = _moment(body.occurred_end, "occurred_end")
    moment = first or last
    return Edit(
        text=None if body.text is None else clean(body.text),
        note=LEAVE if body.context is None else clean(body.context),
        occurred_start=start,
        occurred_end=end,
        offset_min=moment.offset_min if moment else None,
        kind=Kind[body.fact_type.upper()] if body.fact_type else None,
        entities=None
        if body.entities is None
        else tuple(dict.fromkeys(clean(name).strip() for name in body.entities)),
        resolve=body.resolve_entities,
        invalid=None if body.state is None else body.state == "invalidated",
        reason=clean(body.reason) if body.reason else None,
    )


def _moment(
    value: str | None, name: str
) -> tuple[tuple[int, Precision] | Leave | None, Moment | None]:
    if value is None:
        return LEAVE, None
    try:
        moment = read_moment(value)
    except ValueError as error:
        raise Refused(422, Fault(str(error), "value_error", "body", (name,))) from None
    if moment is None:
        return None, None
    day = len(value.strip()) <= _DAY_CHARS
    return (moment.us, Precision.DAY if day else Precision.SECOND), moment
