"""What the server answers, as typed models; what a newer server adds is kept as extra fields."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Answer(BaseModel):
    """Base of all: fields that are not known here are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Camel(Answer):
    """Base of what is spelled in camelCase."""

    model_config = ConfigDict(
        extra="allow", frozen=True, alias_generator=to_camel, populate_by_name=True
    )


class RefusedFact(Answer):
    """A fact that was handed in and does not stand in its content: which, and why."""

    item: int
    fact: int
    reason: str


class Kept(Answer):
    """What retain did; `operation_id` names what is queued, in an async call.

    `facts_refused` are facts that were handed in and not taken; `reading_operation_ids` operations
    in which a language model is yet to read what was kept.
    """

    success: bool
    bank_id: str
    items_count: int
    operation_id: str | None = None
    facts_refused: list[RefusedFact] = Field(default_factory=list)
    reading_operation_ids: list[str] = Field(default_factory=list)


class FactFound(Answer):
    """A statement read from a memory."""

    text: str


class Near(Answer):
    """What was said near a memory."""

    id: str
    text: str
    speaker: str | None = None
    role: str | None = None


class Neighbours(Answer):
    """What was said right before and after a memory, each in order."""

    before: list[Near] = Field(default_factory=list)
    after: list[Near] = Field(default_factory=list)


class Found(Answer):
    """One memory that a recall found; `neighbours` where they were asked for."""

    id: str
    text: str
    type: str | None = None
    document_id: str | None = None
    mentioned_at: datetime | None = None
    occurred_start: datetime | None = None
    occurred_end: datetime | None = None
    tags: list[str] = Field(default_factory=list)
    entities: list[str] = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)
    facts: list[FactFound] = Field(default_factory=list)
    neighbours: Neighbours | None = None


class Answers(Answer):
    """What a recall found, best first."""

    results: list[Found]


class Reflected(Answer):
    """An answer in words."""

    text: str
    structured_output: dict[str, Any] | None = None


class Primed(Answer):
    """The context that a conversation starts with; `text` can be put into a prompt as it is."""

    count: int = 0
    text: str | None = None


class Erased(Answer):
    """What forget did."""

    forgotten_count: int = 0


class Intention(Camel):
    """What is to be done later."""

    id: str
    content: str
    trigger_type: str
    importance: float
    triggered: bool
    recurring: bool
    state: str
    trigger_at: float | None = None
    next_due: int | None = None


class Occurrence(Camel):
    """One due instance of an intention."""

    id: str
    state: str
    token: int
    due_at: int


class Due(Intention):
    """An intention that is due; acknowledge its `occurrence`."""

    occurrence: Occurrence


class Operation(Answer):
    """Something queued."""

    status: str
    error_message: str | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.status not in {"pending", "processing"}
