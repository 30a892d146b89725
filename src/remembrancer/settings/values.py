"""The kinds of values that settings have, each with the check that refuses what cannot be."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import Stemmer
from pydantic import AfterValidator, Field, SecretStr

Ratio = Annotated[float, Field(ge=0, le=1)]


def _base_path(value: str) -> str:
    path = value.rstrip("/")
    if path and not _PATH.fullmatch(path):
        raise ValueError("must be a path such as /memory, of letters, digits, '-', '_', '.', '~'")
    return path


_PATH = re.compile(r"(?:/[\w.~-]+)+", re.ASCII)
BasePath = Annotated[str, AfterValidator(_base_path)]


def _api_key(value: SecretStr) -> SecretStr:
    if not _TOKEN.fullmatch(value.get_secret_value()):
        raise ValueError("must be ASCII characters without spaces, as a header can hold them")
    return value


_TOKEN = re.compile(r"[!-~]+")
ApiKey = Annotated[SecretStr, AfterValidator(_api_key)]


def _language(value: str) -> str:
    try:
        Stemmer.Stemmer(value)
    except KeyError:
        known = ", ".join(Stemmer.algorithms())
        raise ValueError(f"{value!r} is no language of the stemmer: {known}") from None
    return value


def _date_language(value: str) -> str:
    # A file's name, as importing the library would take 0.2 s.
    found = find_spec("dateparser")
    places = found.submodule_search_locations if found else None
    data = Path(next(iter(places))) / "data" / "date_translation_data" if places else None
    if not _CODE.fullmatch(value) or (data and not (data / f"{value}.py").is_file()):
        raise ValueError(
            f"{value!r} is no language whose dates can be read: give ISO 639-1 codes in lower "
            """case as a JSON list, such as '["en", "de"]'"""
        )
    return value


def _country(value: str) -> str:
    if value.upper() not in DATE_COUNTRIES:
        raise ValueError(f"{value!r} has no holidays here: give {', '.join(DATE_COUNTRIES)}")
    return value.upper()


DATE_COUNTRIES = ("US", "GB", "CA", "AU", "NZ", "IE", "DE", "AT", "CH", "FR", "IN")
_CODE = re.compile(r"[a-z]{2,3}(?:-\w+)*", re.ASCII)
Language = Annotated[str, AfterValidator(_language)]
DateLanguages = Annotated[
    tuple[str, ...], AfterValidator(lambda codes: tuple(map(_date_language, codes)))
]
Country = Annotated[str, AfterValidator(_country)]
