"""Every setting: name, type, default, one line of meaning.

Each can be given as an environment variable with the prefix `REMEMBRANCER_` (for example
`REMEMBRANCER_HTTP=127.0.0.1:7000`) or in code; the command line's options win over both.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

Ratio = Annotated[float, Field(ge=0, le=1)]


class Settings(BaseSettings):
    """All settings; see each field's description."""

    model_config = SettingsConfigDict(env_prefix="REMEMBRANCER_", extra="forbid")

    data: Path = Field(Path("~/.remembrancer"), description="Folder that holds everything.")
    store: str | None = Field(
        None, description="Where rows are kept: sqlite:///FOLDER; unset: the data folder."
    )
    http: str = Field("127.0.0.1:6381", description="HOST:PORT of the HTTP face.")
    grpc: str = Field("127.0.0.1:6380", description="HOST:PORT of the gRPC face; 'off' for none.")

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
    embedder_threads: int | None = Field(
        None, ge=1, le=64, description="Threads of the local embedder; unset: up to 2."
    )
    query_cache: int = Field(1024, ge=0, description="Question vectors kept in memory.")

    language: str = Field("english", description="Snowball stemmer for keywords.")
    date_languages: tuple[str, ...] = Field(
        ("en",), description="Languages whose dates are read, as ISO 639-1 codes."
    )

    max_body_bytes: int = Field(
        32 * 1024 * 1024, ge=1024, description="Largest HTTP request body (413 above)."
    )
    max_content_bytes: int = Field(
        10_000_000, ge=1, description="Largest content of one item, in UTF-8 bytes."
    )
    max_items: int = Field(5_000, ge=1, description="Most items in one retain.")
    max_query_chars: int = Field(8_000, ge=1, description="Longest question or cue.")

    recall_max_tokens: int = Field(4096, ge=1, description="Token budget of a recall's answers.")
    prime_max_memories: int = Field(20, ge=0, le=200, description="Memories a prime returns.")
    prime_temporal_ratio: Ratio = Field(
        0.5, description="Share of a prime that is recent rather than similar."
    )
    prime_window_days: float = Field(7, gt=0, description="How far back a prime calls recent.")

    index_memory_mb: int = Field(
        128, ge=1, description="Memory for indexes of recently used banks (files not counted)."
    )

    @property
    def folder(self) -> Path:
        """The data folder, with ~ expanded."""
        return self.data.expanduser()
