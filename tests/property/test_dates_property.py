"""What the date resolver promises of any text: no error, sane spans, one answer, no blow-up."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.reading.dates import find_dates

WORDS = (
    "a an the in on at of to from and or before after until since last next this past "
    "every each early mid late end beginning earlier later day week weekend fortnight "
    "month quarter year decade century hour minutes seconds days weeks ago back now hence "
    "within between Friday Sun mon sat fridays May march Feb December jan Sept today "
    "yesterday tomorrow tonight morning night noon midnight half quarter past couple few "
    "several dozen two twenty thirty first second 31st nineteen thousand Christmas New "
    "Year 's Eve Easter weekend Mother 's day spring summers 90s 1990s nineties Q1 H2 am "
    "pm o'clock UTC EST 0 1 2 12 13 29 30 31 99 1999 2000 2024 9999 10000 "
    "2023-05-07T10:30Z 5/7/2023 2/29 29/02 23.04.2022 18:30 24:00 7:5 1.5 3,000 - / : . , "
    "( ) ' % $ other will was going hace dos semanas vor Tagen il y a demain domani fa "
    "geleden às em"
).split(" ")
PHRASES = st.lists(st.sampled_from(WORDS), max_size=14).flatmap(
    lambda words: st.sampled_from([" ", ""]).map(lambda gap: gap.join(words))
)
TEXTS = st.one_of(PHRASES, st.text(max_size=80), st.text("0123456789-/:.T Z+,ap m'", max_size=30))
ZONES = st.sampled_from(
    ["UTC", "Asia/Kathmandu", "America/New_York", "Pacific/Apia", "Africa/Cairo", "Asia/Tokyo"]
).map(ZoneInfo)
MOMENTS = st.datetimes(timezones=ZONES)
LANGUAGES = st.sampled_from([("en",), ("en", "es", "de"), ("fr",), ("pt", "nl"), ("it", "en"), ()])
PREFERENCES = st.sampled_from(["past", "future", "nearest"])


@settings(max_examples=500, deadline=None)
@given(TEXTS, MOMENTS, LANGUAGES, PREFERENCES, st.booleans())
def test_any_text(text, reference, languages, prefer, day_first) -> None:
    def find():
        return find_dates(text, reference, languages=languages, prefer=prefer, day_first=day_first)

    found = find()
    assert find() == found
    end = 0
    for date in found:
        assert end <= date.span.start < date.span.end <= len(text)
        assert date.start < date.end
        assert (
            text[date.span.start : date.span.end].strip() == text[date.span.start : date.span.end]
        )
        end = date.span.end


@settings(max_examples=200, deadline=None)
@given(st.datetimes(datetime(1950, 1, 1), datetime(2090, 1, 1)), ZONES)
def test_an_iso_day_is_found_whatever_the_reference(day, zone) -> None:
    text = f"It happened on {day:%Y-%m-%d}."
    here = find_dates(text, datetime(2023, 5, 10, tzinfo=zone))
    there = find_dates(text, datetime(1999, 1, 1, tzinfo=zone))
    assert here == there
    skipped = zone.key == "Pacific/Apia" and f"{day:%Y-%m-%d}" == "2011-12-30"
    assert len(here) == (0 if skipped else 1)
    if here:
        hours = timedelta(microseconds=here[0].end - here[0].start) / timedelta(hours=1)
        assert 22.5 <= hours <= 25.5


ADVERSARIAL = [
    "next " * 40_000,
    "1" * 200_000,
    "1 " * 40_000,
    "1/" * 40_000,
    "12:" * 30_000,
    "a week before " * 7_000,
    "the day after the Friday before " * 3_000,
    "last week of the last week of " * 3_000,
    "between 1 and " * 7_000,
    "Friday, " * 10_000,
    "a" * 200_000,
    "early " * 33_000,
]
FOREIGN = ["1 " * 40_000, "hace dos " * 20_000, "pasado mañana " * 14_000, "de " * 60_000]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", ADVERSARIAL, ids=[text[:20] for text in ADVERSARIAL])
def test_long_adversarial_texts_end(text) -> None:
    found = find_dates(text, datetime(2023, 5, 10, tzinfo=ZoneInfo("UTC")))
    assert all(date.start < date.end for date in found)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", FOREIGN, ids=[text[:20] for text in FOREIGN])
def test_long_adversarial_texts_end_in_other_languages(text) -> None:
    reference = datetime(2023, 5, 10, tzinfo=ZoneInfo("UTC"))
    found = find_dates(text, reference, languages=("es",))
    assert all(date.start < date.end for date in found)
