"""A fact that claims one thing is told by a short way; it says what the long one says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from remembrancer.keeping.truth_view import FactTruth
from remembrancer.nouns.memory import Stance
from remembrancer.verbs.recalling import truth

AT = 5
moments = st.none() | st.integers(0, 9)
ids = st.none() | st.binary(min_size=1, max_size=1)


@given(
    stance=st.sampled_from(list(Stance)),
    slot=st.sampled_from(["ann\nhome", "ann\nuses", "ann\nthing:car", "ann\nrelationship"]),
    begins=moments,
    ends=moments,
    ended_in=ids,
    against_in=ids,
)
def test_one_claim_is_told_as_among_others(
    stance: Stance,
    slot: str,
    begins: int | None,
    ends: int | None,
    ended_in: bytes | None,
    against_in: bytes | None,
) -> None:
    claim = FactTruth(
        b"f",
        slot,
        "v",
        int(stance),
        False,
        begins,
        ends,
        ended_in,
        ended_in,
        against_in,
        against_in,
    )
    assert truth._claim(claim, AT) == truth._parted([claim], AT)
