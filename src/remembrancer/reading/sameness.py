"""Tells what says the same: a key of what a memory says, equal for two that say the same thing."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from ..nouns.memory import Layer, Unit
from . import lexicon as lex
from .plain_words import plain_words
from .types import DateSpan

KEY_BYTES = 12  # 2**47 different texts in one bank before two are likely to share a key

_SOCIAL = frozenset(
    """ok okay thanks thank you yes yeah yep yup no nope nah hi hello hey bye goodbye good night
    morning evening great nice cool sure please welcome sorry right got gotcha awesome amazing
    perfect fine done much lot again lovely sounds too ?""".split()
)
_LEAST_TURN = 3  # words of a turn that are not mere manners
_LEAST_FACT = 2
_CONTEXT = 40  # words of what was said before that a leaning text is held with
# He and she mean whoever was spoken of; "it" may be anything; "you" is whoever is spoken to.
_PERSONAL = frozenset(
    "he she they him her them his hers their theirs himself herself themselves".split()
)
_NEUTER = frozenset("it its itself".split())
_POINTING = frozenset("this that these those here there one ones such same".split())
_OTHER = frozenset("you your yours yourself yourselves".split())
_LEANING = _PERSONAL | _NEUTER | _POINTING | _OTHER
_NOUN_OPENERS = frozenset("a an the my our".split())
# Scripts written without spaces between words: a character counts as a word.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_RAW_WORD = re.compile(r"[^\W\d_]+")
_QUOTED_SELF = re.compile(r"[\"“„«][^\"“”„«»]*\b(?:I|me|my|we|us|our|you|your)\b[^\"“”„«»]*[\"”“»]")


def key_of(unit: Unit, dates: Sequence[DateSpan], before: str = "") -> bytes | None:
    """Return the key of what a unit says, or None for one that says too little to be told apart.

    Two units of one bank with the same key say the same: the same words but for fillers, case,
    punctuation and spelling; said by the same speaker of the same subject, denied or affirmed and
    meant alike, seen by the same (`tags`), with the same resolved dates. When it was said does not
    count, so a statement said again is the same with more proof.

    Args:
        unit: a source or a fact.
        dates: the dates that its text names, resolved.
        before: what was said before it. It counts only for a text with pronouns that its own words
            do not explain: "she moved to Oslo" means someone else after another sentence.
    """
    offset = (unit.offset_min or 0) * 60_000_000
    return sameness_key(
        unit.text,
        layer=unit.layer,
        who=(unit.speaker, int(unit.role), unit.subject),
        how=(int(unit.kind), int(unit.polarity), str(unit.modality)),
        tags=unit.tags,
        dates=[(d.start + offset, d.end + offset) for d in dates],
        before=before,
    )


def sameness_key(
    text: str,
    *,
    layer: Layer,
    who: tuple[object, ...],
    how: tuple[object, ...],
    tags: Iterable[str],
    dates: Iterable[tuple[int, int]],
    before: str = "",
) -> bytes | None:
    """Return 12 bytes that are equal for texts that say the same, or None for too short a text.

    The first bit is set when `before` counts: such a key has to go when what was said before is
    erased (see `UnitRow.same`).

    Args:
        text: the unit's text.
        layer: a source never says the same as a fact.
        who: whatever tells who said it of whom; case does not count.
        how: whatever tells how it is meant.
        tags: in any order.
        dates: resolved (start, end) in local microseconds.
        before: see `key_of`.
    """
    words = plain_words(text)
    if not _says_enough(words, _LEAST_TURN if layer is Layer.SOURCE else _LEAST_FACT):
        return None
    hasher = hashlib.blake2b(digest_size=KEY_BYTES, person=b"says the same")
    context = plain_words(before)[-_CONTEXT:] if before and _leans(text, words) else []
    names = [w.casefold() if isinstance(w, str) else w for w in who]
    quoted = len(_QUOTED_SELF.findall(text))
    told = (int(layer), names, how, sorted(set(tags)), sorted(set(dates)), quoted)
    hasher.update(repr(told).encode())
    hasher.update("\0".join([*words, "", *context]).encode())
    first, *rest = hasher.digest()
    return bytes([first | 0x80 if context else first & 0x7F, *rest])


def _says_enough(words: Sequence[str], least: int) -> bool:
    count = 0
    for word in words:
        if word not in _SOCIAL:
            count += len(_UNSPACED.findall(word)) or 1
            if count >= least:
                return True
    return False


def _leans(text: str, words: Sequence[str]) -> bool:
    """Tell whether a pronoun's meaning stands outside the text."""
    if _LEANING.isdisjoint(words):
        return False
    if not _OTHER.isdisjoint(words) or words[0] in _POINTING or words[-1] in _POINTING:
        return True
    named = noun = False
    raws = _RAW_WORD.findall(text)
    for at, raw in enumerate(raws):
        low = raw.lower()
        if (low in _PERSONAL and not named) or (low in _NEUTER and not noun):
            return True
        named = named or low in lex.KIN or (raw[0].isupper() and low not in lex.COMMON)
        noun = noun or named or (low in _NOUN_OPENERS and at + 1 < len(raws))
    return False


def repeated(keys: Iterable[bytes | None], known: Iterable[bytes]) -> int:
    """Count the keys that are known, or that came before in `keys`; None is never one."""
    seen = set(known)
    count = 0
    for key in keys:
        if key is None:
            continue
        count += key in seen
        seen.add(key)
    return count
