"""A memory of one fact, and a fact of one claim, are told by a short way, as the long one does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from remembrancer.keeping.truth_view import FactTruth
from remembrancer.nouns.memory import Stance
from remembrancer.verbs.recalling import truth

AT = 5
SLOTS = ["ann\nhome", "ann\nuses", "ann\nthing:car", "ann\nrelationship"]
moments = st.none() | st.integers(0, 9)
ids = st.none() | st.binary(min_size=1, max_size=1)


@st.composite
def claims(draw: st.DrawFn) -> FactTruth:
    """Return a claim of one fact, as it may stand in a store."""
    slot, value = draw(st.sampled_from(SLOTS)), draw(st.sampled_from("vw"))
    stance, many = int(draw(st.sampled_from(list(Stance)))), draw(st.booleans())
    ended, against = draw(ids), draw(ids)
    times = draw(moments), draw(moments)
    return FactTruth(b"f", slot, value, stance, many, *times, ended, ended, against, against)


@given(claims())
def test_one_claim_is_told_as_among_others(claim: FactTruth) -> None:
    assert truth._claim(claim, AT) == truth._parted([claim], AT)


@given(st.lists(claims(), min_size=1, max_size=4))
def test_one_fact_is_told_as_among_others(told: list[FactTruth]) -> None:
    facts = {b"f": truth._fact(told, AT)}
    assert truth._of_one(facts, told) == truth._of_many(facts, told)
