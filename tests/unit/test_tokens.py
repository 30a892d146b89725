"""The words of a sentence: what is one word, above all of numbers."""

from __future__ import annotations

import pytest

from remembrancer.reading.tokens import Tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("€1,200 then $85,500.50", ["1,200", "then", "85,500.50"]),
        ("1,234,567 km, 12,000km", ["1,234,567", "km", "12,000km"]),
        ("about 5,200, 6,300", ["about", "5,200", "6,300"]),
        ("1,2,3 and 12,34", ["1", "2", "3", "and", "12", "34"]),
        ("12,345,67 or 2019,200", ["12", "345", "67", "or", "2019", "200"]),
        ("May 5,2024 and May 5, 2024", ["May", "5", "2024", "and", "May", "5", "2024"]),
        ("5-7 or 5 - 7 or 5 -7", ["5-7", "or", "5", "7", "or", "5", "7"]),
        ("-5, (-3) and −7", ["-5", "-3", "and", "-7"]),
        ("-$20, $-20, €-1,200", ["-20", "-20", "-1,200"]),
        ("UTC-5, 555-1234, 2024-05-05", ["UTC-5", "555-1234", "2024-05-05"]),
        ("- 5 apples -or --7", ["5", "apples", "or", "7"]),
        ("a v1.2.3-rc1, it's", ["a", "v1.2.3-rc1", "it", "'s"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert Tokens(text, 0, len(text)).raws == expected


def test_a_signed_number_stands_where_its_sign_does() -> None:
    text = "It is −7 now"
    tokens = Tokens(text, 0, len(text))
    assert text[tokens.starts[2] : tokens.ends[2]] == "−7"
    assert tokens.gap(2) == " "
