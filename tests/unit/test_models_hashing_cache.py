"""The hashing stand-in and the cache of query vectors."""

import asyncio

import numpy as np
import pytest

from remembrancer.models import cache as cache_module
from remembrancer.models.cache import CachedQueries
from remembrancer.models.hashing import HashingEmbedder
from remembrancer.nouns.errors import ModelUnavailable


def test_same_text_same_vector_everywhere():
    embedder = HashingEmbedder(384)
    first = asyncio.run(embedder.embed(["a", "b", "a"]))
    assert np.array_equal(first[0], first[2])
    assert not np.array_equal(first[0], first[1])
    assert np.array_equal(first[1], asyncio.run(HashingEmbedder(384).embed_query("b")))
    assert first[0, :3] == pytest.approx([0.004488, -0.001036, -0.057653], abs=1e-6)


def test_rows_are_of_length_one_and_near_orthogonal():
    vectors = asyncio.run(HashingEmbedder(384).embed([f"text {n}" for n in range(200)]))
    cosines = vectors @ vectors.T
    assert np.diag(cosines) == pytest.approx(1, abs=1e-5)
    np.fill_diagonal(cosines, 0)
    assert np.abs(cosines).max() < 0.3


def test_no_texts_and_odd_texts():
    embedder = HashingEmbedder(8)
    assert asyncio.run(embedder.embed([])).shape == (0, 8)
    assert np.isfinite(asyncio.run(embedder.embed(["", "\ud800", "x" * 1_000_000]))).all()


def test_fingerprint_says_stand_in():
    fingerprint = HashingEmbedder(16).fingerprint
    assert fingerprint["model"] == "hash:16"
    assert fingerprint["dim"] == 16
    assert "stand-in" in fingerprint["pooling"]


class Counting(HashingEmbedder):
    """Notes each question; fails on demand."""

    def __init__(self):
        super().__init__(8)
        self.asked = []
        self.broken = False
        self.closed = False

    async def embed_query(self, text):
        self.asked.append(text)
        if self.broken:
            raise ModelUnavailable("down")
        return await super().embed_query(text)

    async def close(self):
        self.closed = True


async def ask(cache, *texts):
    return [await cache.embed_query(text) for text in texts]


def test_hits_misses_and_least_recently_used_goes_first():
    inner = Counting()
    cache = CachedQueries(inner, size=2)
    asyncio.run(ask(cache, "a", "b", "a", "c", "a", "b"))
    assert inner.asked == ["a", "b", "c", "b"]  # c drove b out, not a
    assert (cache.hits, cache.misses) == (2, 4)


def test_cached_vector_is_the_models_and_cannot_be_changed():
    cache = CachedQueries(Counting())
    first, second = asyncio.run(ask(cache, "a", "a"))
    assert np.array_equal(first, asyncio.run(HashingEmbedder(8).embed_query("a")))
    assert np.array_equal(first, second)
    with pytest.raises(ValueError, match="read-only"):
        second[0] = 1


def test_failures_and_long_questions_are_not_kept():
    inner = Counting()
    cache = CachedQueries(inner)
    inner.broken = True
    with pytest.raises(ModelUnavailable):
        asyncio.run(cache.embed_query("a"))
    inner.broken = False
    asyncio.run(ask(cache, "a", "a"))
    assert inner.asked == ["a", "a"]
    long = "x" * (cache_module.MAX_KEY_CHARS + 1)
    asyncio.run(ask(cache, long, long))
    assert inner.asked[2:] == [long, long]


def test_clear_close_and_the_rest_pass_through():
    inner = Counting()
    cache = CachedQueries(inner)
    asyncio.run(ask(cache, "a"))
    cache.clear()
    asyncio.run(ask(cache, "a"))
    assert cache.misses == 2
    assert (cache.dim, cache.fingerprint) == (inner.dim, inner.fingerprint)
    assert asyncio.run(cache.embed(["a", "b"])).shape == (2, 8)
    asyncio.run(cache.warm())
    asyncio.run(cache.close())
    assert inner.closed
