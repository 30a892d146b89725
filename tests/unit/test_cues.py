"""Cues in memory: what comes up, what does not, and how they change."""

from __future__ import annotations

import numpy as np
import pytest

from remembrancer.finding import cues as module
from remembrancer.finding.cues import Cues
from remembrancer.keeping.intentions import Cue


def cue(number: int, vector: object, place: int = 1, **more: object) -> Cue:
    fields = {"active": True, "generation": 1, "threshold": None, "armed": True, **more}
    raw = np.asarray(vector, dtype="<f4").tobytes()
    return Cue(place, number.to_bytes(16, "big"), cue=raw, **fields)  # type: ignore[arg-type]


def found(index: Cues, vector: object) -> list[int]:
    matched = index.match(np.asarray(vector, dtype=np.float32))
    return sorted(int.from_bytes(m.intention_id, "big") for m in matched.matches)


def test_the_threshold_is_inclusive_and_length_does_not_count() -> None:
    index = Cues()
    index.take([cue(1, [0.7, 0.51**0.5]), cue(2, [0.69, 0.7239]), cue(3, [1.4, 2 * 0.51**0.5])])
    assert found(index, [5, 0]) == [1, 3]


def test_a_threshold_of_its_own_and_zero_are_kept() -> None:
    index = Cues()
    index.take([cue(1, [0, 1], threshold=0.0), cue(2, [0.9, 0.4359], threshold=0.95)])
    assert found(index, [1, 0]) == [1]
    assert found(index, [0.9, 0.4359]) == [1, 2]


def test_another_dimension_never_matches_and_is_told() -> None:
    index = Cues()
    index.take([cue(1, [1, 0, 0], threshold=0.0), cue(2, [1, 0])])
    matched = index.match(np.array([1, 0], dtype=np.float32))
    assert [int.from_bytes(m.intention_id, "big") for m in matched.matches] == [2]
    assert matched.mismatched == 1
    assert index.match(np.array([0, 0], dtype=np.float32)).matches == []


def test_changes_replace_and_remove() -> None:
    index = Cues()
    index.take([cue(n, [1, 0]) for n in range(1, 6)])
    index.take([cue(1, [0, 1], place=2), cue(2, [1, 0], place=2, active=False)])
    assert found(index, [1, 0]) == [3, 4, 5]
    assert found(index, [0, 1]) == [1]
    assert (index.place, len(index)) == (2, 4)
    for place in range(3, 20):
        index.take([cue(3, [1, 0.001 * place], place=place)])
    assert found(index, [1, 0]) == [3, 4, 5]


def test_a_disarmed_cue_waits_until_its_context_has_ended() -> None:
    index = Cues()
    index.take([cue(1, [1, 0], armed=False)])
    near = np.array([0.65, 0.76], dtype=np.float32)
    far = np.array([0.55, 0.835], dtype=np.float32)
    for vector, ended in ((np.array([1, 0], dtype=np.float32), 0), (near, 0), (far, 1)):
        matched = index.match(vector)
        assert (len(matched.matches), len(matched.ended)) == (0, ended)


@pytest.mark.parametrize("seed", range(4))
def test_any_history_of_changes_comes_to_what_comparing_all_finds(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cues come, change, are armed and disarmed, and go; thresholds of all kinds."""
    monkeypatch.setattr(module, "EXACT", 50)
    rng = np.random.default_rng((11, seed))
    dim = int(rng.choice([5, 64, 200]))
    base = rng.normal(size=dim) * rng.choice([0.0, 0.9])
    index, held = Cues(), {}
    for place in range(1, 25):
        changed = []
        for number in rng.choice(600, size=80, replace=False).tolist():
            vector = (rng.normal(size=dim) + base).astype(np.float32)
            threshold = (None, -1.0, 0.0, 0.3, 0.9)[int(rng.integers(5))]
            more = {"threshold": threshold, "armed": bool(rng.random() < 0.8)}
            alive = bool(rng.random() < 0.8)
            changed.append(cue(number, vector, place, active=alive, **more))
            held[number] = (vector, threshold, more["armed"]) if alive else None
        index.take(changed)
        query = (rng.normal(size=dim) + base).astype(np.float32)
        matched = index.match(query)
        wanted, ended = [], []
        for number, what in held.items():
            if what is None:
                continue
            vector, threshold, armed = what
            unit = (vector / np.linalg.norm(vector.astype(np.float64))).astype(np.float32)
            asked = (query / np.linalg.norm(query.astype(np.float64))).astype(np.float32)
            cosine = float(unit.astype(np.float64) @ asked.astype(np.float64))
            floor = module.THRESHOLD if threshold is None else threshold
            if armed and cosine >= floor - module.ROUNDING:
                wanted.append(number)
            if not armed and cosine < floor - module.REARM:
                ended.append(number)
        as_numbers = [int.from_bytes(m.intention_id, "big") for m in matched.matches]
        assert sorted(as_numbers) == sorted(wanted)
        assert sorted(int.from_bytes(i, "big") for i in matched.ended) == sorted(ended)
        assert len(index) == sum(what is not None for what in held.values())


@pytest.mark.parametrize("cone", [0.0, 0.8])
def test_the_scan_finds_what_comparing_all_finds(
    cone: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where all vectors lie in a narrow cone, as embeddings of texts do."""
    monkeypatch.setattr(module, "EXACT", 100)
    rng = np.random.default_rng(5)
    base = rng.normal(size=384)
    vectors = rng.normal(size=(6_000, 384)) + cone * base
    vectors[::10] = vectors[7] + 0.6 * rng.normal(size=(600, 384))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = Cues()
    for start in range(0, 6_000, 1_500):
        index.take([cue(n, vectors[n], start + 1) for n in range(start, start + 1_500)])
        index.match(vectors[0].astype(np.float32))
    for query in (vectors[7], vectors[10], vectors[11]):
        cosines = vectors.astype(np.float32).astype(np.float64) @ query
        wanted = np.flatnonzero(cosines >= 0.7 - module.ROUNDING).tolist()
        assert found(index, query) == wanted
