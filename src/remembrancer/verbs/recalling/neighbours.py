"""What was said right before and after the answers: context of each, and no answer itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...finding.tagging import AllOf, AnyOf, NoneOf, TagFilter, TagMatch, TagNode
from ...keeping.view import Reader
from ...nouns.errors import InvalidInput
from ...nouns.memory import Unit
from .recollection import Answer, RecallOptions, payload_tokens

MOST = 10
"""Neighbours of an answer on either side, at most."""

_GAP = 64  # turns between two answers of a document that are read along rather than apart


class _Wanted(NamedTuple):
    """Turns of one document, both ends included."""

    document_id: bytes
    first: int
    last: int


def checked(neighbours: int) -> None:
    """Refuse a number of neighbours that cannot be taken.

    Raises:
        InvalidInput: it is below 0 or above `MOST`.
    """
    if not 0 <= neighbours <= MOST:
        raise InvalidInput(
            f"neighbours must be from 0 to {MOST}: that many turns before and after each result",
            field="neighbours",
            limit=MOST,
        )


def with_neighbours(
    reader: Reader, answers: Sequence[Answer], options: RecallOptions
) -> tuple[Answer, ...]:
    """Return answers of one bank, each with up to `options.neighbours` units before and after it.

    They are turns, and passages of long turns, of its document, in order. What was taken out, has
    not the tags asked for, or was said after `options.as_of` is left out, and nothing further away
    takes its place. `fitted` has to follow, once it is known which answers stay.
    """
    said: dict[bytes, list[Unit]] = {}
    for wanted in _wanted(answers, options.neighbours):
        found = reader.said_between(*wanted)
        said.setdefault(wanted.document_id, []).extend(found)
    places = {unit.id: (units, at) for units in said.values() for at, unit in enumerate(units)}
    return tuple(_padded(answer, places, options) for answer in answers)


def _wanted(answers: Sequence[Answer], near: int) -> list[_Wanted]:
    """Return the turns around answers, those that lie near each other as one range."""
    turns = sorted(
        {(a.unit.document_id, a.unit.turn) for a in answers if a.unit.document_id is not None}
    )
    ranges: list[_Wanted] = []
    for document_id, turn in turns:
        first, last = turn - near, turn + near
        if ranges and ranges[-1].document_id == document_id and first - ranges[-1].last <= _GAP:
            ranges[-1] = ranges[-1]._replace(last=last)
        else:
            ranges.append(_Wanted(document_id, first, last))
    return ranges


def _padded(
    answer: Answer,
    places: Mapping[bytes, tuple[list[Unit], int]],
    options: RecallOptions,
) -> Answer:
    units, at = places.get(answer.unit.id, ([], 0))
    near, turn = options.neighbours, answer.unit.turn

    def fits(unit: Unit) -> bool:
        late = options.as_of is not None and unit.mentioned_at > options.as_of
        tagged = options.tags is None or has_tags(unit.tags, options.tags)
        return abs(unit.turn - turn) <= near and tagged and not late

    return answer._replace(
        before=tuple(filter(fits, units[max(at - near, 0) : at])),
        after=tuple(filter(fits, units[at + 1 : at + 1 + near])),
    )


def fitted(
    answers: Sequence[Answer], tokens: int, max_tokens: int
) -> tuple[tuple[Answer, ...], int]:
    """Return answers with those neighbours that the token budget leaves room for, and all tokens.

    Those of the best answer come first, the nearest of each first; one stands with one answer only,
    and none that is an answer itself. What does not fit ends its side, so that no gap opens.

    Args:
        answers: best first.
        tokens: what they take without neighbours.
        max_tokens: what all may take.
    """
    if not any(answer.before or answer.after for answer in answers):
        return tuple(answers), tokens
    left = max_tokens - tokens
    seen = {(answer.unit.id, answer.bank) for answer in answers}
    out: list[Answer] = []
    for answer in answers:
        sides = [list(reversed(answer.before)), list(answer.after)]
        kept: list[list[Unit]] = [[], []]
        for step in range(max(map(len, sides), default=0)):
            for side, mine in zip(sides, kept, strict=True):
                if len(side) <= step or (side[step].id, answer.bank) in seen:
                    continue
                cost = payload_tokens(side[step])
                if cost > left:
                    del side[step:]
                    continue
                left -= cost
                seen.add((side[step].id, answer.bank))
                mine.append(side[step])
        out.append(answer._replace(before=tuple(reversed(kept[0])), after=tuple(kept[1])))
    return tuple(out), max_tokens - left


def has_tags(tags: Sequence[str], wanted: TagNode) -> bool:
    """Tell whether the tags of a unit meet a filter, as `finding.tagging` has it of an index."""
    match wanted:
        case TagFilter():
            return _leaf(tags, wanted)
        case NoneOf(inner):
            return not has_tags(tags, inner)
        case AllOf(several):
            return all(has_tags(tags, each) for each in several)
        case AnyOf(several):
            return any(has_tags(tags, each) for each in several)


def _leaf(tags: Sequence[str], wanted: TagFilter) -> bool:
    mine, asked = set(tags), set(wanted.tags)
    match wanted.match:
        case TagMatch.ANY:
            return not mine or not mine.isdisjoint(asked)
        case TagMatch.ALL:
            return not mine or asked <= mine
        case TagMatch.ANY_STRICT:
            return not mine.isdisjoint(asked)
        case TagMatch.ALL_STRICT:
            return asked <= mine
        case TagMatch.EXACT:
            return mine == asked
