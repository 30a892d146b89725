"""Which claims of a slot hold when."""

from __future__ import annotations

from itertools import permutations

import pytest

from remembrancer.keeping.timeline import Placed, settle
from remembrancer.nouns.memory import Claim, Stance

DAY = 86_400_000_000
HOLDS, DENIED, HELD = Stance.HOLDS, Stance.DENIED, Stance.HELD


def placed(name: str, value: str, day: int, stance: Stance = HOLDS, **more: object) -> Placed:
    """Return a claim made on a day by a fact in a document of its own."""
    claim = Claim("self\nhome", value, stance, day * DAY, **more)  # type: ignore[arg-type]
    return Placed(name.encode(), 0, claim, day * DAY, name.encode(), 0)


def spans(claims: list[Placed]) -> dict[str, tuple[int | None, int | None]]:
    """Return the days from and until which each claim holds, whatever order they come in."""
    found = {
        tuple(
            (p.unit_id.decode(), _day(p.settled.begins), _day(p.settled.ends))
            for p in settle(list(order))
        )
        for order in permutations(claims)
    }
    assert len(found) == 1
    return {name: (begins, ends) for name, begins, ends in found.pop()}


def _day(us: int | None) -> int | None:
    return None if us is None else us // DAY


def test_a_new_value_ends_the_old_one() -> None:
    found = spans([placed("a", "rome", 1), placed("b", "oslo", 5)])
    assert found == {"a": (1, 5), "b": (5, None)}


def test_what_ended_a_value_is_told() -> None:
    a, b = settle([placed("a", "rome", 1), placed("b", "oslo", 5)])
    assert (a.settled.ended_by, b.settled.ended_by) == (b"b", None)


def test_two_stints_stay_two() -> None:
    found = spans([placed("a", "rome", 1), placed("b", "oslo", 5), placed("c", "rome", 9)])
    assert found == {"a": (1, 5), "b": (5, 9), "c": (9, None)}


def test_what_is_said_again_holds_on_and_ends_together() -> None:
    found = spans([placed("a", "rome", 1), placed("b", "rome", 3), placed("c", "oslo", 9)])
    assert found == {"a": (1, 9), "b": (3, 9), "c": (9, None)}


def test_a_denial_ends_its_value_alone() -> None:
    found = spans([placed("a", "rome", 1), placed("b", "oslo", 5, DENIED)])
    assert found == {"a": (1, None), "b": (5, None)}
    found = spans([placed("a", "rome", 1), placed("b", "rome", 5, DENIED)])
    assert found == {"a": (1, 5), "b": (5, None)}


def test_a_denial_of_any_value_ends_whatever_holds_until_something_holds_again() -> None:
    found = spans([placed("a", "acme", 1), placed("b", "", 5, DENIED), placed("c", "initech", 9)])
    assert found == {"a": (1, 5), "b": (5, 9), "c": (9, None)}


def test_what_held_once_ends_its_value_and_no_other() -> None:
    found = spans([placed("a", "rome", 1), placed("b", "rome", 5, HELD)])
    assert found["a"] == (1, 5)
    found = spans([placed("a", "oslo", 1), placed("b", "rome", 5, HELD)])
    assert found == {"a": (1, None), "b": (None, 1)}


def test_many_values_hold_beside_each_other() -> None:
    claims = [placed("a", "nuts", 1, many=True), placed("b", "milk", 2, many=True)]
    assert spans(claims) == {"a": (1, None), "b": (2, None)}
    claims.append(placed("c", "nuts", 5, DENIED, many=True))
    assert spans(claims) == {"a": (1, 5), "b": (2, None), "c": (5, None)}


def test_a_looser_value_is_no_other_value_unless_it_is_news() -> None:
    claims = [placed("a", "rome italy", 1, loose=True), placed("b", "rome", 5, loose=True)]
    assert spans(claims) == {"a": (1, None), "b": (5, None)}
    claims[1] = placed("b", "rome", 5, loose=True, news=True)
    assert spans(claims) == {"a": (1, 5), "b": (5, None)}


@pytest.mark.parametrize("timed", [True, False])
def test_what_time_does_not_settle_stands_against_each_other(timed: bool) -> None:
    day = 1 if timed else 4
    claims = [placed("a", "rome", 1, timed=timed), placed("b", "oslo", day, timed=timed)]
    a, b = settle(claims)
    assert (a.settled.ends, b.settled.ends) == (None, None)
    assert (a.settled.against, b.settled.against) == (b"b", b"a")


def test_a_correction_settles_what_time_does_not() -> None:
    a, b = settle([placed("b", "oslo", 1, news=True), placed("a", "rome", 1)])
    assert (a.unit_id, a.settled.ended_by) == (b"a", b"b")
    assert b.settled.against is None


def test_a_later_value_ends_both_sides_of_a_contradiction() -> None:
    found = settle([placed("a", "rome", 1), placed("b", "oslo", 1), placed("c", "riga", 3)])
    assert [p.settled.ended_by for p in found] == [b"c", b"c", None]
    assert all(p.settled.against is None for p in found)


def test_the_order_in_one_document_counts() -> None:
    one = Placed(b"a", 0, Claim("s\nh", "rome", HOLDS, DAY), DAY, b"doc", 0)
    two = Placed(b"b", 0, Claim("s\nh", "oslo", HOLDS, DAY + 1), DAY + 1, b"doc", 0)
    a, b = settle([two, one])
    assert (a.settled.ended_by, b.settled.ends) == (b"b", None)


def test_an_interval_that_is_told_ends_by_itself() -> None:
    found = spans([placed("a", "rome", 9, HELD, since=2 * DAY, until=4 * DAY)])
    assert found == {"a": (2, 4)}
