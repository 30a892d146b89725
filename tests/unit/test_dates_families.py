"""Families of date expressions, each in many wordings of our own.

The reference is Wednesday, 10 May 2023, 15:30 UTC.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from remembrancer.nouns.clock import from_us
from remembrancer.reading.dates import find_dates
from remembrancer.reading.types import DateRelation, DateSpan

NOW = datetime(2023, 5, 10, 15, 30, tzinfo=UTC)


def _moment(us: int) -> str:
    return from_us(us).strftime("%Y-%m-%dT%H:%M").removesuffix("T00:00")


def _only(text: str) -> DateSpan:
    (found,) = find_dates(text, NOW)
    return found


def _told(text: str) -> tuple[str, str]:
    found = _only(text)
    return _moment(found.start), _moment(found.end)


DAY = ("2021-06-03", "2021-06-04")


@pytest.mark.parametrize(
    "written",
    [
        "3.Jun.2021", "3/June/2021", "Jun/03/2021", "June.3.2021", "June, 3rd, 2021",
        "third of June, 2021", "the 3 rd of June 2021", "3rdJune2021", "2021, June 3rd",
        "2021/Jun/03", "2021 June 3", "3-Jun-21", "Jun-03-21",
        "3 June '21", "3 June of the year 2021", "June the 3rd, 2021", "20210603", "6-3-21",
        "Thursday (3 June 2021)", "3 June 2021, Thursday", "Thu, 3 June 2021",
        "June third twenty twenty one",
    ],
)  # fmt: skip
def test_a_day_however_it_is_written(written: str) -> None:
    assert _told(f"We moved in on {written}.") == DAY


@pytest.mark.parametrize(
    "written",
    [
        "from June 3 to 9, 2021", "June 3-9, 2021", "3rd-9th of June 2021", "3 thru 9 June 2021",
        "3 June 2021-9 June 2021", "2021-06-03-2021-06-09", "2021-06-03/2021-06-09",
        "from 3 June up to 9 June 2021", "6-3-2021-6-9-2021",
        "between the 3rd and 9th of June 2021",
        "from June 3, 2021 and until the 9th of June", "6/3 - 6/9, 2021",
        "Thursday, June 3 to Wednesday, June 9, 2021",
    ],
)  # fmt: skip
def test_days_from_one_to_another(written: str) -> None:
    assert _told(f"The pool is shut {written}.") == ("2021-06-03", "2021-06-10")


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("open Monday through Friday next week", "2023-05-15", "2023-05-20"),
        ("open next Monday to Friday", "2023-05-15", "2023-05-20"),
        ("open next week from Monday to Friday", "2023-05-15", "2023-05-20"),
        ("Mon-Fri next week", "2023-05-15", "2023-05-20"),
        ("shut June until August 2021", "2021-06-01", "2021-09-01"),
        ("shut 06/2021-08/2021", "2021-06-01", "2021-09-01"),
        ("it ran Q1 to Q3 2021", "2021-01-01", "2021-10-01"),
        ("it ran 2015 to 2018", "2015-01-01", "2019-01-01"),
        ("between the years 2015 and 2018", "2015-01-01", "2019-01-01"),
        ("off from Christmas to New Year", "2022-12-25", "2023-01-02"),
        ("24/12/2021 to 02/01/2022", "2021-12-24", "2022-01-03"),
        ("from 2015 to date", "2015-01-01", "2023-05-10T15:30"),
        ("from the end of May 2021 to the middle of August 2021", "2021-06-01", "2021-08-21"),
        ("from 2019 to the end of 2021", "2019-01-01", "2022-01-01"),
        ("I am here from now until Friday", "2023-05-10", "2023-05-13"),
        ("between now and 6 pm", "2023-05-10T15:30", "2023-05-10T18:00"),
        ("between now and the end of the week", "2023-05-10", "2023-05-15"),
        ("from 10 pm on 3 June 2021 to 2 am on 4 June 2021",
         "2021-06-03T22:00", "2021-06-04T02:00"),
        ("between 9 am today and 10 am tomorrow", "2023-05-10T09:00", "2023-05-11T10:00"),
        ("2021-06-03 15:00-17:00", "2021-06-03T15:00", "2021-06-03T17:00"),
        ("tomorrow 0930-1015", "2023-05-11T09:30", "2023-05-11T10:15"),
    ],
)  # fmt: skip
def test_more_ranges(text: str, start: str, end: str) -> None:
    assert _told(text) == (start, end)


def test_a_weekday_that_is_not_that_of_its_date_changes_nothing() -> None:
    assert _told("We meet on April 17 (Tuesday).") == ("2023-04-17", "2023-04-18")
    assert _told("We meet on April 18 (Tuesday).") == ("2023-04-18", "2023-04-19")
    assert _told("I work 30 hours a week starting 3 June 2021.") == DAY


def test_a_day_that_is_moved_to_another_is_no_range() -> None:
    assert len(find_dates("Can we move the call Monday to Friday?", NOW)) == 2


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("Q4/2021", "2021-10-01", "2022-01-01"),
        ("4Q21", "2021-10-01", "2022-01-01"),
        ("3Q 2021", "2021-07-01", "2021-10-01"),
        ("the last quarter of 2021", "2021-10-01", "2022-01-01"),
        ("the latter half of 2021", "2021-07-01", "2022-01-01"),
        ("next year's third quarter", "2024-07-01", "2024-10-01"),
        ("last year's summer", "2022-06-01", "2022-09-01"),
        ("the summer of last year", "2022-06-01", "2022-09-01"),
        ("May last year", "2022-05-01", "2022-06-01"),
        ("last year in August", "2022-08-01", "2022-09-01"),
        ("two years ago in June", "2021-06-01", "2021-07-01"),
        ("next month on the 5th", "2023-06-05", "2023-06-06"),
        ("CY21", "2021-01-01", "2022-01-01"),
        ("calendar 2021", "2021-01-01", "2022-01-01"),
        ("the third month of 2021", "2021-03-01", "2021-04-01"),
        ("the noughties", "2000-01-01", "2010-01-01"),
        ("nineteen hundred and five", "1905-01-01", "1906-01-01"),
        ("nineteen oh five", "1905-01-01", "1906-01-01"),
        ("nineteen ninety, from twenty ten to twenty fifteen", "2010-01-01", "2016-01-01"),
        ("the summer of nineteen sixty nine", "1969-06-01", "1969-09-01"),
        ("in 800 AD", "800-01-01", "801-01-01"),
        ("the first decade of the 20th century", "1900-01-01", "1910-01-01"),
        ("the quarter ended 30 June 2021", "2021-04-01", "2021-07-01"),
        ("the 2016 Olympics", "2016-01-01", "2017-01-01"),
        ("2021-W12", "2021-03-22", "2021-03-29"),
        ("W12 2021", "2021-03-22", "2021-03-29"),
        ("calendar week 12", "2023-03-20", "2023-03-27"),
        ("the 12th week of 2021", "2021-03-22", "2021-03-29"),
        ("week 2 of September 2021", "2021-09-06", "2021-09-13"),
        ("the week commencing 7 June 2021", "2021-06-07", "2021-06-14"),
        ("w/c 7 June 2021", "2021-06-07", "2021-06-14"),
        ("the second to last week of June 2021", "2021-06-14", "2021-06-21"),
        ("the last working day of June 2021", "2021-06-30", "2021-07-01"),
        ("the first Friday of 2021", "2021-01-01", "2021-01-02"),
        ("the last Friday this month", "2023-05-26", "2023-05-27"),
        ("second Monday after Easter 2021", "2021-04-12", "2021-04-13"),
        ("the last day of next quarter", "2023-09-30", "2023-10-01"),
        ("the 200th day of 2021", "2021-07-19", "2021-07-20"),
        ("year to date", "2023-01-01", "2023-05-11"),
        ("YTD", "2023-01-01", "2023-05-11"),
        ("this month so far", "2023-05-01", "2023-05-11"),
        ("rest of my week", "2023-05-10", "2023-05-15"),
    ],
)  # fmt: skip
def test_periods(text: str, start: str, end: str) -> None:
    *_, found = find_dates(f"Sales rose in {text}.", NOW)
    assert (_moment(found.start), _moment(found.end)) == (start, end)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2h30m ago", "2023-05-10T13:00", "2023-05-10T13:01"),
        ("5m ago", "2023-05-10T15:25", "2023-05-10T15:26"),
        ("3mo ago", "2023-02-01", "2023-03-01"),
        ("one hundred and twenty days ago", "2023-01-10", "2023-01-11"),
        ("1,200 days ago", "2020-01-26", "2020-01-27"),
        ("three quarters of an hour ago", "2023-05-10T14:45", "2023-05-10T14:46"),
        ("in less than 3 days", "2023-05-10", "2023-05-13"),
        ("within two weeks of 3 June 2021", "2021-05-20", "2021-06-18"),
        ("within the hour", "2023-05-10T15:30", "2023-05-10T16:30"),
        ("in three weeks since the year 2014", "2014-01-22", "2015-01-22"),
        ("in two weeks on Friday", "2023-05-26", "2023-05-27"),
        ("three months from today on Thursday", "2023-08-10", "2023-08-11"),
        ("in two Mondays", "2023-05-22", "2023-05-23"),
        ("two Sundays from now", "2023-05-21", "2023-05-22"),
        ("the next working day", "2023-05-11", "2023-05-12"),
        ("the two weeks before Christmas 2021", "2021-12-11", "2021-12-25"),
        ("15 minutes before noon tomorrow", "2023-05-11T11:45", "2023-05-11T11:46"),
        ("this time tomorrow", "2023-05-11T15:30", "2023-05-11T15:31"),
        ("the same day next week", "2023-05-17", "2023-05-18"),
        ("the same week last year", "2022-05-09", "2022-05-16"),
        ("next 5/20", "2023-05-20", "2023-05-21"),
        ("this week-end", "2023-05-13", "2023-05-15"),
        ("wendesday", "2023-05-03", "2023-05-04"),
        ("one or two days ago", "2023-05-08", "2023-05-10"),
        ("a week or so ago", "2023-05-01", "2023-05-08"),
        ("a year ago yesterday", "2022-05-09", "2022-05-10"),
        ("three years ago this month", "2020-05-01", "2020-06-01"),
        ("the Friday before last", "2023-04-28", "2023-04-29"),
        ("the Christmas before last", "2021-12-25", "2021-12-26"),
        ("this month last year", "2022-05-01", "2022-06-01"),
        ("this day in 2019", "2019-05-10", "2019-05-11"),
    ],
)  # fmt: skip
def test_told_from_now(text: str, start: str, end: str) -> None:
    assert _told(f"It is {text}.") == (start, end)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("later this week", "2023-05-11", "2023-05-15"),
        ("later in the year", "2023-07-01", "2024-01-01"),
        ("earlier this year", "2023-01-01", "2023-05-10"),
        ("later on this month", "2023-05-16", "2023-06-01"),
        ("later today", "2023-05-10T15:30", "2023-05-11"),
        ("early next year", "2024-01-01", "2024-07-01"),
        ("early tomorrow", "2023-05-11", "2023-05-11T12:00"),
        ("in mid-June 2021", "2021-06-10", "2021-06-21"),
        ("early in the morning tomorrow", "2023-05-11T06:00", "2023-05-11T08:00"),
        ("tomorrow at dinner time", "2023-05-11T17:00", "2023-05-11T22:00"),
        ("during business hours tomorrow", "2023-05-11T08:00", "2023-05-11T18:00"),
        ("at lunch tomorrow", "2023-05-11T11:00", "2023-05-11T14:00"),
        ("tomorrow over breakfast", "2023-05-11T06:00", "2023-05-11T12:00"),
        ("late at night on 3 June 2021", "2021-06-03T22:00", "2021-06-04"),
        ("tomorrow's afternoon", "2023-05-11T12:00", "2023-05-11T18:00"),
        ("tomorrow mid-morning", "2023-05-11T10:00", "2023-05-11T11:00"),
        ("the evening before 3 June 2021", "2021-06-02T17:00", "2021-06-02T22:00"),
        ("in the evening next Sunday", "2023-05-21T17:00", "2023-05-21T22:00"),
        ("tomorrow at 15h30", "2023-05-11T15:30", "2023-05-11T15:31"),
        ("tomorrow at 8.30", "2023-05-11T08:30", "2023-05-11T08:31"),
        ("at 1530 hours tomorrow", "2023-05-11T15:30", "2023-05-11T15:31"),
    ],
)
def test_parts_and_hours(text: str, start: str, end: str) -> None:
    assert _told(f"We go {text}.") == (start, end)


@pytest.mark.parametrize(
    ("text", "relation", "window"),
    [
        ("before the end of June 2021", "until", (None, "2021-07-01")),
        ("by year end", "until", (None, "2024-01-01")),
        ("pre-2015", "before", (None, "2015-01-01")),
        ("> 3 June 2021", "after", ("2021-06-04", None)),
        ("<= 3 June 2021", "until", (None, "2021-06-04")),
        ("open through 3 June 2021", "until", (None, "2021-06-04")),
        ("starting from 3 June 2021", "since", ("2021-06-03", None)),
        ("in more than 3 days", "after", ("2023-05-14", None)),
    ],
)
def test_sides(text: str, relation: str, window: tuple[str | None, str | None]) -> None:
    found = _only(text)
    assert found.relation is DateRelation(relation)
    assert tuple(side and _moment(side) for side in found.window) == window


def test_no_more_than_a_count_is_up_to_it() -> None:
    found = _only("no more than 3 days from now")
    assert (_moment(found.start), _moment(found.end)) == ("2023-05-10", "2023-05-13")
    assert found.relation is DateRelation.WITHIN


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Rosh Hashanah 2021", "2021-09-07"), ("Yom Kippur 2022", "2022-10-05"),
        ("Passover 2023", "2023-04-06"), ("Hanukkah 2024", "2024-12-26"),
        ("Purim 2024", "2024-03-24"), ("Shavuot 2024", "2024-06-12"),
        ("Eid al-Fitr 2021", "2021-05-13"), ("Eid al-Adha 2021", "2021-07-20"),
        ("Chinese New Year 2021", "2021-02-12"), ("Pentecost 2021", "2021-05-23"),
        ("Mardi Gras 2021", "2021-02-16"), ("Election Day 2020", "2020-11-03"),
        ("Washington's birthday 2021", "2021-02-15"), ("Canada Day 2021", "2021-07-01"),
        ("Saint Patrick's Day 2021", "2021-03-17"), ("All Souls' Day 2021", "2021-11-02"),
        ("Arbor Day 2021", "2021-04-30"), ("Christmas two years ago", "2021-12-25"),
        ("this year's Thanksgiving", "2023-11-23"),
    ],
)  # fmt: skip
def test_holidays(text: str, day: str) -> None:
    assert _told(f"See you at {text}.")[0] == day


def test_that_week_is_the_one_told_before() -> None:
    text = (
        "We landed on 3 March 2022. That week it snowed. The same evening we ate, "
        "and the next morning we skied. The evening before, we packed."
    )
    assert [(_moment(f.start), _moment(f.end)) for f in find_dates(text, NOW)] == [
        ("2022-03-03", "2022-03-04"),
        ("2022-02-28", "2022-03-07"),
        ("2022-03-03T17:00", "2022-03-03T22:00"),
        ("2022-03-04T06:00", "2022-03-04T12:00"),
        ("2022-03-02T17:00", "2022-03-02T22:00"),
    ]
    assert find_dates("That week it snowed, and that evening we ate.", NOW) == []


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("It snowed that week.", "2023-05-08", "2023-05-15"),
        ("They moved two days later.", "2023-05-12", "2023-05-13"),
        ("the soup of the day", "2023-05-10", "2023-05-11"),
        ("the sum of all orders to date", "2023-05-10", "2023-05-11"),
    ],
)
def test_the_moment_of_telling_stands_in_when_asked_to(text: str, start: str, end: str) -> None:
    assert find_dates(text, NOW) == []
    (found,) = find_dates(text, NOW, present=True)
    assert (_moment(found.start), _moment(found.end)) == (start, end)


@pytest.mark.parametrize(
    "text",
    [
        "ports 2000 to 2010 are open",
        "chapter 6-3-21 and section 3.6.21",
        "call 20240531 for help",
        "room 0930-1015",
        "trade 0930 for 1015",
        "cut it to 5/16 - 7/16 of an inch",
        "inflation stood at 8.30",
        "the pins 2015, 2016 and 2017",
        "open to night owls",
        "we fly to day care centres",
        "our day-to-day costs",
        "the final exam",
        "the early part of me",
        "Blue Monday is a song.",
        "the rest of us",
        "She wanted to date.",
        "the same of that",
        "twice in a week",
        "on the second attempt",
    ],
)
def test_what_only_looks_like_one(text: str) -> None:
    assert find_dates(text, NOW) == []


@pytest.mark.parametrize(
    "piece",
    [
        "May, ",
        "2015, ",
        "first day of the 19th century ",
        "week no. ",
        "the rest of the last hour ",
    ],
)
def test_long_runs_of_one_thing_are_read_in_bounded_time(piece: str) -> None:
    assert len(find_dates("in " + piece * 400, NOW)) <= 400
