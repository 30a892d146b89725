"""Every setting: name, type, default, one line of meaning.

Each can be given as an environment variable with the prefix `REMEMBRANCER_` (for example
`REMEMBRANCER_HTTP=127.0.0.1:7000`) or in code; the command line's options win over both.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from .values import DATE_COUNTRIES, ApiKey, BasePath, Country, DateLanguages, Language, Ratio
from .variables import ALIASES, aliased, refuse_empty

__all__ = ["ALIASES", "DATE_COUNTRIES", "Settings", "aliased", "fault_of"]


def fault_of(error: ValueError) -> tuple[str | None, str]:
    """Return which setting an error of `Settings` is about, where that is known, and what it is."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        field = str(first["loc"][0]) if first["loc"] else "settings"
        return field, first["msg"].removeprefix("Value error, ")
    unread = re.search(r'value for field "(\w+)"', str(error))
    if unread is None:
        return None, str(error)
    form = """cannot be read: write it as a JSON list, such as '["one", "two"]'"""
    return unread[1], form.replace('"one", "two"', '"en", "de"') if "lang" in unread[1] else form


class _Aliases(PydanticBaseSettingsSource):
    """Reads environment variables of Hindsight and HEBBS; ours win over them."""

    def get_field_value(
        self,
        field: FieldInfo,  # noqa: ARG002
        field_name: str,
    ) -> tuple[Any, str, bool]:
        """Return nothing: all fields are read at once."""
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return the settings that are given."""
        refuse_empty(os.environ)
        return dict(aliased(os.environ))


class Settings(BaseSettings):
    """All settings; see each field's description."""

    model_config = SettingsConfigDict(
        env_prefix="REMEMBRANCER_", extra="forbid", env_ignore_empty=True
    )

    data: Path = Field(Path("~/.remembrancer"), description="Folder that holds everything.")
    store: str | None = Field(
        None,
        repr=False,  # it may hold a password
        description="Where rows are kept: sqlite:///FOLDER, or "
        "postgresql://USER:PASSWORD@HOST:PORT/DATABASE; unset: the data folder.",
    )
    encryption_key: SecretStr | None = Field(
        None,
        description="Key that seals texts at rest: 32 bytes in base64, as `remembrancer "
        "encryption-key` prints; several by commas, the newest first. Unset: texts are kept plain.",
    )
    encryption_key_file: Path | None = Field(
        None, description="A file that holds such keys instead, one a line, the newest first."
    )
    http: str = Field("127.0.0.1:6381", description="HOST:PORT of the HTTP face.")
    grpc: str = Field("127.0.0.1:6380", description="HOST:PORT of the gRPC face; 'off' for none.")
    tls_cert: Path | None = Field(
        None,
        description="PEM file of the certificate chain that both faces serve with; unset: plain. "
        "Read anew when it changes, as are the two below.",
    )
    tls_key: Path | None = Field(None, description="PEM file of its key, unencrypted.")
    tls_client_ca: Path | None = Field(
        None, description="PEM file of authorities: clients must have a certificate of one."
    )
    workers: int = Field(
        1, ge=1, le=256, description="Server processes that `serve` runs on the same addresses."
    )
    drain_s: float = Field(
        0,
        ge=0,
        le=3_600,
        description="Seconds that a server told to stop still answers, while it says that it is "
        "not ready: for load balancers to notice.",
    )
    base_path: BasePath = Field(
        "", description="Path under which the HTTP face is served, too, such as /memory."
    )

    auth: Literal["auto", "on", "off"] = Field(
        "auto",
        description="Whether requests need an API key; auto: once there is one. Off only while "
        "bound to loopback.",
    )
    api_key: ApiKey | None = Field(
        None,
        description="A key that may do everything, of tenant default: for containers. Others are "
        "made with `remembrancer keys create`.",
    )
    allowed_hosts: tuple[str, ...] = Field(
        (),
        description="Names in the Host header that are taken without auth, beside those of "
        "loopback: of a proxy in front.",
    )
    rate_limit: bool = Field(True, description="Bound how often each key may call.")
    rate_read: float = Field(5_000, gt=0, description="Reading requests of a key, a second.")
    rate_read_burst: float = Field(10_000, ge=1, description="As many at once.")
    rate_write: float = Field(1_000, gt=0, description="Changing requests of a key, a second.")
    rate_write_burst: float = Field(5_000, ge=1, description="As many at once.")
    rate_admin: float = Field(10, gt=0, description="Administering requests of a key, a second.")
    rate_admin_burst: float = Field(20, ge=1, description="As many at once.")

    admit_reads: int | None = Field(
        None,
        ge=1,
        le=1_024,
        description="Reading requests worked on at once, of both faces; unset: 2, or 16 where they "
        "wait for PostgreSQL, an embedder or a reranker elsewhere.",
    )
    admit_writes: int | None = Field(
        None, ge=1, le=1_024, description="Writing requests at once; unset: 2, or 16 likewise."
    )
    admit_heavy: int | None = Field(
        None,
        ge=1,
        le=1_024,
        description="Requests at once that take long (reflect, exports, graphs); unset: 2, or 16 "
        "with a language model. One tenant has all but one.",
    )
    admit_queue: int = Field(
        1_000, ge=1, le=100_000, description="Requests that wait, of each of these classes (503)."
    )
    admit_tenant_queue: int = Field(
        250, ge=0, le=100_000, description="Of these, those of one tenant (429)."
    )
    admit_wait_s: float = Field(
        10, gt=0, le=3_600, description="Seconds that a request waits for its turn (503)."
    )
    admit_penalty_s: float = Field(
        0.5,
        ge=0,
        le=60,
        description="Seconds that such a 429 is held back at least, for clients that ask again at "
        "once; 0: it is told at once.",
    )
    deadline_read_s: float = Field(
        60,
        gt=0,
        le=86_400,
        description="Seconds that a reading request may take; then its work is ended (504). "
        "Callers may set less.",
    )
    deadline_write_s: float = Field(600, gt=0, le=86_400, description="A writing request.")
    deadline_heavy_s: float = Field(
        900, gt=0, le=86_400, description="One that takes long, such as reflect."
    )
    max_connections: int = Field(
        16_384,
        ge=1,
        le=1_000_000,
        description="Open HTTP connections of a process; more are answered with 503.",
    )
    idle_s: float = Field(
        120,
        gt=0,
        le=86_400,
        description="Seconds after which a connection is closed that sends no request, or stops in "
        "the head of one.",
    )
    stall_s: float = Field(
        30,
        gt=0,
        le=86_400,
        description="Seconds after which a connection is cut whose client takes nothing of its "
        "answer.",
    )

    embedder: str = Field(
        "bge-small",
        description="bge-small, openai:MODEL, fastembed:NAME, sentence-transformers:NAME, none "
        "(keywords alone), or hash:DIM (a stand-in for tests).",
    )
    embedder_url: str | None = Field(None, description="Base URL of an OpenAI-compatible API.")
    embedder_key: SecretStr | None = Field(None, description="Its API key.")
    embedder_dimensions: int | None = Field(
        None, ge=8, le=8192, description="Vector size to ask that API for."
    )
    embedder_retries: int = Field(
        4,
        ge=0,
        le=20,
        description="Further attempts of a request to that endpoint; a question gets one at most.",
    )
    embedder_question_s: float = Field(
        2.0,
        gt=0,
        le=60,
        description="Seconds that a question waits for the endpoint before it is searched for by "
        "its words alone.",
    )
    embedder_threads: int | None = Field(
        None, ge=1, le=64, description="Threads of the local embedder; unset: up to 2."
    )
    reranker: str = Field(
        "none",
        description="Reorders the best answers of a recall: none, endpoint:MODEL (POST /rerank at "
        "`reranker_url`), or onnx:FOLDER (a cross-encoder of your own).",
    )
    reranker_url: str | None = Field(None, description="Base URL of a reranking API.")
    reranker_key: SecretStr | None = Field(None, description="Its API key.")
    reranker_candidates: int = Field(
        30, ge=2, le=100, description="Answers that the reranker reads at most."
    )
    reranker_s: float = Field(
        1.0, gt=0, le=60, description="Seconds that a recall waits for it; then it goes without."
    )
    llm: str = Field(
        "none",
        description="Language model for all work: openai:MODEL (with llm_url anything compatible), "
        "anthropic:MODEL, gemini:MODEL, ollama:MODEL; none: do without, which is no lack.",
    )
    llm_url: str | None = Field(None, description="Base URL of its API; unset: the maker's own.")
    llm_key: SecretStr | None = Field(None, description="Its API key.")
    llm_retain: str | None = Field(
        None, description="Another model for reading facts, or none; unset: llm."
    )
    llm_reflect: str | None = Field(None, description="Another model for reflect, or none.")
    llm_consolidation: str | None = Field(
        None, description="Another model for consolidation, or none."
    )
    llm_timeout_s: float = Field(
        120, gt=0, le=3_600, description="Seconds for one request to a language model."
    )
    llm_retries: int = Field(3, ge=0, le=20, description="Further attempts of such a request.")
    llm_concurrency: int = Field(4, ge=1, le=256, description="Such requests at once.")
    llm_operation_tokens: int | None = Field(
        None, ge=1, description="Most tokens that one operation may use; unset: no cap."
    )
    llm_operation_calls: int | None = Field(
        None, ge=1, description="Most requests of one operation."
    )
    llm_bank_tokens: int | None = Field(
        None, ge=1, description="Most tokens that a bank may use a day (UTC)."
    )
    llm_bank_calls: int | None = Field(None, ge=1, description="Most requests of a bank a day.")
    llm_tenant_tokens: int | None = Field(
        None, ge=1, description="Most tokens that a tenant may use a day."
    )
    llm_tenant_calls: int | None = Field(None, ge=1, description="Most requests of a tenant a day.")

    query_cache: int = Field(1024, ge=0, description="Question vectors kept in memory.")

    language: Language = Field("english", description="Snowball stemmer for keywords.")
    nlp: str = Field(
        "",
        description="Finds more names, with their kinds, beside the rules: spacy, or spacy:PACKAGE "
        "or spacy:FOLDER of an installed pipeline (extra `nlp`; 100 to 140 MB a process); empty: "
        "the rules alone.",
    )
    date_languages: DateLanguages = Field(
        ("en",), description="Languages whose dates are read, as ISO 639-1 codes."
    )
    date_country: Country = Field(
        "US", description="Whose holidays are meant: US, GB, CA, AU, NZ, IE, DE, AT, CH, FR or IN."
    )

    max_body_bytes: int = Field(
        32 * 1024 * 1024, ge=1024, description="Largest HTTP request body (413 above)."
    )
    max_upload_bytes: int = Field(
        100 * 1024 * 1024,
        ge=1024,
        description="Largest request that uploads files (413 above), and largest archive exported.",
    )
    max_content_bytes: int = Field(
        10_000_000, ge=1, description="Largest content of one item, in UTF-8 bytes."
    )
    max_items: int = Field(5_000, ge=1, description="Most items in one retain.")
    max_query_chars: int = Field(8_000, ge=1, description="Longest question or cue.")

    recall_max_tokens: int = Field(4096, ge=1, description="Token budget of a recall's answers.")
    wire_cut_off: bool = Field(
        False,
        description="Answer nothing on the routes of Hindsight and HEBBS, too, when nothing is "
        "known; their clients expect something back.",
    )
    prime_max_memories: int = Field(20, ge=0, le=200, description="Memories a prime returns.")
    prime_temporal_ratio: Ratio = Field(
        0.5, description="Share of a prime that is recent rather than similar."
    )
    prime_window_days: float = Field(7, gt=0, description="How far back a prime calls recent.")

    event_days: float = Field(
        30, gt=0, le=3_650, description="Days that events told to a bank are kept."
    )
    sensitive: Literal["off", "flag", "redact", "block"] = Field(
        "off",
        description="What is done about personal data and secrets in what is told: flag tags the "
        "document, redact keeps marks in their place, block refuses.",
    )
    sensitive_kinds: tuple[str, ...] = Field(
        ("private_key", "token", "password", "email", "iban", "card", "ssn", "phone"),
        description="Which are looked for.",
    )
    retain_intentions: bool = Field(
        True, description="Register what a retained text says is to be done later."
    )

    worker: bool = Field(
        True, description="Work on what is queued; off: `remembrancer worker` does, elsewhere."
    )
    worker_slots: int = Field(2, ge=1, le=256, description="Queued jobs worked on at once.")
    worker_lease_s: float = Field(
        60,
        ge=0.1,
        le=86_400,
        description="Seconds after which what a dead process worked on is taken over.",
    )

    watch: bool = Field(
        True,
        description="Make and send what falls due, in servers and workers; off: others do.",
    )

    decay_interval_s: float = Field(
        3_600,
        ge=0,
        le=31_536_000,
        description="Seconds between runs that forget what tenants' policies say; 0: only when "
        "asked for.",
    )

    webhook_allow_private: bool = Field(
        False,
        description="Let webhooks reach addresses of this machine and of private networks.",
    )

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "warning", description="What servers and workers log; info: every request, too."
    )
    log_format: Literal["text", "json"] = Field(
        "text", description="How: lines of text, or of JSON, on stderr."
    )
    log_text: bool = Field(
        False,
        description="Let logs hold questions, memories and the words of errors, which may quote "
        "them; what is forgotten stays in such logs.",
    )
    slow_recall_ms: float = Field(
        1_000,
        ge=0,
        description="Recalls that take longer, in milliseconds, are logged with what took the "
        "time; 0: none.",
    )

    index_memory_mb: int = Field(
        128, ge=1, description="Memory for indexes of recently used banks (files not counted)."
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return where settings come from, the strongest first."""
        return init_settings, env_settings, _Aliases(settings_cls)

    @property
    def folder(self) -> Path:
        """The data folder, with ~ expanded."""
        return self.data.expanduser()
