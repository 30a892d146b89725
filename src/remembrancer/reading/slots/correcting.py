"""Reads corrections that name only a value: "Sorry, I meant Lyon", "Make that 40, not 50"."""

from __future__ import annotations

import re
from dataclasses import replace

from ...nouns.folding import fold_name
from ...nouns.memory import Stance
from ..types import SELF, SlotClaim
from .english import Context
from .table import Table
from .values import amount, has_number, is_time, spelled, trimmed

_LEAD = (
    r"(?:(?:oh|no|nope|oops|ah|wait|sorry|actually|correction|my mistake|my bad|apologies|i mean"
    r"|rather|hm+|entschuldigung|pardon|désolée?|perdón)\b[,:;.!\s—–-]*)*"
)
_CUE = (
    r"(?:i (?:actually )?meant(?: to (?:say|write))?|i mean|make (?:that|it)"
    r"|that should (?:be|read)"
    r"|it should (?:be|read)|should be|correction"
    r"|(?P<bare>(?:it|that)(?: is|'s| was)(?: actually)?)"
    r"|ich meinte|je voulais dire|quise decir)"
)
_THOUSANDS = r",(?=\d{3}\b)"  # the comma of "1,350"
_CORRECTION = re.compile(
    rf"^{_LEAD}{_CUE}[,:\s]+(?:not (?P<old>(?:[^,.;]|{_THOUSANDS})+)[,;]? (?:but )?)?"
    rf"(?P<new>(?:[^,;!?]|{_THOUSANDS})+?)"
    rf"(?:,? (?:not|nicht|pas|no) (?:[^,;]|{_THOUSANDS})+)?[.!]*$",
    re.IGNORECASE,
)
_MENDING = re.compile(
    r"^(?:oh,? |no,? |oops)*(?:no|nope|oops|wait|sorry|actually|correction|my mistake|my bad)\b"
    r"|\bactually\b|, not ",
    re.IGNORECASE,
)
_WORD = re.compile(
    rf"(?:(?<![^\s$£€¥])-(?=\d))?[^\W_]+(?:(?:[.'’:/@-]|(?<=\d){_THOUSANDS})[^\W_]+)*"
)
_CALLED = re.compile(
    r"^(?:please,? |just |you can |actually,? )*call me (?-i:([A-Z][\w'-]+(?: [A-Z][\w'-]+)?))"
    r"(?: now| from now on| instead| please)*[.!]*$",
    re.IGNORECASE,
)
_LONGEST = 120  # characters of a correction
_MOST_WORDS = 6


def correct(text: str, speaker: str | None, context: Context, table: Table) -> list[SlotClaim]:
    """Return the claim of a correction of what was said just before; none for anything else."""
    if len(text) > _LONGEST:
        return []
    called = _CALLED.match(text.strip())
    if called is not None:
        key = fold_name(speaker) if speaker and speaker != "user" else SELF
        return [SlotClaim(key, "name", fold_name(called[1]), Stance.HOLDS, news=True)]
    if not context.last:
        return []
    match = _CORRECTION.match(text.strip().replace("’", "'"))
    if match is None or (match["bare"] and not _MENDING.search(text)):
        return []
    words = trimmed([word.lower() for word in _WORD.findall(match["new"])])
    while words and words[0] in ("in", "at", "on", "to", "for"):
        words = words[1:]
    if not words or len(words) > _MOST_WORDS:
        return []
    last = next((c for c in context.last if c.stance is Stance.HOLDS and c.value), None)
    if last is None or last.slot.startswith(("thing:", "does:", "likes:")):
        return []
    number = None if is_time(words, table) else amount(words)
    if last.slot.startswith("n:"):
        if number is None:
            return []
        value = number[0]
    elif last.slot == "when" and not is_time(words, table):
        return []
    elif number is not None and has_number(last.value.split()):
        unit = number[1] or " ".join(last.value.split()[1:])
        value = f"{number[0]} {unit}".strip()
    else:
        value = fold_name(spelled(words))
    return [replace(last, value=value, news=True, event=False, date=None)]
