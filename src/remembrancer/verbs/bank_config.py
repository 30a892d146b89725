"""A bank's own settings: which there are, how they are checked, and which hold for a call.

A bank may set every name of Hindsight's bank template, so that templates made there can be kept
here; what this server acts upon is `ACTIVE`. Values are kept in the bank's profile, under `config`.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from ..keeping.store import Store
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput, TooLarge
from ..nouns.memory import BankRef
from ..reading.slots import Table, custom_slots, standard
from ..settings import Settings

CONFIG = "config"
"""Where a profile holds what the bank sets."""

ACTIVE = frozenset(
    {
        "audit_log_enabled",
        "disposition_empathy",
        "disposition_literalism",
        "disposition_skepticism",
        "prime_max_memories",
        "prime_temporal_ratio",
        "prime_window_days",
        "recall_chunks_max_tokens",
        "recall_include_chunks",
        "recall_max_tokens",
        "reflect_mission",
        "slots",
    }
)
"""Settings that this server acts upon; the others are kept, and told to be without effect."""

MAX_CHARS = 65_536  # of all settings of one bank, as JSON
MISSION_CHARS = 10_000
MAX_RECALL_TOKENS = 1_000_000
CHUNKS_TOKENS = 8192  # of the chunks that come with a recall's answers
NEUTRAL = 3  # of the dispositions from 1 to 5
_FRESH_US = 5_000_000  # how long what was read counts: other processes may change it
_BANKS = 1_000  # whose settings are kept in memory

_Words = Annotated[str, StringConstraints(max_length=MISSION_CHARS)]
_Name = Annotated[str, StringConstraints(max_length=256)]
_Count = Annotated[int, Field(ge=0, le=(1 << 53))]
_Tokens = Annotated[int, Field(ge=1, le=MAX_RECALL_TOKENS)]
_Trait = Annotated[int, Field(ge=1, le=5)]
_Noun = Annotated[str, StringConstraints(min_length=1, max_length=64, strip_whitespace=True)]
_Phrase = Annotated[
    str, StringConstraints(pattern=r"^\S+ (?:.{0,100} )?\{value\}$", max_length=128)
]
_Share = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class SlotConfig(BaseModel):
    """A slot that a bank adds to those that facts are read for; see docs/truth.md."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_ -]{0,63}$")]
    values: Literal["single", "multi"] = "single"
    nouns: Annotated[list[_Noun], Field(max_length=20)] = []
    phrases: Annotated[list[_Phrase], Field(max_length=20)] = []


class BankConfig(BaseModel):
    """What a bank may set; what is null or missing is the server's setting."""

    model_config = ConfigDict(extra="forbid", strict=True)

    reflect_mission: _Words | None = None
    retain_mission: _Words | None = None
    retain_extraction_mode: _Name | None = None
    retain_custom_instructions: _Words | None = None
    retain_chunk_size: _Count | None = None
    retain_structured_chunk_size: _Count | None = None
    enable_observations: bool | None = None
    observations_mission: _Words | None = None
    enable_temporal_retrieval: bool | None = None
    enable_graph_retrieval: bool | None = None
    enable_reranking: bool | None = None
    disposition_skepticism: _Trait | None = None
    disposition_literalism: _Trait | None = None
    disposition_empathy: _Trait | None = None
    entity_labels: list[dict[str, Any]] | None = None
    entities_allow_free_form: bool | None = None
    retain_default_strategy: _Name | None = None
    retain_strategies: dict[str, Any] | None = None
    retain_chunk_batch_size: _Count | None = None
    mcp_enabled_tools: list[_Name] | None = None
    consolidation_llm_batch_size: _Count | None = None
    consolidation_source_facts_max_tokens: int | None = None
    consolidation_source_facts_max_tokens_per_observation: int | None = None
    max_observations_per_scope: int | None = None
    observation_scope_limits: list[dict[str, Any]] | None = None
    reflect_source_facts_max_tokens: int | None = None
    mental_model_min_refresh_interval_seconds: _Count | None = None
    llm_gemini_safety_settings: list[Any] | None = None
    recall_budget_function: _Name | None = None
    recall_budget_fixed_low: _Count | None = None
    recall_budget_fixed_mid: _Count | None = None
    recall_budget_fixed_high: _Count | None = None
    recall_budget_adaptive_low: _Share | None = None
    recall_budget_adaptive_mid: _Share | None = None
    recall_budget_adaptive_high: _Share | None = None
    recall_budget_min: _Count | None = None
    recall_budget_max: _Count | None = None
    audit_log_enabled: bool | None = None
    store_document_text: bool | None = None
    enable_auto_consolidation: bool | None = None
    consolidation_max_memories_per_round: _Count | None = None
    consolidation_llm_parallelism: _Count | None = None
    recall_include_chunks: bool | None = None
    recall_max_tokens: _Tokens | None = None
    recall_chunks_max_tokens: _Tokens | None = None
    memory_defense: dict[str, Any] | None = None
    prime_max_memories: Annotated[int, Field(ge=0, le=200)] | None = None
    prime_temporal_ratio: Annotated[float, Field(ge=0, le=1)] | None = None
    prime_window_days: Annotated[float, Field(gt=0, le=36_525)] | None = None
    slots: Annotated[list[SlotConfig], Field(max_length=100)] | None = None


def checked(updates: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return settings as they are kept; null stands for "unset".

    Args:
        updates: by name.
        where: the field they came in, for errors; empty when they stand at the top.

    Raises:
        InvalidInput: an unknown name, or a value that cannot be.
    """
    for name in updates:
        if name not in BankConfig.model_fields:
            known = ", ".join(sorted(BankConfig.model_fields))
            raise InvalidInput(
                f"there is no setting {name[:100]!r}; those of a bank are {known}",
                field=where or name[:100],
            )
    try:
        found = BankConfig.model_validate(dict(updates))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join([*filter(None, [where]), *map(str, first["loc"])])
        limit = next(
            (v for k, v in (first.get("ctx") or {}).items() if k in {"ge", "le", "gt"}), None
        )
        raise InvalidInput(f"{field}: {first['msg']}", field=field, limit=limit) from None
    return found.model_dump(include=set(updates))


def merged(profile: Mapping[str, Any], updates: Mapping[str, Any]) -> dict[str, Any]:
    """Return a profile with settings put into it; those given as None are taken out.

    Raises:
        TooLarge: all settings together are.
    """
    config = {**profile.get(CONFIG, {}), **updates}
    config = {name: value for name, value in config.items() if value is not None}
    size = len(json.dumps(config))
    if size > MAX_CHARS:
        raise TooLarge(
            f"the bank's settings take {size} characters as JSON; the limit is {MAX_CHARS}",
            field="updates",
            limit=MAX_CHARS,
        )
    rest = {name: value for name, value in profile.items() if name != CONFIG}
    return {**rest, CONFIG: config} if config else rest


@dataclass(frozen=True, slots=True)
class Effective:
    """What holds for a bank: what it sets, and beneath that what the server sets."""

    overrides: Mapping[str, Any]
    recall_max_tokens: int
    recall_include_chunks: bool
    recall_chunks_max_tokens: int
    prime_max_memories: int
    prime_temporal_ratio: float
    prime_window_days: float
    audit_log_enabled: bool
    reflect_mission: str
    disposition_skepticism: int
    disposition_literalism: int
    disposition_empathy: int
    slots: Sequence[Mapping[str, Any]]
    wire_cut_off: bool = False  # the server's alone

    @property
    def values(self) -> dict[str, Any]:
        """Every setting by name; None where the bank sets nothing and no default is acted upon."""
        names = BankConfig.model_fields
        active = {name: getattr(self, name) for name in ACTIVE}
        return {name: active.get(name, self.overrides.get(name)) for name in names}

    @property
    def inactive(self) -> list[str]:
        """What the bank sets that has no effect here."""
        return sorted(self.overrides.keys() - ACTIVE)


def effective(settings: Settings, profile: Mapping[str, Any]) -> Effective:
    """Return what holds for a bank with a profile."""
    overrides: Mapping[str, Any] = profile.get(CONFIG, {})
    defaults: dict[str, Any] = {
        "recall_max_tokens": settings.recall_max_tokens,
        "recall_include_chunks": False,
        "recall_chunks_max_tokens": CHUNKS_TOKENS,
        "prime_max_memories": settings.prime_max_memories,
        "prime_temporal_ratio": settings.prime_temporal_ratio,
        "prime_window_days": settings.prime_window_days,
        "audit_log_enabled": True,
        "reflect_mission": "",
        "disposition_skepticism": NEUTRAL,
        "disposition_literalism": NEUTRAL,
        "disposition_empathy": NEUTRAL,
        "slots": [],
    }
    return Effective(
        overrides,
        **{name: overrides.get(name, value) for name, value in defaults.items()},
        wire_cut_off=settings.wire_cut_off,
    )


class BankConfigs:
    """Says what holds for banks, from memory where it was read within the last five seconds."""

    def __init__(self, store: Store, settings: Settings, *, clock: Clock) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._known: OrderedDict[BankRef, tuple[int, Effective]] = OrderedDict()
        self._forgotten = 0

    async def of(self, ref: BankRef) -> Effective:
        """Return what holds for a bank; a bank that does not exist has the server's settings."""
        now = self._clock.now_us()
        known = self._known.get(ref)
        if known is not None and 0 <= now - known[0] < _FRESH_US:
            return known[1]
        before = self._forgotten
        bank = await self._store.bank(ref)
        found = effective(self._settings, bank.profile if bank else {})
        if self._forgotten != before:  # it may have been read before the write that made it old
            return found
        self._known[ref] = now, found
        self._known.move_to_end(ref)
        while len(self._known) > _BANKS:
            self._known.popitem(last=False)
        return found

    async def slots(self, ref: BankRef) -> Table:
        """Return the slots that facts of a bank are read for."""
        told = (await self.of(ref)).slots
        return standard().extended(custom_slots(told)) if told else standard()

    def forget(self, ref: BankRef) -> None:
        """Read a bank's settings anew when they are asked for next."""
        self._forgotten += 1
        self._known.pop(ref, None)
