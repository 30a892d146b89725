"""Reads turns from a chat written as text: `Name: words` lines, or headings that name speakers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..nouns.memory import Role
from .format_plain import plain_turns
from .markup import find_fences
from .roles import role_of
from .stamps import MARKS, STAMP, form_of, read_stamps, zone_minutes
from .types import Turn

NAME = r"[^\W\d_][^\n:*_#<>{}\[\]`|/\\=;!?\",]{0,39}"
_LABEL = re.compile(
    rf"(?P<bold>\*\*|__)?(?P<name>{NAME}?)(?:(?P<b1>\*\*|__):|:(?P<b2>\*\*|__)|:)(?=\s|$)[ \t]*"
)
# Who is not among the contacts of whoever exported the chat, and any other sender.
_UNSAVED = re.compile(
    rf"(?:~\s?(?P<calls>{NAME}?)|@(?P<handle>\w[\w.-]{{0,38}})"
    rf"|(?:~\s?)?(?P<phone>\+\d[\d\s().-]{{5,20}}\d)){MARKS}:(?=\s|$)[ \t]*"
)
_SENDER = re.compile(r"(?:~\s?)?(?P<name>[^\n:*\"“”„«»<>]{1,40}):(?=\s|$)[ \t]*")
_HEAD = re.compile(rf"(?:#{{1,6}}[ \t]+|\*\*)(?P<name>{NAME}?)\s?:?\s*(?:\*\*)?\s*:?[ \t]*$")
_LINE = re.compile(r"^(?P<lead>[ \t]*(?:>[ \t]?|[-*][ \t]+)?)(?P<body>\S[^\n]*)$", re.MULTILINE)
_NUMBERED = re.compile(r"\s#?\d{1,4}$")
_MAX_LABEL = 120
_MOST_NAMES = 6  # words that a sender is called by

# Labels that head a note, a form, an e-mail, a recipe or a log line, not a turn.
_NOT_SPEAKERS = frozenset(
    """
    note notes nb todo fixme hack warning caution danger error info debug trace fatal critical
    important tip tips hint example examples summary abstract introduction conclusion overview
    background context description details definition title subtitle subject topic date time when
    where who what why how from to cc bcc sent received reply re fwd fw ps p.s http https ftp
    ingredients instructions directions method steps step serves servings prep yield equipment
    pros cons input output result results expected actual usage returns return args raises
    parameters name age email e-mail phone address city country company website url link source
    sources references see location venue price cost total status type version author created
    updated deadline priority owner goal goals objective objectives requirements features agenda
    attendees participants decisions action actions question questions answer answers q a option
    options correct hypothesis observation monday tuesday wednesday thursday friday saturday
    sunday today tomorrow yesterday breakfast lunch dinner snack morning afternoon evening update
    edit tl;dr tldr spoiler disclaimer reminder remember fact facts rule rules idea ideas problem
    solution fix cause reason reasons impact risk risks benefits advantages disadvantages
    strengths weaknesses opportunities threats correction budget timeline milestones scope plan
    plans task tasks key value default language genre director cast rating ratings likes dislikes
    hobbies interests occupation job education experience skills languages nationality birthday
    gender height weight chapter section part figure table appendix day week month year phase
    stage level item items number id code tests test conclusion memory memories instruction prompt
    response request request
    """.split()
)
_TALKING = frozenset((Role.USER, Role.ASSISTANT))
_NUMBERED_SPEAKERS = frozenset(
    "speaker user person participant agent guest host interviewer interviewee player caller "
    "patient student member voice bot human party witness respondent male female".split()
)
PERSON = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Ww]e|[Oo]ur|[Uu]s|[Yy]ou|[Yy]our)\b")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0eff]")
_UTTERANCE_END = re.compile(r"[.!?…。！？)\"”]$|[^\x00-\u2fff]$")


@dataclass(frozen=True, slots=True)
class _Label:
    """A line that may begin a turn.

    `form` is how its stamp is written, None without a full date. `sure`: it reads as a name, so it
    counts when it is told whether this is a chat; without a name it is a line of the program's.
    """

    start: int  # of the line
    text_start: int  # after the label
    name: str
    style: str
    stamp: tuple[str | None, str | None, str | None]
    words: str  # the rest of the line
    form: str | None = None
    sure: bool = True


def chat_turns(content: str, default_role: Role) -> list[Turn] | None:
    """Return the turns of a chat, or None when `content` does not read as one.

    Lines without a label belong to the turn before. What stands before the first turn is read as
    prose of `default_role`. A time before a name is the turn's when it holds a full date. A line
    with such a time belongs to no turn before it; what it tells without a sender nobody said.
    """
    if ":" not in content and "#" not in content and "**" not in content:
        return None
    found = list(_labels(content))
    sure = [label for label in found if label.sure]
    labels = _speakers(sure) or _lone(content, sure)
    if not labels:
        return None
    forms = {(label.style, label.form) for label in labels if label.form is not None}
    starts = {label.start for label in labels}
    labels = [x for x in found if x.start in starts or (x.style, x.form) in forms]
    turns = plain_turns(content, 0, labels[0].start, default_role)
    times = read_stamps([label.stamp for label in labels])
    ends = [label.start for label in labels[1:]] + [len(content)]
    for label, at, end in zip(labels, times, ends, strict=True):
        text = content[label.text_start : end]
        if not text.strip():
            continue
        role = role_of(label.name) if label.name else Role.SYSTEM
        stop = label.text_start + len(text.rstrip())
        zone = label.stamp[2]
        turns.append(
            Turn(
                text=text.strip(),
                start=label.start,
                end=stop,
                speaker=None if role else label.name,
                role=role,
                at=at,
                offset_min=zone_minutes(zone) if at is not None and zone else None,
            )
        )
    return turns


def _labels(content: str) -> Iterator[_Label]:
    """Yield the lines that look like the beginning of a turn, outside code."""
    fences = find_fences(content)
    fence = 0
    for line in _LINE.finditer(content):
        while fence < len(fences) and fences[fence].end <= line.start():
            fence += 1
        if fence < len(fences) and fences[fence].start <= line.start():
            continue
        label = _label(content, line.start("body"), line.end(), line)
        if label is not None:
            yield label


def _label(content: str, at: int, end: int, line: re.Match[str]) -> _Label | None:
    stamp = STAMP.match(content, at, end)
    if stamp is not None and (stamp["clock"] or stamp["date"]) is not None:
        return _stamped(content, stamp, end, line)
    limit = min(end, at + _MAX_LABEL)
    match = _LABEL.match(content, at, limit)
    style = "heading"
    if match is not None:
        if bool(match["bold"]) != bool(match["b1"] or match["b2"]):
            return None
        style = "bold" if match["bold"] else "plain"
    else:
        # a heading stands alone on its line
        match = _HEAD.match(content, at, end) if end - at < _MAX_LABEL else None
    if match is None or not may_speak(match["name"].strip(), stamped=False):
        return None
    words = content[match.end() : end].strip()
    name = match["name"].strip()
    return _Label(line.start(), match.end(), name, style + _quoted(line), (None,) * 3, words)


def _stamped(content: str, stamp: re.Match[str], end: int, line: re.Match[str]) -> _Label | None:
    """Return the label of a line with a time, without a name where a full date shows the place."""
    at = stamp.end()
    name, text_start = _named(content, at, min(end, at + _MAX_LABEL))
    form = form_of(stamp[0]) if stamp["date"] and stamp["clock"] else None
    sure = bool(name)
    if not sure:
        if form is None:
            return None
        name, text_start = _sender(content, at, min(end, at + _MAX_LABEL))
    return _Label(
        line.start(),
        text_start,
        name,
        "stamped" + _quoted(line),
        (stamp["date"], stamp["clock"], stamp["zone"]),
        content[text_start:end].strip(),
        form,
        sure,
    )


def _named(content: str, at: int, end: int) -> tuple[str, int]:
    """Return who surely speaks after a stamp, and where the words begin; "" for nobody."""
    match = _UNSAVED.match(content, at, end)
    if match is not None:
        name = next(filter(None, match.groups()))
        return (name if match["phone"] or may_speak(name, stamped=True) else ""), match.end()
    match = _LABEL.match(content, at, end)
    if match is None or bool(match["bold"]) != bool(match["b1"] or match["b2"]):
        return "", at
    name = match["name"].strip()
    return (name if may_speak(name, stamped=True) else ""), match.end()


def _sender(content: str, at: int, end: int) -> tuple[str, int]:
    """Return who speaks after a stamp of a chat's form, whatever the name looks like."""
    match = _SENDER.match(content, at, end)
    name = match["name"].strip() if match is not None else ""
    if match is None or not 0 < len(name.split()) <= _MOST_NAMES or _heads_note(name):
        return "", at
    return name, match.end()


def _quoted(line: re.Match[str]) -> str:
    return ">" if ">" in line["lead"] else ""


def may_speak(name: str, stamped: bool) -> bool:
    """Tell whether a label can be a speaker's name: short, capitalised, no heading of a note."""
    words = name.split()
    if not words or len(words) > 4:
        return False
    if role_of(name):
        return True
    if _heads_note(name):
        return False
    if _NUMBERED.search(name) and words[0].lower() not in _NUMBERED_SPEAKERS:
        return False
    if any(char in name for char in "()") and "(" not in words[-1]:
        return False
    if name[0].isupper() or not name[0].isalpha() or name[0] == name[0].upper():
        small = [word for word in words[1:] if word[0].islower()]
        return stamped or all(word in ("de", "van", "von", "der", "da", "the") for word in small)
    return stamped


def _heads_note(name: str) -> bool:
    low = name.lower()
    return low in _NOT_SPEAKERS or low.split()[0] in _NOT_SPEAKERS or "://" in name


def _speakers(labels: Sequence[_Label]) -> list[_Label]:
    """Return the labels that begin turns, or none when this is no chat.

    One style is the chat's; the same look in another style belongs to what is said.
    """
    if len(labels) < 2:
        return []
    by_style = Counter(label.style for label in labels).most_common()
    for style, count in by_style:
        if count < 2:
            break
        chosen = [label for label in labels if label.style == style]
        in_roles = [label for label in chosen if role_of(label.name)]
        talking = _TALKING.intersection(role_of(label.name) for label in in_roles)
        if len(in_roles) >= 2 and talking:
            # Where both roles talk, other labels belong to what they say.
            others = _between_roles(chosen) if len(talking) == 1 else set()
            return [x for x in chosen if role_of(x.name) or x.name in others]
        if _is_chat(chosen, style):
            return chosen
    return []


def _between_roles(labels: Sequence[_Label]) -> set[str]:
    """Return the names that speak with the roles of a chat, as in "Ann: … / Assistant: …".

    Such a one speaks first, or again after somebody else; other labels belong to what a role says.
    """
    found: set[str] = set()
    last: dict[str, int] = {}  # by name: how many roles had spoken when it stood last
    roles = 0
    for label in labels:
        if role_of(label.name):
            roles += 1
        elif roles == 0 or last.get(label.name, roles) < roles:
            found.add(label.name)
        else:
            last[label.name] = roles
    return found


def _lone(content: str, labels: Sequence[_Label]) -> list[_Label]:
    """Return the label of a content that is one turn: one line in which a person speaks.

    "Ann: I moved to Berlin." is said by Ann; "Paris: capital of France." is said by nobody.
    """
    if len(labels) != 1 or "\n" in content.strip() or content[: labels[0].start].strip():
        return []
    name, words = labels[0].name, labels[0].words
    known = " " not in name or role_of(name) or name.startswith("+")
    return list(labels) if known and PERSON.search(words) else []


def _is_chat(labels: Sequence[_Label], style: str) -> bool:
    """People in a chat speak again; the labels of a form or a list stand once each."""
    counts = Counter(label.name for label in labels)
    again = [name for name, count in counts.items() if count > 1]
    if style.startswith("stamped"):
        return True
    if style.startswith("heading"):
        return len(counts) > 1 and len(again) == len(counts)
    if again and len(counts) > 1:
        # a few speakers may say one thing only, most speak again
        return len(counts) <= 2 or 2 * sum(counts[name] for name in again) >= len(labels)
    if len(counts) == 1:
        return False
    # nobody speaks twice: take short exchanges of whole utterances only
    if len(counts) > 3 or not all(_UTTERANCE_END.search(label.words) for label in labels):
        return False
    long = [label.words for label in labels if _several(label.words)]
    return len(long) == len(labels) or any(PERSON.search(words) for words in long)


def _several(words: str) -> bool:
    """Tell whether an utterance has several words; some scripts put no spaces between them."""
    return len(words.split()) > 1 or len(_UNSPACED.findall(words)) > 3
