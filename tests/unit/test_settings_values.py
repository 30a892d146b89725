"""Settings that cannot be are refused, with how to write them; empty variables are unset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import remembrancer
from remembrancer.faces.cli.options import settings_of
from remembrancer.nouns.errors import InvalidInput
from remembrancer.reading.dates.holidays import COUNTRIES
from remembrancer.settings import DATE_COUNTRIES, Settings


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("LANGUAGE", "klingon", "'klingon' is no language of the stemmer: arabic, "),
        ("DATE_COUNTRY", "XX", "'XX' has no holidays here: give US, GB, "),
        ("DATE_LANGUAGES", '["xx"]', "'xx' is no language whose dates can be read"),
        ("DATE_LANGUAGES", '["../en"]', "is no language whose dates can be read"),
        ("DATE_LANGUAGES", "en", """write it as a JSON list, such as '["en", "de"]'"""),
        ("ALLOWED_HOSTS", "here", """write it as a JSON list, such as '["one", "two"]'"""),
        ("ENCRYPTION_KEY", "", "REMEMBRANCER_ENCRYPTION_KEY is empty"),
        ("API_KEY", "", "REMEMBRANCER_API_KEY is empty"),
    ],
)
def test_what_cannot_be_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str, told: str
) -> None:
    monkeypatch.setenv(f"REMEMBRANCER_{name}", value)
    for make in (settings_of, lambda: remembrancer.open(tmp_path)):
        with pytest.raises(InvalidInput) as caught:
            make()
        assert told in caught.value.message
        assert name in caught.value.message.upper()


@pytest.mark.parametrize(
    "given",
    [
        {"language": "german"},
        {"date_languages": ("de", "en", "fr", "es", "it", "pt", "nl", "ja", "zh")},
        {"date_country": "DE"},
    ],
)
def test_what_can_be_is_taken(given: dict[str, Any]) -> None:
    settings = Settings(**given)
    assert {name: getattr(settings, name) for name in given} == given


def test_a_country_may_be_in_small_letters() -> None:
    assert Settings(date_country="de").date_country == "DE"


def test_the_countries_are_those_whose_holidays_are_known() -> None:
    assert set(DATE_COUNTRIES) == set(COUNTRIES)


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATA", "STORE", "HTTP", "EMBEDDER", "DATE_LANGUAGES", "MAX_ITEMS"):
        monkeypatch.setenv(f"REMEMBRANCER_{name}", "")
    settings = settings_of()
    assert settings.data == Settings.model_fields["data"].default
    assert settings.store is None
    assert settings.http == "127.0.0.1:6381"
