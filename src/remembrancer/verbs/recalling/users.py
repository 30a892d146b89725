"""Questions about the user: what agents ask of chats in which the user says "I".

"Where does the user work?" has little in common with "I work at Acme"; "Where do I work?" has. And
what is known of somebody at all is asked in words that none of it has.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from ...finding.state import IndexState
from ...finding.terms import Analyzer
from ...models.embedder import Floats

_THIRD = 0.1
"""Share of a bank's texts that name a user from which on they are notes about one."""

# Not of a person: what is the user's in software.
_THINGS = (
    "interface|interfaces|experience|story|stories|id|ids|name|names|account|accounts|agent|table"
    "|base|data|input|guide|manual|group|groups|research|testing|tests?|flow|model|permissions?"
    "|roles?|session|service|object|list|count|role|page|screen|form|settings|space|mode"
)
_USER = re.compile(
    rf"\bthe user\b(?!s|[\s-]+(?:{_THINGS})\b)|^user\b(?!s|[\s-]+(?:{_THINGS})\b)", re.I
)
_AUXILIARY = "do|did|can|could|will|would|should|shall|may|might|must"
_TO = "about|for|to|with|of|from|by|tell|told|ask|asked|give|gave|remind|help|know|on|at"
_AS_SAID = (
    (r"\bdoes the user\b", "do I"),
    (r"\bis the user\b(?!['’])", "am I"),
    (r"\bwas the user\b(?!['’])", "was I"),
    (r"\bhas the user\b(?!['’])", "have I"),
    (r"\bthe user['’]s\b|^user['’]s\b", "my"),
    (r"\bthe user is\b", "I am"),
    (r"\bthe user has\b", "I have"),
    (r"\bthe user does\b", "I do"),
    (rf"\b({_AUXILIARY}) the user\b", r"\1 I"),
    (rf"\b({_TO}) the user\b", r"\1 me"),
    (r"^the user\b|\bthe user\b", "I"),
    (r"^user\b", "my"),
)
_REPLACED = tuple((re.compile(pattern, re.IGNORECASE), put) for pattern, put in _AS_SAID)

_ME = r"(?:me|myself)"
_TOLD = r"(?:told|said|shared|mentioned|discussed|talked about)"
_ALL = re.compile(
    rf"\b(?:what|everything|anything|all)\b.{{0,40}}\b(?:know|remember|learned|learnt|stored?|saved?"
    rf"|memori[sz]ed)\b.{{0,20}}\babout {_ME}\W*$"
    rf"|^(?:please |can you |could you )?(?:tell me|summari[sz]e|recap|describe|list)\b.{{0,40}}\b"
    rf"(?:about {_ME}|(?:I|we)(?:['’]ve| have)? {_TOLD}(?: (?:to )?you)?(?: so far| about {_ME})?"
    rf"|who I am|my (?:profile|background|memories))\W*$"
    r"|^who am I\W*$"
    rf"|\bwhat (?:have|did) (?:I|we) (?:told|tell|shared?|said|say|discuss(?:ed)?)(?: you)?"
    rf"(?: so far| about {_ME})?\W*$"
    r"|^(?:what(?: are|['’]re|['’]s| is) )?my (?:preferences|profile|background|details)\W*$",
    re.IGNORECASE,
)


class Put(NamedTuple):
    """A question in other words, and its vector."""

    question: str
    vector: Floats | None


def as_user(question: str) -> str:
    """Return a question about the user as they would put it themselves; another as it is."""
    if _USER.search(question) is None:
        return question
    for pattern, put in _REPLACED:
        question = pattern.sub(put, question)
    return question


def about_all(question: str) -> bool:
    """Tell whether a question, by its first line, asks for whatever is known of who asks."""
    return _ALL.search(question.partition("\n")[0]) is not None


def notes_of_user(state: IndexState, analyzer: Analyzer) -> bool:
    """Tell whether a bank's texts are notes that name a user, rather than what one says."""
    wanted = np.array(analyzer.terms("user"), dtype=np.uint64)
    named = 0
    for part, dead in zip(state.parts, state.dead, strict=True):
        for where in part.text.find(wanted):
            rows = part.text.docs[where]
            named += len(rows) if dead is None else int(np.count_nonzero(~dead[rows]))
    return named >= _THIRD * max(state.live, 1)
