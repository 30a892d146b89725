"""What a clause waits for: an event that is named, or a topic that comes up."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ..lexicon import AUXILIARIES, POSSESSIVES, STOP
from ..verbs_lexicon import BASES, ING_FORMS, PARTICIPLES, PAST_FORMS
from . import lexicon as lex
from .line import Line

_WORD: Final = re.compile(r"[\w'-]+")
_PARTICLES: Final = frozenset("up down out off over back again away no not".split())
_UNNAMED: Final = (
    (STOP | AUXILIARIES | POSSESSIVES) - _PARTICLES
    | frozenset(
        """i'm i'll i've you've you're it's he's she's they've we've there's that's next time
    really just finally actually again ever me us him them please first later soon then
    already also today now""".split()
    )
) - {"down", "up", "out", "off", "over"}
_DENIALS: Final = frozenset({"not", "never", "nobody", "no"})
_CLOSING: Final = frozenset({"in", "on", "through", "by"})
_THIRD: Final = frozenset("he she they it him her them he's she's they're it's".split())
_HAVING: Final = frozenset(
    """have has having 've 's is are be been being am 'm 're get gets got gotten i've
    you've we've they've he's she's it's not never just finally already fully successfully
    the a an my our your his her their its this that and or all of""".split()
)
_NOT_NOW: Final = frozenset("was were had did would could might wasn't weren't didn't".split())
_NOUN_LED: Final = frozenset({"after", "before", "upon", "on"})
_TAIL: Final = re.compile(r"(?:\s+(?:again|next|please|ever|too|anymore|today|then))+$")
_YOU: Final = frozenset({"you", "you're", "you've", "you'd", "you'll"})
_MOST_WORDS: Final = 14


@dataclass(frozen=True, slots=True)
class Condition:
    """What is waited for: an event's name, or a cue; `word` is what opens the clause."""

    word: str
    event: str | None
    cue: str | None
    start: int
    end: int
    denied: bool = False  # "if he has not answered"


def opens_condition(line: Line, at: int) -> re.Match[str] | None:
    """Return the word that opens a condition at a place, None when a time stands there."""
    match = lex.CONDITION.match(line.low, at)
    if match is None or match.end() >= len(line.low) or line.in_time(at):
        return None
    return match


def read_condition(
    line: Line, start: int, end: int, *, asked: bool, yours: bool = False
) -> Condition | None:
    """Read the condition of text [start, end); None when nothing there can be waited for.

    Args:
        line: the sentence.
        start: where its opening word stands.
        end: where it ends.
        asked: whether a reminder is asked for, so that "after finishing the draft" is the
            speaker's own doing.
        yours: whether what "you" do can be waited for: an assistant speaks.
    """
    opener = opens_condition(line, start)
    if opener is None:
        return None
    word = _plain(opener.group())
    begin = line.skip(opener.end())
    stripped = line.low[begin:end].rstrip(" \t\n.,;:!?-—–")
    end = begin + len(stripped)
    words = _WORD.findall(stripped)
    if not words or len(words) > _MOST_WORDS or lex.NO_EVENT.match(stripped):
        return None
    if _is_over(words) or (words[0] == "to"):
        return None
    topic = _topic(stripped, word)
    if topic is not None:
        cue = line.original[begin + topic[0] : begin + topic[1]].strip()
        cue = cue[: len(cue) - len(_matched(_TAIL, cue))].strip(" .,;:!?\"'")
        return Condition(word, None, cue, start, end) if cue else None
    if words[0] in _YOU and not yours and not lex.YOU_SEE.match(stripped):
        return None
    if word not in _NOUN_LED and len(words) < 2:
        return None
    if words[0] in ING_FORMS and not asked:
        return None
    name = event_name(line, begin, end)
    denied = any(each in _DENIALS or each.endswith("n't") for each in words)
    return Condition(word, name, None, start, end, denied) if name else None


def event_name(line: Line, begin: int, end: int) -> str:
    """Name an event by the content words of its clause, times left out unless they are all."""
    names: list[str] = []
    for keep_times in (False, True):
        for match in _WORD.finditer(line.low, begin, end):
            inside = any(
                w.span.start <= match.start() < w.span.end and match.group() not in lex.VERBS
                for w in line.whens
            )
            word = match.group().removesuffix("'s").strip("'-")
            word = "not" if word.endswith("n't") else word
            closing = word in _CLOSING and match.end() == end  # "logs in"
            if word and (closing or word not in _UNNAMED) and (keep_times or not inside):
                names.append(word)
        if names:
            break
    if len(names) == 1 and names[0] in lex.VERBS | _PARTICLES:  # "when you see him"
        words = [m.group() for m in _WORD.finditer(line.low, begin, end)]
        names = [word for word in words if word in names or word in _THIRD] or names
    return " ".join(names)


def _matched(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text.lower())
    return match.group() if match else ""


def _plain(opener: str) -> str:
    word = re.sub(r"^(?:immediately|right|straight|shortly|soon|just) ", "", opener)
    word = re.sub(r"^the (?:very )?", "", word)
    return re.sub(r" (?:that|ever)$", "", word).split()[0] if "time" not in word else "next time"


def _is_over(words: list[str]) -> bool:
    """Whether the clause tells of the past: "when the deploy finished"."""
    if not _NOT_NOW.isdisjoint(words):
        return True
    past = PAST_FORMS - BASES
    for i, word in enumerate(words):
        if i and word in past and words[i - 1] not in _HAVING:
            participle = word in PARTICIPLES and words[i - 1] in ("gets", "get", "being")
            if not participle and not words[i - 1].endswith(("ly", "n't")):
                return True
    return False


def _topic(body: str, word: str) -> tuple[int, int] | None:
    """Return where the topic of a conversation, or what the speaker is doing, stands."""
    for pattern in lex.TOPIC:
        match = pattern.match(body)
        if match and match.group("topic") and not match.group("topic").startswith(("to ", "for ")):
            return match.span("topic")
    doing = lex.DOING.match(body) if word in lex.STATE_WORDS | {"next time"} else None
    if doing and doing.group("topic").split()[0] not in lex.NOT_DOING:
        return doing.span("topic")
    return None
