"""How a clause begins: as an ask, an order, a promise, a duty or a wish, or as none of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ...nouns.memory import Role
from ..lexicon import COMMON
from ..verbs_lexicon import PAST_FORMS
from . import lexicon as lex
from .line import Line
from .types import Manner

_WORD: Final = re.compile(r"[a-z][\w'-]*")
_REQUEST: Final = re.compile(
    r"(?:please )?(?:can|could|would|will|won't|can't) (?:you|u|i|we)\b|(?:would you |do you "
    r"|you )?mind "
    r"|how about|what about|any chance|is it possible|please "
)
_FAREWELL: Final = re.compile(
    r"(?:talk|speak|write|chat) (?:to|with) you\b|catch you\b|see you\b|take care\b(?! of)"
)
_CAN_YOU: Final = re.compile(r"\b(?:can|could|would|will) you\b")
_POLITE_ONLY: Final = re.compile(
    r"(?:(?:please|kindly|pls|then|just|also|always|(?:can|could|would|will) you(?: please)?"
    r"|be sure to|make sure (?:to|you)|don't forget to|remember to|do not forget to"
    r"|(?:i'd like|i want|i need) you to)\s+)+"
)
_INFO: Final = re.compile(
    r"\s*(?:again\s+)?(?:what|how|why|who|whom|whose|where|which|whether|if i|again what)\b"
)
_PRESENT: Final = frozenset({"at", "in", "there", "back", "home", "on", "ready", "up", "sure"})
_OBJECTS: Final = frozenset(
    """the a an my our me us him her it them this that these those his their all up down
    back out off on over in to for with about any every each""".split()
)
_EFFORTS: Final = frozenset("keep stick try focus continue ensure prioritize practice".split())
_HABITUAL: Final = frozenset("work wait stay sleep live deal admit say agree confess".split())


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a clause: what it is, how sure that is, where what is to be done begins."""

    manner: Manner
    confidence: float
    start: int
    end: int  # the first character after the words that make it one
    whole: int | None = None  # where the content begins when nothing more follows
    wish: bool = False
    how: str = ""
    telling: bool = False  # "tell me", "update me"
    placed: bool = False  # only where an order may stand: not after "I ran and"


def read_head(line: Line, at: int, role: Role, *, conditional: bool) -> Head | None:
    """Return how the clause at a place begins; None when it asks or promises nothing.

    Args:
        line: the sentence.
        at: where the clause begins.
        role: who speaks.
        conditional: whether a condition stands before it.
    """
    if role is Role.ASSISTANT:
        return None if line.asked else _promise(line, at) or _assistants(line, at)
    if role not in {Role.USER, Role.NONE}:
        return None
    asked = _ask(line, at)
    if asked is not None:
        return asked
    if line.asked:
        return None
    own = _duty(line, at)
    if own is not None:
        return own
    remember = lex.REMEMBER.match(line.low, at)
    if remember:
        return Head(Manner.ASK, 0.85, at, remember.end())
    return _promise(line, at) or _order(line, at, conditional=conditional)


def _ask(line: Line, at: int) -> Head | None:
    match = lex.ASK.match(line.low, at)
    if match is not None:
        if line.asked and not _requested(line, at):
            return None
        info = _INFO.match(line.low, match.end())
        if info and "remind" in match.group():
            return None
        words = match.group()
        sees_to = re.search(r"(?:make sure|see to it|ensure)(?: that)? (?:i|we)$", words)
        if sees_to and _verb(line.low, match.end() + 1) not in lex.VERBS:
            return None
        content = at if "alarm" in words or "timer" in words else None
        placed = sees_to is not None
        return Head(Manner.ASK, 0.95, at, match.end(), content, placed=placed)
    match = lex.REACH.match(line.low, at)
    if match is None or (line.asked and not _requested(line, at)):
        return None
    polite = _POLITE_ONLY.match(line.low, at)
    content = polite.end() if polite and polite.end() < match.end() else at
    passive = match.group().find(" to be ")
    content = at + passive + 4 if passive > 0 else content
    telling = bool(re.search(r"\b(?:tell|inform|update|brief)\b", match.group()))
    if _INFO.match(line.low, match.end()) and not re.search(r"\bask\b", match.group()):
        return None
    return Head(Manner.ASK, 0.85 if telling else 0.9, at, match.end(), content, telling=telling)


def _requested(line: Line, at: int) -> bool:
    """Whether a question is a request: "can you …", or "can you … and remind me"."""
    if _REQUEST.match(line.low, at):
        return True
    joined = re.search(r"\band (?:also |please |then )*$", line.low[:at])
    return joined is not None and _CAN_YOU.search(line.low, 0, at) is not None


def _duty(line: Line, at: int) -> Head | None:
    low = line.low
    match = lex.DUTY.match(low, at)
    if match is not None:
        verb = _verb(low, match.end())
        how = match.group("how").strip()
        after = _verb(low, match.end() + len(verb) + 1)
        if verb in lex.ANSWERED | _HABITUAL and not (verb == "be" and after in _PRESENT):
            return None
        weak = how in {"should", "ought to"} or "try to" in how
        if weak and verb in lex.STATES:
            return None
        strong = how in {"have to", "must", "need to"} or "promise" in how
        return Head(Manner.DUTY, 0.6 if weak else 0.75 if strong else 0.7, at, match.end(), how=how)
    match = lex.WILL.match(low, at)
    if match is not None:
        verb = _verb(low, match.end())
        after = _verb(low, match.end() + len(verb) + 1)
        known = verb in lex.VERBS and verb not in lex.STATES | _EFFORTS
        known = known and (verb, after) != ("make", "sure")
        known = known and not _FAREWELL.match(low, match.end())
        return Head(Manner.DUTY, 0.65, at, match.end(), how="will") if known else None
    match = lex.WISH.match(low, at)
    if match is not None:
        verb = _verb(low, match.end())
        if verb in lex.ANSWERED | lex.STATES | _EFFORTS | {"make"} or verb not in lex.VERBS:
            return None
        return Head(Manner.WISH, 0.55, at, match.end(), wish=True)
    match = lex.TOLD.match(low, at)
    return Head(Manner.DUTY, 0.65, at, match.end()) if match else None


def _verb(low: str, at: int) -> str:
    match = _WORD.match(low, at)
    return match.group() if match else ""


def _promise(line: Line, at: int) -> Head | None:
    if lex.OFFER.search(line.low):
        return None
    match = lex.PROMISE.match(line.low, at)
    if match is not None:
        words = match.group()
        own = re.search(r"(?:let you know|check|follow up|get back|come back|circle back)", words)
        begin = at + own.start() if own else None
        if begin is None and not re.search(r"remind|alarm|timer", words):
            verb = re.search(
                r"(?:ping|nudge|notify|alert|message|tell|ask|wake|warn|email|text)", words
            )
            begin = at + verb.start() if verb else None
        return Head(Manner.PROMISE, 0.85, at, match.end(), begin)
    return None


def _assistants(line: Line, at: int) -> Head | None:
    """Read what an assistant alone may promise: "I've set a reminder", "I'll send the list"."""
    if lex.OFFER.search(line.low):
        return None
    match = lex.SET_UP.match(line.low, at)
    if match is not None:
        return Head(Manner.PROMISE, 0.85, at, match.end())
    match = lex.WILL.match(line.low, at)
    if match is None:
        return None
    verb = _verb(line.low, match.end())
    if verb not in lex.VERBS or verb in lex.STATES or verb in {"help", "explain", "show", "give"}:
        return None
    return Head(Manner.PROMISE, 0.65, at, match.end(), how="will")


def _like_verb(line: Line, at: int, verb: str, after: str) -> bool:
    """Whether an unknown word that opens a main clause stands where only a verb can."""
    return (
        line.original[at : at + len(verb)].islower()
        and verb not in COMMON
        and not verb.endswith(("s", "ed", "ing", "ly"))
        and after in _OBJECTS
    )


def _order(line: Line, at: int, *, conditional: bool) -> Head | None:
    """Read an order to the listener: a verb in its base form comes first."""
    polite = _POLITE_ONLY.match(line.low, at)
    begin = polite.end() if polite else at
    low = line.low
    if low.startswith(("don't ", "do not ", "never "), begin):
        negated = _verb(low, low.index(" ", begin + 3) + 1)
        if conditional and negated in lex.VERBS:
            return Head(Manner.ORDER, 0.7, at, begin, placed=True)
        return None
    verb = _verb(low, begin)
    after = _verb(low, begin + len(verb) + 1)
    if _FAREWELL.match(low, begin):
        return None
    known = verb in lex.VERBS and (conditional or verb not in PAST_FORMS)
    if not known and not (conditional and _like_verb(line, begin, verb, after)):
        return None
    if verb in (lex.OF_ANSWERS if conditional else lex.OF_PLANS | lex.OF_ANSWERS):
        return None
    if after in {"is", "are", "was", "were", "has", "will", "would", "can", "did", "does"}:
        return None  # the verb is a noun here
    if conditional and verb == "ask" and not after:
        return None
    return Head(Manner.ORDER, 0.85 if conditional else 0.65, at, begin, placed=True)
