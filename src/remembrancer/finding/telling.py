"""How telling a word of a question is: a rare one names what is asked about, a common one does not.

By the place of a word among English words in the order of how common they are. Other languages have
no such list here; all their words tell alike.
"""

from __future__ import annotations

import math
from functools import cache
from importlib.resources import files

_LEAST = 0.02
_COMMON, _RARE = 20, 20_000  # places between which a word's weight rises with their logarithm
_FRAME_SHARE = 0.25

# What is wanted of a topic, rather than the topic: "our Kafka setup" asks about Kafka.
_FRAME = frozenset(
    """
    advice approach approaches best choice choose config configuration configurations configure
    decide decided decision design detail details example examples explain guideline guidelines
    handle handles handling idea ideas info information issue issues manage method methods opinion
    option options overview pattern patterns plan planning plans policy practice practices prefer
    preference preferences problem problems process project question questions recommendation
    recommendations rule rules set setup story strategies strategy structure structured structures
    stuff style suggest suggestion suggestions summarise summarize summary technique techniques
    thing things tip tips tool tools use used uses using way ways work working
    """.split()
)


@cache
def common_places() -> dict[str, int]:
    """Return English words with their places from 1, the commonest first; see scripts/."""
    text = files(__package__).joinpath("common_words.txt").read_text(encoding="utf-8")
    return {word: place for place, word in enumerate(text.split(), 1)}


def telling(word: str, stem: str) -> float:
    """Return how telling a folded English word is, .005 to 1; 1 when it is no common word."""
    places = common_places()
    place = min(places.get(word, _RARE), places.get(stem, _RARE))
    share = math.log(place / _COMMON) / math.log(_RARE / _COMMON)
    weight = min(max(share, _LEAST), 1.0)
    return weight * _FRAME_SHARE if word in _FRAME else weight


def is_english(word: str, stem: str) -> bool:
    """Tell whether a word is among those that are known."""
    places = common_places()
    return word in places or stem in places
