"""Who is whose partner, and who is no more."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from retain_kit import REF, item, opened, stored
from test_slots import claims

from remembrancer.nouns.clock import DAY_US, to_us
from remembrancer.nouns.memory import Role

THEN = to_us(datetime(2024, 1, 8, 9, tzinfo=UTC))
ENDED = ["not self: partner = tom", "self: relationship = single"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tom and I broke up.", ENDED),
        ("Tom and I broke up after five years.", ENDED),
        ("Tom broke up with me.", ENDED),
        ("Tom dumped me.", ENDED),
        ("My wife left me.", ["not self: partner = ", "self: relationship = single"]),
        ("I left my husband.", ["not self: partner = "]),
        ("I divorced Tom.", ["not self: partner = tom", "self: relationship = divorced"]),
        ("Tom is my ex now.", ["once self: partner = tom"]),
        ("Tom and I are dating.", ["self: partner = tom", "self: relationship = dating"]),
        (
            "Tom and I got married in 2019.",
            ["self: partner = tom", "self: relationship = married"],
        ),
        (
            "Tom and I got back together.",
            ["self: partner = tom", "self: relationship = dating"],
        ),
        ("Tom is my boyfriend.", ["self: partner = tom", "not self: relationship = single"]),
        ("My wife is Eva.", ["self: partner = eva", "not self: relationship = single"]),
        (
            "I have a girlfriend named Eva.",
            ["self: partner = eva", "self: relationship = dating"],
        ),
        ("I'm seeing Eva.", ["self: partner = eva", "self: relationship = dating"]),
        # of others, or of something else
        ("My wife left me a note.", []),
        ("My dad left me when I was five.", []),
        ("I left my husband at the airport.", []),
        ("Tom and I are seeing a therapist.", []),
        ("Tom and I broke up the fight.", []),
        ("I'm seeing a therapist.", []),
        ("I'm seeing errors in the log.", []),
        ("I'm seeing Tom on Friday.", []),
        ("Tom broke up with Eva.", ["not tom: partner = eva", "tom: relationship = single"]),
    ],
)
def test_a_partner_comes_and_goes(text: str, expected: list[str]) -> None:
    assert claims(text) == expected


def test_it_is_the_partner_of_whoever_speaks() -> None:
    told = claims("Tom broke up with me.", Role.NONE, speaker="Ann")
    assert told == ["not ann: partner = tom", "ann: relationship = single"]


@pytest.mark.parametrize(
    "told",
    [
        ["I'm dating Tom.", "I broke up with Tom.", "I'm dating Eva now."],
        ["My boyfriend is Tom.", "Tom and I broke up.", "My new boyfriend is Paul."],
        ["Tom is my boyfriend.", "Tom dumped me.", "Paul is my boyfriend."],
        ["I'm dating Tom.", "I broke up with Tom.", "Tom and I got back together."],
        ["I'm married to Eva.", "I divorced Eva.", "Lena and I are engaged."],
    ],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_each_ends_what_was_before(tmp_path: Path, told: list[str], backwards: bool) -> None:
    async def main() -> list[int | None]:
        async with opened(tmp_path) as app:
            for n in sorted(range(3), reverse=backwards):
                await app.retain(REF, [item(told[n], f"d{n}", timestamp=THEN + n * DAY_US)])
            facts = [(await stored(app, f"d{n}")).facts for n in range(3)]
            return [found[0].valid_until for found in facts]

    assert asyncio.run(main()) == [THEN + DAY_US, THEN + 2 * DAY_US, None]
