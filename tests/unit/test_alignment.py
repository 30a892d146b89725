"""Which element of an older sequence each of a newer one is."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from remembrancer.reading.alignment import align


def test_what_stands_in_both_is_paired_and_the_rest_is_new() -> None:
    assert align("abc", "abXc") == [0, 1, None, 2]
    assert align("abc", "ac") == [0, 2]
    assert align("", "ab") == [None, None]
    assert align("ab", "") == []


def test_equal_elements_are_told_apart_by_what_stands_around_them() -> None:
    # the first "o" went: the others keep their places beside x and y
    assert align("aoxobyoc", "axobyoc") == [0, 2, 3, 4, 5, 6, 7]
    assert align("oooo", "ooo") == [0, 1, 2]


def test_what_has_moved_is_found_as_well() -> None:
    assert align("abcd", "dabc") == [3, 0, 1, 2]


@given(st.text("abc", max_size=30), st.text("abcd", max_size=30))
def test_each_is_used_once_and_as_many_as_possible(old: str, new: str) -> None:
    found = align(old, new)
    used = [at for at in found if at is not None]
    assert len(set(used)) == len(used)
    assert all(old[at] == new[n] for n, at in enumerate(found) if at is not None)
    assert len(used) == (Counter(old) & Counter(new)).total()


def test_many_repetitions_are_no_long_work() -> None:
    size = 200_000
    found = align(["ok", "yes"] * size, ["yes", "ok"] * size + ["no"])
    assert sum(at is not None for at in found) == 2 * size
    assert found[-1] is None
