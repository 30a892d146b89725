"""Reads slots from German, French and Spanish sentences, by whole clauses."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ...nouns.folding import fold_name
from ...nouns.memory import Stance
from ..types import SELF, SlotClaim
from .intake import of_taker, with_intake
from .table import Foreign, ForeignPattern, Table
from .values import ARTICLES, amount, is_time, spelled, trimmed

_WORD = re.compile(r"[^\W_]+(?:[-'’.@/:][^\W_]+)*|['’]")
_SPACES = re.compile(r"\s+")
_ENDS = re.compile(r"^[\s\"“”„«»¡¿*\-]+|[\s\"“”„«»!.*]+$")
# what a clause quotes in full, also to the end of a sentence that ends within; no title in one
_SPEECH = re.compile(
    r"(?:^|(?<=[:,;] )|(?<=[:,;]))(?:[\"“„][^\"“”„]*(?:[\"“”]|$)|«[^«»]*(?:»|$)|»[^«»]*(?:«|$))"
)
_FEWEST = 1  # words that mark a language, to take a sentence for it
_OWN = {
    "meine ", "mein ", "unsere ", "unser ", "ma ", "mon ", "notre ", "mi ", "nuestra ", "nuestro "
}  # fmt: skip
_NO_PERSON = frozenset(
    """ich wir du er sie es je tu il elle on nous vous ils elles yo tú él ella nosotros ustedes
    ellos ellas das dies ça cela c'est eso esto qui que wer was quién qué der die le la el los
    les""".split()
)
_FAVOURITE = re.compile(
    r"^lieblings(?:-?)(.+)$|^(.+?) (?:préférée?|favorie?|favori|favorite?)$"
    r"|^(.+?) (?:favorit[oa]|preferid[oa])$"
)
_PREPOSITION = frozenset("am im in an auf um bei à au aux en le dans a al".split())


@dataclass(frozen=True, slots=True)
class _Cues:
    news: bool
    denied: bool
    past: bool


def find_foreign(sentence: str, speaker: str | None, table: Table) -> list[SlotClaim]:
    """Return the claims of a sentence in one of the table's languages; none for another one."""
    low = _SPEECH.sub(" ", sentence.lower().strip().replace("’", "'"))
    words = set(_WORD.findall(low)) | set(low.replace(",", " ").split())
    scores = {name: len(words & language.marks) for name, language in table.foreign.items()}
    key = fold_name(speaker) if speaker and speaker != "user" else SELF
    if "?" in low:
        return []
    for name in sorted(scores, key=lambda n: -scores[n]):
        if scores[name] < _FEWEST:
            break
        language = table.foreign[name]
        if language.supposed.search(low):
            return []
        found: list[SlotClaim] = []
        correction = bool(language.news.search(low))
        for clause in language.joints.split(low):
            found += _clause(_ENDS.sub("", clause), key, language, table, news=correction)
        if found:
            return list(dict.fromkeys(with_intake(found, table.intake)))
    return []


def _clause(
    clause: str, key: str, language: Foreign, table: Table, *, news: bool
) -> list[SlotClaim]:
    if not clause:
        return []
    cues = _Cues(
        news or bool(language.news.search(clause)),
        bool(language.denial.search(clause)),
        bool(language.past.search(clause)),
    )
    bare = language.drop.sub(" ", clause)
    if cues.denied:
        bare = language.denial.sub(" ", bare)
    if cues.past:
        bare = language.past.sub(" ", bare)
    bare = _SPACES.sub(" ", bare).strip()
    bare = bare.replace("je aime", "j'aime").replace("je habite", "j'habite")
    found: list[SlotClaim] = []
    for pattern in language.patterns:
        match = pattern.clause.match(bare)
        if match is None or any(c.slot.split(":")[0] == pattern.family for c in found):
            continue
        claim = _claim(pattern, match, key, cues, table)
        if claim is not None:
            found.append(claim)
            if pattern.family in ("attribute", "age"):
                break
    return found


def _claim(
    pattern: ForeignPattern, match: re.Match[str], key: str, cues: _Cues, table: Table
) -> SlotClaim | None:
    groups = match.groupdict()
    if groups.get("s"):
        whose = _person(groups["s"], key)
        if whose is None:
            return None
        key = whose
    words = trimmed(_WORD.findall(groups.get("v") or ""))
    stance = Stance.HELD if cues.past else Stance.DENIED if cues.denied else Stance.HOLDS
    if not pattern.holds:
        if cues.denied:
            return None
        stance = Stance.DENIED
    made = SlotClaim(
        key,
        pattern.family,
        pattern.fixed or fold_name(spelled(words)),
        stance,
        news=cues.news or pattern.event or not pattern.holds,
        loose=pattern.loose,
        many=pattern.many,
        event=pattern.event,
    )
    return _special(pattern, made, groups, words, table)


def _special(
    pattern: ForeignPattern,
    made: SlotClaim,
    groups: dict[str, str | None],
    words: list[str],
    table: Table,
) -> SlotClaim | None:
    if pattern.family == "attribute":
        return _attribute(made, groups, words, table)
    if pattern.family == "being":
        return _being(made, words, table)
    if pattern.family == "role" and not table.words["professions"].intersection(words):
        return None
    if pattern.object and pattern.family == "does":
        slot = f"does:{groups.get('o')}"
        return _with(made, slot=slot, value=fold_name(spelled(words)))
    if pattern.object:
        thing = fold_name(" ".join(words))
        if not thing:
            return None
        value, stance = made.value, made.stance
        if stance is Stance.DENIED and value == "likes":
            value, stance = "dislikes", Stance.HOLDS
        return _with(made, slot=f"likes:{thing}", value=value, stance=stance)
    if not words and pattern.fixed is None and pattern.holds:
        return None
    return made


def _attribute(
    made: SlotClaim, groups: dict[str, str | None], words: list[str], table: Table
) -> SlotClaim | None:
    phrase = " ".join(w for w in (groups.get("a") or "").split() if w not in ARTICLES)
    if not phrase or not words:
        return None
    while len(words) > 1 and words[0] in _PREPOSITION:
        words = words[1:]
    favourite = _FAVOURITE.match(phrase)
    slot = None
    if favourite:
        slot = f"favorite {next(g for g in favourite.groups() if g)}"
    elif phrase in table.aliases:
        slot = table.aliases[phrase]
    number = None if is_time(words, table) else amount(words)
    value = f"{number[0]} {number[1]}".strip() if number else spelled(trimmed(words))
    if slot is None and is_time(words, table):
        return _with(
            made, subject=_thing(made, groups, phrase), slot="when", value=value, loose=True
        )
    if slot is None and number is not None:
        slot = f"n:{number[1]}"
        return _with(made, subject=_thing(made, groups, phrase), slot=slot, value=number[0])
    return None if slot is None else _with(made, slot=slot, value=fold_name(value))


def _thing(made: SlotClaim, groups: dict[str, str | None], phrase: str) -> str:
    return f"{made.subject}'s {phrase}" if groups.get("s") else fold_name(phrase)


def _being(made: SlotClaim, words: list[str], table: Table) -> SlotClaim | None:
    taker = of_taker(made, words[0], table.intake) if len(words) == 1 else None
    if taker is not None:
        return taker
    if len(words) == 1 and words[0] in table.words["diets"]:
        return _with(made, slot="diet", value=fold_name(words[0]))
    if words and len(words) <= 3 and table.words["professions"].intersection(words):
        return _with(made, slot="role", value=fold_name(spelled(words)))
    return None


def _person(told: str, key: str) -> str | None:
    """Return whose something is, of a third person: "Anna", "meine Schwester"."""
    text = told.strip(" '")
    if not text or text.split()[0] in _NO_PERSON or len(text.split()) > 3:
        return None
    for own in _OWN:
        if text.startswith(own):
            return f"{key}'s {text.removeprefix(own)}"
    return fold_name(text)


def _with(made: SlotClaim, **new: object) -> SlotClaim:
    return replace(made, **new)  # type: ignore[arg-type]
