"""Embedders of libraries that the user installed and named: fastembed, sentence-transformers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from ..nouns.errors import ModelUnavailable
from ..nouns.turns import Turns
from .embedder import Floats
from .vectors import normalise

Encode = Callable[[list[str]], Iterable[Any]]  # texts to one row of numbers each


class Loaded(NamedTuple):
    """What a loader gives: one way to embed texts, one for questions (which may add a prompt)."""

    texts: Encode
    queries: Encode


def load_fastembed(name: str) -> Loaded:
    """Load a fastembed model from the local cache; nothing is downloaded."""
    library = _imported("fastembed", "fastembed")
    model = library.TextEmbedding(model_name=name, threads=1, local_files_only=True)
    # One text a batch: models with int8 activations let batch mates change each other's vectors.
    return Loaded(
        lambda texts: model.passage_embed(texts, batch_size=1),
        lambda texts: model.query_embed(texts, batch_size=1),
    )


def load_sentence_transformers(name: str) -> Loaded:
    """Load a sentence-transformers model, by path or from the local cache; no download."""
    library = _imported("sentence_transformers", "sentence-transformers")
    model = library.SentenceTransformer(name, local_files_only=True)
    options = {"batch_size": 1, "show_progress_bar": False, "convert_to_numpy": True}
    # Since version 5 there are two calls, with the prompts that the model names for each.
    texts = getattr(model, "encode_document", model.encode)
    queries = getattr(model, "encode_query", model.encode)
    return Loaded(lambda some: texts(some, **options), lambda some: queries(some, **options))


class InstalledEmbedder:
    """Runs a library's model in one thread; loads on first use or by `warm`.

    Its dimension is known once it is loaded, so `warm` comes before `dim` and `fingerprint`.

    Args:
        spec: how the user named it, such as `fastembed:NAME`.
        load: loads the model; may block, runs in the thread.
    """

    BATCH = 32  # texts handed to the thread at once, so that cancelling takes effect

    def __init__(self, spec: str, load: Callable[[], Loaded]) -> None:
        self._spec = spec
        self._load = load
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="embed")
        self._turns = Turns(2)  # who waits, waits here: the pool knows no tenants
        self._loaded: Loaded | None = None
        self._dim: int | None = None

    @property
    def dim(self) -> int:
        """Components of a vector.

        Raises:
            ModelUnavailable: the model is not loaded yet.
        """
        if self._dim is None:
            raise ModelUnavailable(f"{self._spec} is not loaded yet: await warm() first")
        return self._dim

    @property
    def fingerprint(self) -> Mapping[str, Any]:
        """Identity of the vectors, as far as the library tells it.

        Raises:
            ModelUnavailable: the model is not loaded yet.
        """
        return {
            "model": self._spec,
            "sha256": "",
            "dim": self.dim,
            "pooling": "by the library",
            "prefix": "",
        }

    async def embed(self, texts: Sequence[str]) -> Floats:
        """Embed texts: float32 of shape (len(texts), dim), rows of length 1.

        Raises:
            ModelUnavailable: the library or the model is not there, or it failed.
        """
        await self.warm()
        parts = [np.zeros((0, self.dim), np.float32)]
        for start in range(0, len(texts), self.BATCH):
            parts.append(await self._run(list(texts[start : start + self.BATCH]), query=False))
        return np.concatenate(parts)

    async def embed_query(self, text: str) -> Floats:
        """Embed a question: float32 of shape (dim,), length 1.

        Raises:
            ModelUnavailable: the library or the model is not there, or it failed.
        """
        row: Floats = (await self._run([text], query=True))[0]
        return row

    async def warm(self) -> None:
        """Load the model now, in the thread, and learn its dimension.

        Raises:
            ModelUnavailable: the library or the model is not there.
        """
        if self._dim is None:
            await self._run(["dimension"], query=False)

    async def close(self) -> None:
        """Wait for the batch being embedded and end the thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self._pool.shutdown)

    async def _run(self, texts: list[str], *, query: bool) -> Floats:
        loop = asyncio.get_running_loop()
        async with self._turns:
            return await loop.run_in_executor(self._pool, self._encode, texts, query)

    def _encode(self, texts: list[str], query: bool) -> Floats:
        try:
            if self._loaded is None:  # one thread: no lock
                self._loaded = self._load()
            encode = self._loaded.queries if query else self._loaded.texts
            rows = np.asarray(list(encode(texts)), np.float32)
        except ModelUnavailable:
            raise
        except Exception as error:  # whatever the library raises
            raise ModelUnavailable(
                f"{self._spec} cannot be used: {error}. Only models that are already on this"
                " machine are loaded; download it once with the library itself"
            ) from error
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise ModelUnavailable(f"{self._spec} gave no sound vectors (shape {rows.shape})")
        self._dim = rows.shape[1]
        return normalise(rows)


def _imported(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ModelUnavailable(
            f"{package} is not installed: pip install {package}, or choose another embedder"
        ) from error
