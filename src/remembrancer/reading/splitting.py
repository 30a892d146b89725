"""Splits a sentence into its independent clauses, at the joints that are safe."""

from __future__ import annotations

from dataclasses import replace

from ..nouns.memory import Modality, Polarity
from . import lexicon as lex
from .causes import gives_cause, phrase_before, result_phrase
from .clauses import Clause, read_clause
from .names import KnownNames
from .questions import is_question
from .tokens import Tokens
from .verbs_lexicon import BASES, PAST_FORMS, S_FORMS

_LEAD_WORDS = 12  # how far into a sentence its subject may stand
THIRD = frozenset("he she it they his her their its".split())  # who is meant was said before
_BEGINNING = frozenset("starting beginning effective as".split())  # lead to a date alone
_NOW = frozenset("now today this last".split())
_POLITE = frozenset("remember recall honest mistaken wrong memory ask".split())  # "if I recall"
_TO_COME = frozenset("will 'll won't gonna".split())
_AFTER_COMMA = THIRD | lex.FIRST_PERSON | lex.POSSESSIVES  # these open a clause after a comma
_DENIED_BY = {"s": "does", "base": "do", "past": "did"}  # the auxiliary that a form stands for


def find_clauses(
    tokens: Tokens, high: int, known: KnownNames, *, implied: bool
) -> list[tuple[int, Clause]]:
    """Return (first word, clause) of the sentence's independent clauses."""
    found = _first_clause(tokens, high, known, implied=implied)
    if found is None:
        return []
    parts = [found]
    if found[0] < found[1].first and tokens.lows[found[0]] in lex.SUBORDINATORS:
        return [_supposed(tokens, *found, high)]  # it stands only with its main clause
    opened = found[0] > 0 and phrase_before(tokens, found[0]) == 1  # "Because A, B"
    at = found[1].main + 1
    while at < high:
        begin = _split_at(tokens, at)
        if opened and not begin and "," in tokens.gap(at):
            begin = at
        if tokens.lows[at] in ("because", "since"):
            begin = _cause_at(tokens, at, high, known, parts[-1][1])
        clause = read_clause(tokens, begin, high, known) if begin else None
        if clause is not None and high - begin >= 3:
            parts.append((begin, clause))
            at, opened = clause.main + 1, False
            continue
        shared = _shared_subject(tokens, at, high, parts[-1][1])
        if shared is not None:
            parts.append((at + 1, shared))
            at = shared.main + 1
        at += 1
    # what a clause is depends on where it ends, so those with one after them are read again
    for i, (low, clause) in enumerate(parts[:-1]):
        if low == clause.first and clause.verb > low:
            upto = clause_end(tokens, parts[i + 1][0])
            parts[i] = (low, read_clause(tokens, low, upto, known) or clause)
    return parts


def _supposed(tokens: Tokens, low: int, clause: Clause, high: int) -> tuple[int, Clause]:
    """Return a sentence that opens with "if" as supposed, and one of what will be as planned."""
    lows = tokens.lows
    said = lows[low] in ("if", "unless") and _POLITE.isdisjoint(lows[low + 1 : clause.first + 4])
    to_come = not _TO_COME.isdisjoint(lows[clause.main : high])
    if said:
        modality = Modality.HYPOTHETICAL
    elif to_come and lows[clause.main] not in PAST_FORMS and clause.modality is Modality.ASSERTED:
        modality = Modality.PLANNED
    else:
        return low, clause
    return low, replace(clause, modality=modality)


def _first_clause(
    tokens: Tokens, high: int, known: KnownNames, *, implied: bool
) -> tuple[int, Clause] | None:
    low = result_phrase(tokens, 0)
    while low < high and _skippable(tokens, low, high):
        low += 1
    if low and tokens.lows[low - 1] == "because" and tokens.lows[low : low + 1] == ["of"]:
        low -= 1
    if low + 1 < high and tokens.lows[low] == "since" and _cause_at(tokens, low, high, known, None):
        low += 1
    if low >= high or is_question(tokens, low, high):
        return None
    clause = read_clause(tokens, low, high, known, implied=implied)
    if clause is not None:
        return low, clause
    leads = _leads(tokens, low)
    # "When I moved, my sister came": the clause after the comma speaks for the whole
    found = _after_comma(tokens, low, high, known, leads=leads)
    if found is not None or not leads or is_question(tokens, low, high):
        return found
    for at in range(low + 1, min(high, low + _LEAD_WORDS)):
        if tokens.lows[at] in ("i", "we", "my", "he", "she"):
            clause = read_clause(tokens, at, high, known)
            if clause is not None:
                return low, clause
    return None


def _leads(tokens: Tokens, low: int) -> bool:
    """Tell whether a phrase before the subject begins: "last week", "starting in June"."""
    word = tokens.lows[low]
    if word not in _BEGINNING:
        return word in lex.LEADS or word[0].isdigit()
    after = [w for w in tokens.lows[low + 1 : low + 4] if w not in lex.PREPOSITIONS][:1]
    return any(w in lex.CALENDAR | lex.FUTURE | _NOW or w[0].isdigit() for w in after)


def _after_comma(
    tokens: Tokens, low: int, high: int, known: KnownNames, *, leads: bool
) -> tuple[int, Clause] | None:
    for at in range(low + 1, min(high, low + _LEAD_WORDS)):
        if "," not in tokens.gap(at):
            continue
        if is_question(tokens, at, high):
            return None
        begin = at
        while not leads and begin < high - 1 and _skippable(tokens, begin, high):
            begin += 1
        clause = read_clause(tokens, begin, high, known)
        if clause is not None:
            return (low if leads else begin), clause
    return None


def _skippable(tokens: Tokens, at: int, high: int) -> bool:
    """Interjections, and a name that is spoken to."""
    if at + 1 >= high:
        return False
    word, gap = tokens.lows[at], tokens.gap(at + 1)
    if word in lex.INTERJECTIONS and (
        "," in gap or "!" in gap or tokens.lows[at + 1] not in lex.AUXILIARIES
    ):
        return word not in BASES or bool(gap.strip()) or tokens.lows[at + 1] in lex.PRONOUNS
    return "," in gap and tokens.raws[at][0].isupper() and word not in lex.COMMON


def _cause_at(tokens: Tokens, at: int, high: int, known: KnownNames, main: Clause | None) -> int:
    """Return the first word of the clause that the "because" or "since" at `at` opens, or 0."""
    clause = read_clause(tokens, at + 1, high, known) if at + 1 < high else None
    return at + 1 if gives_cause(tokens, at, clause, main) else 0


def _split_at(tokens: Tokens, at: int) -> int:
    """Return the word at which a new clause may begin at or after a joint at `at`, or 0."""
    gap, word = tokens.gap(at), tokens.lows[at]
    start = at + (word in ("and", "so"))
    if "," in gap or ";" in gap or start > at:
        result = result_phrase(tokens, start)
        if result and start + result < len(tokens):
            return start + result
    if word in ("and", "but", "so", "yet") and at + 1 < len(tokens):
        after = tokens.lows[at + 1]
        if "," in gap or after in ("i", "he", "she", "we", "they"):
            return at + 1
        return 0
    if ";" in gap or "—" in gap or " - " in gap or " – " in gap:
        return at
    if "," not in gap or word not in _AFTER_COMMA:
        return 0
    return at if word in lex.FIRST_PERSON or not _in_quotes(tokens, at) else 0


def _in_quotes(tokens: Tokens, at: int) -> bool:
    """Tell whether word `at` is part of a quotation that began before it."""
    before = tokens.text[max(0, tokens.starts[0] - 1) : tokens.starts[at]]
    return before.count('"') % 2 == 1 or before.count("“") > before.count("”")


def _shared_subject(tokens: Tokens, at: int, high: int, clause: Clause) -> Clause | None:
    """Read the second verb of "does not use Nano and uses Helix": same subject, not denied.

    Only when the first is denied by an auxiliary and the second is plainly finite, or follows
    "but" ("never eats fish but loves cheese"); otherwise the denial may cover both.
    """
    if clause.polarity is not Polarity.NEGATED or high - at < 3:
        return None
    joint, verb = tokens.lows[at], tokens.lows[at + 1]
    aux = clause.group[0] if clause.group else _DENIED_BY.get(_form(tokens.lows[clause.main]), "")
    if not aux or (joint == "and" and not clause.group):
        return None
    finite = (
        (aux in ("does", "doesn't") and verb in S_FORMS)
        or (aux in ("did", "didn't") and verb in PAST_FORMS - BASES)
        or verb in ("is", "am", "was", "has", "have")
    )
    after_but = verb in BASES and aux in ("do", "don't", "did", "didn't")
    if not (joint == "and" and finite) and not (joint == "but" and (finite or after_but)):
        return None
    if tokens.lows[at + 2] in lex.STRONG_VERBS:
        return None
    return Clause(
        clause.kind,
        clause.subject,
        at + 1,
        at + 1,
        at + 1,
        (),
        Polarity.AFFIRMED,
        Modality.ASSERTED,
    )


def _form(verb: str) -> str:
    """Return which form a verb has that is denied without an auxiliary, as by "never"."""
    if verb in S_FORMS:
        return "s"
    if verb in BASES:
        return "base"
    return "past" if verb in PAST_FORMS else ""


def clause_end(tokens: Tokens, at: int) -> int:
    """Return the end of the clause before the one that begins at `at`, its joint left out."""
    at -= phrase_before(tokens, at)
    return at - 1 if at and tokens.lows[at - 1] in ("and", "but", "so", "yet") else at
