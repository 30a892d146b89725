"""Times and repeats to come, in words."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.nouns.clock import from_us, to_us
from remembrancer.nouns.errors import InvalidInput
from remembrancer.nouns.memory import Precision
from remembrancer.reading.recurrence import occurrences
from remembrancer.reading.when import find_whens, read_over, read_when
from remembrancer.verbs.reminding.scheduling import in_words

BERLIN = "Europe/Berlin"
WEDNESDAY = "2026-04-15 10:00"


def at(local: str, zone: str = BERLIN) -> int:
    return to_us(datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone)))


def local(us: int, zone: str = BERLIN) -> str:
    return from_us(us).astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("friday 9:00", "2026-04-17 09:00"),
        ("tomorrow at 3pm", "2026-04-16 15:00"),
        ("at noon", "2026-04-15 12:00"),
        ("in 20 minutes", "2026-04-15 10:20"),
        ("in 25 minutes", "2026-04-15 10:25"),
        ("in an hour and a half", "2026-04-15 11:30"),
        ("in an hour and 20 minutes", "2026-04-15 11:20"),
        ("in 2 hours", "2026-04-15 12:00"),
        ("10 minutes before 4pm", "2026-04-15 15:50"),
        ("next monday morning", "2026-04-20 09:00"),
        ("tonight", "2026-04-15 20:00"),
        ("tonight at 11", "2026-04-15 23:00"),
        ("midnight tonight", "2026-04-16 00:00"),
        ("tonight at 12", "2026-04-16 00:00"),
        ("this evening at 12:30", "2026-04-16 00:30"),
        ("tomorrow night at 12", "2026-04-17 00:00"),
        ("friday at 12 at night", "2026-04-18 00:00"),
        ("tonight at 1", "2026-04-16 01:00"),
        ("tomorrow at 12", "2026-04-16 12:00"),
        ("at five to seven", "2026-04-16 06:55"),
        ("by twenty to six", "2026-04-15 17:40"),
        ("at ten to one", "2026-04-15 12:50"),
        ("tomorrow at twenty-five to nine in the evening", "2026-04-16 20:35"),
        ("tomorrow at ten past eight", "2026-04-16 08:10"),
        ("tomorrow at quarter to two", "2026-04-16 13:45"),
        ("tomorrow from five to seven pm", "2026-04-16 17:00"),
        ("monday first thing", "2026-04-20 09:00"),
        ("monday morning, first thing", "2026-04-20 09:00"),
        ("first thing on monday", "2026-04-20 09:00"),
        ("friday the first", "2026-05-01 09:00"),
        ("on 5 May at 14:30", "2026-05-05 14:30"),
        ("the day after tomorrow", "2026-04-17 09:00"),
        ("in three weeks", "2026-05-06 09:00"),
        ("in a month", "2026-05-15 09:00"),
        ("in 2 days", "2026-04-17 09:00"),
        ("in 3 business days", "2026-04-20 09:00"),
        ("within 10 working days", "2026-04-29 09:00"),
        ("three workdays from now at 4pm", "2026-04-20 16:00"),
        ("in two weekends", "2026-04-29 09:00"),
        ("end of month", "2026-04-30 09:00"),
        ("by the end of the week", "2026-04-17 09:00"),
        ("end of day", "2026-04-15 17:00"),
        ("the 20th at 5", "2026-04-20 17:00"),
        ("next month on the 3rd", "2026-05-03 09:00"),
        ("before friday", "2026-04-16 09:00"),
        ("tomorrow after lunch", "2026-04-16 13:00"),
        ("2026-12-01 09:00", "2026-12-01 09:00"),
        ("2026-12-01T09:00:00+02:00", "2026-12-01 08:00"),
        ("20261201T090000Z", "2026-12-01 10:00"),
        ("9am EST tomorrow", "2026-04-16 16:00"),
        # over already, so the next one
        ("at 9", "2026-04-16 09:00"),
        ("at 11", "2026-04-15 11:00"),
        ("by 6", "2026-04-15 18:00"),
        ("today at 6", "2026-04-15 18:00"),
        ("3 March", "2027-03-03 09:00"),
        ("wednesday", "2026-04-22 09:00"),
        ("wednesday at 18:00", "2026-04-15 18:00"),
        ("in the morning", "2026-04-16 09:00"),
        ("this morning", "2026-04-15 10:30"),
    ],
)
def test_a_time_is_resolved_against_now_and_zone(text: str, expected: str) -> None:
    when = read_when(text, at(WEDNESDAY), BERLIN)
    assert when is not None
    assert (local(when.at), when.recurrence) == (expected, None)


@pytest.mark.parametrize(
    "text",
    [
        *("yesterday", "5 May 2020", "soon", "some day", "at the office", "2 hours", "", "in five"),
        *("tomorrow at 25:00", "friday or saturday", "30 February", "every 0 days", "twice a day"),
        *("the last sunday of every quarter", "the last friday of every quarter at 9"),
        *("every monday at 9 and friday at 10", "every weekday at 9 and saturday at 11"),
        *("every monday at 9, friday at 10", "every month on friday", "every monday tomorrow"),
        *("every other working day", "every 3 weekdays", "every day until 6pm"),
        *("the last working day of every month at 9 and 17", "from monday on friday"),
        *("every friday night at 10 and 12", "every month on the 3rd at 12 at night"),
        *("every few days", "last monday", "every 90 seconds", "three days ago"),
    ],
)
def test_what_cannot_be_resolved_is_no_time(text: str) -> None:
    assert read_when(text, at(WEDNESDAY), BERLIN) is None


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("yesterday", "2026-04-14 09:00"),
        ("call Bob two days ago at 7", "2026-04-13 07:00"),
        ("5 May 2020 at noon", "2020-05-05 12:00"),
        ("2020-05-05T12:30", "2020-05-05 12:30"),
        ("2020-05-05T12:30Z", "2020-05-05 14:30"),
        *((text, None) for text in ("", "soon", "tomorrow", "friday or saturday", "at 25:00")),
    ],
)
def test_a_time_that_is_over_is_told(text: str, over: str | None) -> None:
    told = read_over(text, at(WEDNESDAY), BERLIN)
    assert told == (None if over is None else at(over))


def test_a_time_that_is_over_is_refused_by_what_it_is() -> None:
    with pytest.raises(
        InvalidInput,
        match=r"'yesterday 9:00' lies in the past, 2026-04-14 09:00 Europe/Berlin: say",
    ):
        in_words("yesterday 9:00", at(WEDNESDAY), BERLIN)


@pytest.mark.parametrize(
    ("text", "rule", "first", "second"),
    [
        ("every day at 9", "FREQ=DAILY", "2026-04-16 09:00", "2026-04-17 09:00"),
        ("every morning", "FREQ=DAILY", "2026-04-16 09:00", "2026-04-17 09:00"),
        (
            "every weekday at 8:30",
            "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
            "2026-04-16 08:30",
            "2026-04-17 08:30",
        ),
        (
            "every monday and thursday at 18:00",
            "FREQ=WEEKLY;BYDAY=MO,TH",
            "2026-04-16 18:00",
            "2026-04-20 18:00",
        ),
        ("weekly on tuesday", "FREQ=WEEKLY;BYDAY=TU", "2026-04-21 09:00", "2026-04-28 09:00"),
        (
            "every two weeks on friday",
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR",
            "2026-04-17 09:00",
            "2026-05-01 09:00",
        ),
        (
            "every other tuesday at 5pm",
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU",
            "2026-04-21 17:00",
            "2026-05-05 17:00",
        ),
        ("monthly on the 31st", "FREQ=MONTHLY;BYMONTHDAY=31", "2026-04-30 09:00", None),
        (
            "on the last day of each month",
            "FREQ=MONTHLY;BYMONTHDAY=-1",
            "2026-04-30 09:00",
            "2026-05-31 09:00",
        ),
        (
            "every second friday of the month",
            "FREQ=MONTHLY;BYDAY=2FR",
            "2026-05-08 09:00",
            "2026-06-12 09:00",
        ),
        (
            "the 1st and 15th of every month",
            "FREQ=MONTHLY;BYMONTHDAY=1,15",
            "2026-05-01 09:00",
            "2026-05-15 09:00",
        ),
        (
            "every year on 3 March",
            "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=3",
            "2027-03-03 09:00",
            "2028-03-03 09:00",
        ),
        (
            "every day at 8:30 and 17:00",
            "FREQ=DAILY;BYHOUR=8,17;BYMINUTE=0,30;BYSETPOS=2,3",
            "2026-04-15 17:00",
            "2026-04-16 08:30",
        ),
        (
            "every day except sunday",
            "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA",
            "2026-04-16 09:00",
            "2026-04-17 09:00",
        ),
        (
            "every day but Sunday at 8am",
            "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA",
            "2026-04-16 08:00",
            "2026-04-17 08:00",
        ),
        (
            "every day at 8am, except Sundays",
            "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA",
            "2026-04-16 08:00",
            "2026-04-17 08:00",
        ),
        (
            "daily at 8am but not on weekends",
            "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
            "2026-04-16 08:00",
            "2026-04-17 08:00",
        ),
        (
            "every day at 8am, not on Fridays",
            "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,SA,SU",
            "2026-04-16 08:00",
            "2026-04-18 08:00",
        ),
        ("every friday starting 1 May", "FREQ=WEEKLY;BYDAY=FR", "2026-05-01 09:00", None),
        ("every night at 12", "FREQ=DAILY", "2026-04-16 00:00", "2026-04-17 00:00"),
        (
            "every night at 10 and 12",
            "FREQ=DAILY;BYHOUR=0,22;BYMINUTE=0",
            "2026-04-15 22:00",
            "2026-04-16 00:00",
        ),
        ("every friday night at 12", "FREQ=WEEKLY;BYDAY=SA", "2026-04-18 00:00", None),
        ("every friday night at 1", "FREQ=WEEKLY;BYDAY=SA", "2026-04-18 01:00", None),
        ("every friday night at 11", "FREQ=WEEKLY;BYDAY=FR", "2026-04-17 23:00", None),
        ("every night at 12 starting friday", "FREQ=DAILY", "2026-04-18 00:00", None),
        ("every day at 12", "FREQ=DAILY", "2026-04-15 12:00", "2026-04-16 12:00"),
        ("every monday first thing", "FREQ=WEEKLY;BYDAY=MO", "2026-04-20 09:00", None),
        ("every hour tomorrow", 3600, "2026-04-16 09:00", "2026-04-16 10:00"),
        ("every hour today", 3600, "2026-04-15 11:00", None),
        ("every 2 hours tonight", 7200, "2026-04-15 20:00", "2026-04-15 22:00"),
        ("on friday every 2 hours", 7200, "2026-04-17 09:00", None),
        ("every 4 hours starting at 8 tomorrow", 4 * 3600, "2026-04-16 08:00", "2026-04-16 12:00"),
        ("every 4 hours starting tomorrow at 8", 4 * 3600, "2026-04-16 08:00", None),
        ("every 4 hours starting at noon", 4 * 3600, "2026-04-15 12:00", None),
        ("every 4 hours starting at 8", 4 * 3600, "2026-04-16 08:00", None),
        ("every day starting at 8 on friday", "FREQ=DAILY", "2026-04-17 08:00", None),
        ("from June 1 every monday at 9", "FREQ=WEEKLY;BYDAY=MO", "2026-06-01 09:00", None),
        ("from 1 June on, every monday at 9", "FREQ=WEEKLY;BYDAY=MO", "2026-06-01 09:00", None),
        ("from friday onwards daily at 7", "FREQ=DAILY", "2026-04-17 07:00", None),
        ("every monday from June 1 on", "FREQ=WEEKLY;BYDAY=MO", "2026-06-01 09:00", None),
        ("every day in June at 9", "FREQ=DAILY", "2026-06-01 09:00", "2026-06-02 09:00"),
        ("every monday in June", "FREQ=WEEKLY;BYDAY=MO", "2026-06-01 09:00", "2026-06-08 09:00"),
        ("in 3 days every morning", "FREQ=DAILY", "2026-04-18 09:00", None),
        ("weekly tomorrow at 9", "FREQ=WEEKLY;BYDAY=TH", "2026-04-16 09:00", None),
        (
            "every two weeks on June 1",
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO",
            "2026-06-01 09:00",
            "2026-06-15 09:00",
        ),
        (
            "every 20 and 27 May",
            "FREQ=YEARLY;BYMONTH=5;BYMONTHDAY=20,27",
            "2026-05-20 09:00",
            None,
        ),
        (
            "every May 20 and 27 at 8pm",
            "FREQ=YEARLY;BYMONTH=5;BYMONTHDAY=20,27",
            "2026-05-20 20:00",
            None,
        ),
        (
            "on the 1st and 15th of every May",
            "FREQ=YEARLY;BYMONTH=5;BYMONTHDAY=1,15",
            "2026-05-01 09:00",
            None,
        ),
        ("every year in June", "FREQ=YEARLY;BYMONTH=6;BYMONTHDAY=1", "2026-06-01 09:00", None),
        (
            "the last working day of every month",
            "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
            "2026-04-30 09:00",
            "2026-05-29 09:00",
        ),
        (
            "on the first business day of each month at 8",
            "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1",
            "2026-05-01 08:00",
            "2026-06-01 08:00",
        ),
        (
            "every month on the last weekday",
            "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
            "2026-04-30 09:00",
            None,
        ),
        (
            "every second working day of the month",
            "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=2",
            "2026-05-04 09:00",
            None,
        ),
        ("the last friday of every month", "FREQ=MONTHLY;BYDAY=-1FR", "2026-04-24 09:00", None),
        ("every 2 hours", 7200, "2026-04-15 12:00", "2026-04-15 14:00"),
        ("every 15 minutes", 900, "2026-04-15 10:15", "2026-04-15 10:30"),
    ],
)
def test_a_repeat_becomes_a_rule(
    text: str, rule: str | int, first: str, second: str | None
) -> None:
    when = read_when(text, at(WEDNESDAY), BERLIN)
    assert when is not None
    assert when.recurrence is not None
    assert rule in (when.recurrence.rrule, when.recurrence.every_s)
    coming = [local(us) for us in occurrences(when.recurrence, at(WEDNESDAY), 2)]
    assert (local(when.at), coming[0]) == (first, first)
    assert second in (None, coming[1])


def test_a_repeat_ends_with_its_last_day_its_length_or_its_count() -> None:
    def last(text: str) -> str:
        when = read_when(text, at(WEDNESDAY), BERLIN)
        assert when is not None
        assert when.recurrence is not None
        return local(occurrences(when.recurrence, at(WEDNESDAY), 100)[-1])

    assert last("daily until 1 June") == "2026-06-01 09:00"
    assert last("daily at 7pm for two weeks") == "2026-04-28 19:00"
    assert last("every day at 9, 5 times") == "2026-04-20 09:00"
    assert last("every day for 5 days") == "2026-04-20 09:00"
    assert last("every day for 5 business days") == "2026-04-22 09:00"
    assert last("every morning at 7 for 3 working days") == "2026-04-20 07:00"
    assert last("every night at 12 until friday") == "2026-04-18 00:00"
    assert last("every night at 11 until friday") == "2026-04-17 23:00"
    assert last("every day next week at 9") == "2026-04-26 09:00"
    assert last("every day in June at 9") == "2026-06-30 09:00"
    assert last("every day this week") == "2026-04-19 09:00"
    assert last("every monday in June") == "2026-06-29 09:00"
    assert last("every day in June until 5 June") == "2026-06-05 09:00"
    assert last("every day next week for 3 days") == "2026-04-22 09:00"
    assert last("daily from 1 June to 5 June at 9") == "2026-06-05 09:00"
    assert last("every hour tomorrow") == "2026-04-16 23:00"
    assert last("every 2 hours tomorrow from 9 to 17") == "2026-04-16 17:00"
    assert last("every two hours until 6pm") == "2026-04-15 18:00"
    assert last("every two hours until 6") == "2026-04-15 18:00"
    assert last("every hour until 9") == "2026-04-15 21:00"
    assert last("every hour until tomorrow at noon") == "2026-04-16 12:00"
    assert last("every hour until noon tomorrow") == "2026-04-16 12:00"
    assert last("every hour until friday") == "2026-04-17 23:00"
    assert last("every hour for 2 working days") == "2026-04-17 09:00"


def test_a_31st_is_the_last_day_where_a_month_has_none() -> None:
    when = read_when("monthly on the 31st at 8:00", at("2026-01-15 10:00"), BERLIN)
    assert when is not None
    assert when.recurrence is not None
    coming = occurrences(when.recurrence, at("2026-01-15 10:00"), 4)
    assert [local(us)[5:10] for us in coming] == ["01-31", "02-28", "03-31", "04-30"]


def test_a_time_that_the_clock_change_leaves_out_moves_forward() -> None:
    when = read_when("sunday at 2:30 am", at("2026-03-27 12:00"), BERLIN)
    assert when is not None
    assert local(when.at) == "2026-03-29 03:30"


def test_a_time_that_comes_twice_is_the_first() -> None:
    when = read_when("sunday at 2:30 am", at("2026-10-23 12:00"), BERLIN)
    assert when is not None
    assert from_us(when.at).isoformat() == "2026-10-25T00:30:00+00:00"


def test_hours_count_in_real_time_over_a_clock_change() -> None:
    now = at("2026-03-29 01:30")
    when = read_when("in 2 hours", now, BERLIN)
    assert when is not None
    assert (when.at - now, local(when.at)) == (7_200_000_000, "2026-03-29 04:30")


def test_a_part_of_the_day_that_is_over_is_no_time() -> None:
    assert read_when("this morning", at("2026-04-15 13:00"), BERLIN) is None


def test_the_zone_decides_what_tomorrow_is() -> None:
    now = at("2026-04-15 23:30", "UTC")
    days = {}
    for zone in ("Asia/Tokyo", "America/New_York"):
        when = read_when("tomorrow at 8", now, zone)
        assert when is not None
        days[zone] = local(when.at, zone)
    assert days == {"Asia/Tokyo": "2026-04-17 08:00", "America/New_York": "2026-04-16 08:00"}


def test_the_hour_of_a_bare_day_can_be_chosen_and_its_precision_stays_a_day() -> None:
    when = read_when("friday", at(WEDNESDAY), BERLIN, default_hour=7)
    assert when is not None
    assert (local(when.at), when.precision) == ("2026-04-17 07:00", Precision.DAY)
    exact = read_when("friday at 7:15", at(WEDNESDAY), BERLIN)
    assert exact is not None
    assert exact.precision is Precision.MINUTE


def test_an_assumed_day_is_not_confident() -> None:
    sure = {}
    for text in ("friday", "next week", "in a few days", "call Ann on friday"):
        when = read_when(text, at(WEDNESDAY), BERLIN)
        assert when is not None
        sure[text] = when.confident
    assert sure == {
        "friday": True,
        "next week": False,
        "in a few days": False,
        "call Ann on friday": False,
    }


def test_the_span_holds_the_words_of_the_time() -> None:
    text = "Could we meet on 5 May at 14:30, or every other friday at noon?"
    found = find_whens(text, at(WEDNESDAY), BERLIN)
    words = [text[w.span.start : w.span.end] for w in found]
    assert words == ["on 5 May at 14:30", "every other friday at noon"]


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(InvalidInput, match="IANA"):
        read_when("friday", 0, "Middle/Earth")


WORDS = (
    "every each other two 2 second day days week weekly on the last of month monday fri at 9 9:30 "
    "pm and in hours until starting for from to 31st May may 2026 2020 tomorrow tonight noon , "
    "except before after minutes 0 99999 morning weekend between 1st times end quarter half past "
    "2026-12-01T09:00 -05:00 EST lunch an a few year 30 February business working workdays "
    "now 6pm onwards"
).split()
TEXTS = st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join) | st.text(max_size=60)
ZONES = st.sampled_from(["UTC", "Asia/Kathmandu", "America/New_York", "Pacific/Apia"])
NOWS = st.integers(at("1972-01-01 00:00"), at("2200-01-01 00:00"))


@settings(max_examples=300, deadline=None)
@given(TEXTS, NOWS, ZONES)
def test_no_text_raises_and_what_is_found_lies_ahead(text: str, now: int, zone: str) -> None:
    for when in find_whens(text, now, zone):
        assert when.at > now
        assert 0 <= when.span.start < when.span.end <= len(text)
        if when.recurrence is not None:
            assert occurrences(when.recurrence, now, 1) == [when.at]
