"""The date resolver on sentences of our own: what is a date, which, how exactly, and what is none.

The reference is Wednesday, 10 May 2023, 15:30 UTC unless a test says otherwise.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from remembrancer.nouns.clock import from_us, to_us
from remembrancer.nouns.errors import InvalidInput
from remembrancer.reading.dates import find_dates
from remembrancer.reading.types import DateSpan

NOW = datetime(2023, 5, 10, 15, 30, tzinfo=UTC)


def _spell(found: DateSpan) -> str:
    def moment(us: int) -> str:
        return from_us(us).strftime("%Y-%m-%dT%H:%M:%S").removesuffix(":00").removesuffix("T00:00")

    return f"{moment(found.start)} {moment(found.end)} {found.precision}"


def _day(day: str, precision: str = "day") -> str:
    end = datetime.fromisoformat(day) + timedelta(days=1)
    return f"{day} {end:%Y-%m-%d} {precision}"


DATED = [
    ("What did we do last week?", "last week", "2023-05-01 2023-05-08 week"),
    # absolute
    ("We met on 7 May 2023.", "7 May 2023", _day("2023-05-07")),
    ("We met on May 7th, 2023.", "May 7th, 2023", _day("2023-05-07")),
    ("We met on the 7th of May 2023", "the 7th of May 2023", _day("2023-05-07")),
    ("Signed: Dec. 31, 1999", "Dec. 31, 1999", _day("1999-12-31")),
    ("built 03 Mar 2011", "03 Mar 2011", _day("2011-03-03")),
    ("log of 2023-05-07", "2023-05-07", _day("2023-05-07")),
    ("log of 2023/05/07!", "2023/05/07", _day("2023-05-07")),
    ("due 5/7/2023", "5/7/2023", _day("2023-05-07")),
    ("due 25/7/2023", "25/7/2023", _day("2023-07-25")),
    ("due 5/7/23", "5/7/23", _day("2023-05-07")),
    ("am 23.04.2022 gesehen", "23.04.2022", _day("2022-04-23")),
    ("I left on 22/04", "22/04", _day("2023-04-22")),
    ("She came May 7", "May 7", _day("2023-05-07")),
    ("May 7 is her birthday", "May 7", _day("2023-05-07")),
    ("we met on the second of August", "the second of August", _day("2022-08-02")),
    ("we will meet on the second of August", "the second of August", _day("2023-08-02")),
    ("on May twenty-first we will marry", "May twenty-first", _day("2023-05-21")),
    ("I arrived on the 7th", "the 7th", _day("2023-05-07")),
    ("I will arrive on the 7th.", "the 7th", _day("2023-06-07")),
    ("She was born May 2019", "May 2019", "2019-05-01 2019-06-01 month"),
    ("released Oct-2018", "Oct-2018", "2018-10-01 2018-11-01 month"),
    ("the report of 2023-04", "2023-04", "2023-04-01 2023-05-01 month"),
    ("I moved in July", "July", "2022-07-01 2022-08-01 month"),
    ("I will move in July", "July", "2023-07-01 2023-08-01 month"),
    ("It was in May '19", "May '19", "2019-05-01 2019-06-01 month"),
    ("born in 1987", "1987", "1987-01-01 1988-01-01 year"),
    ("In 2022 we moved", "2022", "2022-01-01 2023-01-01 year"),
    ("here since 1998.", "1998", "1998-01-01 1999-01-01 year"),
    ("back in 2019", "2019", "2019-01-01 2020-01-01 year"),
    ("at the end of 2019", "the end of 2019", "2019-09-01 2020-01-01 year"),
    ("born in nineteen ninety six", "nineteen ninety six", "1996-01-01 1997-01-01 year"),
    ("music of the 1990s", "the 1990s", "1990-01-01 2000-01-01 decade"),
    ("music of the 90s", "the 90s", "1990-01-01 2000-01-01 decade"),
    ("the '80s were loud", "the '80s", "1980-01-01 1990-01-01 decade"),
    ("in the sixties", "the sixties", "1960-01-01 1970-01-01 decade"),
    ("in the early 90s", "the early 90s", "1990-01-01 1993-01-01 decade"),
    ("the summer of 2020", "the summer of 2020", "2020-06-01 2020-09-01 season"),
    ("winter 2021 was cold", "winter 2021", "2021-12-01 2022-03-01 season"),
    ("in the spring we planted", "the spring", "2023-03-01 2023-06-01 season"),
    ("revenue of Q3 2022", "Q3 2022", "2022-07-01 2022-10-01 season"),
    ("the first quarter of 2013", "the first quarter of 2013", "2013-01-01 2013-04-01 season"),
    ("2019 H2 was slow", "2019 H2", "2019-07-01 2020-01-01 season"),
    # days told from today
    ("I ran today", "today", _day("2023-05-10")),
    ("I ran yesterday.", "yesterday", _day("2023-05-09")),
    ("Yesterday's run was fine", "Yesterday", _day("2023-05-09")),
    ("call me tomorrow", "tomorrow", _day("2023-05-11")),
    ("see you tonight", "tonight", "2023-05-10T20:00 2023-05-11 hour"),
    ("this morning I swam", "this morning", "2023-05-10T06:00 2023-05-10T12:00 hour"),
    ("last night I slept", "last night", "2023-05-09T20:00 2023-05-10 hour"),
    ("yesterday morning", "yesterday morning", "2023-05-09T06:00 2023-05-09T12:00 hour"),
    ("the day before yesterday", "the day before yesterday", _day("2023-05-08")),
    ("the day after tomorrow", "the day after tomorrow", _day("2023-05-12")),
    # weekdays
    ("We went there on Friday", "Friday", _day("2023-05-05")),
    ("We will go there on Friday", "Friday", _day("2023-05-12")),
    ("I'm flying to Rome on Friday", "Friday", _day("2023-05-12")),
    ("Dinner with Ana, Friday", "Friday", _day("2023-05-05")),
    ("last Friday", "last Friday", _day("2023-05-05")),
    ("last Wednesday", "last Wednesday", _day("2023-05-03")),
    ("next Tuesday", "next Tuesday", _day("2023-05-16")),
    ("this Sunday", "this Sunday", _day("2023-05-14")),
    ("this past Sunday", "this past Sunday", _day("2023-05-07")),
    ("I was out Friday night", "Friday night", "2023-05-05T20:00 2023-05-06 hour"),
    ("Friday next week", "Friday next week", _day("2023-05-19")),
    ("we spoke on Thursday of last week", "Thursday of last week", _day("2023-05-04")),
    ("next week on Thursday", "next week on Thursday", _day("2023-05-18")),
    ("Tuesday, March 7, 2023", "Tuesday, March 7, 2023", _day("2023-03-07")),
    ("two Fridays ago", "two Fridays ago", _day("2023-04-28")),
    ("We came on Sat 6 May", "Sat 6 May", _day("2023-05-06")),
    ("Friday the 13th", "Friday the 13th", _day("2023-01-13")),
    # weeks, months, years
    ("last week", "last week", "2023-05-01 2023-05-08 week"),
    ("this week", "this week", "2023-05-08 2023-05-15 week"),
    ("the week before last", "the week before last", "2023-04-24 2023-05-01 week"),
    ("last weekend", "last weekend", "2023-05-06 2023-05-08 week"),
    ("two weekends ago", "two weekends ago", "2023-04-29 2023-05-01 week"),
    ("we hiked over the weekend", "the weekend", "2023-05-06 2023-05-08 week"),
    ("next month", "next month", "2023-06-01 2023-07-01 month"),
    ("this year", "this year", "2023-01-01 2024-01-01 year"),
    ("last year was hard", "last year", "2022-01-01 2023-01-01 year"),
    ("last summer", "last summer", "2022-06-01 2022-09-01 season"),
    ("last May", "last May", "2022-05-01 2022-06-01 month"),
    ("next December", "next December", "2023-12-01 2024-01-01 month"),
    ("earlier this month", "earlier this month", "2023-05-01 2023-05-10 month"),
    ("later this week", "later this week", "2023-05-11 2023-05-15 week"),
    ("at the end of the year", "the end of the year", "2023-09-01 2024-01-01 year"),
    ("in early June 2022", "early June 2022", "2022-06-01 2022-06-16 month"),
    ("mid-2019", "mid-2019", "2019-05-01 2019-09-01 year"),
    ("the first weekend of August 2023", "the first weekend of August 2023",
     "2023-08-05 2023-08-07 week"),
    ("the last Monday in May 2022", "the last Monday in May 2022", _day("2022-05-30")),
    # counts
    ("three days ago", "three days ago", _day("2023-05-07")),
    ("twenty-one days ago", "twenty-one days ago", _day("2023-04-19")),
    ("a week ago", "a week ago", "2023-05-01 2023-05-08 week"),
    ("5 years ago", "5 years ago", "2018-01-01 2019-01-01 year"),
    ("1,5 no, 2 months ago", "2 months ago", "2023-03-01 2023-04-01 month"),
    ("half a year ago", "half a year ago", "2022-11-01 2022-12-01 month"),
    ("a year and a half ago", "a year and a half ago", "2021-11-01 2021-12-01 month"),
    ("a couple of days ago", "a couple of days ago", "2023-05-07 2023-05-09 week"),
    ("a few weeks ago", "a few weeks ago", "2023-04-03 2023-05-01 month"),
    ("the other day I fell", "the other day", "2023-05-06 2023-05-09 week"),
    ("two hours ago", "two hours ago", "2023-05-10T13:30 2023-05-10T14:30 hour"),
    ("in 5 minutes", "in 5 minutes", "2023-05-10T15:35 2023-05-10T15:36 minute"),
    ("we set off in three weeks", "in three weeks", _day("2023-05-31")),
    ("in 3 months' time", "in 3 months' time", "2023-08-01 2023-09-01 month"),
    ("10 days from now", "10 days from now", _day("2023-05-20")),
    ("ill for the past two weeks", "the past two weeks", "2023-04-26 2023-05-10 week"),
    ("over the next 3 days", "the next 3 days", "2023-05-11 2023-05-14 day"),
    ("a week before May 7, 2022", "a week before May 7, 2022", _day("2022-04-30")),
    ("two days after Christmas 2022", "two days after Christmas 2022", _day("2022-12-27")),
    ("three weeks from tomorrow", "three weeks from tomorrow", _day("2023-06-01")),
    ("the Friday before Christmas 2022", "the Friday before Christmas 2022", _day("2022-12-23")),
    # holidays
    ("We danced on New Year's Eve", "New Year's Eve", _day("2022-12-31")),
    ("I cooked last Thanksgiving", "last Thanksgiving", _day("2022-11-24")),
    ("Halloween 2021 was fun", "Halloween 2021", _day("2021-10-31")),
    ("we will meet on Valentine's Day", "Valentine's Day", _day("2024-02-14")),
    ("the 4th of July 2020", "the 4th of July 2020", _day("2020-07-04")),
    ("Easter 2024", "Easter 2024", _day("2024-03-31")),
    # clock times
    ("call at 6 pm", "6 pm", "2023-05-10T18:00 2023-05-10T19:00 hour"),
    ("call at 18:30", "18:30", "2023-05-10T18:30 2023-05-10T18:31 minute"),
    ("we will eat at noon", "noon", "2023-05-11T12:00 2023-05-11T13:00 hour"),
    ("tomorrow at 9", "tomorrow at 9", "2023-05-11T09:00 2023-05-11T10:00 hour"),
    ("tonight at 8", "tonight at 8", "2023-05-10T20:00 2023-05-10T21:00 hour"),
    ("I'll come Friday 9:00", "Friday 9:00", "2023-05-12T09:00 2023-05-12T09:01 minute"),
    ("3pm tomorrow", "3pm tomorrow", "2023-05-11T15:00 2023-05-11T16:00 hour"),
    ("half past seven tomorrow", "half past seven tomorrow",
     "2023-05-11T07:30 2023-05-11T07:31 minute"),
    ("tomorrow from 5 to 7 pm", "tomorrow from 5 to 7 pm",
     "2023-05-11T17:00 2023-05-11T19:00 hour"),
    ("at 2023-05-07T10:30Z it fell", "2023-05-07T10:30Z",
     "2023-05-07T10:30 2023-05-07T10:31 minute"),
    ("2023-05-07 10:30:15+02:00", "2023-05-07 10:30:15+02:00",
     "2023-05-07T08:30:15 2023-05-07T08:30:16 second"),
    ("tomorrow at 3pm EST", "tomorrow at 3pm EST", "2023-05-11T20:00 2023-05-11T21:00 hour"),
    # ranges
    ("from 4 August to 9 August 2022", "4 August to 9 August 2022", "2022-08-04 2022-08-10 day"),
    ("May 3-5, 2021", "May 3-5, 2021", "2021-05-03 2021-05-06 day"),
    ("between 2007 and 2009", "2007 and 2009", "2007-01-01 2010-01-01 year"),
    ("from Nov 2021 to February 2022", "Nov 2021 to February 2022", "2021-11-01 2022-03-01 month"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words", "expected"), DATED, ids=[row[0] for row in DATED])
def test_one_date(text: str, words: str, expected: str) -> None:
    found = find_dates(text, NOW)
    assert [text[f.span.start : f.span.end] for f in found] == [words]
    assert _spell(found[0]) == expected


UNDATED = [
    "",
    "No date here.",
    "You may leave now.",
    "This may well march on.",
    "He sat in the sun and watched mar ruin it.",
    "Jon and April went home with June.",
    "The server listens on port 9077.",
    "Room 2024 is at the end.",
    "It costs $2000 or 1999 euros.",
    "There were 2000 people.",
    "in 2000 steps",
    "Python 3.11.7 is out.",
    "Host 10.0.20.22 is down.",
    "Call +1 555-123-4567.",
    "Call 202-555-0101 or 01/23/45/67.",
    "We won 3:1.",
    "A 16:9 screen and a 4:3 one.",
    "A second opinion costs more.",
    "the second of them",
    "the 7th floor",
    "for three years",
    "It takes 3 minutes.",
    "a 5 year old boy",
    "100,000 years ago",
    "99999 years ago",
    "in 99999 years",
    "30 February 2022",
    "2023-13-45",
    "in 0000",
    "open 24/7",
    "every Friday at 9",
    "every Tuesday, Thursday, and Sunday at 6 PM",
    "call datetime.today now",
    "each week",
    "I swim on Friday nights.",
    "3 pm every day",
    "I finished the book in two days.",
    "it will last three weeks",
    "last time, last minute tickets, next door",
    "cut it by 1/2 or 3/4",
    "from 5 to 7 apples",
    "v2023 and x2023-05-07 and a_2023-05-07",
    "The New Year's resolution",
    "half of them, a few more, a couple",
    "fall asleep, spring up, winter coat",
    "order 66 of 1138",
    "99999999999999999999999999",
]


@pytest.mark.parametrize("text", UNDATED)
def test_no_date(text: str) -> None:
    assert find_dates(text, NOW) == []


FOREIGN = [
    ("es", "Ayer fui al médico", _day("2023-05-09")),
    ("es", "El 7 de mayo de 2022 nació", _day("2022-05-07")),
    ("es", "hace dos semanas empecé", "2023-04-24 2023-05-01 week"),
    ("es", "la semana pasada", "2023-05-01 2023-05-08 week"),
    ("es", "el próximo lunes a las 9", "2023-05-15T09:00 2023-05-15T10:00 hour"),
    ("es", "vivía allí en 2019", "2019-01-01 2020-01-01 year"),
    ("es", "el 5/7/2022", _day("2022-07-05")),
    ("fr", "il y a trois jours", _day("2023-05-07")),
    ("fr", "vendredi prochain", _day("2023-05-12")),
    ("fr", "avant-hier", _day("2023-05-08")),
    ("fr", "le 1er mars 2021", _day("2021-03-01")),
    ("fr", "demain à 9h30", "2023-05-11T09:30 2023-05-11T09:31 minute"),
    ("de", "vor zwei Wochen", "2023-04-24 2023-05-01 week"),
    ("de", "am 7. Mai 2022", _day("2022-05-07")),
    ("de", "im März 2021", "2021-03-01 2021-04-01 month"),
    ("de", "morgen um 9 Uhr", "2023-05-11T09:00 2023-05-11T10:00 hour"),
    ("it", "due giorni fa", _day("2023-05-08")),
    ("it", "venerdì scorso", _day("2023-05-05")),
    ("pt", "há três dias", _day("2023-05-07")),
    ("pt", "próxima sexta-feira", _day("2023-05-12")),
    ("nl", "drie dagen geleden", _day("2023-05-07")),
    ("nl", "op 7 mei 2022", _day("2022-05-07")),
]


@pytest.mark.parametrize(("language", "text", "expected"), FOREIGN)
def test_other_languages(language: str, text: str, expected: str) -> None:
    assert [_spell(f) for f in find_dates(text, NOW, languages=[language])] == [expected]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "Tengo 3 gatos y buena mañana"),
        ("de", "Guten Morgen, ich habe 3 Katzen"),
        ("pt", "a segunda vez"),
        ("fr", "J'ai 3 chats"),
        ("es", "hace 100000 años"),
        ("xx", "on 2023-05-07"),
    ],
)
def test_other_languages_without_a_date(language: str, text: str) -> None:
    assert find_dates(text, NOW, languages=[language]) == []


def test_english_words_are_read_only_when_english_is_asked_for() -> None:
    assert find_dates("hier et yesterday", NOW, languages=["fr"])[0].span.end == 4
    both = find_dates("hier et yesterday", NOW, languages=["en", "fr"])
    assert [_spell(f) for f in both] == [_day("2023-05-09")] * 2


def test_several_dates_come_in_order_and_apart() -> None:
    text = "On 1 May 2023 I left, yesterday I returned, and on Friday I will rest."
    found = [text[f.span.start : f.span.end] for f in find_dates(text, NOW)]
    assert found == ["1 May 2023", "yesterday", "Friday"]


@pytest.mark.parametrize(("prefer", "day"), [("past", "2023-05-05"), ("future", "2023-05-12")])
def test_prefer_overrules_the_tense(prefer: str, day: str) -> None:
    text = "We went and will go on Friday"
    assert _spell(find_dates(text, NOW, prefer=prefer)[0]) == _day(day)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["2026-0830-", "at 2100-0830- or so", "0900 and", "and 0900 to"])
def test_hours_without_a_colon_may_stand_at_an_edge(text: str) -> None:
    assert all(span.start < span.end for span in find_dates(text, NOW))


def test_day_first() -> None:
    assert _spell(find_dates("5/7/2023", NOW, day_first=True)[0]) == _day("2023-07-05")


def test_a_naive_reference_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        find_dates("today", datetime(2023, 5, 10))
    assert caught.value.field == "reference"


def _hours(text: str, reference: datetime) -> tuple[datetime, float]:
    (found,) = find_dates(text, reference)
    return from_us(found.start), (found.end - found.start) / 3.6e9


def test_a_day_is_local() -> None:
    kathmandu = ZoneInfo("Asia/Kathmandu")  # UTC+05:45
    start, hours = _hours("yesterday", datetime(2023, 5, 10, 1, 0, tzinfo=kathmandu))
    assert (start, hours) == (datetime(2023, 5, 8, 18, 15, tzinfo=UTC), 24)


@pytest.mark.parametrize(("day", "hours"), [("2023-03-12", 23), ("2023-11-05", 25)])
def test_a_local_day_is_as_long_as_the_clock_change_makes_it(day: str, hours: int) -> None:
    zone = ZoneInfo("America/New_York")
    reference = datetime.fromisoformat(day).replace(tzinfo=zone) + timedelta(days=1, hours=12)
    assert _hours("yesterday", reference)[1] == hours


def test_hours_are_elapsed_time_across_a_clock_change() -> None:
    zone = ZoneInfo("America/New_York")
    reference = datetime(2023, 3, 12, 4, 0, tzinfo=zone)  # an hour after 01:59 was 03:00
    assert _hours("3 hours ago", reference)[0] == to_utc(reference) - timedelta(hours=3)


def to_utc(moment: datetime) -> datetime:
    return from_us(to_us(moment))


def test_a_wall_time_that_a_clock_change_skips_keeps_its_length() -> None:
    zone = ZoneInfo("America/New_York")
    start, hours = _hours("2023-03-12 02:30", datetime(2023, 3, 1, tzinfo=zone))
    assert start == datetime(2023, 3, 12, 7, 30, tzinfo=UTC)
    assert hours == pytest.approx(1 / 60)


def test_a_day_that_never_was_is_no_date() -> None:
    apia = ZoneInfo("Pacific/Apia")  # went from 29 to 31 December 2011
    assert find_dates("on 2011-12-30", datetime(2012, 1, 5, tzinfo=apia)) == []


@pytest.mark.parametrize(
    ("reference", "text", "expected"),
    [
        ("2024-01-01", "yesterday", _day("2023-12-31")),
        ("2024-01-02", "last week", "2023-12-25 2024-01-01 week"),
        ("2023-12-31", "tomorrow", _day("2024-01-01")),
        ("2023-12-20", "next month", "2024-01-01 2024-02-01 month"),
        ("2024-01-05", "I left on December 30", _day("2023-12-30")),
        ("2023-12-28", "I will leave on January 3", _day("2024-01-03")),
        ("2024-03-01", "yesterday", _day("2024-02-29")),
        ("2023-05-10", "It was on February 29", _day("2020-02-29")),
        ("2024-02-29", "last year", "2023-01-01 2024-01-01 year"),
        ("2024-03-31", "a month ago", "2024-02-01 2024-03-01 month"),
        ("2024-01-15", "last winter", "2022-12-01 2023-03-01 season"),
        ("2023-05-13", "last weekend", "2023-05-06 2023-05-08 week"),
        ("2023-05-14", "next Monday", _day("2023-05-15")),
        ("9999-12-31", "I left on the 30th", _day("9999-12-30")),
    ],
)
def test_edges_of_the_calendar(reference: str, text: str, expected: str) -> None:
    found = find_dates(text, datetime.fromisoformat(reference).replace(hour=9, tzinfo=UTC))
    assert [_spell(f) for f in found] == [expected]


@pytest.mark.parametrize("year", [1, 9999])
@pytest.mark.parametrize("text", ["last year", "next year", "in 3 decades", "5 weeks ago", "May 7"])
def test_the_ends_of_time_do_not_raise(year: int, text: str) -> None:
    for zone in (UTC, ZoneInfo("Asia/Tokyo"), ZoneInfo("America/New_York")):
        found = find_dates(text, datetime(year, 6, 15, tzinfo=zone))
        assert all(f.start < f.end for f in found)
