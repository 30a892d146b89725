"""Times by how far they are from another: "two hours before noon", "30 minutes after 5 pm"."""

from __future__ import annotations

from .context import Context, ReadDate
from .counts import quantities, shift_all
from .intervals import CLOCK_UNITS, Found, Interval, precision_of, shift
from .ranges import CLOCK


def offset(c: Context, i: int, read: ReadDate) -> Found | None:
    """Read a count of hours or minutes before or after a time, which `read` reads."""
    first = quantities(c, i)
    if (
        first is None
        or first[0][-1].unit not in CLOCK_UNITS
        or first[0][0].most > first[0][0].least
    ):
        return None
    parts, j = first
    sign = {"before": -1, "prior": -1, "after": 1, "following": 1}.get(c.word(j))
    if sign is None:
        return None
    k = j + 2 if c.word(j) == "prior" and c.word(j + 1) == "to" else j + 1
    anchor = read(c, k)
    if anchor is None or anchor[0].precision not in CLOCK or anchor[0].part:
        return None
    start = shift_all(anchor[0].start, parts, sign)
    unit = parts[-1].unit
    finer = min(anchor[0].precision, precision_of(unit), key=list(CLOCK_ORDER).index)
    return Interval(start, shift(start, 1, finer.value), finer), anchor[1]


CLOCK_ORDER = tuple(precision_of(unit) for unit in ("second", "minute", "hour"))
