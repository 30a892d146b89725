"""Makes the function that finds the dates of a text, from what the settings say."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta, timezone

from ...nouns.clock import from_us
from ..types import DateSpan
from . import find_dates

DateFinder = Callable[[str, int, int | None], list[DateSpan]]
"""Called with a text, when it was said in microseconds, and the zone's offset in minutes."""


def date_finder(languages: tuple[str, ...], country: str = "US") -> DateFinder:
    """Return a function that finds the dates of a text said at a time, in a zone's offset."""

    def find(text: str, reference: int, offset_min: int | None) -> list[DateSpan]:
        zone = timezone(timedelta(minutes=offset_min or 0))
        said = from_us(reference).astimezone(zone)
        return find_dates(text, said, languages=languages, country=country)

    return find
