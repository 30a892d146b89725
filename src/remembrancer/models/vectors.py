"""Vectors between the model and the store: unit length, and int8 codes with one scale each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..nouns.errors import ModelUnavailable
from ..nouns.memory import Vector
from .embedder import Floats

CODE_MAX = 127


def normalise(vectors: Floats) -> Floats:
    """Scale each row to length 1; a row of zeros stays as it is.

    Args:
        vectors: shape (n, dim).

    Returns:
        float32 of the same shape.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit


def quantise(vectors: Floats) -> list[Vector]:
    """Code each row in signed bytes: scale = max|x| / 127, code = round(x / scale).

    Symmetric per-vector quantisation; a component read back is off by at most scale / 2. The scale
    is a float32 value, so stores of 4 and of 8 byte floats give the same vector back.

    Args:
        vectors: float32 of shape (n, dim).

    Returns:
        n vectors; a row of zeros has scale 0.

    Raises:
        ModelUnavailable: a component is not finite.
    """
    if not np.isfinite(vectors).all():
        raise ModelUnavailable("the embedding model gave numbers that are not finite")
    peaks = np.abs(vectors).max(axis=1, initial=0, keepdims=True)
    scales = (peaks / CODE_MAX).astype(np.float32)
    divisors = np.where(scales > 0, scales, 1)
    codes = np.clip(np.rint(vectors / divisors), -CODE_MAX, CODE_MAX).astype(np.int8)
    return [
        Vector(row.tobytes(), float(scale)) for row, scale in zip(codes, scales[:, 0], strict=True)
    ]


def dequantise(vectors: Sequence[Vector]) -> Floats:
    """Read vectors of one dimension back: value = code * scale.

    Returns:
        float32 of shape (n, dim); (0, 0) for none.
    """
    if not vectors:
        return np.zeros((0, 0), np.float32)
    codes = np.frombuffer(b"".join(vector.codes for vector in vectors), np.int8)
    scales = np.array([[vector.scale] for vector in vectors], np.float32)
    values: Floats = codes.reshape(len(vectors), -1).astype(np.float32) * scales
    return values
