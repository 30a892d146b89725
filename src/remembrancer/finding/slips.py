"""The slips of a hand that types: which words are one of them away from a word."""

from __future__ import annotations

from string import ascii_lowercase

SHORTEST = 4  # letters of a word that may be mistyped
_SUBSTITUTED = 6  # letters from which on one may be another: shorter ones make other words


def slips(word: str) -> set[str]:
    """Return the words that are one slip away: a letter left out, doubled, swapped, or another.

    The first letter stays: it is hardly ever mistyped, and other names begin with another one.
    """
    found = set()
    for at in range(1, len(word)):
        head, tail = word[:at], word[at:]
        found.add(head + tail[1:])
        found.add(head + tail[1:2] + tail[:1] + tail[2:])
        if len(word) >= _SUBSTITUTED:
            found.update(head + letter + tail[1:] for letter in ascii_lowercase)
    for at in range(1, len(word) + 1):
        found.update(word[:at] + letter + word[at:] for letter in ascii_lowercase)
    return found - {word}
