"""A cache of query embeddings, least recently used out first, around any embedder."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .embedder import Embedder, Floats

DEFAULT_SIZE = 1024  # at 384 dimensions 1.5 MB of vectors
# A longer query is embedded each time: keys are texts, so this bounds the cache's memory.
MAX_KEY_CHARS = 2048


class WarmEmbedder(Embedder, Protocol):
    """An embedder that can be loaded ahead of its first use."""

    async def warm(self) -> None:
        """Load or probe the model now.

        Raises:
            ModelUnavailable: it cannot be used.
        """
        ...


class CachedQueries:
    """An embedder whose `embed_query` remembers the last `size` questions.

    Attributes:
        inner: the embedder behind it.
        hits: questions answered from the cache.
        misses: questions that the model had to embed.
    """

    def __init__(self, inner: WarmEmbedder, size: int = DEFAULT_SIZE) -> None:
        self.inner = inner
        self.hits = 0
        self.misses = 0
        self._size = size
        self._known: OrderedDict[str, Floats] = OrderedDict()

    @property
    def dim(self) -> int:
        """Components of a vector."""
        return self.inner.dim

    @property
    def fingerprint(self) -> Mapping[str, Any]:
        """Identity of the vectors: the inner embedder's."""
        return self.inner.fingerprint

    async def embed(self, texts: Sequence[str]) -> Floats:
        """Embed texts to be stored; not cached."""
        return await self.inner.embed(texts)

    async def embed_query(self, text: str) -> Floats:
        """Embed a question: read-only float32 of shape (dim,), length 1.

        Raises:
            ModelUnavailable: the model or its endpoint cannot be used; nothing is cached then.
        """
        known = self._known.get(text)
        if known is not None:
            self.hits += 1
            self._known.move_to_end(text)
            return known
        self.misses += 1
        vector = (await self.inner.embed_query(text)).copy()
        vector.setflags(write=False)
        if len(text) <= MAX_KEY_CHARS and self._size > 0:
            self._known[text] = vector
            self._known.move_to_end(text)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
        return vector

    def clear(self) -> None:
        """Forget all questions; the counts stay."""
        self._known.clear()

    async def warm(self) -> None:
        """Load or probe the inner model now."""
        await self.inner.warm()

    async def close(self) -> None:
        """Forget the questions and close the inner embedder."""
        self.clear()
        await self.inner.close()
