"""Sides of dates ("since", "before"), counted days, lengths and parts, on sentences of our own.

The reference is Wednesday, 10 May 2023, 15:30 UTC.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from remembrancer.nouns.clock import from_us
from remembrancer.reading.dates import find_dates
from remembrancer.reading.types import DateSpan
from remembrancer.verbs.recalling.asked import FIRST_US, LAST_US, asked_window

NOW = datetime(2023, 5, 10, 15, 30, tzinfo=UTC)


def _moment(us: int) -> str:
    return from_us(us).strftime("%Y-%m-%dT%H:%M").removesuffix("T00:00")


def _interval(found: DateSpan) -> str:
    return f"{_moment(found.start)} {_moment(found.end)}"


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("We have lived here since 2011.", "since"),
        ("Bring it back before Friday", "before"),
        ("the shop stays shut until 3 June 2024", "until"),
        ("hand it in by tomorrow", "until"),
        ("nothing came after March 2020", "after"),
        ("the law holds from 1 July 2024 onwards", "since"),
        ("cars built 2012 or later", "since"),
        ("cars built 2012 or earlier", "until"),
        ("no later than 4 May 2022", "until"),
        ("not before 4 May 2022", "since"),
        ("on or after 4 May 2022", "since"),
        ("earlier than 4 May 2022", "before"),
        ("prior to 2015 it was a mill", "before"),
        ("as of 1 May 2023 rents rise", "since"),
        ("call me tomorrow before 4 pm", "before"),
        ("she left more than 3 days ago", "before"),
        ("We met on 4 May 2022.", "within"),
        ("It rained in 2012.", "within"),
    ],
)
def test_which_side_of_a_date_is_meant(text: str, relation: str) -> None:
    (found,) = find_dates(text, NOW)
    assert found.relation == relation


@pytest.mark.parametrize(
    ("question", "low", "high"),
    [
        ("What did he build after 2019?", "2020-01-01", None),
        ("What did he build before 2019?", None, "2019-01-01"),
        ("What has he built since 2019?", "2019-01-01", None),
        ("What had he built by 2019?", None, "2020-01-01"),
        ("What did he build in 2019?", "2019-01-01", "2020-01-01"),
        ("What did he build after 2019 and before 2022?", "2020-01-01", "2022-01-01"),
        ("What did he build between 2019 and 2021?", "2019-01-01", "2022-01-01"),
    ],
)
def test_a_question_asks_about_a_time(question: str, low: str | None, high: str | None) -> None:
    since, until = asked_window(find_dates(question, NOW))
    assert (since == FIRST_US) if low is None else (_moment(since) == low)
    assert (until == LAST_US) if high is None else (_moment(until) == high)


@pytest.mark.parametrize(
    ("text", "interval", "nominal"),
    [
        ("we fly in two months", "2023-07-01 2023-08-01", "2023-07-10"),
        ("he moved three years ago", "2020-01-01 2021-01-01", "2020-05-10"),
        ("it broke 6 weeks ago", "2023-03-27 2023-04-03", "2023-03-29"),
        ("it broke 1 year and 2 months ago", "2022-03-01 2022-04-01", "2022-03-10"),
        ("a few days ago", "2023-05-05 2023-05-09", "2023-05-07"),
    ],
)
def test_what_is_counted_has_a_day_of_its_own(text: str, interval: str, nominal: str) -> None:
    (found,) = find_dates(text, NOW)
    assert _interval(found) == interval
    assert found.nominal is not None
    assert _moment(found.nominal) == nominal


def test_the_second_of_two_dates_is_known() -> None:
    (found,) = find_dates("open from March 2022 to June 2022", NOW)
    assert _interval(found) == "2022-03-01 2022-07-01"
    assert found.last is not None
    assert _moment(found.last) == "2022-06-01"
    (single,) = find_dates("open in March 2022", NOW)
    assert single.last is None


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("from 9 am for 90 minutes", "2023-05-10T09:00 2023-05-10T10:30"),
        ("off for 3 days from tomorrow", "2023-05-11 2023-05-14"),
        ("from 3 pm today to 5 pm tomorrow", "2023-05-10T15:00 2023-05-11T17:00"),
        ("tomorrow 9-11", "2023-05-11T09:00 2023-05-11T11:00"),
        ("the rest of the week", "2023-05-10 2023-05-15"),
        ("the year to date", "2023-01-01 2023-05-11"),
        ("the first ten days of June 2022", "2022-06-01 2022-06-11"),
        ("the second half of July 2022", "2022-07-16 2022-08-01"),
        ("the third week of March 2022", "2022-03-14 2022-03-21"),
        ("week 7 of 2022", "2022-02-14 2022-02-21"),
        ("the next 5 working days", "2023-05-11 2023-05-18"),
        ("the 5 coming weeks", "2023-05-11 2023-06-15"),
        ("the 12th of next month", "2023-06-12 2023-06-13"),
        ("Monday week", "2023-05-22 2023-05-23"),
        ("the following Tuesday", "2023-05-16 2023-05-17"),
        ("late last month", "2023-04-16 2023-05-01"),
        ("early tomorrow morning", "2023-05-11T06:00 2023-05-11T08:00"),
        ("the 17th century", "1600-01-01 1700-01-01"),
        ("in March of 95", "1995-03-01 1995-04-01"),
        ("on 2021 03 04 it hailed", "2021-03-04 2021-03-05"),
        ("since 7/2021", "2021-07-01 2021-08-01"),
        ("2021-Aug-03", "2021-08-03 2021-08-04"),
        ("two and a half years ago", "2020-11-01 2020-12-01"),
    ],
)
def test_more_ways_to_name_a_time(text: str, interval: str) -> None:
    (found,) = find_dates(text, NOW)
    assert _interval(found) == interval


def test_later_counts_from_what_was_told() -> None:
    text = "We landed on 3 March 2022. Two days later we drove north, and the next day home."
    assert [_interval(found) for found in find_dates(text, NOW)] == [
        "2022-03-03 2022-03-04",
        "2022-03-05 2022-03-06",
        "2022-03-06 2022-03-07",
    ]
    assert find_dates("They sold the farm and moved two years later.", NOW) == []


def test_this_moment_is_a_date_only_when_asked_for() -> None:
    assert find_dates("I am in Oslo right now.", NOW) == []
    (found,) = find_dates("I am in Oslo right now.", NOW, present=True)
    assert found.start == round(NOW.timestamp()) * 1_000_000
    assert find_dates("Now, let us see.", NOW, present=True) == []
