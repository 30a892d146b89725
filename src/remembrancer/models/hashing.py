"""A stand-in embedder for benches and tests: vectors from a hash of the text, without meaning."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .embedder import Floats
from .vectors import normalise


class HashingEmbedder:
    """The same text gives the same vector on every machine; other texts are near orthogonal.

    SHAKE-256 stretches the text to one byte a component. A byte b counts as b - 127.5, so the
    components are uniform around zero and no vector is zero.
    """

    def __init__(self, dim: int) -> None:
        self._dim = dim

    @property
    def dim(self) -> int:
        """Components of a vector."""
        return self._dim

    @property
    def fingerprint(self) -> Mapping[str, Any]:
        """Identity of the vectors; says that they are a stand-in."""
        return {
            "model": f"hash:{self._dim}",
            "sha256": "",
            "dim": self._dim,
            "pooling": "stand-in: a hash, no meaning",
            "prefix": "",
        }

    async def embed(self, texts: Sequence[str]) -> Floats:
        """Embed texts: float32 of shape (len(texts), dim), rows of length 1."""
        digests = b"".join(self._digest(text) for text in texts)
        raw = np.frombuffer(digests, np.uint8).reshape(len(texts), self._dim)
        return normalise(raw.astype(np.float32) - np.float32(127.5))

    async def embed_query(self, text: str) -> Floats:
        """Embed a question as `embed` does a text: float32 of shape (dim,)."""
        row: Floats = (await self.embed([text]))[0]
        return row

    async def warm(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        """Nothing to release."""

    def _digest(self, text: str) -> bytes:
        return hashlib.shake_256(text.encode("utf-8", "surrogatepass")).digest(self._dim)
