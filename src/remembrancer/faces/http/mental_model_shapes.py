"""Mental models on the wire, as Hindsight shapes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

from ...nouns.ids import to_uuid
from ...nouns.memory import BankRef, Unit
from ...verbs.mental_models import LEAST_TOKENS, MOST_TOKENS, NAME_CHARS, QUERY_CHARS
from ...verbs.modelling.shelf import MentalModel, Shown
from .body import Wire
from .moments import spell
from .retain import Tags

Mode = Literal["full", "delta"]
_Id = Annotated[str, StringConstraints(max_length=128)]
MaxTokens = Annotated[int, Field(ge=LEAST_TOKENS, le=MOST_TOKENS)]
Name = Annotated[str, StringConstraints(max_length=NAME_CHARS)]
Query = Annotated[str, StringConstraints(max_length=QUERY_CHARS)]


class MentalModelTrigger(Wire):
    """When a mental model is refreshed, and from what."""

    mode: Mode = Field(
        "full",
        description="`delta`: a language model changes what new memories change, and leaves the "
        "rest as it is; without one the whole text is written.",
    )
    refresh_after_consolidation: bool = False
    refresh_cron: str | None = Field(
        None,
        max_length=256,
        description="Five fields (minute, hour, day, month, weekday), or `@daily` and the like: "
        "when it is refreshed, if anything has changed by then.",
    )
    refresh_zone: str | None = Field(
        None, max_length=64, description="IANA name of the zone of `refresh_cron`; UTC by default."
    )
    min_refresh_interval_seconds: Annotated[int, Field(ge=0, le=1 << 31)] | None = None
    fact_types: list[Literal["world", "experience", "observation"]] | None = Field(
        None, max_length=3
    )
    exclude_mental_models: bool = False
    exclude_mental_model_ids: Annotated[list[_Id], Field(max_length=100)] | None = None
    tags_match: Literal["any", "all", "any_strict", "all_strict", "exact"] | None = None


class CreateMentalModelRequest(Wire):
    """A mental model to keep."""

    id: _Id | None = None
    name: Name
    source_query: Query = Field(description="The question that it answers.")
    tags: Tags = None
    max_tokens: MaxTokens = 2048
    trigger: MentalModelTrigger | None = None


class UpdateMentalModelRequest(Wire):
    """What to change; what is left out or null stays."""

    name: Name | None = None
    source_query: Query | None = None
    max_tokens: MaxTokens | None = None
    tags: Tags = None
    trigger: MentalModelTrigger | None = None


class CreateMentalModelResponse(BaseModel):
    """The mental model, and the operation that writes it."""

    mental_model_id: str | None = None
    operation_id: str


class AsyncOperationSubmitResponse(BaseModel):
    """The operation that does it."""

    operation_id: str
    status: str


class MentalModelResponse(BaseModel):
    """A mental model."""

    id: str
    bank_id: str
    name: str
    source_query: str | None = None
    content: str | None = Field(
        None, description="What it says; null before the first refresh, and once it was forgotten."
    )
    tags: list[str] = Field(default_factory=list)
    max_tokens: int | None = None
    trigger: dict[str, Any] | None = None
    last_refreshed_at: str | None = None
    last_memory_seen_at: str | None = None
    created_at: str | None = None
    reflect_response: dict[str, Any] | None = None
    is_stale: bool | None = Field(
        None, description="Memories have come, changed or gone since it was written."
    )


class MentalModelListResponse(BaseModel):
    """Mental models, newest first."""

    items: list[MentalModelResponse]
    total: int
    limit: int
    offset: int


class MentalModelVersion(BaseModel):
    """What a mental model said before."""

    previous_content: str
    changed_at: str | None


class FactCounts(BaseModel):
    """Memories by type."""

    retrieved: dict[str, int]
    used: dict[str, int]


class DryRunRefreshResult(BaseModel):
    """What a refresh would write."""

    mental_model_id: str
    name: str
    requested_mode: Mode
    effective_mode: Mode
    mode_fallback_reason: str | None = None
    outcome: str
    would_persist: bool
    scope: dict[str, Any]
    window: dict[str, Any]
    facts: FactCounts
    based_on: dict[str, list[dict[str, Any]]] | None = None
    current_content: str
    candidate_content: str
    preview_content: str
    diff: str
    delta_operations: dict[str, list[dict[str, Any]]] | None = None
    trace: dict[str, Any]
    usage: dict[str, int]
    duration_ms: int
    warnings: list[str]


def shape(bank: BankRef, shown: Shown, *, detail: str = "full") -> MentalModelResponse:
    """Return a mental model; `metadata` leaves out what it says, `full` tells what it rests on."""
    model = shown.model
    bare = detail == "metadata"
    return MentalModelResponse(
        id=model.id,
        bank_id=bank.bank,
        name=model.name,
        source_query=None if bare else model.source_query,
        content=None if bare else shown.content,
        tags=list(model.tags),
        max_tokens=None if bare else model.max_tokens,
        trigger=None if bare else trigger_of(model),
        last_refreshed_at=spell(model.refreshed_at),
        last_memory_seen_at=spell(model.seen_at),
        created_at=spell(model.created_at),
        reflect_response=_reflected(shown) if detail == "full" and shown.content else None,
        is_stale=shown.stale,
    )


def trigger_of(model: MentalModel) -> dict[str, Any]:
    """Return a trigger with its defaults."""
    return {**MentalModelTrigger().model_dump(exclude_none=True), **model.trigger}


def kept_trigger(trigger: MentalModelTrigger | None) -> dict[str, Any]:
    """Return what is kept of a trigger: what was given, of known names."""
    if trigger is None:
        return {}
    return trigger.model_dump(
        include=set(MentalModelTrigger.model_fields), exclude_none=True, exclude_unset=True
    )


def by_type(units: Sequence[Unit]) -> dict[str, list[dict[str, Any]]]:
    """Return memories by type, with id and text."""
    found: dict[str, list[dict[str, Any]]] = {}
    for unit in units:
        told = {"id": to_uuid(unit.id), "text": unit.text}
        found.setdefault(unit.kind.name.lower(), []).append(told)
    return found


def _reflected(shown: Shown) -> Mapping[str, Any]:
    return {"text": shown.content, "based_on": by_type(shown.basis)}
