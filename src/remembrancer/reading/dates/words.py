"""The words that name dates in English: a data table, nothing else."""

from __future__ import annotations

from typing import Final


def _row(names: str, first: int = 0) -> dict[str, int]:
    """Number the words of a row; spellings of one thing are parted by a slash."""
    return {
        spelling: place
        for place, word in enumerate(names.split(), first)
        for spelling in word.split("/")
    }


MONTHS: Final = _row(
    "january/jan/januray/janurary/janaury february/feb/febuary/feburary/febraury march/mar "
    "april/apr may june/jun july/jul august/aug/agust september/sept/sep/septmber/setember "
    "october/oct/ocotber november/nov/novemeber/novmber december/dec/decmber/decemeber",
    1,
)
# Months that are no other word and no first name: a date even when they stand alone.
PLAIN_MONTHS: Final = frozenset(
    {"january", "february", "july", "september", "october", "november", "december"}
)
NAME_MONTHS: Final = frozenset({"april", "may", "june", "august"})
# Months that are common words in lower case.
VERB_MONTHS: Final = frozenset({"may", "march", "mar"})

WEEKDAYS: Final = _row(
    "monday/mon/mondy tuesday/tues/tue/tuseday/teusday/tuesdy "
    "wednesday/weds/wed/wendesday/wednsday/wensday/wendsday/wedensday "
    "thursday/thurs/thur/thu/thrusday/thurday/thusday friday/fri/firday/fridy "
    "saturday/sat/saterday/satruday/satuday sunday/sun/sundy"
)
FULL_WEEKDAYS: Final = frozenset(w for w in WEEKDAYS if w.endswith("day"))
PLURAL_WEEKDAYS: Final[dict[str, int]] = {w + "s": WEEKDAYS[w] for w in FULL_WEEKDAYS}
# Abbreviations that are nothing else, in small letters, too.
CLEAR_WEEKDAYS: Final = frozenset({"tues", "weds", "thurs"})
# Abbreviations that are words, or names, of their own.
WORD_WEEKDAYS: Final = frozenset({"mon", "wed", "sat", "sun"})

# Unit name by every spelling. "night" counts as a day, "fortnight" as two weeks.
UNITS: Final[dict[str, str]] = {
    **dict.fromkeys(("second", "seconds", "sec", "secs"), "second"),
    **dict.fromkeys(("minute", "minutes", "min", "mins"), "minute"),
    **dict.fromkeys(("hour", "hours", "hr", "hrs"), "hour"),
    **dict.fromkeys(("day", "days", "night", "nights"), "day"),
    **dict.fromkeys(("week", "weeks", "wk", "wks"), "week"),
    **dict.fromkeys(("fortnight", "fortnights"), "fortnight"),
    **dict.fromkeys(("weekend", "weekends", "wkend", "wknd"), "weekend"),
    **dict.fromkeys(("month", "months", "mth", "mths", "mos"), "month"),
    **dict.fromkeys(("quarter", "quarters"), "quarter"),
    **dict.fromkeys(("year", "years", "yr", "yrs"), "year"),
    **dict.fromkeys(("decade", "decades"), "decade"),
    **dict.fromkeys(("century", "centuries"), "century"),
}

# Units by letters that are units only right behind a number: "5d ago", "3mo from now".
SHORT_UNITS: Final = {
    **dict.fromkeys(("s", "sec"), "second"),
    **dict.fromkeys(("m", "min"), "minute"),
    "h": "hour",
    "d": "day",
    "w": "week",
    "mo": "month",
    "mos": "month",
    "y": "year",
}

SEASONS: Final = {  # first month (meteorological, northern)
    **dict.fromkeys(("spring", "springtime"), 3),
    **dict.fromkeys(("summer", "summertime"), 6),
    **dict.fromkeys(("autumn", "fall"), 9),
    **dict.fromkeys(("winter", "wintertime"), 12),
}
SEASON_PLURALS: Final[dict[str, int]] = {"springs": 3, "summers": 6, "autumns": 9, "winters": 12}

# Parts of a day: first and last hour. A night ends with its own day, so that the day is kept.
DAY_PARTS: Final[dict[str, tuple[int, int]]] = {
    "morning": (6, 12),
    "afternoon": (12, 18),
    "evening": (17, 22),
    "night": (20, 24),
    "lunchtime": (11, 14),
}
# Other names of these parts; of two words where the second is "time", with or without a space.
PART_NAMES: Final = {
    **dict.fromkeys(("dinnertime", "suppertime", "dinner time", "supper time"), "evening"),
    **dict.fromkeys(("breakfast time", "breakfasttime", "brunch time", "forenoon"), "morning"),
    **dict.fromkeys(("nighttime", "night time"), "night"),
    **dict.fromkeys(("lunch time", "noontime", "noon time"), "lunchtime"),
}
# The hours of the day when it is light or when offices are open.
WORKING_HOURS: Final = (8, 18)

NUMBERS: Final = _row(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen",
    1,
)
TENS: Final = {
    word: tens * 10
    for word, tens in _row("twenty thirty forty fifty sixty seventy eighty ninety", 2).items()
}
ORDINALS: Final = _row(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth",
    1,
) | {"thirtieth": 30}
DECADES: Final = {"noughties": 0, "aughts": 0} | {
    word: tens * 10
    for word, tens in _row(
        "twenties thirties forties fifties sixties seventies eighties nineties", 2
    ).items()
}
# Counts that are not exact: the least and the most they may mean.
VAGUE: Final[dict[str, tuple[int, int]]] = {"couple": (2, 3), "few": (2, 5), "several": (3, 7)}

# Zones by abbreviation, in minutes east of UTC.
ZONES: Final = {
    **dict.fromkeys(("utc", "gmt"), 0),
    **{zone + "st": 60 * hours for zone, hours in zip("ecmp", (-5, -6, -7, -8), strict=True)},
    **{zone + "dt": 60 * hours for zone, hours in zip("ecmp", (-4, -5, -6, -7), strict=True)},
    **dict.fromkeys(("cet",), 60),
    **dict.fromkeys(("cest",), 120),
}

DAY_WORDS: Final = {  # days from today
    "today": 0,
    "yesterday": -1,
    **dict.fromkeys(("yday", "yesteday", "yesturday", "yestarday"), -1),
    **dict.fromkeys(("tomorrow", "tmrw", "tmr", "tmw", "tomorow", "tommorow", "tommorrow"), 1),
    **dict.fromkeys(("tomorro", "tomorrw"), 1),
}
TONIGHT: Final = frozenset({"tonight", "tonite", "tonigth", "tonigt"})

LAST: Final = frozenset({"last", "previous", "past", "preceding"})
NEXT: Final = frozenset({"next", "nxt", "coming", "upcoming", "following"})
THIS: Final = frozenset({"this", "current"})

EARLY: Final = frozenset({"early", "beginning", "start", "first"})
MIDDLE: Final = frozenset({"mid", "middle", "halfway"})
# Nouns for a place in a period: as the end of a range each is one point of it.
EDGES: Final = {"beginning": "start", "start": "start", "end": "end", "middle": "mid"}
LATE: Final = frozenset({"late", "end"})

# A year, a month or a season that stands alone is a date after one of these only.
DATING: Final = frozenset(
    {"in", "since", "during", "until", "till", "til", "by", "before", "after", "around", "circa"}
    | {"from", "of", "throughout", "through", "to", "between", "mid", "early", "late", "year"}
    | {"on", "over", "for", "back", "this", "last", "next", "past", "and", "or", "about"}
)
YEAR_DATING: Final = frozenset(
    {"in", "since", "during", "until", "till", "til", "by", "before", "after", "around", "circa"}
    | {"throughout", "mid", "early", "late", "year", "thru"}
)
DAY_DATING: Final = frozenset(
    {"on", "by", "since", "until", "till", "til", "before", "after", "from", "for", "due", "around"}
)
# Measures: what stands before one of these is a count, not a year or a day.
MEASURES: Final = frozenset(
    {"people", "men", "women", "children", "dollars", "euros", "pounds", "bucks", "percent"}
    | {"feet", "ft", "km", "kg", "lbs", "m", "mm", "cm", "mi", "meters", "metres", "kcal"}
    | {"rpm", "mb", "gb", "ms", "usd", "eur", "psi", "hz", "mhz", "k", "million", "billion"}
    | {"thousand", "hundred", "degrees", "points", "years", "miles", "times", "words", "tokens"}
)
# Words in -s that may follow a date; any other plural after a number makes it a count.
NOT_PLURAL: Final = frozenset(
    {
        "onwards",
        "afterwards",
        "was",
        "is",
        "has",
        "does",
        "this",
        "his",
        "as",
        "us",
        "its",
        "yes",
        "plus",
        "across",
    }
    | {"perhaps", "always", "sometimes", "besides", "unless", "thus", "towards", "happens"}
    | {"starts", "ends", "comes", "goes", "works", "means", "seems", "marks", "s", "brings"}
)
# What makes "last" a verb: "it will last three weeks".
VERB_BEFORE: Final = frozenset(
    {"will", "ll", "to", "can", "could", "may", "might", "would", "should", "must", "t", "not"}
    | {"did", "does", "do", "usually", "often"}
)
REPEATS: Final = frozenset(
    {"every", "each", "daily", "everyday", "weekly", "nightly", "monthly", "yearly", "annually"}
)
# What may follow "the 7th" when it is a day of the month.
AFTER_DAY: Final = frozenset(
    {"", "at", "in", "and", "or", "to", "for", "with", "from", "we", "i", "he", "she", "they"}
    | {"it", "was", "is", "if", "when", "but", "because", "please", "until", "till", "of", "you"}
    | {"will", "so", "as", "through", "because", "then", "after", "before", "my", "our", "the"}
    | {"around", "about", "by", "instead", "too", "also", "this", "next", "last", "there"}
)
