"""The claims of a slot are settled as if each were compared with every one before it."""

from __future__ import annotations

from hypothesis import assume, event, given
from hypothesis import strategies as st

from remembrancer.keeping.timeline import SAME_TIME_US, Placed, Settled, agree, extend, settle
from remembrancer.nouns.memory import Claim, Stance

TIMES = st.sampled_from([0, 1, SAME_TIME_US // 2, 2 * SAME_TIME_US, 6 * SAME_TIME_US])


@st.composite
def claims(draw: st.DrawFn) -> list[Placed]:
    many, loose = draw(st.booleans()), draw(st.booleans())
    made = []
    for number in range(draw(st.integers(1, 12))):
        at = draw(TIMES)
        claim = Claim(
            "self\nhome",
            draw(st.sampled_from(["rome", "rome italy", "oslo", "bern", ""])),
            draw(st.sampled_from(Stance)),
            at,
            draw(st.sampled_from([None, at - 3, at + 7])),
            draw(st.sampled_from([None, None, at + SAME_TIME_US])),
            news=draw(st.booleans()),
            timed=draw(st.integers(0, 4)) > 0,
            loose=loose,
            many=many,
        )
        document = draw(st.sampled_from([None, b"one", b"two"]))
        made.append(Placed(b"%d" % draw(st.integers(0, 8)), number, claim, at, document, 0))
    return made


def ends(claim: Claim, other: Claim) -> bool:
    if claim.stance is Stance.HOLDS and other.stance is Stance.HOLDS:
        return not (claim.many or agree(claim, other))
    if claim.stance is Stance.HOLDS:
        return not other.value or agree(claim, other)
    plain = Claim(claim.slot, claim.value, claim.stance, claim.at, loose=claim.loose)
    return other.stance is Stance.HOLDS and (not claim.value or agree(plain, other))


def unsettled(one: Placed, other: Placed) -> bool:
    if one.document_id is not None and one.document_id == other.document_id:
        return False
    if one.claim.news and not other.claim.news:
        return False
    known = one.claim.timed and other.claim.timed
    return not known or abs(one.claim.at - other.claim.at) < SAME_TIME_US


def plainly(given_claims: list[Placed]) -> list[Placed]:
    """Settle by comparing each claim with all that are open."""
    rows = sorted(given_claims, key=lambda p: p.order)
    known: list[Settled] = []
    still: list[int] = []
    for mine, row in enumerate(rows):
        claim, against = row.claim, None
        begins, until = claim.at if claim.since is None else claim.since, claim.until
        began = [claim.at]
        for at in list(still):
            other, settled = rows[at], known[at]
            if claim.stance is Stance.HELD:
                if other.claim.stance is not Stance.HOLDS:
                    continue
                if not agree(claim, other.claim):
                    began += [] if claim.many else [settled.begins or 0]
                elif not unsettled(row, other):
                    end = max(until or claim.at, settled.begins or 0)
                    known[at] = settled._replace(ends=end, ended_by=row.unit_id)
                    still.remove(at)
            elif not ends(claim, other.claim):
                continue
            elif unsettled(row, other):
                against = against or other.unit_id
                known[at] = settled._replace(against=settled.against or row.unit_id)
            elif other.unit_id != row.unit_id:
                end = max(begins, settled.begins or 0)
                known[at] = settled._replace(ends=end, ended_by=row.unit_id)
                still.remove(at)
        if claim.stance is Stance.HELD:
            until = min(began) if until is None else until
            since = claim.since if claim.since is None else min(claim.since, until)
            known.append(Settled(since, until))
            continue
        known.append(Settled(begins, until, None, against))
        if until is None:
            still.append(mine)
    there = {row.unit_id for row, settled in zip(rows, known, strict=True) if settled.ends is None}
    return [
        row._replace(
            settled=settled
            if settled.ends is None and settled.against in there
            else settled._replace(against=None)
        )
        for row, settled in zip(rows, known, strict=True)
    ]


@given(claims())
def test_settled_as_if_each_were_compared_with_all(given_claims: list[Placed]) -> None:
    assert settle(given_claims) == plainly(given_claims)


def still_open(placed: Placed) -> bool:
    return placed.settled.ends is None and placed.claim.stance is not Stance.HELD


@given(claims(), st.integers(0, 12))
def test_what_is_added_is_settled_as_among_all(given_claims: list[Placed], many: int) -> None:
    rows = sorted(given_claims, key=lambda p: p.order)
    earlier, later = settle(rows[:many]), rows[many:]
    assume(not {p.unit_id for p in earlier} & {p.unit_id for p in later})  # a fact comes whole
    if any(p.settled.against for p in earlier):
        event("disputed before")
        return
    found = extend([p for p in earlier if still_open(p)], later)
    event("disputed" if found is None else "settled")
    if found is not None:
        closed = [p for p in earlier if not still_open(p)]
        assert sorted([*closed, *found], key=lambda p: p.order) == settle(rows)
