"""Dates in languages that have no table of ours: what dateparser is trusted with, what it is not.

The reference is Wednesday, 10 May 2023, 15:30 UTC unless a test says otherwise.
"""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.nouns.clock import from_us, to_us
from remembrancer.reading.dates import find_dates
from remembrancer.reading.dates.other import MAX_SEARCHED
from remembrancer.reading.types import DateSpan

NOW = datetime(2023, 5, 10, 15, 30, tzinfo=UTC)


def _spell(found: DateSpan, text: str) -> str:
    def moment(us: int) -> str:
        return from_us(us).strftime("%Y-%m-%dT%H:%M").removesuffix("T00:00")

    words = text[found.span.start : found.span.end]
    return f"{words} | {moment(found.start)} {moment(found.end)} {found.precision}"


DATED = [
    ("pl", "Spotkaliśmy się wczoraj.", "wczoraj | 2023-05-09 2023-05-10 day"),
    (
        "pl",
        "Spotkanie jest jutro o 15:00.",
        "jutro o 15:00 | 2023-05-11T15:00 2023-05-11T15:01 minute",
    ),
    ("pl", "Urodziłem się 7 maja 1990 roku.", "7 maja 1990 | 1990-05-07 1990-05-08 day"),
    ("pl", "Kupiłem dom w maju 2019.", "w maju 2019 | 2019-05-01 2019-06-01 month"),
    ("pl", "Przeprowadziłem się w 2019 roku", "w 2019 roku | 2019-01-01 2020-01-01 year"),
    ("pl", "3 dni temu byliśmy w kinie", "3 dni temu | 2023-05-07 2023-05-08 day"),
    (
        "pl",
        "zadzwoniła 3 godziny temu",
        "3 godziny temu | 2023-05-10T12:30 2023-05-10T13:30 hour",
    ),
    ("pl", "w piątek padało", "w piątek | 2023-05-05 2023-05-06 day"),
    ("pl", "wyjechał 28 grudnia", "28 grudnia | 2022-12-28 2022-12-29 day"),
    ("pl", "termin: 12.05.2023", "12.05.2023 | 2023-05-12 2023-05-13 day"),
    ("ru", "Вчера мы встретились.", "Вчера | 2023-05-09 2023-05-10 day"),
    (
        "ru",
        "Встреча завтра в 15:00.",
        "завтра в 15:00 | 2023-05-11T15:00 2023-05-11T15:01 minute",
    ),
    ("ru", "Я родился 7 мая 1990 года.", "7 мая 1990 года | 1990-05-07 1990-05-08 day"),
    ("ru", "Две недели назад", "Две недели назад | 2023-04-24 2023-05-01 week"),
    ("ru", "переехали в 2019 году", "в 2019 году | 2019-01-01 2020-01-01 year"),
    ("ja", "昨日会いました。", "昨日 | 2023-05-09 2023-05-10 day"),
    (
        "ja",
        "明日の15:00に会議があります。",
        "明日の15:00 | 2023-05-11T15:00 2023-05-11T15:01 minute",
    ),
    ("ja", "午後3時に", "午後3時 | 2023-05-10T15:00 2023-05-10T16:00 hour"),
    ("ja", "1990年5月7日に生まれました。", "1990年5月7日 | 1990-05-07 1990-05-08 day"),
    ("ja", "2019年5月に家を買いました。", "2019年5月 | 2019-05-01 2019-06-01 month"),
    ("ja", "来週会いましょう", "来週 | 2023-05-15 2023-05-22 week"),
    ("sv", "Vi träffades igår.", "igår | 2023-05-09 2023-05-10 day"),
    (
        "sv",
        "Mötet är imorgon kl 15:00.",
        "imorgon kl 15:00 | 2023-05-11T15:00 2023-05-11T15:01 minute",
    ),
    ("sv", "Jag föddes den 7 maj 1990.", "den 7 maj 1990 | 1990-05-07 1990-05-08 day"),
    ("sv", "Vi köpte huset i maj 2019.", "maj 2019 | 2019-05-01 2019-06-01 month"),
    ("sv", "han ringde förra veckan", "förra veckan | 2023-05-01 2023-05-08 week"),
    ("tr", "7 Mayıs 1990'da doğdum", "7 Mayıs 1990 | 1990-05-07 1990-05-08 day"),
    ("ro", "Ne-am mutat în mai", "în mai | 2023-05-01 2023-06-01 month"),
]


@pytest.mark.parametrize(("language", "text", "expected"), DATED)
def test_dates(language: str, text: str, expected: str) -> None:
    assert [_spell(f, text) for f in find_dates(text, NOW, languages=[language])] == [expected]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("pl", "Spotkaliśmy się w kinie."),  # without its accent, "sie" is August
        ("pl", "Mam 25 lat."),
        ("pl", "Mam 3 koty i 2 psy."),
        ("pl", "To kosztuje 2019 zł."),
        ("pl", "wersja 1.2.3, adres 192.168.12.05"),
        ("ru", "Мне 25 лет, у меня 3 кота."),
        ("ru", "Я сейчас дома."),
        ("ja", "猫が3匹います。私は25歳です。"),
        ("sv", "Jag är 25 år och har 2019 kronor."),
        ("ro", "Vreau mai mult."),
        ("pl", ""),
    ],
)
def test_no_date(language: str, text: str) -> None:
    assert find_dates(text, NOW, languages=[language]) == []


@pytest.mark.parametrize("code", ["xx", "", "PL", "pt-BR", "../pl", "tlh"])
def test_an_unknown_code_is_passed_over(code: str) -> None:
    text = "wczoraj, 12.05.2023"
    assert find_dates(text, NOW, languages=[code]) == []
    both = find_dates(text, NOW, languages=[code, "pl"])
    assert both == find_dates(text, NOW, languages=["pl"])
    assert len(both) == 2


@pytest.mark.parametrize("language", ["pl", "ru", "ja", "sv", "vi", "hu"])
@pytest.mark.parametrize(
    "text",
    [
        "9" * 390,
        "9" * 5_000,
        f"{'9' * 30} dni temu",
        "za 99999999999999999999 dni",
        "через 999999999 лет",
        "99999999999年前",
        "om 99999999999999 veckor",
        "99.99.9999 25:61 00.00.0000",
    ],
)
def test_huge_numbers_are_no_dates(language: str, text: str) -> None:
    assert find_dates(text, NOW, languages=[language]) == []


def test_a_language_that_is_not_named_is_not_read() -> None:
    assert find_dates("wczoraj 昨日 igår вчера", NOW) == []
    assert find_dates("вчера", NOW, languages=["en", "pl"]) == []


def test_own_rules_come_first_and_others_fill_the_gaps() -> None:
    text = "yesterday, wczoraj, hier, 12.05.2023"
    found = find_dates(text, NOW, languages=["en", "pl", "fr"])
    words = [text[f.span.start : f.span.end] for f in found]
    assert words == ["yesterday", "wczoraj", "hier", "12.05.2023"]
    own = find_dates(text, NOW, languages=["en", "fr"])
    assert [f for f in found if f in own] == own


@pytest.mark.parametrize(
    ("prefer", "weekday", "day"),
    [("past", "05-05", "2022-12-28"), ("future", "05-12", "2023-12-28")],
)
def test_preference(prefer: str, weekday: str, day: str) -> None:
    friday, december = find_dates(
        "w piątek\n28 grudnia",
        NOW,
        languages=["pl"],
        prefer=prefer,  # type: ignore[arg-type]
    )
    assert f"{from_us(friday.start):%m-%d}" == weekday
    assert f"{from_us(december.start):%Y-%m-%d}" == day


def test_the_zone_is_that_of_the_reference() -> None:
    tokyo = ZoneInfo("Asia/Tokyo")
    (day,) = find_dates("昨日", datetime(2023, 5, 10, 0, 30, tzinfo=tokyo), languages=["ja"])
    assert day.start == to_us(datetime(2023, 5, 9, tzinfo=tokyo))
    assert day.end == to_us(datetime(2023, 5, 10, tzinfo=tokyo))
    # A zone that the text names is the one that counts.
    (clock,) = find_dates("jutro o 15:00 CET", NOW.astimezone(tokyo), languages=["pl"])
    assert clock.start == to_us(datetime(2023, 5, 12, 14, tzinfo=UTC))


def test_hours_are_counted_in_elapsed_time() -> None:
    # The clocks of Warsaw went from 2:00 to 3:00 on 26 March 2023.
    warsaw = datetime(2023, 3, 26, 4, 30, tzinfo=ZoneInfo("Europe/Warsaw"))
    (found,) = find_dates("3 godziny temu", warsaw, languages=["pl"])
    assert to_us(warsaw) - found.start == 3 * 3_600_000_000


def test_only_the_beginning_of_a_long_text_is_searched() -> None:
    line = "Byłem tam wczoraj i wrócę jutro.\n"
    found = find_dates(line * 3_000, NOW, languages=["pl"])
    sentence = len(line) - 2  # neither its full stop nor the line break
    assert len(found) == 2 * (MAX_SEARCHED // sentence)
    # What cannot hold a date does not count.
    far = "Nic tu nie ma.\n" * 3_000 + "wczoraj"
    assert [far[f.span.start : f.span.end] for f in find_dates(far, NOW, languages=["pl"])] == [
        "wczoraj"
    ]


WORDS = (
    "wczoraj jutro za dni temu tygodnie maja 2019 roku w piątek o 15:00 7 31 29 lutego 30.02.2023 "
    "вчера через 3 года назад мая в 2019 году 昨日 3日前 1990年5月7日 午後3時 来週 igår om veckor "
    "fredag kl 9999 99999999999 - / : . , ( ) ' \n się nie"
).split(" ")


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join) | st.text(max_size=60),
    st.datetimes(timezones=st.sampled_from(["UTC", "Pacific/Apia", "Asia/Tokyo"]).map(ZoneInfo)),
    st.sampled_from([("pl",), ("ru", "en"), ("ja", "xx"), ("sv", "fr", "pl")]),
    st.sampled_from(["past", "future", "nearest"]),
)
def test_any_text(text, reference, languages, prefer) -> None:
    found = find_dates(text, reference, languages=languages, prefer=prefer)
    assert found == find_dates(text, reference, languages=languages, prefer=prefer)
    end = 0
    for date in found:
        assert end <= date.span.start < date.span.end <= len(text)
        assert date.start < date.end
        words = text[date.span.start : date.span.end]
        assert words == words.strip()
        end = date.span.end
