"""Holidays by name, by country: a data table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from . import feasts
from .holiday_rules import (
    Rule,
    after_easter,
    election_day,
    fixed,
    french_mothers_day,
    monday_by,
    nth,
)

# Names as tokens in lower case, apostrophes left out; the longest that fits is taken.
HOLIDAYS: Final[dict[tuple[str, ...], Rule]] = {
    ("christmas",): fixed(12, 25),
    ("xmas",): fixed(12, 25),
    ("christmas", "day"): fixed(12, 25),
    ("christmas", "eve"): fixed(12, 24),
    ("boxing", "day"): fixed(12, 26),
    ("new", "year", "s"): fixed(1, 1),
    ("new", "years"): fixed(1, 1),
    ("new", "year", "s", "day"): fixed(1, 1),
    ("new", "years", "day"): fixed(1, 1),
    ("new", "year", "s", "eve"): fixed(12, 31),
    ("new", "years", "eve"): fixed(12, 31),
    ("new", "year", "eve"): fixed(12, 31),
    ("new", "year"): fixed(1, 1),
    ("nye",): fixed(12, 31),
    ("valentine", "s", "day"): fixed(2, 14),
    ("valentines", "day"): fixed(2, 14),
    ("valentine", "s"): fixed(2, 14),
    ("st", "patrick", "s", "day"): fixed(3, 17),
    ("st", "patricks", "day"): fixed(3, 17),
    ("april", "fools", "day"): fixed(4, 1),
    ("april", "fool", "s", "day"): fixed(4, 1),
    ("april", "fools"): fixed(4, 1),
    ("earth", "day"): fixed(4, 22),
    ("cinco", "de", "mayo"): fixed(5, 5),
    ("juneteenth",): fixed(6, 19),
    ("independence", "day"): fixed(7, 4),
    ("international", "workers", "day"): fixed(5, 1),
    ("may", "day"): fixed(5, 1),
    ("women", "s", "day"): fixed(3, 8),
    ("international", "women", "s", "day"): fixed(3, 8),
    ("all", "saints", "day"): fixed(11, 1),
    ("palm", "sunday"): after_easter(-7),
    ("halloween",): fixed(10, 31),
    ("veterans", "day"): fixed(11, 11),
    ("good", "friday"): after_easter(-2),
    ("easter",): after_easter(0),
    ("easter", "sunday"): after_easter(0),
    ("easter", "monday"): after_easter(1),
    ("ash", "wednesday"): after_easter(-46),
    ("mother", "s", "day"): nth(5, 6, 2),
    ("mothers", "day"): nth(5, 6, 2),
    ("father", "s", "day"): nth(6, 6, 3),
    ("fathers", "day"): nth(6, 6, 3),
    ("memorial", "day"): nth(5, 0, -1),
    ("labor", "day"): nth(9, 0, 1),
    ("labour", "day"): nth(9, 0, 1),
    ("columbus", "day"): nth(10, 0, 2),
    ("thanksgiving",): nth(11, 3, 4),
    ("thanksgiving", "day"): nth(11, 3, 4),
    ("black", "friday"): nth(11, 3, 4, 1),
    ("cyber", "monday"): nth(11, 3, 4, 4),
}


def _named(rules: dict[str, Rule]) -> dict[tuple[str, ...], Rule]:
    """Key rules by the words of their names, once with "'s" and once without the apostrophe."""
    found = {}
    for name, rule in rules.items():
        found[tuple(name.replace("'", " ").split())] = rule
        found[tuple(name.replace("'", "").split())] = rule
    return found


_MORE = {
    "saint patrick's day": fixed(3, 17),
    "st paddy's day": fixed(3, 17),
    "saint valentine's day": fixed(2, 14),
    "st valentine's day": fixed(2, 14),
    "new year day": fixed(1, 1),
    "xmas day": fixed(12, 25),
    "xmas eve": fixed(12, 24),
    "epiphany": fixed(1, 6),
    "twelfth night": fixed(1, 5),
    "candlemas": fixed(2, 2),
    "pi day": fixed(3, 14),
    "fools' day": fixed(4, 1),
    "flag day": fixed(6, 14),
    "singles day": fixed(11, 11),
    "single's day": fixed(11, 11),
    "men's day": fixed(11, 19),
    "international men's day": fixed(11, 19),
    "workers' day": fixed(5, 1),
    "international labour day": fixed(5, 1),
    "all souls' day": fixed(11, 2),
    "all hallows' day": fixed(11, 1),
    "all hallows' eve": fixed(10, 31),
    "all hallow's eve": fixed(10, 31),
    "all saint's day": fixed(11, 1),
    "all soul's day": fixed(11, 2),
    "day of the dead": fixed(11, 2),
    "remembrance day": fixed(11, 11),
    "armistice day": fixed(11, 11),
    "veteran's day": fixed(11, 11),
    "human rights day": fixed(12, 10),
    "st stephen's day": fixed(12, 26),
    "saint stephen's day": fixed(12, 26),
    "kwanzaa": fixed(12, 26),
    "hogmanay": fixed(12, 31),
    "inauguration day": fixed(1, 20),
    "lincoln's birthday": fixed(2, 12),
    "washington's birthday": nth(2, 0, 3),
    "president's day": nth(2, 0, 3),
    "martin luther king jr day": nth(1, 0, 3),
    "martin luther king junior day": nth(1, 0, 3),
    "mlk jr day": nth(1, 0, 3),
    "mlk's birthday": fixed(1, 15),
    "indigenous peoples' day": nth(10, 0, 2),
    "arbor day": nth(4, 4, -1),
    "election day": election_day,
    "giving tuesday": nth(11, 3, 4, 5),
    "thanks giving": nth(11, 3, 4),
    "thanks giving day": nth(11, 3, 4),
    "mardi gras": after_easter(-47),
    "fat tuesday": after_easter(-47),
    "shrove tuesday": after_easter(-47),
    "pancake day": after_easter(-47),
    "rose monday": after_easter(-48),
    "maundy thursday": after_easter(-3),
    "holy thursday": after_easter(-3),
    "holy saturday": after_easter(-1),
    "easter saturday": after_easter(-1),
    "easter day": after_easter(0),
    "easter friday": after_easter(-2),
    "ascension day": after_easter(39),
    "pentecost": after_easter(49),
    "whitsun": after_easter(49),
    "whit sunday": after_easter(49),
    "whit monday": after_easter(50),
    "trinity sunday": after_easter(56),
    "corpus christi": after_easter(60),
    "assumption day": fixed(8, 15),
    "rosh hashanah": feasts.rosh_hashanah,
    "rosh hashana": feasts.rosh_hashanah,
    "yom kippur": feasts.yom_kippur,
    "sukkot": feasts.sukkot,
    "hanukkah": feasts.hanukkah,
    "chanukah": feasts.hanukkah,
    "hanukah": feasts.hanukkah,
    "purim": feasts.purim,
    "passover": feasts.passover,
    "pesach": feasts.passover,
    "shavuot": feasts.shavuot,
    "eid al fitr": feasts.eid_al_fitr,
    "eid al - fitr": feasts.eid_al_fitr,
    "eid ul fitr": feasts.eid_al_fitr,
    "eid al adha": feasts.eid_al_adha,
    "eid al - adha": feasts.eid_al_adha,
    "chinese new year": feasts.lunar_new_year,
    "chinese new year's day": feasts.lunar_new_year,
    "lunar new year": feasts.lunar_new_year,
    "australia day": fixed(1, 26),
    "anzac day": fixed(4, 25),
    "canada day": fixed(7, 1),
    "bastille day": fixed(7, 14),
    "guy fawkes day": fixed(11, 5),
    "guy fawkes night": fixed(11, 5),
    "bonfire night": fixed(11, 5),
    "burns night": fixed(1, 25),
    "st andrew's day": fixed(11, 30),
    "st george's day": fixed(4, 23),
    "st david's day": fixed(3, 1),
    "st nicholas' day": fixed(12, 6),
    "st nicholas day": fixed(12, 6),
    "german unity day": fixed(10, 3),
}
HOLIDAYS.update(_named(_MORE))


# What is kept in one country alone, or on another day there than in `HOLIDAYS` (the US's, and what
# many keep). Countries by ISO 3166-1 code.
_US = _named(
    {
        "martin luther king day": nth(1, 0, 3),
        "mlk day": nth(1, 0, 3),
        "presidents' day": nth(2, 0, 3),
        "groundhog day": fixed(2, 2),
    }
)
_GB = _named(
    {
        "mother's day": after_easter(-21),
        "mothering sunday": after_easter(-21),
        "shrove tuesday": after_easter(-47),
        "pancake day": after_easter(-47),
        "bonfire night": fixed(11, 5),
        "guy fawkes night": fixed(11, 5),
        "guy fawkes day": fixed(11, 5),
        "burns night": fixed(1, 25),
        "st andrew's day": fixed(11, 30),
        "st george's day": fixed(4, 23),
        "remembrance sunday": nth(11, 6, 2),
        "remembrance day": fixed(11, 11),
        "labour day": fixed(5, 1),
        "labor day": fixed(5, 1),
    }
)
_CA = _named(
    {
        "thanksgiving": nth(10, 0, 2),
        "thanksgiving day": nth(10, 0, 2),
        "canada day": fixed(7, 1),
        "family day": nth(2, 0, 3),
        "victoria day": monday_by(5, 24),
        "remembrance day": fixed(11, 11),
    }
)
_AU = _named(
    {
        "australia day": fixed(1, 26),
        "anzac day": fixed(4, 25),
        "father's day": nth(9, 6, 1),
        "remembrance day": fixed(11, 11),
    }
)
_IE = _named({"mother's day": after_easter(-21), "st brigid's day": fixed(2, 1)})
_DE = _named(
    {
        "father's day": after_easter(39),
        "labour day": fixed(5, 1),
        "labor day": fixed(5, 1),
        "german unity day": fixed(10, 3),
        "ascension day": after_easter(39),
        "whit sunday": after_easter(49),
        "whit monday": after_easter(50),
        "corpus christi": after_easter(60),
        "epiphany": fixed(1, 6),
        "st nicholas day": fixed(12, 6),
    }
)


_FR = _named(
    {
        "mother's day": french_mothers_day,
        "labour day": fixed(5, 1),
        "labor day": fixed(5, 1),
        "bastille day": fixed(7, 14),
        "ascension day": after_easter(39),
        "whit monday": after_easter(50),
        "assumption day": fixed(8, 15),
        "armistice day": fixed(11, 11),
    }
)
_IN = _named(
    {
        "independence day": fixed(8, 15),
        "republic day": fixed(1, 26),
        "gandhi jayanti": fixed(10, 2),
        "labour day": fixed(5, 1),
    }
)


_OF: Final = {
    "US": _US,
    "GB": _GB,
    "CA": _CA,
    "AU": _AU,
    "NZ": _AU,
    "IE": _IE,
    "DE": _DE,
    "AT": _DE,
    "CH": _DE,
    "FR": _FR,
    "IN": _IN,
}
DEFAULT_COUNTRY: Final = "US"
COUNTRIES: Final = frozenset(_OF)


@lru_cache(maxsize=64)
def holidays_of(country: str) -> Mapping[tuple[str, ...], Rule]:
    """Return the holidays of a country by the words of their names; an unknown one has the US's."""
    return {**HOLIDAYS, **_OF.get(country.upper(), _US)}


_EVERY: Final = {name for rules in (HOLIDAYS, *_OF.values()) for name in rules}
HOLIDAY_STARTS: Final = frozenset(name[0] for name in _EVERY)
LONGEST_HOLIDAY: Final = max(len(name) for name in _EVERY)
