"""Whether the words around a date speak of the past or of the future: light cues, no grammar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .intervals import Bias

_PAST: Final = frozenset(
    {"was", "were", "went", "did", "didn", "had", "got", "came", "saw", "took", "been", "gave"}
    | {"ate", "ran", "began", "became", "felt", "fell", "drove", "flew", "wrote", "spoke", "broke"}
    | {"chose", "grew", "knew", "wasn", "weren", "couldn", "hadn", "slept", "sang", "swam", "ago"}
    | {"since", "already", "rode", "wore", "threw", "stood"}
)
# Past forms that are participles, too: "he sold it", "it will be sold".
_PAST_OR_PASSIVE: Final = frozenset(
    {"met", "bought", "made", "said", "told", "left", "found", "thought", "lost", "won", "paid"}
    | {"spent", "sent", "taught", "held", "kept", "heard", "sold", "built", "caught", "hung"}
    | {"shot", "hit"}
)
# Participles alone: past after "have", else told by what stands before them.
_PARTICIPLES: Final = frozenset(
    {"gone", "seen", "done", "taken", "eaten", "given", "written", "driven", "flown", "spoken"}
    | {"broken", "chosen", "grown", "known", "begun", "forgotten", "shown", "stolen"}
)
_FUTURE: Final = frozenset(
    {"will", "ll", "shall", "shan", "wont", "gonna", "gotta", "wanna", "plan", "planning", "plans"}
    | {"want", "need", "needs", "should", "must", "remind", "due", "upcoming", "tomorrow", "let"}
    | {"hope", "hoping", "deadline", "expect", "intend", "appointment", "forward", "soon"}
    | {"can", "cannot", "cant", "may", "might", "please", "expires", "hopefully"}
)
_PLANNED: Final = frozenset({"scheduled", "supposed", "planned", "booked", "expected", "slated"})
_NOT_PAST: Final = _PLANNED | frozenset(
    {"need", "feed", "speed", "indeed", "hundred", "seed", "bleed", "breed", "exceed", "proceed"}
    | {"succeed", "shed", "sacred", "naked", "wicked", "embed", "wed", "weed", "excited", "based"}
    | {"agreed"}
)
_BE: Final = frozenset({"am", "m", "is", "are", "re", "be", "isn", "aren", "ain"})
_PASSIVE: Final = frozenset({"is", "be", "being", "get", "gets", "getting"})
_HAVE: Final = frozenset({"have", "has", "ve", "had"})
_WILL: Final = frozenset({"will", "ll", "shall", "won", "wont"})
_APOSTROPHES: Final = frozenset({"'", "’"})
_NAMES_OF_IS: Final = frozenset(  # before "'s", which after a noun is mostly its genitive
    {"he", "she", "it", "that", "there", "this", "who", "what", "where", "when", "here"}
    | {"everyone", "everybody", "nobody", "someone", "somebody"}
)
_ASIDES: Final = frozenset(
    {"not", "also", "just", "still", "only", "all", "both", "now", "even", "never", "always", "t"}
    | {"n", *_APOSTROPHES}
)
_OPENS: Final = frozenset({"", ".", "!", "?", ";", ":", ",", "and", "but", "so", "or"})
_ASKS: Final = _OPENS | {"what", "when", "where", "who", "why", "how"}
_ASKED_REACH: Final = 5  # tokens between "is", "did" and the verb of a question
_SUBJECTS: Final = frozenset({"i", "you", "we", "he", "she", "it", "they", "my", "our", "your"})

_OWNING: Final = frozenset({"say", "admit", "confess", "agree"})  # "I have to say" binds nobody

Words = Sequence[str]


def tense_at(words: Words, k: int) -> Bias | None:
    """Return whether the verb form at token `k` speaks of the past or of the future."""
    word = words[k]
    if word == "won" and _word(words, k + 1) in _APOSTROPHES and _word(words, k + 2) == "t":
        return "future"
    if _word(words, k + 1) == "to" and _must(words, k):
        return "future"
    if word in _FUTURE or _wished(words, k):
        return "future"
    if word in _PAST:
        return "past"
    if word in _PARTICIPLES:
        return "past" if _perfect(words, k) else None
    if word in _PLANNED or (word == "about" and _word(words, k + 1) == "to"):
        return "future" if _before(words, k) == "is" else None
    ended = word.endswith("ed") and len(word) > 4 and word not in _NOT_PAST
    if ended or word in _PAST_OR_PASSIVE:
        return None if _passive(words, k) else "past"
    if word.endswith("ing") and len(word) > 4 and _is_doing(words, k):
        return "future"
    return None


def is_present_be(words: Words, k: int) -> bool:
    """Return whether token `k` is "is", "are", or the "'s" of "she's"."""
    if _word(words, k) != "s":
        return _word(words, k) in _BE - {"be"}
    return _word(words, k - 1) in _APOSTROPHES and _word(words, k - 2) in _NAMES_OF_IS


def may_is_verb(words: Words, k: int, *, capital: bool) -> bool:
    """Return whether "may" at token `k` is the verb: not the month, not the name."""
    before, after = _word(words, k - 1), _word(words, k + 1)
    if before[:1].isdigit() or after[:1].isdigit() or before in _BEFORE_MONTH:
        return False
    return not capital or (before in _OPENS and after in _SUBJECTS)


_BEFORE_MONTH: Final = frozenset(
    {"of", "in", "since", "during", "until", "till", "by", "early", "late", "mid", "next", "last"}
    | {"st", "nd", "rd", "th", "-", "/"}
)


def _word(words: Words, k: int) -> str:
    return words[k] if 0 <= k < len(words) else ""


def _aside(word: str) -> bool:
    return word in _ASIDES or (word.endswith("ly") and len(word) > 4)


def _stands(words: Words, k: int) -> int:
    """Return the token before `k` that is no "not" and no adverb."""
    j = k - 1
    while j > k - _ASKED_REACH and _aside(_word(words, j)):
        j -= 1
    return j


def _before(words: Words, k: int) -> str:
    """Return the word before token `k` and its adverbs; "is" for every form of that."""
    j = _stands(words, k)
    return "is" if is_present_be(words, j) else _word(words, j)


def _asked(words: Words, k: int, verbs: frozenset[str]) -> bool:
    """Whether one of `verbs` opens a question that token `k` ends: "Is your sister coming"."""
    for j in range(k - 1, max(k - 1 - _ASKED_REACH, -1), -1):
        if words[j] in verbs:
            return _word(words, j - 1) in _ASKS
    return False


def _is_doing(words: Words, k: int) -> bool:
    """Whether "coming" at token `k` stands with "is", which tells of plans beside a date."""
    near = {_word(words, k - 1), _word(words, k - 2)}
    if "been" in near:
        return False
    return (
        not near.isdisjoint(_BE)
        or _before(words, k) in {"is", "be"}
        or _asked(words, k, _BE - {"be"})
    )


def _must(words: Words, k: int) -> bool:
    """Whether "have" at token `k`, before "to", tells a duty ahead: "did you have to" does not."""
    word = words[k]
    if word == "got":
        return _word(words, k - 1) in {"ve", "s", "have", "has"}
    if word not in {"have", "has"} or _word(words, k + 2) in _OWNING:
        return False
    near = words[max(k - _ASKED_REACH, 0) : k]
    return {"did", "didn", "used"}.isdisjoint(near)


def _wished(words: Words, k: int) -> bool:
    """Whether "would" or "could" at token `k` asks for something ahead, or "see you" parts."""
    word, after = words[k], _word(words, k + 1)
    if word in {"would", "d"} and after in {"like", "love", "prefer"}:
        return _word(words, k + 2) == "to"
    opens = _word(words, k - 1) in _OPENS
    if word == "see":
        return opens and after in {"you", "ya"}
    return word in {"would", "could"} and opens and after in _SUBJECTS - {"my", "our", "your"}


def _passive(words: Words, k: int) -> bool:
    """Whether a participle at token `k` is timed by what precedes: "will be sold", "is closed"."""
    j = _stands(words, k)
    if _before(words, k) in _PASSIVE:
        return True
    return _word(words, j) in {"have", "ve"} and _before(words, j) in _WILL


def _perfect(words: Words, k: int) -> bool:
    j = _stands(words, k)
    return _word(words, j) in _HAVE and _before(words, j) not in _WILL
