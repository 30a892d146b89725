"""Occurrences of rules, against instants found by looking at the clock every five minutes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from remembrancer.nouns.clock import from_us, to_us
from remembrancer.nouns.errors import InvalidInput
from remembrancer.nouns.recurrence import Gap, Recurrence, ShortMonth
from remembrancer.reading.recurrence import check, first_after, occurrences
from remembrancer.reading.recurrence.expand import LAST_START
from remembrancer.verbs.reminding.scheduling import rule_of

ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"]
FIRST = datetime(2026, 1, 1)
END = datetime(2028, 1, 1)
STEP = timedelta(minutes=5)  # every time of day asked for below is a multiple of it
Wall = tuple[datetime, int]  # what clocks show, and the instant


@lru_cache
def wall(zone: str) -> list[Wall]:
    """What clocks of a zone show at each step of 2026 and 2027."""
    tz = ZoneInfo(zone)
    start = FIRST.replace(tzinfo=tz).astimezone(UTC)
    end = END.replace(tzinfo=tz).astimezone(UTC)
    shown = []
    for n in range((end - start) // STEP):
        moment = start + n * STEP
        shown.append((moment.astimezone(tz).replace(tzinfo=None), to_us(moment)))
    return shown


def seen(zone: str, takes: Callable[[datetime], bool]) -> list[Wall]:
    return [(local, us) for local, us in wall(zone) if takes(local)]


def first_of_each_day(found: list[Wall]) -> dict[datetime, int]:
    days: dict[datetime, int] = {}
    for local, us in found:
        days.setdefault(local.replace(hour=0, minute=0), us)
    return days


def left_out(zone: str, local: datetime) -> int:
    """The instant as far after the change as the local time lies after the clock's stop."""
    before = max(us for shown, us in wall(zone) if shown < local and shown.date() == local.date())
    stop = max(shown for shown, _ in wall(zone) if shown < local and shown.date() == local.date())
    return before + (local - stop) // timedelta(microseconds=1)


def days(first: datetime = FIRST) -> Iterator[datetime]:
    day = first
    while day < END:
        yield day
        day += timedelta(days=1)


def expected(zone: str, hour: int, minute: int, takes: Callable[[datetime], bool]) -> list[int]:
    shown = first_of_each_day(seen(zone, lambda t: (t.hour, t.minute) == (hour, minute)))
    result = []
    for day in days():
        if takes(day):
            local = day.replace(hour=hour, minute=minute)
            result.append(shown.get(day) or left_out(zone, local))
    return result


def found(rule: Recurrence, most: int = 1_000) -> list[int]:
    end = to_us(END.replace(tzinfo=ZoneInfo(rule.zone)))
    first = to_us(FIRST.replace(tzinfo=ZoneInfo(rule.zone))) - 1
    every = occurrences(rule, first, most)
    assert every[-1] >= end  # all of both years are among them
    return [us for us in every if us < end]


def rule(zone: str, hour: int, minute: int, **more: object) -> Recurrence:
    return Recurrence(zone, FIRST.replace(hour=hour, minute=minute), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(("hour", "minute"), [(1, 30), (2, 0), (2, 10), (2, 30), (9, 0), (0, 0)])
def test_daily(zone: str, hour: int, minute: int) -> None:
    assert found(rule(zone, hour, minute, rrule="FREQ=DAILY")) == expected(
        zone, hour, minute, lambda _: True
    )


@pytest.mark.parametrize("zone", ZONES)
def test_weekly(zone: str) -> None:
    weekly = rule(zone, 2, 15, rrule="FREQ=WEEKLY;BYDAY=SU,WE")
    assert found(weekly) == expected(zone, 2, 15, lambda d: d.weekday() in (2, 6))


@pytest.mark.parametrize("zone", ZONES)
def test_monthly_on_the_31st(zone: str) -> None:
    monthly = rule(zone, 2, 30, rrule="FREQ=MONTHLY;BYMONTHDAY=31")
    assert found(monthly) == expected(zone, 2, 30, lambda d: d.day == 31)
    last = replace(monthly, short_month=ShortMonth.LAST_DAY)
    ends = expected(zone, 2, 30, lambda d: (d + timedelta(days=1)).day == 1)
    assert found(last) == ends
    assert len(ends) == 24


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("minute", [0, 20, 45])
def test_hourly_counts_real_hours(zone: str, minute: int) -> None:
    hourly = found(rule(zone, 0, minute, rrule="FREQ=HOURLY"), 18_000)
    assert {b - a for a, b in pairwise(hourly)} == {3_600_000_000}
    assert hourly[0] == expected(zone, 0, minute, lambda _: True)[0]
    assert len(hourly) == (wall(zone)[-1][1] - hourly[0]) // 3_600_000_000 + 1


@pytest.mark.parametrize("zone", ZONES)
def test_hourly_within_hours_and_days_of_local_time(zone: str) -> None:
    office = found(rule(zone, 0, 0, rrule="FREQ=HOURLY;BYHOUR=9,10,17;BYDAY=MO,TU"))
    locals_ = [from_us(us).astimezone(ZoneInfo(zone)) for us in office]
    assert {t.hour for t in locals_} == {9, 10, 17}
    assert {t.weekday() for t in locals_} == {0, 1}
    mondays_and_tuesdays = sum(d.weekday() in (0, 1) for d in days())
    assert len(office) == 3 * mondays_and_tuesdays


@pytest.mark.parametrize("zone", ZONES)
def test_cron_with_a_fixed_hour_is_as_a_daily_rule(zone: str) -> None:
    assert found(rule(zone, 0, 0, cron="30 2 * * 1-5")) == expected(
        zone, 2, 30, lambda d: d.weekday() < 5
    )


@pytest.mark.parametrize("zone", ZONES)
def test_cron_for_each_hour_runs_whenever_clocks_show_it(zone: str) -> None:
    quarter = found(rule(zone, 0, 0, cron="*/15 * * * *"), 71_000)
    assert quarter == [us for _, us in seen(zone, lambda t: t.minute % 15 == 0)]


def test_the_changes_of_new_york_by_name() -> None:
    """Known instants: 02:30 on 8 March 2026 does not exist, 01:30 on 1 November occurs twice."""
    night = rule("America/New_York", 2, 30, rrule="FREQ=DAILY")
    march = to_us(datetime(2026, 3, 8, tzinfo=UTC))
    assert from_us(occurrences(night, march, 1)[0]) == datetime(2026, 3, 8, 7, 30, tzinfo=UTC)
    skipping = replace(night, gap=Gap.SKIP)
    assert from_us(occurrences(skipping, march, 1)[0]) == datetime(2026, 3, 9, 6, 30, tzinfo=UTC)
    autumn = rule("America/New_York", 1, 30, rrule="FREQ=DAILY")
    november = to_us(datetime(2026, 11, 1, tzinfo=UTC))
    assert [from_us(us) for us in occurrences(autumn, november, 2)] == [
        datetime(2026, 11, 1, 5, 30, tzinfo=UTC),
        datetime(2026, 11, 2, 6, 30, tzinfo=UTC),
    ]


def test_short_steps_pass_over_months_that_are_not_allowed() -> None:
    december = Recurrence("UTC", datetime(2026, 1, 1), rrule="FREQ=MINUTELY;BYMONTH=12;BYHOUR=8")
    start = to_us(datetime(2026, 1, 1, tzinfo=UTC))
    assert from_us(occurrences(december, start, 1)[0]) == datetime(2026, 12, 1, 8, tzinfo=UTC)


def test_dates_added_and_left_out() -> None:
    weekly = Recurrence(
        "Europe/Berlin",
        datetime(2026, 6, 1, 9),
        rrule="FREQ=WEEKLY",
        rdates=(datetime(2026, 6, 3, 12), datetime(2026, 6, 8, 9)),
        exdates=(datetime(2026, 6, 15, 9),),
        count=4,
    )
    shown = [from_us(us).strftime("%d %H:%M") for us in occurrences(weekly, 0, 9)]
    # The one left out counts, as RFC 5545 has it; the added one that falls together counts once.
    assert shown == ["01 07:00", "03 10:00", "08 07:00"]


def test_a_fixed_interval_begins_anew_nowhere() -> None:
    every = Recurrence("Asia/Kathmandu", datetime(2026, 1, 1), every_s=5_400)
    start = to_us(datetime(2026, 1, 1, tzinfo=ZoneInfo("Asia/Kathmandu")))
    year = start + 365 * 86_400_000_000
    assert occurrences(every, year, 2) == [year + 5_400_000_000, year + 10_800_000_000]
    assert occurrences(every, start - 1, 1) == [start]
    assert first_after(replace(every, until=start), start) is None


def test_until_is_inclusive_and_in_either_spelling() -> None:
    for until in ("20260103T080000Z", "20260103T090000"):
        daily = Recurrence(
            "Europe/Berlin", datetime(2026, 1, 1, 9), rrule=f"FREQ=DAILY;UNTIL={until}"
        )
        assert len(occurrences(daily, 0, 9)) == 3
    hourly = Recurrence(
        "Europe/Berlin", datetime(2026, 1, 1, 9), rrule="FREQ=HOURLY;UNTIL=20260101T110000"
    )
    assert len(occurrences(hourly, 0, 9)) == 3


def test_a_long_life_does_not_make_the_next_one_slow_to_find() -> None:
    old = Recurrence("UTC", datetime(1990, 1, 1), rrule="FREQ=MINUTELY;INTERVAL=7")
    now = to_us(datetime(2026, 7, 1, tzinfo=UTC))
    next_one = first_after(old, now)
    assert next_one is not None
    assert 0 < next_one - now <= 7 * 60_000_000
    start = to_us(datetime(1990, 1, 1, tzinfo=UTC))
    assert (next_one - start) % (7 * 60_000_000) == 0


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"rrule": "FREQ=SECONDLY"}, "rrule"),
        ({"rrule": "BYDAY=MO"}, "rrule"),
        ({"rrule": "FREQ=WEEKLY;BYDAY=XX"}, "rrule"),
        ({"rrule": "FREQ=HOURLY;BYHOUR=77"}, "rrule"),
        ({"rrule": "FREQ=DAILY;COUNT=2;UNTIL=20270101"}, "rrule"),
        ({"rrule": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"}, "recurrence"),
        ({"rrule": "FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30"}, "recurrence"),
        ({"rrule": "FREQ=DAILY;UNTIL=20200101"}, "recurrence"),
        ({"rrule": "FREQ=WEEKLY;INTERVAL=0"}, "rrule"),
        ({"rrule": "FREQ=HOURLY;BYMINUTE=0,30;BYSETPOS=3"}, "recurrence"),
        ({"rrule": "FREQ=HOURLY;BYSETPOS=x"}, "rrule"),
        (
            {"rrule": "FREQ=MONTHLY;BYMONTHDAY=a", "short_month": ShortMonth.LAST_DAY},
            "rrule",
        ),
        ({"rrule": "FREQ=DAILY", "start": datetime(9987, 12, 31)}, "start"),
        ({"cron": "0 9 * * *", "start": datetime(9999, 12, 31)}, "start"),
        ({"rrule": "FREQ=HOURLY", "start": datetime(9999, 12, 31)}, "start"),
        ({"rrule": "FREQ=MONTHLY;INTERVAL=0;UNTIL=20301231"}, "rrule"),
        ({"rrule": "FREQ=YEARLY;INTERVAL=-1"}, "rrule"),
        ({"rrule": "FREQ=MONTHLY;BYDAY=-1FR;BYSETPOS=2"}, "recurrence"),
        ({"rrule": "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=-6"}, "recurrence"),
        ({"rrule": "FREQ=MONTHLY;BYDAY=21FR;BYSETPOS=1"}, "rrule"),
        ({"rrule": "FREQ=MONTHLY;BYDAY=MO,-6SU"}, "rrule"),
        ({"rrule": "FREQ=YEARLY;BYMONTH=3;BYDAY=6TU"}, "rrule"),
        ({"rrule": "FREQ=YEARLY;BYDAY=54WE"}, "rrule"),
        ({"rrule": "FREQ=WEEKLY;BYMONTH=1;BYYEARDAY=200"}, "recurrence"),
        ({"rrule": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYYEARDAY=1"}, "recurrence"),
        ({"rrule": "FREQ=DAILY", "cron": "0 9 * * *"}, "recurrence"),
        ({"cron": "61 9 * * *"}, "cron"),
        ({"cron": "0 0 9 * * *"}, "cron"),
        ({"cron": "0 9 31 2 *"}, "cron"),
        ({"every_s": 59}, "every"),
        ({"every_s": 10**30}, "every"),
        ({"rrule": "FREQ=DAILY", "count": 0}, "count"),
        ({"rrule": "FREQ=DAILY", "zone": "Mars/Base"}, "zone"),
        ({"rrule": "FREQ=DAILY", "exdates": (FIRST,) * 1_001}, "exdate"),
    ],
)
def test_what_cannot_be_used_is_refused(more: dict[str, object], field: str) -> None:
    spelled = {"zone": "Europe/Berlin", "start": FIRST, **more}
    with pytest.raises(InvalidInput) as refused:
        check(Recurrence(**spelled))  # type: ignore[arg-type]
    assert refused.value.field == field


@pytest.mark.parametrize(
    "rrule",
    [
        "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=5",
        "FREQ=MONTHLY;BYDAY=1MO,-1FR;BYSETPOS=2",
        "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=8,9;BYSETPOS=2",
        "FREQ=YEARLY;BYDAY=MO;BYSETPOS=-52",
        "FREQ=YEARLY;BYMONTH=1,7;BYSETPOS=2",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
        "FREQ=YEARLY;BYDAY=53TH",
        "FREQ=YEARLY;BYDAY=-52TU",
        "FREQ=MONTHLY;BYDAY=5FR,-5SA",
        "FREQ=YEARLY;BYWEEKNO=-1;BYDAY=MO",
        "FREQ=YEARLY;BYYEARDAY=366",
    ],
)
def test_what_comes_seldom_is_not_taken_for_never(rrule: str) -> None:
    check(Recurrence("Europe/Berlin", FIRST, rrule=rrule))


@pytest.mark.parametrize(
    "more",
    [
        {"rrule": "FREQ=DAILY"},
        {"cron": "0 9 * * *"},
        {"rrule": "FREQ=HOURLY"},
        {"rrule": "FREQ=MONTHLY;BYMONTHDAY=31", "short_month": ShortMonth.LAST_DAY},
    ],
)
def test_a_rule_may_begin_as_late_as_it_says(more: dict[str, object]) -> None:
    start = datetime(LAST_START, 12, 31, 9)
    late = Recurrence("UTC", start, **more)  # type: ignore[arg-type]
    check(late)
    assert first_after(late, to_us(start) - 1) == to_us(start)


def told(start: datetime, rrule: str, limit: int, short: ShortMonth = ShortMonth.SKIP) -> list[str]:
    asked = Recurrence("UTC", start, rrule=rrule, short_month=short)
    check(asked)
    found = occurrences(asked, to_us(start) - 1, limit)
    return [f"{from_us(us):%Y-%m-%d %H:%M}" for us in found]


@pytest.mark.parametrize(
    ("start", "ends"),
    [(datetime(2026, 12, 30, 9), "T120000"), (datetime(2026, 12, 29, 18), "T120000")],
)
def test_until_is_of_each_time_of_a_day(start: datetime, ends: str) -> None:
    found = told(start, f"FREQ=DAILY;BYHOUR=9,18;UNTIL=20261231{ends}", 9)
    assert found[-2:] == ["2026-12-30 18:00", "2026-12-31 09:00"]


@pytest.mark.parametrize(
    ("rrule", "expected"),
    [
        (
            "FREQ=MONTHLY;BYMONTHDAY=31;BYHOUR=9,18",
            ["01-31 09:00", "01-31 18:00", "02-28 09:00", "02-28 18:00", "03-31 09:00"],
        ),
        (
            "FREQ=MONTHLY;BYMONTHDAY=15,30,31",
            ["01-15 09:00", "01-30 09:00", "01-31 09:00", "02-15 09:00", "02-28 09:00"],
        ),
        ("FREQ=MONTHLY;BYMONTHDAY=31,-1;INTERVAL=3", ["01-31 09:00", "04-30 09:00"]),
        ("FREQ=MONTHLY;BYMONTH=2,4;BYMONTHDAY=31;COUNT=2", ["02-28 09:00", "04-30 09:00"]),
        ("FREQ=YEARLY;BYMONTH=1,2;BYMONTHDAY=31", ["01-31 09:00", "02-28 09:00"]),
        ("FREQ=MONTHLY;BYMONTHDAY=31;UNTIL=20260228T090000", ["01-31 09:00", "02-28 09:00"]),
    ],
)
def test_each_day_that_a_month_lacks_is_its_last(rrule: str, expected: list[str]) -> None:
    found = told(datetime(2026, 1, 1, 9), rrule, len(expected), ShortMonth.LAST_DAY)
    assert found == [f"2026-{each}" for each in expected]


def test_a_29th_of_february_may_be_the_28th() -> None:
    found = told(datetime(2024, 2, 29, 9), "FREQ=YEARLY", 5, ShortMonth.LAST_DAY)
    assert [each[:10] for each in found] == [
        "2024-02-29", "2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29",
    ]  # fmt: skip


def test_a_place_among_the_minutes_of_an_hour() -> None:
    start = datetime(2026, 3, 1, 9, 45)
    first = told(start, "FREQ=HOURLY;BYMINUTE=0,30;BYSETPOS=1", 2)
    assert first == ["2026-03-01 10:00", "2026-03-01 11:00"]
    last = told(start, "FREQ=HOURLY;BYMINUTE=0,30,50;BYSETPOS=-1", 2)
    assert last == ["2026-03-01 09:50", "2026-03-01 10:50"]


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ({"rrule": "FREQ=DAILY", "count": 1}, datetime(2026, 5, 14, 10)),
        ({"rrule": "FREQ=DAILY;COUNT=1"}, datetime(2026, 5, 14, 10)),
        ({"every": 3600, "count": 3}, datetime(2026, 5, 13, 11)),
        ({"cron": "0 9 * * *", "count": 2}, datetime(2026, 5, 14, 9)),
    ],
)
def test_a_count_begins_with_the_first_time_ahead(asked: dict[str, Any], first: datetime) -> None:
    now = to_us(datetime(2026, 5, 13, 10, 0, 30))
    read = rule_of(asked, "UTC", None, now)
    found = occurrences(read, now, 9)
    count = asked.get("count", 1)
    assert (found[0], len(found)) == (to_us(first), count)
