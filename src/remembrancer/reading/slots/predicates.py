"""The verbs of an English clause with what follows each: what slots are read from."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...nouns.memory import Polarity, Stance
from .. import lexicon as lex
from ..clauses import Clause, Kind
from ..tokens import Tokens
from ..types import DateRelation, DateSpan
from ..verbs_lexicon import BASES, ING_FORMS, PARTICIPLES, PAST_FORMS, S_FORMS
from . import parting
from .values import is_number

_NEWS = frozenset(
    "now currently anymore again instead actually correction nowadays henceforth finally sorry "
    "oops "
    "recently just update updated new edit news".split()
)
_THINGS_TOO = frozenset(["fish"])  # verbs that are things after another thing
_STOPS = frozenset("stopped stop quit ceased quitting stopping finished".split())
_STARTS = frozenset("started start began begun resumed restarted starting".split())
_RETURNS = frozenset("went gone got returned reverted".split())
_BEGINNING = frozenset("since from as effective starting beginning".split())
_ONWARD = frozenset("on onward onwards".split())
_JOINTS = frozenset("and but so while yet then although though".split())
_BETWEEN = frozenset("now currently then also instead just recently finally have i we i'm".split())
_BE = lex.BE | {"'s"}
_HAD = frozenset("had hadn't 'd".split())
_WAS = frozenset("was were wasn't weren't did".split()) | _HAD
_NEARLY = frozenset("almost nearly".split())
_HOW_OFTEN = frozenset(
    "always never all every entirely exclusively completely fully only certainly definitely".split()
)


@dataclass(frozen=True, slots=True)
class Said:
    """One clause with what is known of it.

    `subject` is whom it is about, None for the speaker and where that is not known. `dates` are
    those of its text. `lead` are the words of its sentence before it.
    """

    tokens: Tokens
    low: int
    high: int
    clause: Clause
    subject: str | None
    speaker: str | None
    dates: Sequence[DateSpan] = ()
    lead: Sequence[str] = ()


@dataclass(slots=True)
class Predicate:
    """A verb with what follows it; `words` begin with the verb, `core` leaves the dates out."""

    verb: str
    words: list[str]
    core: list[str]
    raws: list[str]
    denied: bool
    group: tuple[str, ...]
    past: bool = False  # "used to"
    news: bool = False
    habitual: bool = False  # after "stopped", "started"
    date: DateSpan | None = None
    subject_named: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)

    @property
    def perfect(self) -> bool:
        """Whether "have" stands before the verb."""
        return any(word in lex.HAVE for word in self.group)

    @property
    def is_copula(self) -> bool:
        """Whether "be" stands before it."""
        return bool(self.group) and self.group[-1] in _BE

    @property
    def was(self) -> bool:
        """Whether it is told of the past by its auxiliary."""
        return bool(self.group) and self.group[0] in _WAS

    @property
    def had(self) -> bool:
        """Whether "had" stands before it: what was so before something else, and may be over."""
        return bool(self.group) and self.group[0] in _HAD

    @property
    def missed(self) -> bool:
        """Whether it nearly came about: "almost moved", not "almost never eat", "almost 900"."""
        at = next((i for i, word in enumerate(self.before) if word in _NEARLY), -1)
        counted = any(is_number(w) or w in lex.NUMBER_WORDS for w in self.words[:2])
        if at < 0 or (self.is_copula and counted):
            return False
        return [*self.before[at + 1 :], self.verb][0] not in _HOW_OFTEN

    @property
    def stance(self) -> Stance:
        """What it says of a value, if its words say that it holds."""
        if self.past:
            return Stance.HELD
        return Stance.DENIED if self.denied else Stance.HOLDS


def predicates(said: Said) -> Iterator[Predicate]:
    """Return the clause's verb with what follows, and verbs after it that share its subject."""
    tokens, clause = said.tokens, said.clause
    lows, high = tokens.lows, said.high
    leads = {*said.lead, *lows[: clause.first]}
    date = next((d for d in said.dates if _inside(d, tokens, said.low, high)), None)
    date = _beginning(date, tokens)
    ends = [j for j, _ in _joined(said)] + [high]
    denied = clause.polarity is Polarity.NEGATED
    starts = [(*_main_verb(tokens, clause.main, clause.verb, clause.group), denied, clause.verb)]
    for joint, at in _joined(said):
        group, denied, main = _verb_group(lows, at, high)
        starts.append((*_main_verb(tokens, main, at, group), denied, joint))
    for (main, group, denied, begin), end in zip(starts, ends, strict=True):
        if main >= end:
            continue
        words = lows[begin:end]
        news = not _NEWS.isdisjoint(words) or (begin == clause.verb and not _NEWS.isdisjoint(leads))
        news = news or "longer" in words or "more" in words[-1:] or "days" in words[-1:]
        made = _predicate(said, main, end, group, denied, date)
        if made is not None:
            made.news = made.news or news
            made.before = lows[_adverbs(lows, clause.first + 1, begin) : main]
            made.subject_named = lows[clause.first : clause.verb]
            yield made


def _adverbs(lows: Sequence[str], first: int, at: int) -> int:
    """Return where the adverbs before a verb begin, which may stand with its subject."""
    while at > first and lows[at - 1] in lex.ADVERBS:
        at -= 1
    return at


def _main_verb(
    tokens: Tokens, main: int, low: int, group: tuple[str, ...]
) -> tuple[int, tuple[str, ...]]:
    """Return the main verb and its auxiliaries also for "has six" and "is May 20"."""
    while main > low + 1 and group and group[-1] == "may" and tokens.raws[main - 1] == "May":
        main, group = main - 1, group[:-1]
    word = tokens.lows[main] if main < len(tokens) else ""
    if group and group[-1] in lex.HAVE and word not in PARTICIPLES:
        at = main - 1
        while at > low and tokens.lows[at] != group[-1]:
            at -= 1
        if tokens.lows[at] == group[-1]:
            return at, group[:-1]
    return main, group


def _spelled(tokens: Tokens, low: int, high: int) -> tuple[list[str], list[str], list[int]]:
    """Return words with what a sign joins ("9:30", "ann@example.org"), as they are, and where."""
    lows: list[str] = []
    raws: list[str] = []
    at: list[int] = []
    for i in range(low, high):
        sign = tokens.gap(i) if i > low else " "
        if sign in (":", "@") and lows:
            lows[-1] += sign + tokens.lows[i]
            raws[-1] += sign + tokens.raws[i]
        else:
            lows.append(tokens.lows[i])
            raws.append(tokens.raws[i])
            at.append(i)
    return lows, raws, at


def _predicate(
    said: Said, main: int, end: int, group: tuple[str, ...], denied: bool, date: DateSpan | None
) -> Predicate | None:
    tokens = said.tokens
    lows = tokens.lows
    past = news = habitual = False
    if lows[main] == "used" and lows[main + 1 : main + 2] == ["to"]:
        past, main = True, main + 2
        if main < end and lows[main] in ("be", "have") and lows[main] == "be":
            group, main = ("be",), main + 1
    elif at := _stopped(lows, main, end):
        denied, news, habitual, main = not denied, True, True, at
        if lows[main] == "being":
            group, main = ("be",), main + 1
    elif at := _taken_up(lows, main, end):
        news, habitual, main = True, True, at
        if lows[main] == "being":
            group, main = ("be",), main + 1
    elif lows[main] in _STARTS and main + 1 < end:
        if lows[main + 1] in ING_FORMS:
            news, habitual, main = True, True, main + 1
        elif lows[main + 1] == "to" and lows[main + 2 : main + 3]:
            news, habitual, main = True, True, main + 2
    if main >= end:
        return None
    covered = _dated(said, main, end) - {main}
    begun = _begun(said, main, end, date)
    parts = zip(*_spelled(tokens, main, end), strict=True)
    words, raws, places = map(list, zip(*(p for p in parts if p[2] not in begun), strict=True))
    return Predicate(
        words[0],
        words,
        [word for word, at in zip(words, places, strict=True) if at not in covered],
        raws,
        denied,
        group,
        past,
        news,
        habitual,
        date,
    )


def _stopped(lows: Sequence[str], main: int, end: int) -> int:
    """Return where the verb stands after "stopped", "gave up", "am done": 0 where none does."""
    at = main + 1
    if lows[main] in ("gave", "given"):
        if lows[at : at + 1] != ["up"]:
            return 0
        at += 1
    elif lows[main] == "done":
        at += lows[at : at + 1] == ["with"]
        return at if lows[at : at + 1] == ["being"] and at < end else 0
    elif lows[main] not in _STOPS:
        return 0
    return at if at < end and (lows[at] in ING_FORMS or lows[at] == "being") else 0


def _taken_up(lows: Sequence[str], main: int, end: int) -> int:
    """Return where the verb stands after "went back to", "am back to": 0 where none does."""
    at = main + 1 if lows[main] in _RETURNS else main
    if lows[at : at + 1] == ["back"]:
        at += 1
    elif at == main or lows[main] not in ("returned", "reverted"):
        return 0
    if lows[at : at + 1] != ["to"] or at + 1 >= end:
        return 0
    return at + 1 if lows[at + 1] in ING_FORMS or lows[at + 1] == "being" else 0


def _dated(said: Said, low: int, high: int) -> set[int]:
    """Return the words of dates, with the prepositions before them."""
    tokens, found = said.tokens, set[int]()
    for date in said.dates:
        mine = [
            i
            for i in range(low, high)
            if tokens.starts[i] >= date.span.start and tokens.ends[i] <= date.span.end
        ]
        if not mine:
            continue
        found.update(mine)
        at = mine[0] - 1
        while at > low and tokens.lows[at] in (
            "in on since from until till by as of during at before after starting this the".split()
        ):
            found.add(at)
            at -= 1
    return found


def _beginning(date: DateSpan | None, tokens: Tokens) -> DateSpan | None:
    """Return a date as the beginning that it tells of: "from May", but not "from May to June"."""
    if date is None or date.relation is not DateRelation.WITHIN or date.last is not None:
        return date
    at = _lead_of(date, tokens)
    told = at >= 0 and tokens.lows[at] == "from"
    return replace(date, relation=DateRelation.SINCE) if told else date


def _lead_of(date: DateSpan, tokens: Tokens) -> int:
    """Return the word that makes a date a beginning: "since", "from", "as of"; -1 without one."""
    at = bisect_left(tokens.starts, date.span.start) - 1
    while at > 0 and tokens.lows[at] in ("in", "on", "the", "of", "at"):
        at -= 1
    return at if at >= 0 and tokens.lows[at] in _BEGINNING else -1


def _begun(said: Said, main: int, end: int, date: DateSpan | None) -> set[int]:
    """Return the words after a verb that tell since when: no part of a value."""
    if date is None or date.relation is not DateRelation.SINCE:
        return set()
    tokens = said.tokens
    lead, last = _lead_of(date, tokens), bisect_left(tokens.starts, date.span.end)
    if lead <= main:
        return set()
    last += last < end and tokens.lows[last] in _ONWARD
    return set(range(lead, min(last, end)))


def _inside(date: DateSpan, tokens: Tokens, low: int, high: int) -> bool:
    first = tokens.starts[0] if low else tokens.starts[low]
    return date.span.start >= first and date.span.end <= tokens.ends[high - 1] + 1


def _joined(said: Said) -> list[tuple[int, int]]:
    """Return (joint, verb group) of further verbs that share the subject."""
    tokens, clause = said.tokens, said.clause
    lows, found = tokens.lows, []
    at = clause.main + 1
    while at < said.high - 1:
        word = lows[at]
        comma = any(c in tokens.gap(at) for c in ",;—–")
        if word not in _JOINTS and not (comma and word in ("now", "i", "we", "these")):
            at += 1
            continue
        begin = at + (word in _JOINTS)
        while begin < said.high - 1 and lows[begin] in (*_BETWEEN, "these", "days"):
            if lows[begin] in ("i", "we") and clause.kind is not Kind.SPEAKER:
                break
            begin += 1
        verb = lows[begin]
        finite = verb in S_FORMS or verb in PAST_FORMS or verb in lex.AUXILIARIES
        base = verb in BASES and clause.kind is Kind.SPEAKER
        if (
            begin == at + 1
            and at > clause.main + 1
            and (verb in _THINGS_TOO or begin + 1 == said.high)
        ):
            base = False  # "I eat meat and fish", "I use docker and go"; but "I hunt and fish"
        if word in ("and", "or") and begin == at + 1:
            base = base and not _in_infinitive(lows, clause.main, at)
        if _is_written_as_name(tokens, begin, clause.main):
            at += 1
            continue
        if finite or (base and begin + 1 <= said.high) or verb in ("no", "never"):
            found.append((at, begin))
            at = begin
        at += 1
    return found


def _in_infinitive(lows: Sequence[str], main: int, joint: int) -> bool:
    """Tell whether a base after a joint goes with "to": "trying to rest more and avoid stress"."""
    places = (i for i in range(main, joint - 1) if lows[i] == "to")
    return any(lows[i + 1] in BASES and lows[i + 1] != "work" for i in places)


def _is_written_as_name(tokens: Tokens, at: int, main: int) -> bool:
    """Tell "Go" from "go", where the main verb has no capital either."""
    raw = tokens.raws[at]
    return raw[:1].isupper() and not raw.isupper() and tokens.raws[main][:1].islower()


def _verb_group(lows: list[str], at: int, high: int) -> tuple[tuple[str, ...], bool, int]:
    group: list[str] = []
    denied = False
    while at < high - 1:
        word = lows[at]
        if word == "no" and lows[at + 1] == "longer":
            denied, at = True, at + 2
            continue
        if word in lex.NEGATORS or word.endswith("n't"):
            denied = True
            if word in lex.AUXILIARIES:
                group.append(word)
        elif word in lex.AUXILIARIES and not (
            word in lex.HAVE | lex.DO
            and at + 1 < high
            and (lows[at + 1] in ("a", "an", "the", "two", "my", "no"))
        ):
            group.append(word)
        elif not (word in lex.ADVERBS and word not in BASES):
            break
        at += 1
    return tuple(group), denied, at


def clipped(predicate: Predicate, breaks: parting.Pauses) -> Predicate:
    """Return a predicate without another clause that a comma opens."""
    words = parting.clipped(predicate.words, breaks)
    if len(words) == len(predicate.words):
        return predicate
    core = list(predicate.core)
    for word in reversed(predicate.words[len(words) :]):
        if core[-1] == word and len(core) > 1:
            core.pop()
    return replace(predicate, words=words, core=core, raws=predicate.raws[: len(words)])


def shifted(predicate: Predicate) -> Predicate:
    """Return "got promoted to" as a passive."""
    return replace(
        predicate,
        verb=predicate.words[1],
        words=predicate.words[1:],
        core=predicate.core[1:],
        raws=predicate.raws[1:],
        group=("been",),
    )
