"""Given names and their short forms, from `nicknames.txt`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

_FILE = "nicknames.txt"


def _read(text: str) -> tuple[frozenset[str], Mapping[str, frozenset[str]]]:
    """Return all given names, and for each the names that may stand for it."""
    given: set[str] = set()
    near: dict[str, set[str]] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        formal, colon, rest = line.partition(":")
        if not colon:
            given.update(line.split())
            continue
        given.update((formal, *rest.split()))
        for short in rest.split():
            near.setdefault(formal, set()).add(short)
            near.setdefault(short, set()).add(formal)
    return frozenset(given - _UNCLEAR), {name: frozenset(names) for name, names in near.items()}


# Places, brands, titles and words as often as given names: of use beside a surname, but alone no
# sign of a person.
_UNCLEAR = frozenset(
    """ad al alexa art cal cat chip con don dot em florence jesus lincoln mat mercedes montgomery
    norm oz pip sly van victoria virginia""".split()
)

GIVEN, _NEAR = _read(files(__package__).joinpath(_FILE).read_text(encoding="utf-8"))
"""GIVEN: given names, folded, that are seldom anything else."""


def stand_for(name: str) -> frozenset[str]:
    """Return the names that a given name may stand for, folded: formal ones of a short one, or
    short ones of a formal one. Two short forms of one name do not stand for each other.
    """
    return _NEAR.get(name, frozenset())
