"""From a setting to an embedder: reads specs such as `bge-small` or `openai:MODEL`."""

from __future__ import annotations

from pathlib import Path

from ..nouns.errors import InvalidInput
from ..settings import Settings
from .bge import BgeSmall
from .cache import DEFAULT_SIZE, CachedQueries, WarmEmbedder
from .hashing import HashingEmbedder
from .installed import InstalledEmbedder, load_fastembed, load_sentence_transformers
from .openai import QUESTION_S, RETRIES, OpenAIEmbedder

CHOICES = (
    "bge-small, hash:DIM, openai:MODEL, fastembed:NAME, sentence-transformers:NAME"
    " or none (word search alone)"
)
MIN_DIM, MAX_DIM = 8, 8192
MAX_THREADS = 64


def make_embedder(
    spec: str = "bge-small",
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    dimensions: int | None = None,
    retries: int = RETRIES,
    question_s: float = QUESTION_S,
    threads: int | None = None,
    model_dir: Path | None = None,
    cache_size: int = DEFAULT_SIZE,
) -> CachedQueries | None:
    """Make the embedder that `spec` names, with its queries cached; nothing is loaded yet.

    Await its `warm` before reading `dim`: endpoints and installed libraries tell it only then.

    Args:
        spec: one of `CHOICES`.
        base_url: of `openai:`; default OpenAI's own.
        api_key: of `openai:`.
        dimensions: of `openai:`; asked of the endpoint and required of its answers.
        retries: of `openai:`; further attempts.
        question_s: of `openai:`; seconds that a question waits.
        threads: of `bge-small`; texts embedded at once.
        model_dir: of `bge-small`; a folder with the two model files instead of the bundled ones.
        cache_size: questions whose vectors are kept.

    Returns:
        The embedder, or None for `none`.

    Raises:
        InvalidInput: the spec or one of its settings is unknown or out of bounds.
        ModelUnavailable: the spec needs a package that is not installed.
    """
    _within("dimensions", dimensions, MIN_DIM, MAX_DIM)
    _within("threads", threads, 1, MAX_THREADS)
    kind, _, name = spec.strip().partition(":")
    if spec.strip() == "none":
        return None
    inner: WarmEmbedder
    if spec.strip() == "bge-small":
        inner = BgeSmall(model_dir, threads)
    elif kind == "hash" and _is_dim(name):
        inner = HashingEmbedder(int(name))
    elif kind == "openai" and name:
        inner = OpenAIEmbedder(
            name,
            base_url=base_url,
            api_key=api_key,
            dimensions=dimensions,
            retries=retries,
            question_s=question_s,
        )
    elif kind == "fastembed" and name:
        inner = InstalledEmbedder(spec.strip(), lambda: load_fastembed(name))
    elif kind == "sentence-transformers" and name:
        inner = InstalledEmbedder(spec.strip(), lambda: load_sentence_transformers(name))
    else:
        raise InvalidInput(
            f"unknown embedder {spec.strip()[:80]!r}; choose {CHOICES};"
            f" DIM is {MIN_DIM} to {MAX_DIM}",
            field="embedder",
        )
    return CachedQueries(inner, cache_size)


async def embedder_of(settings: Settings) -> CachedQueries | None:
    """Make the embedder of some settings, with its dimension known.

    Raises:
        InvalidInput, ModelUnavailable: as `make_embedder`.
    """
    key = settings.embedder_key
    embedder = make_embedder(
        settings.embedder,
        base_url=settings.embedder_url,
        api_key=key.get_secret_value() if key else None,
        dimensions=settings.embedder_dimensions,
        retries=settings.embedder_retries,
        question_s=settings.embedder_question_s,
        threads=settings.embedder_threads,
        cache_size=settings.query_cache,
    )
    if embedder is not None and settings.embedder != "bge-small":
        await embedder.warm()  # only then is its dimension known
    return embedder


def _within(field: str, value: int | None, low: int, high: int) -> None:
    if value is not None and not low <= value <= high:
        limit = low if value < low else high
        raise InvalidInput(f"{field} must be {low} to {high}", field=field, limit=limit)


def _is_dim(text: str) -> bool:
    return text.isdecimal() and len(text) <= 4 and MIN_DIM <= int(text) <= MAX_DIM
