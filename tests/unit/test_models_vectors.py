"""Quantising: bounded error, zero and tiny vectors, refusal of non-finite numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from remembrancer.models.vectors import dequantise, normalise, quantise
from remembrancer.nouns.errors import ModelUnavailable

finite = st.floats(-(2.0**100), 2.0**100, width=32, allow_subnormal=True)


@given(arrays(np.float32, st.tuples(st.integers(1, 5), st.integers(1, 40)), elements=finite))
def test_round_trip_is_within_half_a_scale(vectors):
    coded = quantise(vectors)
    back = dequantise(coded)
    assert back.dtype == np.float32
    assert back.shape == vectors.shape
    for row, read, vector in zip(vectors, back, coded, strict=True):
        assert len(vector.codes) == row.size
        error = np.abs(row.astype(np.float64) - read).max()
        # Below, float32 has no value fine enough for the scale itself.
        assert error <= vector.scale * 0.5001 + np.abs(row).max() * 1e-6 + 1e-43


def test_largest_component_keeps_its_sign_and_uses_the_full_range():
    (vector,) = quantise(np.array([[0.5, -1.0, 0.0]], np.float32))
    assert list(np.frombuffer(vector.codes, np.int8)) == [64, -127, 0]
    assert vector.scale == pytest.approx(1 / 127)


def test_scale_survives_a_float32_column():
    for vector in quantise(np.random.default_rng(5).normal(size=(20, 16)).astype(np.float32)):
        assert float(np.float32(vector.scale)) == vector.scale


def test_zero_vector_is_safe():
    (vector,) = quantise(np.zeros((1, 8), np.float32))
    assert vector.scale == 0
    assert not dequantise([vector]).any()


def test_no_vectors():
    assert quantise(np.zeros((0, 384), np.float32)) == []
    assert dequantise([]).shape == (0, 0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_is_refused(bad):
    with pytest.raises(ModelUnavailable, match="not finite"):
        quantise(np.array([[0.1, bad]], np.float32))


def test_cosine_of_quantised_unit_vectors_is_kept():
    vectors = normalise(np.random.default_rng(1).normal(size=(50, 384)).astype(np.float32))
    back = normalise(dequantise(quantise(vectors)))
    assert np.sum(vectors * back, axis=1).min() > 0.9998


def test_normalise_gives_unit_rows_and_keeps_zero_rows():
    rows = normalise(np.array([[3, 4], [0, 0]], np.float32))
    assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 0]]
