"""The rule reader: reads statements from one turn without a model."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ..nouns.memory import Modality, Polarity, Role, Stance
from . import lexicon as lex
from .causes import phrase_before
from .clauses import Clause, Kind
from .markup import TEMPLATE, find_not_prose
from .names import KnownNames, find_names, prepare
from .questions import declarative_part
from .referents import Referents
from .sentences import split_sentences
from .slots import (
    Context,
    Said,
    Table,
    correct,
    find_foreign,
    read_english,
    standard,
    without_exceptions,
)
from .splitting import THIRD, clause_end, find_clauses
from .tokens import Tokens
from .types import DateSpan, SlotClaim, Span, Statement

MAX_SENTENCE = 400  # characters; longer ones stay in the source only
_LIST_MARK = re.compile(r"[ \t]*(?:(?:[-*+•–]|\d{1,3}[.)])[ \t]+|>[ \t]?|#{1,6}[ \t]+|\*\*)*")
_HEAD = re.compile(
    r"(?P<word>correction|update|updated|edit|news|fyi|note|reminder)\s*[:—–-]\s*"
    # what takes back what was told: "I was wrong, …", "No, wait, …", "I mixed that up: …"
    r"|(?:(?:oh|no|nope|sorry)\b[,;.!\s—–-]+)*(?:(?:wait|oops|hang on|hold on|scratch that"
    r"|my mistake|my bad|that (?:was|is) wrong"
    r"|i (?:was (?:wrong|mistaken)|misspoke|mistyped|made a mistake"
    r"|(?:got|had) (?:it|that|this) wrong|mixed (?:it|that|this|them) up"
    r"|(?:gave|told) you (?:the )?wrong(?: \w+)?))"
    r"(?: (?:earlier|before|yesterday|last time|there))*\b\s*[,;:.!—–-]+\s*)+",
    re.IGNORECASE,
)
_SOCIAL = re.compile(
    r"\b(?:thank|thanks|appreciate|congrat\w*)\b"
    r"|\b(?:glad|happy|proud|sorry|excited|thrilled|sure|here|rooting|grateful)\b"
    r"[^.!?]{0,24}\b(?:you|your|you're|hear|heard)\b"
    r"|\b(?:hope|hoping|wish|bet|know|see|think|believe|guess|told|tell)\s+(?:that\s+)?you(?:'\w+)?\b"
    r"|\b(?:let|keep) (?:you|me) (?:know|posted|updated)\b|\bcheck (?:it|that|them) out\b"
    r"|\blike you(?:'ve| have)?\b|\blook(?:ing)? forward to hear",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"\b(?:wonder(?:ing)? (?:if|whether|what|how|why|which|when|where|who)|like to (?:know|ask)"
    r"|(?:want|need) to (?:know|ask)|(?:want|need|like|love)(?: for)? you to|need (?:your |some |a "
    r"little |any )?(?:help|advice|guidance)|have (?:a|some|another|one more) question|curious|"
    r"not sure (?:if|how|what|which|where|whether)|looking for (?:some |your |any )?"
    r"(?:advice|suggestions?|tips|help|ideas|recommendations?))\b",
    re.IGNORECASE,
)
# one of these stands in whatever the two patterns match: most sentences need not be searched
_SOCIAL_WORDS = frozenset(
    "you your hear heard thank thanks appreciate congrats congratulate congratulations know posted "
    "updated check".split()
)
_ASKING_WORDS = frozenset(
    "wonder wondering know ask you need question curious sure looking".split()
)
_YOU = frozenset("you your yours yourself y'all".split())
_DONE = frozenset(
    """booked sent created scheduled set added updated ordered saved stored written wrote emailed
    called cancelled canceled deleted removed moved uploaded downloaded installed deployed fixed
    submitted reserved bought purchased paid posted published shared notified contacted invited
    recorded logged registered rescheduled drafted generated ran run changed renamed attached
    transferred searched looked found checked prepared arranged filed completed finished
    started made placed confirmed""".split()
)
# A quotation in one line; an inch mark or an unpaired quote opens none.
_QUOTATION = re.compile(
    r"(?<!\w)\"(?=\S)[^\"\n]*(?<=\S)\"(?!\w)|“[^“”\n]*”|«[^«»\n]*»|„[^„“”\n]*[“”]"
)


def read_statements(
    text: str,
    *,
    speaker: str | None,
    role: Role,
    known: Iterable[str],
    dates: Callable[[str], list[DateSpan]],
    hidden: Sequence[Span] = (),
    table: Table | None = None,
    context: Context | None = None,
    names: Sequence[tuple[str, Span]] | None = None,
) -> list[Statement]:
    """Return the statements of one turn, in order, each with the words that make it.

    A statement is a declarative sentence, or an independent clause of one, with a stated subject
    and a verb. Questions, requests, greetings, praise, code, tables, templates, recalled blocks and
    what a system or tool says are none; of an assistant, only what it says it has done. Of other
    languages than English only what says something of an attribute (see `slots`); the rest stays
    findable as sources.

    Args:
        text: the turn, verbatim.
        speaker: the name that "I" stands for; a user without one is "user".
        role: who spoke.
        known: names of speakers and entities (`names.KnownNames` to prepare them once).
        dates: finds the dates of a text; called at most once, with `text`.
        hidden: more spans that nothing may be read from, besides those that `markup` finds.
        table: of the slots that are read; the standard one by default.
        context: what the same speaker said before; it is brought up to this turn.
        names: in `text`, ordered and disjoint; by default those that `find_names` finds.
    """
    if role in (Role.SYSTEM, Role.TOOL) or not text:
        return []
    reader = _Reader(text, speaker, role, prepare(known), dates)
    reader.table, reader.context = table or standard(), context or Context()
    if names is not None:
        reader.name_there(names)
    hidden = sorted([*hidden, *find_not_prose(text)], key=_start)
    out: list[Statement] = []
    skip, hidden_end = 0, -1
    for number, sentence in enumerate(split_sentences(text)):
        while skip < len(hidden) and hidden[skip].start < sentence.end:
            hidden_end = max(hidden_end, hidden[skip].end)
            skip += 1
        if sentence.start >= hidden_end and sentence.end - sentence.start <= MAX_SENTENCE:
            out += reader.sentence(number, sentence)
    told = without_exceptions([statement.claims for statement in out])
    return [
        statement if statement.claims == claims else replace(statement, claims=claims)
        for statement, claims in zip(out, told, strict=True)
    ]


class _Reader:
    """Reads the sentences of one turn."""

    def __init__(
        self,
        text: str,
        speaker: str | None,
        role: Role,
        known: KnownNames,
        dates: Callable[[str], list[DateSpan]],
    ) -> None:
        self.text = text
        self.role = role
        self.known = known
        self.self_name = {Role.ASSISTANT: "assistant", Role.USER: speaker or "user"}.get(
            role, speaker
        )
        self._find_dates = dates
        self._dates: list[DateSpan] | None = None
        self._names: Sequence[tuple[str, Span]] | None = None
        self._name_starts: list[int] = []
        self._referents = Referents()
        self.table = standard()
        self.context = Context()
        self._quotes = [Span(m.start(), m.end()) for m in _QUOTATION.finditer(text)]

    def sentence(self, number: int, span: Span) -> list[Statement]:
        """Return the statements of one sentence."""
        if self.text.startswith("`", span.start):
            return []
        found = self._english(number, span)
        if self.role is not Role.ASSISTANT and not any(s.claims for s in found):
            whole = self._whole(span)
            if whole is not None:
                return [*(s for s in found if s.span.end <= whole.span.start), whole]
        return found

    def _whole(self, span: Span) -> Statement | None:
        """Read a sentence that is no English clause: another language, or a mere correction."""
        text = self.text[span.start : span.end]
        if TEMPLATE.search(text) or self._quotation(span.start) or text[:1] in "#>|":
            return None
        claims = find_foreign(text, self.self_name, self.table)
        if not claims:
            claims = correct(text, self.self_name, self.context, self.table)
        if not claims:
            return None
        self.context.last = tuple(claims)
        start = span.start + len(text) - len(text.lstrip(" \t-*•"))
        span = Span(start, span.start + len(text.rstrip()))
        denied = all(claim.stance is Stance.DENIED for claim in claims)
        return Statement(
            text=self.text[span.start : span.end],
            span=span,
            subject=self.self_name,
            polarity=Polarity.NEGATED if denied else Polarity.AFFIRMED,
            modality=Modality.ASSERTED,
            date=self._date_in(span),
            names=self._names_in(span, None),
            claims=tuple(claims),
        )

    def _claims(
        self,
        tokens: Tokens,
        low: int,
        upto: int,
        clause: Clause,
        *,
        quoted: bool,
        lead: Sequence[str],
    ) -> tuple[SlotClaim, ...]:
        """Return what a clause says of attributes; nothing of what the assistant says."""
        if self.role is Role.ASSISTANT or quoted or clause.kind is Kind.YOU:
            return ()
        if self._quotation(tokens.starts[clause.main]) is not None:
            return ()
        self._date_in(Span(0, 0))
        said = Said(
            tokens,
            low,
            upto,
            clause,
            self._subject(clause, quoted=False),
            self.self_name,
            self._dates or (),
            lead,
        )
        return tuple(read_english(said, self.context, self.table))

    def _english(self, number: int, span: Span) -> list[Statement]:
        """Return the statements of one English sentence."""
        text = self.text
        mark = _LIST_MARK.match(text, span.start, span.end)
        start = mark.end() if mark else span.start
        if "#" in text[span.start : start] or TEMPLATE.search(text, start, span.end):
            return []
        quoted = ">" in text[span.start : start]
        head = _HEAD.match(text, start, span.end)
        heads = (head["word"] or "correction").lower().split() if head else []
        start = head.end() if head else start
        tokens = Tokens(text, start, span.end)
        high = len(tokens)
        short = high < 3
        if high < 2:
            return []
        asked = "?" in text[max(start, span.end - 4) : span.end]
        high = declarative_part(tokens, asked)
        if high < (2 if short else 3):
            return []
        parts = find_clauses(tokens, high, self.known, implied=self.role is not Role.ASSISTANT)
        if not parts:
            return []
        stop = span.end if high == len(tokens) else _part_end(tokens, high)
        made: list[Statement | None] = []
        ends = [clause_end(tokens, low) for low, _ in parts[1:]] + [high]
        meant = [
            self._referents.of(number, tokens, clause, upto, self._subject(clause, quoted))
            for (_, clause), upto in zip(parts, ends, strict=True)
        ]
        told = [
            self._claims(
                tokens,
                low,
                upto,
                _meaning(clause, who),
                quoted=quoted,
                lead=[*heads, *tokens.lows[:low]] if low == parts[0][0] else (),
            )
            for (low, clause), upto, who in zip(parts, ends, meant, strict=True)
        ]
        if short and not any(told):
            return []
        for i, (low, clause) in reversed(list(enumerate(parts))):
            if i + 1 < len(parts):
                begin, said = parts[i + 1][0], made[-1] is not None
                if not said and phrase_before(tokens, begin):
                    ends[i] = ends[i + 1]  # a reason that says nothing alone stays with its effect
                elif _leans(tokens, begin, said, meant[i + 1], told[i + 1]):
                    ends[i], told[i], made[-1] = ends[i + 1], (*told[i], *told[i + 1]), None
            upto = ends[i]
            end = stop if upto == high else _part_end(tokens, upto)
            begin = tokens.starts[low]
            begin -= begin > start and text[begin - 1] in "$£€¥"
            read = _meaning(clause, meant[i])
            where = Span(begin, end)
            made.append(self._statement(tokens, low, upto, read, where, quoted, told[i]))
        return [statement for statement in reversed(made) if statement is not None]

    def _quotation(self, at: int) -> Span | None:
        """Return the quotation that holds the character at `at`."""
        i = bisect_right(self._quotes, at, key=_start) - 1
        return self._quotes[i] if i >= 0 and at < self._quotes[i].end else None

    def _statement(
        self,
        tokens: Tokens,
        low: int,
        high: int,
        clause: Clause,
        span: Span,
        quoted: bool,
        claims: tuple[SlotClaim, ...],
    ) -> Statement | None:
        if clause.kind is Kind.YOU or high - low < 2:
            return None
        if self.role is Role.ASSISTANT and not _did_itself(tokens, clause):
            return None
        opening = self._quotation(span.start)
        if opening is not None and opening.end <= span.end and opening.start == span.start - 1:
            span = Span(opening.start, span.end)
        text = self.text[span.start : span.end]
        words = set(tokens.lows[low:high])
        of_self = clause.kind is Kind.SPEAKER
        if (
            (of_self or clause.kind is Kind.PRONOUN)
            and not words.isdisjoint(_SOCIAL_WORDS)
            and _SOCIAL.search(text)
        ):
            return None
        if of_self and not words.isdisjoint(_ASKING_WORDS) and _ASKING.search(text):
            return None
        # words are someone else's when the verb is within the quotation; else it is a title
        quoted = quoted or self._quotation(tokens.starts[clause.main]) is not None
        subject = self._subject(clause, quoted)
        names = self._names_in(span, subject)
        date = self._date_in(span)
        bare = date is None and not names and not _has_number(tokens, low, high)
        if bare and not claims:
            # a bare pronoun, or words to the other, mean nothing away from the conversation
            to_other = not _YOU.isdisjoint(tokens.lows[low:high])
            if clause.kind is Kind.PRONOUN or (to_other and self.role is not Role.ASSISTANT):
                return None
            if not _says_something(tokens, high, clause):
                return None
        return Statement(
            text=text,
            span=span,
            subject=subject,
            polarity=clause.polarity,
            modality=Modality.QUOTED if quoted else clause.modality,
            date=date,
            names=names,
            claims=claims,
        )

    def _subject(self, clause: Clause, quoted: bool) -> str | None:
        if clause.kind is Kind.SPEAKER:
            return None if quoted else self.self_name
        if clause.kind is Kind.PRONOUN:
            return None
        subject = clause.subject
        if subject and subject[:3].lower() == "my " and self.self_name and not quoted:
            return f"{self.self_name}'s {subject[3:]}"
        if subject and subject[:4].lower() == "our " and self.self_name and not quoted:
            return f"{self.self_name}'s {subject[4:]}"
        return subject

    def name_there(self, names: Sequence[tuple[str, Span]]) -> None:
        """Take the names in the text, ordered and disjoint."""
        self._names = names
        self._name_starts = [where.start for _, where in names]

    def _names_in(self, span: Span, subject: str | None) -> tuple[str, ...]:
        if self._names is None:
            self.name_there(find_names(self.text, self.known))
        assert self._names is not None
        at = bisect_right(self._name_starts, span.start - 1)
        found: list[str] = []
        while at < len(self._names) and self._names[at][1].end <= span.end:
            name, where = self._names[at]
            if name not in found and not self._spoken_to(where, span, name == subject):
                found.append(name)
            at += 1
        return tuple(found)

    def _spoken_to(self, where: Span, span: Span, is_subject: bool) -> bool:
        """Tell a name that is spoken to ("That's great, Mel!") from one spoken of."""
        before = self.text[max(span.start, where.start - 2) : where.start]
        after = self.text[where.end : where.end + 1]
        return (
            not is_subject
            and before == ", "
            and (after in (".", "!", "?", "") or where.end >= span.end)
            and self.text.count(",", span.start, where.start) == 1
        )

    def _date_in(self, span: Span) -> DateSpan | None:
        if self._dates is None:
            self._dates = sorted(self._find_dates(self.text), key=lambda date: date.span.start)
        at = bisect_left(self._dates, span.start, key=lambda date: date.span.start)
        if at < len(self._dates) and self._dates[at].span.end <= span.end:
            return self._dates[at]
        return None


def _meaning(clause: Clause, who: str | None) -> Clause:
    """Return a clause whose "he" or "she" means somebody as one about that person."""
    return clause if who is None else replace(clause, kind=Kind.PERSON, subject=who)


def _leans(
    tokens: Tokens, low: int, said: bool, who: str | None, told: Sequence[SlotClaim]
) -> bool:
    """Tell whether a clause after a comma stays with the one before: "…, it was green"."""
    if "," not in tokens.gap(low):
        return False
    if tokens.lows[low] in THIRD:
        return who is None or not told
    return not said and tokens.lows[low] in lex.POSSESSIVES


def _part_end(tokens: Tokens, upto: int) -> int:
    """Return where the words before `upto` end: signs ("%", a closing quote) are theirs."""
    after = tokens.gap(upto).rstrip(" ,;:-–—\n\t")
    return tokens.ends[upto - 1] + len(after)


def _start(span: Span) -> int:
    return span.start


def _did_itself(tokens: Tokens, clause: Clause) -> bool:
    """An assistant's "I booked …", "I've sent …", and no other of its words."""
    if clause.kind is not Kind.SPEAKER or tokens.lows[clause.first] != "i":
        return False
    if clause.modality is not Modality.ASSERTED or clause.main >= len(tokens):
        return False
    perfect = not clause.group or clause.group[0] in lex.HAVE | {"didn't", "did"}
    return perfect and tokens.lows[clause.main] in _DONE


def _has_number(tokens: Tokens, low: int, high: int) -> bool:
    words = tokens.lows[low:high]
    return any(word.lstrip("-")[0].isdigit() or word in lex.NUMBER_WORDS for word in words)


def _says_something(tokens: Tokens, high: int, clause: Clause) -> bool:
    """A statement needs a word beyond subject, function words and mere feeling."""
    if tokens.raws[high - 1][0].isupper() and "," in tokens.gap(high - 1):
        high -= 1  # a name that is spoken to
    return any(
        word not in lex.STOP and word not in lex.EMPTY and word not in lex.ADVERBS
        for word in tokens.lows[clause.verb : high]
    )
