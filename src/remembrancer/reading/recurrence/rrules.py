"""RFC 5545 rules: their parts, and the local times of those that are daily or longer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from dateutil.rrule import rrulestr

from ...nouns.clock import to_us
from ...nouns.errors import InvalidInput
from ...nouns.recurrence import Recurrence, ShortMonth
from .days import Limits, daily, number, numbers
from .months import clamped, is_clamped
from .zones import local_of, zone_of

HORIZON = timedelta(days=366 * 12)  # 29 February comes back within 8 years
_SHORT = frozenset({"HOURLY", "MINUTELY"})
_PARTS = frozenset(
    "FREQ INTERVAL COUNT UNTIL BYMONTH BYMONTHDAY BYYEARDAY BYWEEKNO BYDAY BYHOUR BYMINUTE"
    " BYSECOND BYSETPOS WKST".split()
)
_MOST_CHARS = 500
_NOT_NAMES = re.compile("[^A-Z]")
_NUMBER = re.compile(r"\d+")
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # days of months, at most
_WEEKDAYS_IN_MONTH, _WEEKDAYS_IN_YEAR = 5, 53  # of one name, at most


def parts_of(text: str) -> dict[str, str]:
    """Split a rule into its parts, upper case.

    Raises:
        InvalidInput: it is no rule, or one that repeats within a minute.
    """
    rule = text.strip().upper().removeprefix("RRULE:")
    found: dict[str, str] = {}
    for piece in filter(None, rule.split(";")):
        name, equals, value = piece.partition("=")
        if not equals or name not in _PARTS or name in found or len(text) > _MOST_CHARS:
            raise _invalid(f"{piece[:60]!r} is no part of a rule")
        found[name] = value
    if "FREQ" not in found:
        raise _invalid("it has no FREQ")
    if found["FREQ"] == "SECONDLY" or "BYSECOND" in found:
        raise _invalid("the shortest step is a minute")
    if "COUNT" in found and "UNTIL" in found:
        raise _invalid("it has both COUNT and UNTIL")
    return found


def is_short(parts: dict[str, str]) -> bool:
    """Tell whether a rule comes more often than daily."""
    return parts["FREQ"] in _SHORT


def local_times(rule: Recurrence, parts: dict[str, str], after: datetime) -> Iterator[datetime]:
    """Yield the naive local times of a daily or longer rule, up to `HORIZON` beyond `after`."""
    spelled = dict(parts)
    if "UNTIL" in spelled:
        spelled["UNTIL"] = _until(spelled["UNTIL"], rule.zone)
    horizon = max(after, rule.start) + HORIZON
    last_day = rule.short_month is ShortMonth.LAST_DAY and is_clamped(parts, rule.start)
    if parts["FREQ"] == "DAILY" or last_day:
        until = spelled.pop("UNTIL", None)
        end = min(horizon, _read(until)) if until else horizon
        yield from (clamped if last_day else daily)(spelled, rule.start, after, end)
        return
    _check_possible(spelled, rule.start)
    for local in parsed(spelled, rule.start):
        if local > horizon:
            return
        yield local


def parsed(parts: dict[str, str], start: datetime) -> Iterator[datetime]:
    """Yield the naive times of a rule from a start on.

    Raises:
        InvalidInput: the parts do not make a rule.
    """
    text = ";".join(f"{name}={value}" for name, value in parts.items())
    try:
        return iter(rrulestr(text, dtstart=start))
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, AttributeError) as error:
        raise _invalid(str(error)[:120]) from None


def _check_possible(parts: dict[str, str], start: datetime) -> None:
    """Refuse what would be looked for to the end of all years and never be found.

    Each condition is a necessary one: what passes them all and never comes costs a second at most.
    """
    number(parts, "INTERVAL")  # of 0 there is no end
    plain = {k: v for k, v in parts.items() if k != "BYDAY"}
    Limits(plain)
    months, days = numbers(parts, "BYMONTH", 1, 12), numbers(parts, "BYMONTHDAY", -31, 31)
    if months and days and min(map(abs, days)) > max(_LENGTHS[month - 1] for month in months):
        raise _never()
    if not _some_day(parts, start):
        raise _never()
    _check_weekdays(parts)
    places = numbers(parts, "BYSETPOS", -366, 366)
    if places and min(map(abs, places)) > _most_in_a_period(parts):
        raise _never()


def _check_weekdays(parts: dict[str, str]) -> None:
    """Refuse the 21st Friday of a month, which dateutil would look for beyond the month's end."""
    monthly = parts["FREQ"] == "MONTHLY" or "BYMONTH" in parts
    most = _WEEKDAYS_IN_MONTH if monthly else _WEEKDAYS_IN_YEAR
    for piece in parts.get("BYDAY", "").split(","):
        found = _NUMBER.search(piece)
        if found and abs(int(found.group())) > most:
            kind = "month" if monthly else "year"
            raise _invalid(f"BYDAY={piece[:20]}: a {kind} has {most} of a weekday at most")


def _some_day(parts: dict[str, str], start: datetime) -> bool:
    """Whether some day before the horizon meets all limits of days but their numbers in a month."""
    named = {k: v for k, v in parts.items() if k in ("BYMONTH", "BYMONTHDAY", "BYYEARDAY")}
    if not named:
        return True
    if "BYDAY" in parts:
        named["BYDAY"] = ",".join(_NOT_NAMES.sub("", piece) for piece in parts["BYDAY"].split(","))
    limits = Limits(named)
    return any(limits.take_day(start + timedelta(days=n)) for n in range(HORIZON.days))


def _most_in_a_period(parts: dict[str, str]) -> int:
    """Return how many times a rule has at most in a week, month or year."""
    weeks = {"WEEKLY": 1, "MONTHLY": 5}.get(parts["FREQ"], 53)
    months = 12 if parts["FREQ"] == "YEARLY" else 1
    found = [366]  # days
    for name, each in (("BYMONTHDAY", months), ("BYYEARDAY", 1), ("BYWEEKNO", 7)):
        if name in parts:
            found.append(each * len(parts[name].split(",")))
    if "BYDAY" in parts:
        pieces = parts["BYDAY"].split(",")
        # One with a number comes once a month; without, every week.
        found.append(sum(months if _NUMBER.search(piece) else weeks for piece in pieces))
    elif len(found) == 1:
        # Without any, the day of the start, in each month that is named.
        found.append(len(parts.get("BYMONTH", "").split(",")))
    times = [len(parts.get(name, "").split(",")) for name in ("BYHOUR", "BYMINUTE")]
    return min(found) * math.prod(times)


def _never() -> InvalidInput:
    return InvalidInput("the recurrence never occurs after its start", field="recurrence")


def _until(text: str, zone: str) -> str:
    return _spell(until_local(text, zone))


def until_local(text: str, zone: str) -> datetime:
    """Return UNTIL as naive local time; one in UTC is converted."""
    if text.endswith("Z"):
        return local_of(to_us(_read(text.rstrip("Z"))), zone_of(zone))
    return _read(text)


def _read(text: str) -> datetime:
    if re.fullmatch(r"\d{8}", text):
        text += "T235959"
    try:
        return datetime.strptime(text, "%Y%m%dT%H%M%S")
    except ValueError:
        raise _invalid(f"UNTIL {text[:40]!r} is not spelled as 20261231T235959Z") from None


def _spell(local: datetime) -> str:
    return local.strftime("%Y%m%dT%H%M%S")


def _invalid(why: str) -> InvalidInput:
    return InvalidInput(
        f"rrule cannot be used: {why}; write it as FREQ=WEEKLY;BYDAY=MO,FR", field="rrule"
    )
