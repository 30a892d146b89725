"""Years, decades, quarters, seasons and holidays."""

from __future__ import annotations

from datetime import datetime

from . import words as w
from .context import Context, near_years
from .holidays import LONGEST_HOLIDAY
from .intervals import (
    Found,
    Interval,
    choose,
    day_at,
    join,
    season_at,
    shift,
    unit_at,
    year_at,
)
from .months import JOINERS, is_counted, ordinal, spoken_year, year_after
from .relations import relation_behind

# What "of" may follow for a year to come after it: "the end of 2000".
_PARTS_OF_YEAR = frozenset(
    {
        "end",
        "beginning",
        "start",
        "mid",
        "early",
        "late",
        "decade",
        "last",
        "latter",
        "middle",
        "year",
        "part",
        "rest",
        "half",
        "days",
        "week",
    }
    | {"weeks", "weekend", "all", "most", "month", "months", "day", "quarter", "quarters"}
    | {
        "whole",
        "course",
        "entirety",
        "duration",
        "majority",
        "remainder",
        "weekends",
        *w.FULL_WEEKDAYS,
        *w.SEASONS,
    }
)


_YEAR_STEPS = {"this": 0, "the": 0, "last": -1, "next": 1}


def year(c: Context, i: int) -> Found | None:
    """Read a year in a dating context: "in 2022", "since 1998", "from 2015 to 2018"."""
    if not c.digits(i):
        spoken = spoken_year(c, i)
        plain = spoken and c.before(i) in w.YEAR_DATING and not is_counted(c, spoken[1])
        if spoken and c.before(i) in {"from", "between"} and c.word(spoken[1]) in JOINERS:
            until = spoken_year(c, spoken[1] + 1)
            both = join(year_at(spoken[0]), year_at(until[0])) if until else None
            return (both, until[1]) if both and until else None
        return (year_at(spoken[0]), spoken[1]) if spoken and plain else None
    value = c.number(i, 4)
    era = value and c.word(i + 1) in {"ad", "ce"} and c.raw(i + 1).isupper()
    if value and (era or (c.word(i - 1) == "ad" and c.raw(i - 1).isupper())):
        return year_at(value), i + 1 + bool(era)
    if value is None or c.digits(i) != 4 or not 1200 <= value < 2200:
        return None
    last = i + 2
    glued = c.word(i + 1) in {"-", "–", "~"} and c.glued(i + 1) and c.glued(last)
    pair = c.word(i + 1) in JOINERS or glued
    other = c.number(last, 4) if pair and c.digits(last) == 4 else None
    if other and value < other < 2200 and not is_counted(c, last + 1):
        opener = {"between"} if c.word(i + 1) == "and" else {"from", "between", "in", "during"}
        apart = c.word(i - 1) != ")" and not c.digits(i - 1)  # else a telephone number
        recent = apart and glued and value >= 1900 and other < 2100 and not c.glued(i)
        plain = apart and value >= 1900 and other < 2100 and _leads(c, i)
        plain = plain and c.word(i + 1) in {"to", "through", "thru", "until", "till", "-", "–"}
        if (
            c.before(_first(c, i)) in opener
            or plain
            or (recent and (not c.glued(last + 1) or not c.digits(last + 2)))
        ):
            both = join(year_at(value), year_at(other))
            return (both, last + 1) if both else None
    if 1900 <= value < 2100 and _of_event(c, i):
        return year_at(value), i + 1
    if is_counted(c, i + 1) or c.digits(i + 1) == 4:
        return None
    hyphened = c.word(i - 1) == "-" and c.word(i - 2) in {"mid", "early", "late", "pre", "post"}
    before, earlier = "mid" if hyphened else c.before(i), c.word(i - 2)
    if before == "than" and earlier in {"later", "earlier", "older", "newer"}:
        before = "since"
    if before == "as" and earlier in {"early", "late"}:
        before = "since"
    if before == "to" and earlier in {"prior", "up"}:
        before = "until"
    if relation_behind(c, i + 1) and 1900 <= value < 2100:
        before = "since"  # "2018 or later"
    if before == "years" and c.word(i + 1) in JOINERS | {"or", ","} and not c.digits(i + 1):
        before = "since"
    recent = 1900 <= value < 2100
    named = before == "of" and earlier in _PARTS_OF_YEAR
    if recent and before in _LISTING and c.digits(i - 2) == 4 and c.word(i + 1) != "-":
        return (year_at(value), i + 1) if _opens_list(c, i) else None  # "in 2015 and 2016"
    if before in w.YEAR_DATING or named or (before == "from" and recent):
        return year_at(value), i + 1
    return None


# What has a year to tell it from others of its name: "the 2016 Olympics", "World Cup 2014".
_EVENTS = frozenset(
    {"olympics", "games", "cup", "championship", "championships", "election", "elections"}
    | {"conference", "summit", "expo", "festival", "season", "census", "budget", "congress"}
    | {"convention", "edition", "financials", "earnings", "revenue", "sales", "tournament"}
)


def _of_event(c: Context, i: int) -> bool:
    """Whether the number at token `i` is the year of an event named beside it."""
    ends = not c.word(i + 1).isalnum() or c.word(i + 1) in {"in", "was", "is", "and"}
    if c.word(i - 1) in _EVENTS:
        return ends
    article = c.word(i - 1) in {"the", "our", "their", "its"}
    return article and any(c.word(k) in _EVENTS for k in (i + 1, i + 2, i + 3))


# What "2000 to 2010" numbers, as a plural would: no years.
_NUMBERED = frozenset(
    {"port", "page", "row", "line", "room", "item", "number", "id", "chapter", "value", "version"}
    | {"volume", "issue", "code", "address", "score", "price", "cost", "rpm", "level", "index"}
    | {"#", "$", "€", "£", "no", "nr", "about", "around", "only", "all", "least", "than"}
)
_PLAIN_S = frozenset({"years", "is", "was", "has", "this", "as", "spans", "covers", "runs", "us"})


def _leads(c: Context, i: int) -> bool:
    """Whether years may stand at token `i` that no word makes such: "the range is 2015 to 2018"."""
    before = c.word(i - 1)
    plural = len(before) > 2 and before.endswith("s") and before not in _PLAIN_S
    return not plural and before not in _NUMBERED


def _first(c: Context, i: int) -> int:
    """Return where a year begins: at "years" of "the years 2015 and 2018"."""
    return i - 1 if c.word(i - 1) in {"year", "years"} else i


_LISTING = frozenset({"and", "or", ",", "&"})
_MOST_LISTED = 12  # years


def _opens_list(c: Context, i: int) -> bool:
    """Whether the list of years that ends at token `i` begins with one that a word makes such."""
    first = i
    for _ in range(_MOST_LISTED):
        if c.word(first - 1) not in _LISTING or c.digits(first - 2) != 4:
            break
        first -= 2
    return c.before(first) in w.YEAR_DATING | {"from"}


def decade(c: Context, i: int) -> Found | None:
    """Read "1990s", "the 90s", "the '90s", "the nineties"."""
    word = c.word(i)
    if word in {"nineteen", "eighteen"} and c.word(i + 1) in w.DECADES:
        base = 1900 if word == "nineteen" else 1800
        return unit_at(datetime(base + w.DECADES[c.word(i + 1)], 1, 1), "decade"), i + 2
    if word == "two":
        named = c.word(i + 1) == "thousands" and c.word(i - 1) == "the"
        return (unit_at(datetime(2000, 1, 1), "decade"), i + 2) if named else None
    if word in w.DECADES:
        if w.DECADES[word] == 0:
            return (
                (unit_at(datetime(2000, 1, 1), "decade"), i + 1) if c.word(i - 1) == "the" else None
            )
        in_context = c.word(i - 1) == "the" or c.word(i - 1) in {"early", "late", "mid", "-"}
        return (_decade_of(w.DECADES[word]), i + 1) if in_context else None
    j = i + 1 if word in {"'", "’", "‘"} and c.glued(i + 1) else i
    value, digits = c.number(j, 4), c.digits(j)
    k = j + 2 if c.word(j + 1) in {"'", "’"} else j + 1
    apart = k == j + 1 and digits == 4 and c.word(j - 1) in {"in", "the", "of", "during"}
    if value is None or value % 10 or c.word(k) != "s" or not (c.glued(k) or apart):
        return None
    if digits == 4 and 1000 <= value < 2200:
        size = "century" if value % 100 == 0 and value < 2000 else "decade"
        return unit_at(datetime(value, 1, 1), size), k + 1
    marked = c.word(j - 1) in {"the", "early", "late", "mid", "'", "’", "‘", "-"}
    if digits == 2 and marked and c.word(j - 2) not in {"in"} | {"his", "her", "their", "my"}:
        return _decade_of(value), k + 1
    if digits == 2 and c.word(j - 2) == "in" and c.word(j - 1) == "the" and value >= 20:
        return _decade_of(value), k + 1
    return None


def _decade_of(two_digits: int) -> Interval:
    return unit_at(datetime((2000 if two_digits < 30 else 1900) + two_digits, 1, 1), "decade")


def season(c: Context, i: int) -> Found | None:
    """Read "summer 2020", "the summer of 2020", "in the spring", "this winter" without "this"."""
    first = w.SEASONS.get(c.word(i))
    if first is None:
        return None
    dated = year_after(c, i + 1)
    if dated:
        return season_at(dated[0], first), dated[1]
    both = c.number(i + 1, 4) or 0
    short = c.number(i + 3, 4) or 0
    paired = c.word(i + 2) in {"/", "-"} and c.glued(i + 3) and c.digits(i + 3) in {2, 4}
    if paired and 1900 <= both < 2100 and (both + 1) % 100 == short % 100:
        return season_at(both, first), i + 4
    if (c.word(i + 1), c.word(i + 2)) == ("before", "last") and c.word(i - 1) == "the":
        over = [o for o in (season_at(y, first) for y in near_years(c)) if o.end <= c.now]
        return (season_at(over[-1].start.year - 1, first), i + 3) if over else None
    openers = {"in", "since", "during", "over", "early", "late", "until", "by", "throughout"}
    if c.before(i) not in openers | {"whole", "all"}:
        return None
    if c.word(i) in {"fall", "spring"} and c.before(i) == "by":
        return None
    options = [season_at(year, first) for year in near_years(c)]
    best = choose(options, c.now, c.bias(i))
    return (best, i + 1) if best else None


_NEW_YEAR = w.DAY_DATING | {"to", "and", "at", "through", "-"}


def holiday(c: Context, i: int) -> Found | None:
    """Read "Christmas Eve", "Halloween 2022", "last Thanksgiving" without "last"."""
    named = holiday_name(c, i)
    if named is None:
        return None
    name, j = named
    if name[-1] in {"s", "year"} and c.word(j).isalpha() and c.word(j) not in w.AFTER_DAY:
        return None  # "New Year's resolution"
    if is_adjunct(c, i, j) and c.word(j) != "weekend":
        return None  # "Easter eggs"
    if name == ("new", "year") and c.before(i) not in _NEW_YEAR and c.digits(j) != 4:
        return None
    rule = c.holidays[name]
    weekend = c.word(j) == "weekend"
    j = j + 1 if weekend else j
    k = j + 1 if c.word(j) == "of" else j
    if (c.word(j), c.word(j + 1)) == ("before", "last") and c.word(i - 1) == "the":
        over = [d for d in (day_at(rule(y)) for y in near_years(c)) if d.end <= c.now]
        return (day_at(rule(over[-1].start.year - 1)), j + 2) if over else None
    dated = year_after(c, j)
    step = _YEAR_STEPS.get(c.word(k)) if k > j or c.word(k) != "the" else None
    if dated:
        day, j = day_at(rule(dated[0])), dated[1]
    elif step is not None and c.word(k + 1) == "year" and c.word(k) != "the":
        day, j = day_at(rule(c.now.year + step)), k + 2
    else:
        best = choose([day_at(rule(year)) for year in near_years(c)], c.now, c.bias(i))
        if best is None:
            return None
        day = best
    if weekend or c.word(j) == "weekend":
        return _weekend_of(day), j + (not weekend)
    return day, j


def is_adjunct(c: Context, i: int, j: int) -> bool:
    """Whether a day's name at tokens `i` to `j` only says of what kind the next word is."""
    word = c.word(j)
    if (
        not word.isalpha()
        or word in w.AFTER_DAY
        or word in w.NUMBERS
        or c.before(i) in w.DAY_DATING | {"at", "over"}
    ):
        return False
    return word not in w.DAY_PARTS | w.SEASONS and word not in w.LAST | w.NEXT | w.THIS


def _weekend_of(day: Interval) -> Interval:
    """Return the weekend nearest to a holiday; a Monday or a Friday makes it a long one.

    That of a Monday or Tuesday is the one before, that of another day the one after.
    """
    back = shift(day.start, -3 if day.start.weekday() < 2 else 0, "day")
    found = unit_at(back, "weekend")
    return (
        Interval(min(found.start, day.start), max(found.end, day.end), found.precision)
        if (day.start.weekday() in {0, 4})
        else found
    )


def century(c: Context, i: int) -> Found | None:
    """Read "the 15th century", "nineteenth century"."""
    spelled = ordinal(c, i)
    if spelled is None or not spelled[2] or c.word(spelled[1]) != "century":
        return None
    return unit_at(datetime(max(100 * (spelled[0] - 1), 1), 1, 1), "century"), spelled[1] + 1


def holiday_name(c: Context, i: int) -> tuple[tuple[str, ...], int] | None:
    """Return the longest holiday named at token `i` and the token after it."""
    name: list[str] = []
    best = None
    j = i
    while len(name) < LONGEST_HOLIDAY and c.word(j):
        if c.word(j) not in {"'", "’"} and not (c.word(j) == "." and name == ["st"]):
            name.append(c.word(j))
            if tuple(name) in c.holidays:
                best = (tuple(name), j + 1)
        j += 1
    return best
