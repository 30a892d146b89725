"""The Embedder protocol: text to vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit-length vectors; the same text always gives the same vector."""

    @property
    def dim(self) -> int:
        """Components of a vector."""
        ...

    @property
    def fingerprint(self) -> Mapping[str, Any]:
        """Identity of the vectors: `model`, `sha256`, `dim`, `pooling`, `prefix`.

        Two embedders with the same fingerprint make interchangeable vectors; the store records it.
        """
        ...

    async def embed(self, texts: Sequence[str]) -> Floats:
        """Embed texts to be stored.

        Args:
            texts: any length; a text beyond the model's window is cut there.

        Returns:
            float32 of shape (len(texts), dim), each row of length 1.

        Raises:
            ModelUnavailable: the model or its endpoint cannot be used.
        """
        ...

    async def embed_query(self, text: str) -> Floats:
        """Embed a question: float32 of shape (dim,), length 1; cached by text."""
        ...

    async def close(self) -> None:
        """Release threads and connections."""
        ...
