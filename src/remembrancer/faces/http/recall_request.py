"""What `POST …/memories/recall` takes, and what it means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, AliasChoices, Field, WithJsonSchema, model_validator

from ...finding.tagging import TagFilter, TagMatch, TagNode
from ...nouns.memory import Kind
from ...nouns.text import clean
from ...verbs.bank_config import Effective
from ...verbs.recall import MinScores, RecallOptions
from ...verbs.recalling.across import MAX_BANKS
from ...verbs.recalling.included import Include
from ...verbs.recalling.neighbours import MOST
from .body import Wire
from .errors import Fault, Refused
from .moments import Moment, When, read_moment
from .retain import Tags
from .tag_groups import TagGroups

LIMITS = {"low": 10, "mid": 30, "high": 100}
"""Answers at most, by `budget`; `max_tokens` cuts, too."""


MOST_TOKENS = 1_000_000
NO_LONGER = "opinion"
"""A former fact type, which nothing has any more; it is accepted and finds nothing."""


MinRevision = Annotated[
    int | None,
    Field(
        ge=0,
        le=(1 << 63) - 1,
        description="The `revision` that a write has returned: wait for it up to 1 s, then 409.",
    ),
]


def _fact_type(name: str) -> str:
    known = [kind.name.lower() for kind in Kind]
    if name not in (*known, NO_LONGER):
        raise ValueError(f"unknown type {clean(name)[:50]!r}; choose {', '.join(known)}")
    return name


FactType = Annotated[
    str,
    AfterValidator(_fact_type),
    WithJsonSchema({"type": "string", "enum": [*(k.name.lower() for k in Kind), NO_LONGER]}),
]
TagsMatch = Literal["any", "all", "any_strict", "all_strict", "exact"]
Tokens = Annotated[int, Field(ge=0, le=MOST_TOKENS)]


class TemporalWindow(Wire):
    """A time whose memories are preferred; the others are not left out."""

    start: When = None
    end: When = None

    @model_validator(mode="after")
    def _ordered(self) -> TemporalWindow:
        if self.start and self.end and self.start.us > self.end.us:
            raise ValueError("start must not lie after end")
        return self


class EntityIncludeOptions(Wire):
    """The entities that results name, and how many tokens their names may take."""

    max_tokens: Tokens = 500


class ChunkIncludeOptions(Wire):
    """The chunks that results stand in, and how many tokens they may take."""

    max_tokens: Tokens = 8192


class SourceFactsIncludeOptions(Wire):
    """What observations were derived from, and how many tokens it may take."""

    max_tokens: Tokens = 4096
    max_tokens_per_observation: int = Field(
        -1, ge=-1, le=MOST_TOKENS, description="-1: no bound of its own."
    )


class IncludeOptions(Wire):
    """What comes with the results."""

    entities: EntityIncludeOptions | None = Field(default_factory=EntityIncludeOptions)
    chunks: ChunkIncludeOptions | None = None
    source_facts: SourceFactsIncludeOptions | None = None


class MinScoresInput(Wire):
    """The lowest scores of a result. No reranker is used, so its bound lets everything pass."""

    semantic: float | None = None
    keyword: float | None = None
    reranker: float | None = None
    final: float | None = None


class TagsInput(Wire):
    """Filters by tags, of recall and reflect."""

    tags: Tags = None
    tags_match: TagsMatch = "any"
    tag_groups: TagGroups = None

    @model_validator(mode="after")
    def _one_of_two(self) -> TagsInput:
        if self.tags and self.tag_groups is not None:
            raise ValueError("tags and tag_groups exclude each other: put the tags in a group")
        return self

    def tag_filter(self) -> TagNode | None:
        """Return what is asked for; None: no filter."""
        tags = tuple(clean(tag) for tag in self.tags or ())
        return TagFilter(tags, TagMatch(self.tags_match)) if tags else self.tag_groups


class RecallRequest(TagsInput):
    """A question and what its answers should be like."""

    query: str
    types: list[FactType] | None = Field(
        None, description="`opinion` is a former type, which nothing has any more."
    )
    prefer_observations: bool | None = Field(
        None, description="Leave out what an observation among the results was derived from."
    )
    budget: Literal["low", "mid", "high"] = Field(
        "mid", description="How many answers at most: 10, 30 or 100."
    )
    max_tokens: int | None = Field(
        None, ge=1, le=MOST_TOKENS, description="4,096 unless the server is set otherwise."
    )
    query_timestamp: str | None = Field(
        None,
        description="When the question is asked; null: now.",
        json_schema_extra={"format": "date-time"},
    )
    as_of: When = Field(
        None,
        description="Answer with what held then; what was said later only if it tells of then.",
    )
    temporal_window: TemporalWindow | None = None
    min_scores: MinScoresInput | None = None
    min_relevance: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None,
        description="Leave out what is less likely than this to bear on the question; 0: nothing.",
    )
    cut_off: bool | None = Field(
        None,
        description="Answer nothing when nothing is known, and leave out what is hopeless. Null: "
        "as the server's setting `wire_cut_off` has it, which is off.",
    )
    include: IncludeOptions | None = Field(default_factory=IncludeOptions)
    neighbours: Annotated[int, Field(ge=0, le=MOST)] = Field(
        0,
        description="So many turns before and after each result come along as its `neighbours`, as "
        "far as `max_tokens` goes; they are no results.",
    )
    banks: Annotated[list[str], Field(min_length=1, max_length=MAX_BANKS)] | None = Field(
        None,
        validation_alias=AliasChoices("banks", "bank_ids"),
        description="Search these banks instead of the one in the path.",
    )
    trace: bool = False
    min_revision: MinRevision = None


def asked_at(value: str | None) -> Moment | None:
    """Read `query_timestamp`.

    Raises:
        Refused: 400, as Hindsight has it.
    """
    try:
        return read_moment(value)
    except ValueError as error:
        raise Refused(400, Fault(str(error), path=("query_timestamp",))) from None


def kinds_of(names: Sequence[str] | None) -> list[Kind] | None:
    """Return the kinds of some fact types; None: all."""
    return [Kind[name.upper()] for name in names if name != NO_LONGER] if names else None


def options_of(config: Effective, body: RecallRequest) -> RecallOptions:
    """Return what a request asks for; the bank's settings stand for what it leaves out."""
    window, least = body.temporal_window, body.min_scores
    asked = asked_at(body.query_timestamp)
    return RecallOptions(
        limit=LIMITS[body.budget],
        max_tokens=body.max_tokens or config.recall_max_tokens,
        kinds=kinds_of(body.types),
        tags=body.tag_filter(),
        now=asked.us if asked else None,
        offset_min=asked.offset_min if asked else None,
        as_of=body.as_of.us if body.as_of else None,
        since=window.start.us if window and window.start else None,
        until=window.end.us if window and window.end else None,
        least=MinScores(least.semantic, least.keyword, least.final) if least else None,
        min_relevance=_least_relevance(config, body),
        prefer_observations=bool(body.prefer_observations),
        related=body.budget == "high",
        include=_include(body.include, config),
        trace=body.trace,
        neighbours=body.neighbours,
    )


def _least_relevance(config: Effective, body: RecallRequest) -> float | None:
    if body.min_relevance is not None:
        return body.min_relevance
    cuts = config.wire_cut_off if body.cut_off is None else body.cut_off
    return None if cuts else 0.0


def _include(wanted: IncludeOptions | None, config: Effective) -> Include | None:
    wanted = wanted or IncludeOptions()
    entities, facts = wanted.entities, wanted.source_facts
    chunks = _chunk_tokens(wanted, config)
    if entities is None and chunks is None and facts is None:
        return None
    return Include(
        entities=entities.max_tokens if entities else None,
        chunks=chunks,
        source_facts=facts.max_tokens if facts else None,
        per_observation=facts.max_tokens_per_observation if facts else -1,
    )


def _chunk_tokens(wanted: IncludeOptions, config: Effective) -> int | None:
    """Return how many tokens the chunks may take; None: they are not wanted."""
    if wanted.chunks is None:
        asked = "chunks" not in wanted.model_fields_set and config.recall_include_chunks
        return config.recall_chunks_max_tokens if asked else None
    given = "max_tokens" in wanted.chunks.model_fields_set
    return wanted.chunks.max_tokens if given else config.recall_chunks_max_tokens
