"""Finds personal data and secrets in a text, by their shape and, where there is one, checksum."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection
from typing import NamedTuple

MARK = "[{kind}]"
"""What stands in place of what was taken out."""


class Found(NamedTuple):
    """Something sensitive: its kind, and where it stands, in characters."""

    kind: str
    start: int
    end: int


def _luhn(text: str) -> bool:
    """ISO/IEC 7812-1: the check digit of payment cards."""
    digits = [int(c) for c in text if c.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [sum(divmod(2 * d, 10)) for d in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _iban(text: str) -> bool:
    """ISO 13616: the number modulo 97 is 1."""
    plain = re.sub(r"\s", "", text).upper()
    if not 15 <= len(plain) <= 34:
        return False
    turned = plain[4:] + plain[:4]
    return int("".join(str(int(c, 36)) for c in turned)) % 97 == 1


def _ssn(text: str) -> bool:
    """Numbers of the United States' Social Security that were never given out are none."""
    area, group, serial = text.split("-")
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


def _phone(text: str) -> bool:
    return 9 <= sum(c.isdigit() for c in text) <= 15  # E.164: at most 15


def _mixed(text: str) -> bool:
    """A value that was made rather than written: not a plain word, and not one of our marks."""
    value = text.strip("\"'`")
    plain = value.rstrip(".!?)").isalpha() or value.startswith("[")
    return len(value) >= 8 and len(set(value)) >= 6 and not plain


_Check = Callable[[str], bool]
_SHAPES: tuple[tuple[str, re.Pattern[str], _Check | None], ...] = (
    # The first to find something has it, so that a key in a key block is told once.
    (
        "private_key",
        re.compile(
            r"-----BEGIN (?:[A-Z]{1,12} ){0,3}PRIVATE KEY-----"
            r"(?:[^-]|-(?!----))*(?:-----END (?:[A-Z]{1,12} ){0,3}PRIVATE KEY-----)?"
        ),
        None,
    ),
    (
        "token",
        re.compile(
            r"\b(?:(?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36,255}"
            r"|github_pat_[A-Za-z0-9_]{50,255}|glpat-[\w-]{20,64}|xox[abprs]-[A-Za-z0-9-]{10,255}"
            r"|sk-(?:[a-z]{2,8}-){0,2}[A-Za-z0-9_-]{20,255}|AIza[\w-]{35}|rmb_[\w-]{40,64}"
            r"|(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,255}"
            r"|eyJ[\w-]{8,2048}\.eyJ[\w-]{8,4096}\.[\w-]{8,2048})"
        ),
        None,
    ),
    (
        "password",
        re.compile(
            r"(?i:\b(?:password|passwd|passphrase|secret|api[ _-]?key|access[ _-]?token|passwort"
            r"|kennwort|mot de passe|contrase\u00f1a)\b\s{0,3}(?:is|ist|est|es|[:=])\s{0,3})"
            r"(?P<value>[\"'`]?[^\s\"'`,;]{8,256}[\"'`]?)"
        ),
        _mixed,
    ),
    (
        "email",
        re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}\b"),
        None,
    ),
    ("iban", re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"), _iban),
    ("card", re.compile(r"(?<![\d.+-])\d(?:[ -]?\d){12,18}(?![\d-])"), _luhn),
    ("ssn", re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])"), _ssn),
    (
        "phone",
        re.compile(
            r"(?<![\w+])(?:\+\d{1,3}(?:[ .-]?\(?\d{1,5}\)?){2,6}|\(\d{3}\) ?\d{3}-\d{4}"
            r"|\d{3}-\d{3}-\d{4})(?!\w)"
        ),
        _phone,
    ),
)

KINDS = tuple(kind for kind, _, _ in _SHAPES)
"""What can be found. Names, addresses and dates of birth have no shape of their own."""


def find(text: str, kinds: Collection[str] = KINDS) -> list[Found]:
    """Return what stands in a text, in its order; nothing overlaps. Linear in its length."""
    found: list[Found] = []
    for kind, shape, check in _SHAPES:
        if kind not in kinds:
            continue
        group = "value" if "value" in shape.groupindex else 0
        taken = sorted((f.start, f.end) for f in found)
        for match in shape.finditer(text):
            start, end = match.span(group)
            fits = check is None or check(match[group])
            if fits and not _overlaps(taken, start, end):
                found.append(Found(kind, start, end))
    return sorted(found, key=lambda f: f.start)


def redacted(text: str, found: Collection[Found]) -> str:
    """Return a text with marks in place of what was found."""
    pieces: list[str] = []
    place = 0
    for each in sorted(found, key=lambda f: f.start):
        pieces += [text[place : each.start], MARK.format(kind=each.kind)]
        place = each.end
    return "".join((*pieces, text[place:]))


def _overlaps(taken: list[tuple[int, int]], start: int, end: int) -> bool:
    """Return whether a span overlaps one of those, which are in order and apart."""
    at = bisect_left(taken, (end, -1))  # the first that begins at or after the end
    return at > 0 and taken[at - 1][1] > start
