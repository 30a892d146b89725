"""No bit of an index's files can change unseen: what is not as written is thrown away."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from test_search import make_row

from remembrancer.finding.compaction import compact, load
from remembrancer.finding.part import build_part
from remembrancer.finding.segment import MANIFEST
from remembrancer.finding.state import IndexState, advance
from remembrancer.nouns.ids import IdMaker


def written(folder: Path) -> IndexState:
    """Write an index of which a row is dead."""
    ids = IdMaker()
    rows = [make_row(ids, f"cello {n}") for n in range(40)]
    kept = compact(IndexState(1, 1, 0, (build_part(rows, 0),), (None,)), folder)
    assert kept is not None
    kept = compact(advance(kept, 2, [rows[3].unit_id], []), folder)
    assert kept is not None
    assert kept.live == 39
    return kept


@pytest.mark.parametrize("ending", [MANIFEST, ".npz", ".seg"])
def test_any_bit_that_changes_is_seen(tmp_path: Path, ending: str) -> None:
    kept = written(tmp_path)
    [path] = [p for p in tmp_path.iterdir() if p.name.endswith(ending)]
    whole = path.read_bytes()
    again = load(tmp_path, 1, 0)
    assert again is not None
    assert np.array_equal(again.parts[0].ids, kept.parts[0].ids)
    dice = random.Random(ending)
    for _ in range(200):
        data = bytearray(whole)
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        path.write_bytes(data)
        assert load(tmp_path, 1, 0) is None
