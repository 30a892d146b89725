"""Fills a JSON Schema's properties from statements: what is known, and nothing else.

A property is matched by the words of its name and description. Numbers, dates and addresses are
read from the matching statements; other texts are the statements themselves, word for word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ...nouns.clock import iso
from ...nouns.memory import Precision
from .response_schema import Shape
from .statements import Statement, TermsOf

MAX_ITEMS = 20  # of a list without a bound

_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"(?<![\w.,])[-+]?\d+(?:[.,]\d{3})*(?:\.\d+)?(?![\w])")
_SPELLED = {
    word: n
    for n, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
}
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_URL = re.compile(r"https?://[^\s<>\"”]+[^\s<>\"”.,;:!?)]")
_DATES = {"date", "day", "when", "time", "deadline", "birthday", "birthdate", "since", "until"}
_PLACES = {"city", "town", "place", "location", "country", "region", "destination", "where"}
_FIRMS = {"company", "employer", "organization", "organisation", "school", "university", "firm"}
_NAMES = {
    "name", "names", "person", "people", "who", "author", "speaker", "entity", "entities",
    "cities", "places", "locations", "countries", "companies", "friends", "participants",
}  # fmt: skip
_AFTER_PLACE = ("in", "to", "from", "near", "into", "around")
_AFTER_FIRM = ("at", "for", "with", "by", "join", "joined", "left")
_ALL = {
    "answer", "summary", "text", "response", "result", "explanation", "reasoning", "conclusion",
    "overview", "recommendation", "content", "findings", "evidence", "insight", "insights", "facts",
    "statements", "memories", "reflection", "details", "key", "points",
}  # fmt: skip
_UNKNOWN = ("unknown", "other", "none", "n/a", "not specified", "unspecified")
_DAY_CHARS = 10
_YEARS = (1_000, 3_000)
_FINE = {Precision.SECOND, Precision.MINUTE, Precision.HOUR}


class _Nothing:
    """Stands for: nothing fits."""


NOTHING = _Nothing()


class Filler:
    """Fills shapes from statements.

    Args:
        terms_of: the terms of a text.
        dated: the ranges of a text that are dates, whose numbers count nothing.
        asked: the question's terms: a property's words that stand in it do not tell statements
            apart, and are counted less.
    """

    def __init__(
        self,
        terms_of: TermsOf,
        dated: Callable[[Statement], Sequence[tuple[int, int]]],
        asked: frozenset[int],
    ) -> None:
        self._terms_of = terms_of
        self._date_spans = dated
        self._spans: dict[int, Sequence[tuple[int, int]]] = {}  # by the statement's identity
        self._asked = asked
        self.missing: list[str] = []

    def fill(self, shape: Shape, statements: Sequence[Statement]) -> dict[str, Any]:
        """Fill an object from statements, best first.

        Required properties that nothing fits are null where that is allowed, else empty, else the
        least allowed value; `missing` then names them. Others are left out.
        """
        return self._object(shape, statements, "")

    def _object(self, shape: Shape, said: Sequence[Statement], path: str) -> dict[str, Any]:
        found = {}
        for name, inner in shape.properties.items():
            where = f"{path}.{name}" if path else name
            value = self._value(inner, name, said, where)
            if value is NOTHING:
                if name not in shape.required:
                    continue
                self.missing.append(where)
                value = self._empty(inner, where)
            found[name] = value
        for name in sorted(shape.required - shape.properties.keys()):
            self.missing.append(f"{path}.{name}" if path else name)
            found[name] = None
        return found

    def _value(self, shape: Shape, name: str, said: Sequence[Statement], path: str) -> Any:
        words = _words(name)
        if shape.enum is not None:
            return self._choice(shape, words, said)
        match shape.type:
            case "object":
                return self._inner(shape, words, said, path)
            case "array":
                return self._list(shape, words, said, path)
            case "boolean":
                return self._truth(shape, words, said)
            case "number" | "integer":
                return self._number(shape, words, said)
            case "null":
                return None
        return self._text(shape, words, said)

    def _matching(
        self, shape: Shape, words: Sequence[str], said: Sequence[Statement]
    ) -> list[Statement]:
        """Return the statements that share words with a property, best first."""
        named = frozenset(self._terms_of(" ".join(words)))
        told = frozenset(self._terms_of(shape.description)) - named
        scored = []
        for place, statement in enumerate(said):
            score = 2.0 * self._weight(named & statement.terms)
            score += self._weight(told & statement.terms)
            if score > 0:
                scored.append((-score, place, statement))
        return [statement for _, _, statement in sorted(scored, key=lambda each: each[:2])]

    def _weight(self, shared: frozenset[int]) -> float:
        return len(shared - self._asked) + 0.5 * len(shared & self._asked)

    def _text(self, shape: Shape, words: Sequence[str], said: Sequence[Statement]) -> Any:
        wanted = set(words)
        match = self._matching(shape, words, said)
        if shape.format in ("date", "date-time") or wanted & _DATES:
            only_date = wanted <= _DATES
            value = _date(shape, said if only_date and not match else match)
            if value is not NOTHING or shape.format in ("date", "date-time"):
                return value
        if shape.format == "email" or "email" in wanted:
            return _first(_EMAIL, match or said)
        if shape.format in ("uri", "url") or wanted & {"url", "link", "website"}:
            return _first(_URL, match or said)
        names = self._called(wanted, match, said)
        if names:
            return _fitted(shape, names[0])
        if wanted & _ALL or shape.type == "":
            text = " ".join(f"“{s.text}”" for s in (match or said))
            return _fitted(shape, text)
        return _fitted(shape, match[0].text) if match else NOTHING

    def _called(
        self, wanted: set[str], match: Sequence[Statement], said: Sequence[Statement]
    ) -> list[str]:
        """Return the names that fit a property that wants one, best first."""
        if wanted & _PLACES:
            return self._names(match, _AFTER_PLACE) or self._names(said, _AFTER_PLACE)
        if wanted & _FIRMS:
            return self._names(match, _AFTER_FIRM) or self._names(said, _AFTER_FIRM)
        return self._names(match or said) if wanted & _NAMES else []

    def _names(self, said: Sequence[Statement], after: Sequence[str] = ()) -> list[str]:
        """Return the entities of statements that the question does not name.

        With `after`, those that one of these words stands before.
        """
        found: dict[str, None] = {}
        for statement in said:
            for name in statement.entities:
                before = statement.text.partition(name)[0].split()
                if not after or (before and before[-1].lower() in after):
                    found[name] = None
        return [n for n in found if not self._asked & frozenset(self._terms_of(n))]

    def _choice(self, shape: Shape, words: Sequence[str], said: Sequence[Statement]) -> Any:
        """Return the value whose words stand in the best statement that affirms one."""
        values = [(v, frozenset(self._terms_of(v))) for v in shape.enum or () if isinstance(v, str)]
        for statement in [*self._matching(shape, words, said), *said]:
            for value, terms in values:
                if terms and terms <= statement.terms and not statement.negated:
                    return value
        plain = [v for v in shape.enum or () if v is not None]
        return plain[0] if len(plain) == 1 else NOTHING

    def _truth(self, shape: Shape, words: Sequence[str], said: Sequence[Statement]) -> Any:
        match = self._matching(shape, words, said)
        return not match[0].negated if match else NOTHING

    def _number(self, shape: Shape, words: Sequence[str], said: Sequence[Statement]) -> Any:
        wanted = frozenset(self._terms_of(f"{' '.join(words)} {shape.description}"))
        for statement in self._matching(shape, words, said):
            near = self._numbers(statement, wanted, years="year" in words)
            for value in near:
                whole = shape.type == "integer"
                if shape.minimum <= value <= shape.maximum and not (whole and value % 1):
                    return int(value) if value % 1 == 0 else value
        return NOTHING

    def _numbers(self, statement: Statement, wanted: frozenset[int], *, years: bool) -> list[float]:
        """Return a statement's numbers, those nearest to a wanted word first."""
        text = statement.text
        spots = [m.start() for m in _WORD.finditer(text) if wanted & set(self._terms_of(m[0]))]
        dated = [] if years else self._dated(statement)
        found = [(m.start(), _parsed(m[0])) for m in _NUMBER.finditer(text)]
        found += [
            (m.start(), float(_SPELLED[m[0].lower()]))
            for m in _WORD.finditer(text)
            if m[0].lower() in _SPELLED
        ]
        free = [(at, v) for at, v in found if not any(start <= at < end for start, end in dated)]
        free.sort(key=lambda each: min((abs(each[0] - spot) for spot in spots), default=each[0]))
        return [value for _, value in free if not years or _YEARS[0] <= value < _YEARS[1]]

    def _dated(self, statement: Statement) -> Sequence[tuple[int, int]]:
        spans = self._spans.get(id(statement))
        if spans is None:
            spans = self._spans[id(statement)] = self._date_spans(statement)
        return spans

    def _inner(
        self, shape: Shape, words: Sequence[str], said: Sequence[Statement], path: str
    ) -> Any:
        before = len(self.missing)
        value = self._object(shape, self._matching(shape, words, said) or said, path)
        lost = set(self.missing[before:])
        if all(f"{path}.{name}" in lost for name in value):
            del self.missing[before:]
            return NOTHING
        return value

    def _list(
        self, shape: Shape, words: Sequence[str], said: Sequence[Statement], path: str
    ) -> Any:
        items = shape.items or Shape("string")
        most = MAX_ITEMS if shape.longest is None else shape.longest
        match = self._matching(shape, words, said)
        if not match and (set(words) & (_ALL | _NAMES) or items.type == "object"):
            match = list(said)
        found: list[Any] = []
        if items.type in ("string", "") and items.enum is None and set(words) & _NAMES:
            found = list(self._names(match))
        else:
            singular = [*words, *_words(items.description)]
            for statement in match:
                if len(found) >= most:
                    break
                value = self._item(items, singular, statement, f"{path}[{len(found)}]")
                if value is not NOTHING and value not in found:
                    found.append(value)
        found = found[:most]
        return found if found and len(found) >= shape.shortest else NOTHING

    def _item(self, items: Shape, words: Sequence[str], statement: Statement, path: str) -> Any:
        """Fill one item from one statement."""
        if items.type == "object":
            return self._inner(items, [], [statement], path)
        if items.type in ("string", "") and items.enum is None and not items.format:
            return _fitted(items, statement.text)
        return self._value(items, "_".join(words), [statement], path)

    def _empty(self, shape: Shape, path: str) -> Any:
        """Return what stands for nothing in a property that must be there."""
        if shape.nullable or shape.type == "null":
            return None
        if shape.enum is not None:
            known = {str(v).casefold(): v for v in shape.enum}
            return next((known[name] for name in _UNKNOWN if name in known), shape.enum[0])
        match shape.type:
            case "object":
                return self._object(shape, [], path)
            case "array":
                inner = shape.items or Shape("string")
                return [self._empty(inner, path) for _ in range(min(shape.shortest, MAX_ITEMS))]
            case "boolean":
                return False
            case "number" | "integer":
                return int(min(max(0.0, shape.minimum), shape.maximum))
        return ""


def _words(name: str) -> list[str]:
    """Return the words of a property's name, lower-case: `homeCity` and `home_city` alike."""
    return [word.lower() for word in _NAME_WORD.findall(name)]


def _date(shape: Shape, said: Sequence[Statement]) -> Any:
    """Return the time that the first dated statement speaks of."""
    for statement in said:
        spelled = iso(statement.occurred_start, statement.offset_min)
        if spelled is not None:
            fine = shape.format == "date-time" or (
                shape.format != "date" and statement.precision in _FINE
            )
            return spelled if fine else spelled[:_DAY_CHARS]
    return NOTHING


def _first(pattern: re.Pattern[str], said: Sequence[Statement]) -> Any:
    for statement in said:
        if found := pattern.search(statement.text):
            return found[0]
    return NOTHING


def _fitted(shape: Shape, text: str) -> Any:
    """Return a text within the bounds of a shape."""
    short = text if shape.longest is None else text[: shape.longest]
    return short if short and len(short) >= shape.shortest else NOTHING


def _parsed(number: str) -> float:
    return float(number.replace(",", ""))
