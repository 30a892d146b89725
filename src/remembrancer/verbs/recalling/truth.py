"""What holds of the answers at a time: marks what does not, and puts what does before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import NamedTuple, Protocol, TypeVar

from ...keeping.parts import hull, parts, together
from ...keeping.truth_view import FactTruth, TruthReader
from ...nouns.memory import Layer, Stance, Unit

_HOPS = 16  # of a chain of values, from an old one to the one that holds


_NEAR = 3  # places that a question may fall behind


class Truth(NamedTuple):
    """Whether a memory holds at the time asked about, and what speaks against it.

    A memory holds while any of its claims does; one that claims nothing holds. `valid_from` and
    `valid_until` (microseconds) are those of the memory, None as far as is known. `superseded_by`
    and `contradicts` are ids of memories; `facts` tells it of each fact that claims something, and
    `claims` are what they claim. `whole`: nothing of the fact has ended, or of one fact at least of
    the memory. `says` are the slots of which it says a value that holds.
    """

    holds: bool = True
    valid_from: int | None = None
    valid_until: int | None = None
    superseded_by: tuple[bytes, ...] = ()
    contradicts: tuple[bytes, ...] = ()
    facts: Mapping[bytes, Truth] = MappingProxyType({})
    claims: tuple[FactTruth, ...] = ()
    whole: bool = True
    says: frozenset[str] = frozenset()


HOLDS = Truth()


class Marked(Protocol):
    """What is needed of an answer."""

    @property
    def unit(self) -> Unit:
        """The memory."""
        ...

    @property
    def truth(self) -> Truth:
        """What holds of it."""
        ...


M = TypeVar("M", bound=Marked)


def truths_of(reader: TruthReader, units: Sequence[Unit], at: int) -> dict[bytes, Truth]:
    """Return what holds of memories at a time; those that nothing is known of are left out."""
    told = reader.truths([unit.id for unit in units if unit.layer is Layer.SOURCE])
    found = {unit.id: truth_of(unit, told.get(unit.id, ()), at) for unit in units}
    return {unit_id: truth for unit_id, truth in found.items() if truth is not HOLDS}


def truth_of(unit: Unit, claims: Sequence[FactTruth], at: int) -> Truth:
    """Return what holds of a memory whose facts claim something, or that has a validity itself."""
    if claims:
        return _truth(claims, at)
    if unit.valid_from is None and unit.valid_until is None:
        return HOLDS
    return Truth(_within(unit.valid_from, unit.valid_until, at), unit.valid_from, unit.valid_until)


def _truth(claims: Sequence[FactTruth], at: int) -> Truth:
    by_fact: dict[bytes, list[FactTruth]] = {}
    for claim in claims:
        by_fact.setdefault(claim.fact_id, []).append(claim)
    facts = {fact_id: _fact(mine, at) for fact_id, mine in by_fact.items()}
    return _of_one(facts, claims) if len(facts) == 1 else _of_many(facts, claims)


def _of_many(facts: Mapping[bytes, Truth], claims: Sequence[FactTruth]) -> Truth:
    """Return what holds of a memory by its facts: it holds while any of them does."""
    holds = any(fact.holds for fact in facts.values())
    begins = [f.valid_from for f in facts.values() if f.valid_from is not None]
    ends = [f.valid_until for f in facts.values()]
    until = None if holds else max((e for e in ends if e is not None), default=None)
    whole = any(fact.whole for fact in facts.values())
    return Truth(
        holds,
        min(begins, default=None),
        until,
        _unique(i for f in facts.values() if not f.whole for i in f.superseded_by),
        _unique(i for f in facts.values() if f.holds for i in f.contradicts),
        facts,
        tuple(claims),
        whole,
        frozenset(slot for f in facts.values() for slot in f.says),
    )


def _of_one(facts: Mapping[bytes, Truth], claims: Sequence[FactTruth]) -> Truth:
    """Return what holds of a memory by its only fact, most often so, as `_of_many` does."""
    (fact,) = facts.values()
    return Truth(
        fact.holds,
        fact.valid_from,
        None if fact.holds else fact.valid_until,
        () if fact.whole else fact.superseded_by,
        fact.contradicts if fact.holds else (),
        facts,
        tuple(claims),
        fact.whole,
        fact.says,
    )


def _fact(claims: Sequence[FactTruth], at: int) -> Truth:
    """Return what holds of a fact: it holds while any part of what it says does."""
    return _claim(claims[0], at) if len(claims) == 1 else _parted(claims, at)


def _claim(claim: FactTruth, at: int) -> Truth:
    """Return what holds of a fact that claims one thing, as `_parted` does."""
    if claim.stance == Stance.HELD:
        return Truth()
    holds = _within(claim.begins, claim.ends, at)
    return Truth(
        holds,
        claim.begins,
        claim.ends,
        () if claim.ended_in is None else (claim.ended_in,),
        () if claim.against_in is None else (claim.against_in,),
        whole=holds,
        says=frozenset((claim.slot,)) if holds and claim.stance == Stance.HOLDS else frozenset(),
    )


def _parted(claims: Sequence[FactTruth], at: int) -> Truth:
    """Return what holds of a fact by the parts of what it says."""
    told = [[claims[i] for i in part] for part in parts(claims)]
    if not told:  # that something held once stays true
        return Truth()
    spans = [together((c.begins, c.ends) for c in part) for part in told]
    over = [not _within(*span, at) for span in spans]
    # while all parts hold, it is told what will end them, as when
    ended = [
        (c, until)
        for part, (_, until), gone in zip(told, spans, over, strict=True)
        if gone or not any(over)
        for c in part
    ]
    begins, ends = hull(spans)
    return Truth(
        not all(over),
        begins,
        ends,
        _unique(c.ended_in for c, until in ended if c.ended_in is not None and c.ends == until),
        _unique(c.against_in for part in told for c in part if c.against_in is not None),
        whole=not any(over),
        says=frozenset(
            c.slot
            for part, gone in zip(told, over, strict=True)
            for c in part
            if not gone and c.stance == Stance.HOLDS
        ),
    )


def _within(begins: int | None, ends: int | None, at: int) -> bool:
    return (begins is None or begins <= at) and (ends is None or at < ends)


def _unique(ids: object) -> tuple[bytes, ...]:
    return tuple(dict.fromkeys(ids))  # type: ignore[call-overload]


def as_asked(truth: Truth, facts: Sequence[Unit], asks: Callable[[str], bool]) -> Truth:
    """Return what holds of a memory by those of its facts that a question asks of.

    "I'm vegetarian. I live in Rome." stands, but not as an answer to where I live: what ended that
    part comes before it.
    """
    if len(truth.facts) < 2 or not truth.superseded_by or not truth.whole:
        return truth
    asked = facts_asked(truth, facts, asks)
    whole = any(truth.facts[i].whole for i in asked)
    return truth if whole else truth._replace(whole=False)


def facts_asked(
    truth: Truth, facts: Sequence[Unit], asks: Callable[[str], bool]
) -> Sequence[bytes]:
    """Return the facts that claim something and of which a question asks; all, if of none."""
    if len(truth.facts) < 2:
        return list(truth.facts)
    asked = [fact.id for fact in facts if fact.id in truth.facts and asks(fact.text)]
    return asked or list(truth.facts)


def seen_then(unit: Unit, truth: Truth | None, at: int) -> bool:
    """Tell whether a memory is part of what held, or was said, by a time.

    What was said later is so only where it tells of then: it claims something that held, or of
    what had happened.
    """
    if truth is not None and truth.claims and unit.mentioned_at > at:
        return any(_held_then(claim, at) for claim in truth.claims)
    return unit.mentioned_at <= at or (
        unit.occurred_start is not None and unit.occurred_start <= at
    )


def _held_then(claim: FactTruth, at: int) -> bool:
    if claim.stance == Stance.HELD:
        return claim.begins is not None and _within(claim.begins, claim.ends, at)
    return _within(claim.begins, claim.ends, at)


def heirs(reader: TruthReader, truths: Mapping[bytes, Truth], at: int) -> list[bytes]:
    """Return the memories that hold in the place of those that do not, and are not among them.

    Of an attribute with one value that is who said last what holds, unless one of the memories says
    it; of one with many, those that come of what ended a value, through all in between.
    """
    ended = [truth for truth in truths.values() if not truth.whole]
    if not ended:
        return []
    told = {slot for truth in truths.values() for slot in truth.says}
    slots = {c.slot for t in ended for c in t.claims if not c.many and _was_ended(c)} - told
    wanted = dict.fromkeys(reader.holders(sorted(slots), at).values()) if slots else {}
    seen = set(truths)
    edge = _next([c for t in ended for c in t.claims if c.many], seen)
    for _ in range(_HOPS):
        if not edge:
            break
        seen |= set(edge)
        read = {i: _truth(claims, at) for i, claims in reader.truths(edge).items()}
        wanted.update(dict.fromkeys(i for i in edge if read.get(i, HOLDS).holds))
        edge = _next([c for t in read.values() if not t.whole for c in t.claims], seen)
    return [unit_id for unit_id in wanted if unit_id not in truths]


def _was_ended(claim: FactTruth) -> bool:
    """Tell whether something ended a claim; that something held once stays true."""
    return claim.ends is not None and claim.stance != Stance.HELD


def opponents(truths: Mapping[bytes, Truth]) -> list[bytes]:
    """Return the memories against which those that hold stand, and which are not among them."""
    return [i for t in truths.values() if t.holds for i in t.contradicts if i not in truths]


def _next(claims: Sequence[FactTruth], seen: set[bytes]) -> list[bytes]:
    """Return the memories not yet seen that ended claims."""
    ended = (c.ended_in for c in claims if c.ended_in is not None and c.stance != Stance.HELD)
    return [unit_id for unit_id in dict.fromkeys(ended) if unit_id not in seen]


def current_first(answers: Sequence[M], asked: AbstractSet[str] = frozenset()) -> list[M]:
    """Return answers with each memory that holds before those that it has superseded.

    It takes the place of the first of them; what contradicts an answer comes right after it. A
    memory that only denies a value comes after one that says which value holds instead, unless
    `asked`, the words of the question, name the value. All else stays in its order.
    """
    by_id = {answer.unit.id: answer for answer in answers}
    instead = _instead(answers)
    out: list[M] = []
    done: set[bytes] = set()
    for answer in _told_first(answers):
        if answer.truth is HOLDS:  # nothing else is told of it
            if answer.unit.id not in done:
                done.add(answer.unit.id)
                out.append(answer)
            continue
        for each in _before(answer, by_id):
            meant = [a for slot in _denied(each, asked) for a in instead.get(slot, ())]
            for one in (*meant, each):
                if one.unit.id not in done:
                    done.add(one.unit.id)
                    out.append(one)
        for unit_id in answer.truth.contradicts:
            other = by_id.get(unit_id)
            if other is not None and unit_id not in done and other.truth.holds:
                done.add(unit_id)
                out.append(other)
    return out


def _told_first(answers: Sequence[M]) -> list[M]:
    """Return answers with what merely asks behind what tells something, where they are near."""
    out = list(answers)
    for at in range(len(out) - 2, -1, -1):
        to = at
        while _asks(out[to]) and to < min(at + _NEAR, len(out) - 1) and out[to + 1].truth.claims:
            if not out[to + 1].truth.holds:
                break
            out[to], out[to + 1] = out[to + 1], out[to]
            to += 1
    return out


def _asks(answer: Marked) -> bool:
    text = answer.unit.text.rstrip()
    return text.endswith(("?", "？")) and not answer.truth.claims and "." not in text


def _instead(answers: Sequence[M]) -> dict[str, list[M]]:
    """Return by slot the memories that say which value holds."""
    found: dict[str, list[M]] = {}
    for answer in answers:
        for slot in answer.truth.says:
            found.setdefault(slot, []).append(answer)
    return found


def _denied(answer: Marked, asked: AbstractSet[str]) -> list[str]:
    """Return the slots of which another memory has to come first.

    Those are the slots of what holds no more, and those of which a memory only denies values that
    nobody asked for.
    """
    claims = answer.truth.claims
    if not answer.truth.whole:
        return [c.slot for c in claims if not c.many and c.ends is not None]
    if any(claim.stance != Stance.DENIED for claim in claims):
        return []
    return [c.slot for c in claims if not c.many and asked.isdisjoint(c.value.split())]


def _before(answer: M, by_id: Mapping[bytes, M]) -> list[M]:
    """Return what supersedes an answer, the last first, and the answer."""
    chain = [answer]
    seen = {answer.unit.id}
    edge = [answer]
    for _ in range(_HOPS):
        later = [
            by_id[i]
            for each in edge
            if not each.truth.whole
            for i in each.truth.superseded_by
            if i in by_id and i not in seen
        ]
        if not later:
            break
        seen |= {each.unit.id for each in later}
        chain = [*later, *chain]
        edge = later
    return chain
