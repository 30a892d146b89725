"""The nouns of memory: banks, documents, chunks, units, entities, links, changes.

Times are microseconds since 1970 (UTC). Ids are 16-byte UUIDv7 (see `ids`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any

from .ids import bank_key

DEFAULT_TENANT = "default"


@dataclass(frozen=True, slots=True)
class BankRef:
    """Names one bank of one tenant; every store call about memories takes one."""

    tenant: str
    bank: str

    @property
    def key(self) -> int:
        """The bank's signed 64-bit key (see `ids.bank_key`)."""
        return bank_key(self.tenant, self.bank)


class Layer(IntEnum):
    """What a unit is made from."""

    SOURCE = 0  # a turn or passage, verbatim
    FACT = 1  # one statement read from a source
    OBSERVATION = 2  # derived from several


class Kind(IntEnum):
    """What a unit is about (Hindsight's fact type)."""

    WORLD = 0
    EXPERIENCE = 1  # what the agent itself did or said
    OBSERVATION = 2


class Role(IntEnum):
    """Who spoke, as chat formats say it."""

    NONE = 0
    USER = 1
    ASSISTANT = 2
    SYSTEM = 3
    TOOL = 4


class Precision(StrEnum):
    """How exactly a date is known."""

    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    SEASON = "season"
    YEAR = "year"
    DECADE = "decade"


class Polarity(IntEnum):
    """Whether a statement affirms or denies."""

    AFFIRMED = 1
    NEGATED = -1


class Modality(StrEnum):
    """How a statement is meant."""

    ASSERTED = "asserted"
    WISHED = "wished"
    PLANNED = "planned"
    ASKED = "asked"
    HYPOTHETICAL = "hypothetical"
    QUOTED = "quoted"


class LinkType(StrEnum):
    """How one unit bears on another."""

    TEMPORAL = "temporal"
    SEMANTIC = "semantic"
    CAUSED_BY = "caused_by"
    RELATED_TO = "related_to"
    FOLLOWED_BY = "followed_by"
    REVISED_FROM = "revised_from"
    INSIGHT_FROM = "insight_from"
    CONTRADICTS = "contradicts"
    SUPERSEDES = "supersedes"
    PROPOSITION_OF = "proposition_of"


SHOWN_ONLY = 0.01
"""Weight of an `INSIGHT_FROM` link to what was looked at for an observation, or was part of it
once, but is not what it rests on: forgetting that erases the observation all the same."""


class Stance(IntEnum):
    """What a claim says of a value."""

    HOLDS = 1
    DENIED = 2  # it does not hold; without a value: none does
    HELD = 3  # it held once, and does no more


ASIDE = ("thing:", "follows:", "takes:")
"""Attributes that only carry what "gave up the violin" and "I eat meat" are about."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a fact says of one attribute of one subject. Times in microseconds.

    `slot` names subject and attribute, `value` what it is said to be, both folded for comparison.
    `at` is where it stands in time: an event's date, else when it was said. `since` and `until`
    are when it held as far as the text says. `news`: the text says that this is a change or a
    correction. `timed` is False when nobody knows when it was said. `loose`: a value that says
    more or less than another one ("Rome", "Rome, Italy") is the same. `many`: values of the slot
    hold beside each other.
    """

    slot: str
    value: str
    stance: Stance
    at: int
    since: int | None = None
    until: int | None = None
    news: bool = False
    timed: bool = True
    dated: bool = False  # `at` is from the text: it stays when the memory is told another time
    loose: bool = False
    many: bool = False


@dataclass(frozen=True, slots=True)
class Unit:
    """One memory: a text that can be found, with its provenance.

    A source's `start`/`end` are character offsets into its chunk; a fact's are offsets into its
    source's text. `previous_id` names the source said just before, whose words are part of this
    one's window (see `terms`).
    """

    id: bytes
    layer: Layer
    text: str
    created_at: int
    mentioned_at: int
    kind: Kind = Kind.WORLD
    document_id: bytes | None = None
    chunk_index: int = 0
    turn: int = 0  # number of the turn in its document
    part: int = 0  # number of the passage in its turn
    start: int = 0
    end: int = 0
    source_id: bytes | None = None  # for a fact: the source it was read from
    previous_id: bytes | None = None
    speaker: str | None = None
    role: Role = Role.NONE
    subject: str | None = None
    polarity: Polarity = Polarity.AFFIRMED
    modality: Modality = Modality.ASSERTED
    note: str | None = None  # Hindsight's `context`
    attributes: Mapping[str, Any] | None = None  # HEBBS's `context`
    metadata: Mapping[str, str] | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()  # canonical names
    occurred_start: int | None = None
    occurred_end: int | None = None
    precision: Precision | None = None
    offset_min: int | None = None  # the caller's UTC offset, kept for display
    valid_from: int | None = None
    valid_until: int | None = None
    updated_at: int | None = None
    importance: float = 0.5
    access_count: int = 0
    last_accessed_at: int | None = None


@dataclass(frozen=True, slots=True)
class Vector:
    """One embedding as stored: int8 components with one scale, so value = code * scale."""

    codes: bytes  # DIM signed bytes
    scale: float


@dataclass(frozen=True, slots=True)
class UnitRow:
    """A unit with what the index needs of it. The index is a function of these and nothing else.

    `terms` and `window_terms` are the bytes of `finding.terms.pack`: the words of the text, and
    those of the text with its short predecessors. `vector` embeds the text alone, `window_vector`
    the text after its predecessor; both are None until the embedder has run (or without one).
    `same` is a key of what the unit says: units of one bank with the same key say the same. One
    whose first bit is set depends on the source said just before in its document, too, and is
    dropped when that is erased. `claims` are those of a fact; None leaves those of a stored one as
    they are.
    """

    unit: Unit
    terms: bytes = b""
    window_terms: bytes = b""
    vector: Vector | None = None
    window_vector: Vector | None = None
    same: bytes | None = None
    claims: tuple[Claim, ...] | None = None


@dataclass(frozen=True, slots=True)
class Curation:
    """What people did to a unit. An invalid one is kept, and neither recalled nor primed.

    `data` says why and when, and holds earlier texts; it goes when the unit is erased.
    """

    unit_id: bytes
    invalid: bool
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A verbatim slice of a document. A document's chunks, joined in order, are its text."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """What the caller handed in. `name` is the caller's own id for it, unique in its bank."""

    id: bytes
    name: str
    content_hash: str  # hex; covers content and what else shapes the units
    created_at: int
    updated_at: int
    length: int  # characters
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, str] | None = None
    params: Mapping[str, Any] | None = None  # what retain was told, for re-reading


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, place or thing that units of one bank mention."""

    id: bytes
    name: str
    kind: str = "thing"
    aliases: tuple[str, ...] = ()
    mention_count: int = 0
    first_seen: int | None = None
    last_seen: int | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A directed edge between two units of one bank; weight is in [0, 1]."""

    source: bytes
    target: bytes
    type: LinkType
    weight: float = 1.0


class Op(IntEnum):
    """What a change did to a unit."""

    PUT = 1
    DELETE = 2
    ERASE = 3  # deleted by forget: index files that hold it must be rewritten


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of a bank's change feed."""

    revision: int
    op: Op
    unit_id: bytes


@dataclass(frozen=True, slots=True)
class Bank:
    """A bank as listed: its name, revision and size."""

    ref: BankRef
    revision: int
    created_at: int
    updated_at: int
    profile: Mapping[str, Any] = field(default_factory=dict)
    unit_count: int = 0
    document_count: int = 0
    document_at: int | None = None  # when a document was last put
    written_at: int | None = None  # when the newest unit was made


class JobState(StrEnum):
    """Where a background job stands."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Job:
    """Background work with a durable record (Hindsight's operation).

    `fence` rises with each claim; a worker whose fence is no longer the row's has lost its lease.
    Jobs of one bank that name the same `document` run one at a time, in the order they were
    queued. A job with `batch` is a parent: no worker takes it, and its state is that of its
    children taken together; without children it is what its own row says.
    """

    id: bytes
    ref: BankRef
    kind: str
    state: JobState
    created_at: int
    updated_at: int
    payload: Mapping[str, Any] = field(default_factory=dict)
    result: Mapping[str, Any] | None = None
    error: str | None = None
    attempts: int = 0
    run_after: int = 0
    lease_until: int | None = None
    fence: int = 0
    parent: bytes | None = None
    part: int = 0  # its number among its parent's children, from 0
    batch: bool = False
    document: str | None = None  # by name
    items: int = 0  # how many things it is about, for display
    priority: int = 0  # taken before all lower ones, whoever's they are
    listed: bool = True  # upkeep of the house itself is listed only when asked for by kind
    kept: bool = True  # False once its payload was forgotten: it cannot be retried
    progress: Mapping[str, Any] | None = None  # stage, at, processed, total, detail
