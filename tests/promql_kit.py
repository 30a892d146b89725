"""A small PromQL: what the dashboard and the alerts say, evaluated over scrapes of a real server.

It knows the part of the language that they use (see `FUNCTIONS` and the operators in `_Reader`) and
refuses the rest, so an expression that it does not know fails its test. As in Prometheus, an
operation between vectors pairs equal labels, and what has no pair is left out. Unlike there,
`rate` and `delta` are taken between the first and the last scrape of the window, without
extrapolation to its edges.
"""

from __future__ import annotations

import math
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Labels = frozenset[tuple[str, str]]
Vector = dict[Labels, float]
Points = list[tuple[float, float]]  # seconds, value
Ranges = dict[Labels, Points]
Value = float | Vector | Ranges

_NAME = "__name__"
_LINE = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)")
_PAIR = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?![a-z])|(?P<range>\[\w+\])"
    r'|(?P<word>[a-zA-Z_:][\w:]*)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<sign>[<>=!]=|=~|!~|[-+*/(){},<>=]))'
)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}


class Unknown(Exception):
    """The expression says what this evaluator does not know."""


@dataclass(frozen=True, slots=True)
class Scrape:
    """What a server told at a time; `series` is keyed by all labels, the name among them."""

    at: float
    series: Mapping[Labels, float]


def scraped(at: float, text: str | None, **target: str) -> Scrape:
    """Read Prometheus' text format as a scrape of a target; None for one that did not answer."""
    own = tuple(target.items())
    found = {frozenset({(_NAME, "up"), *own}): 0.0 if text is None else 1.0}
    for line in (text or "").splitlines():
        if line.startswith("#") or not line:
            continue
        match = _LINE.fullmatch(line)
        assert match, line
        pairs = ((key, re.sub(r"\\(.)", r"\1", value)) for key, value in _pairs(match[2] or ""))
        found[frozenset({(_NAME, match[1]), *pairs, *own})] = float(match[3])
    return Scrape(at, found)


def evaluate(text: str, scrapes: Sequence[Scrape], variables: Mapping[str, str]) -> Value:
    """Return what an expression is at the time of the last scrape."""
    for name, value in variables.items():
        text = text.replace(f"${name}", value)
    reader = _Reader(text, scrapes)
    found = reader.logical()
    reader.end()
    return found


def sides(text: str) -> list[str]:
    """Return the expressions that a rule compares with a number: what must have data."""
    bare = re.split(r"\band\b", text)
    return [re.sub(r"\s(?:[<>]=?|[=!]=)\s*[\d.e+]+\s*$", "", part.strip()) for part in bare]


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    yield from _PAIR.findall(text)


class _Reader:
    """Reads an expression from left to right and works it out on the way."""

    def __init__(self, text: str, scrapes: Sequence[Scrape]) -> None:
        self._scrapes = scrapes
        self._tokens: list[tuple[str, str]] = []
        at = 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                raise Unknown(text[at:])
            self._tokens.append((str(match.lastgroup), match[str(match.lastgroup)]))
            at = match.end()

    def end(self) -> None:
        if self._tokens:
            raise Unknown(f"left over: {self._tokens}")

    def logical(self) -> Value:
        left = self._both()
        while self._take("or"):
            left, right = _vector(left), _vector(self._both())
            known = {*map(_bare, left)}
            left |= {k: v for k, v in right.items() if _bare(k) not in known}
        return left

    def _both(self) -> Value:
        left = self._comparison()
        while self._take("and"):
            known = {*map(_bare, _vector(self._comparison()))}
            left = {k: v for k, v in _vector(left).items() if _bare(k) in known}
        return left

    def _comparison(self) -> Value:
        left = self._sum()
        for sign, holds in _COMPARE.items():
            if self._take(sign):
                return _filtered(left, self._sum(), holds)
        return left

    def _sum(self) -> Value:
        left = self._product()
        while sign := self._take("+", "-"):
            left = _joined(left, self._product(), operator.add if sign == "+" else operator.sub)
        return left

    def _product(self) -> Value:
        left = self._single()
        while sign := self._take("*", "/"):
            left = _joined(left, self._single(), operator.mul if sign == "*" else _divided)
        return left

    def _single(self) -> Value:
        kind, token = self._tokens.pop(0)
        if kind == "number":
            return float(token)
        if token == "(":
            found = self.logical()
            self._expect(")")
            return found
        if token == "sum":
            by = self._by()
            return _summed(_vector(self._arguments()[0]), by)
        if token in FUNCTIONS and self._next() == "(":
            return FUNCTIONS[token](*self._arguments())
        if kind != "word":
            raise Unknown(token)
        return self._selected(token)

    def _by(self) -> set[str]:
        names: set[str] = set()
        if self._take("by"):
            self._expect("(")
            while not self._take(")"):
                names.add(self._tokens.pop(0)[1])
                self._take(",")
        return names

    def _arguments(self) -> list[Value]:
        self._expect("(")
        found = [self.logical()]
        while self._take(","):
            found.append(self.logical())
        self._expect(")")
        return found

    def _selected(self, name: str) -> Value:
        tests = [(_NAME, "=", name)]
        if self._take("{"):
            while not self._take("}"):
                key, how, value = (self._tokens.pop(0)[1] for _ in range(3))
                tests.append((key, how, re.sub(r"\\(.)", r"\1", value[1:-1])))
                self._take(",")
        if self._tokens and self._tokens[0][0] == "range":
            word = self._tokens.pop(0)[1][1:-1]
            return self._over(tests, int(word[:-1]) * _UNITS[word[-1]])
        last = self._scrapes[-1].series
        return {labels: value for labels, value in last.items() if _fits(labels, tests)}

    def _over(self, tests: list[tuple[str, str, str]], seconds: float) -> Ranges:
        found: defaultdict[Labels, Points] = defaultdict(list)
        for scrape in self._scrapes:
            if scrape.at <= self._scrapes[-1].at - seconds:
                continue
            for labels, value in scrape.series.items():
                if _fits(labels, tests):
                    found[labels].append((scrape.at, value))
        return dict(found)

    def _next(self) -> str:
        return self._tokens[0][1] if self._tokens else ""

    def _take(self, *signs: str) -> str:
        return self._tokens.pop(0)[1] if self._next() in signs and self._tokens else ""

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise Unknown(f"{self._next()!r} where {sign!r} should be")


def _fits(labels: Labels, tests: list[tuple[str, str, str]]) -> bool:
    told = dict(labels)
    for key, how, wanted in tests:
        is_it = told.get(key, "") == wanted
        if "~" in how:
            is_it = re.fullmatch(wanted, told.get(key, "")) is not None
        if is_it == how.startswith("!"):
            return False
    return True


def _bare(labels: Labels) -> Labels:
    return frozenset(pair for pair in labels if pair[0] != _NAME)


def _vector(value: Value) -> Vector:
    if isinstance(value, dict) and not any(isinstance(v, list) for v in value.values()):
        return {k: v for k, v in value.items() if isinstance(v, float)}
    raise Unknown("an instant vector is needed here")


def _ranges(value: Value) -> Ranges:
    if isinstance(value, dict):
        return {_bare(k): v for k, v in value.items() if isinstance(v, list)}
    raise Unknown("a range is needed here")


def _divided(a: float, b: float) -> float:
    return a / b if b else math.copysign(math.inf, a) if a else math.nan


def _joined(left: Value, right: Value, how: Callable[[float, float], float]) -> Value:
    if isinstance(left, float) and isinstance(right, float):
        return how(left, right)
    if isinstance(left, float):
        return {_bare(k): how(left, v) for k, v in _vector(right).items()}
    if isinstance(right, float):
        return {_bare(k): how(v, right) for k, v in _vector(left).items()}
    others = {_bare(k): v for k, v in _vector(right).items()}
    return {
        _bare(k): how(v, others[_bare(k)]) for k, v in _vector(left).items() if _bare(k) in others
    }


def _filtered(left: Value, right: Value, holds: Callable[[float, float], bool]) -> Vector:
    if not isinstance(right, float):
        raise Unknown("a comparison with what is no number")
    return {k: v for k, v in _vector(left).items() if holds(v, right)}


def _summed(vector: Vector, by: set[str]) -> Vector:
    found: defaultdict[Labels, float] = defaultdict(float)
    for labels, value in vector.items():
        found[frozenset(pair for pair in labels if pair[0] in by)] += value
    return dict(found)


def _increase(points: Points) -> float:
    """Return how far a counter went, each fall being a start from nothing."""
    steps = pairwise(points)
    return sum(after - before if after >= before else after for (_, before), (_, after) in steps)


def _per_series(found: Callable[[Points], float]) -> Callable[..., Value]:
    return lambda given: {k: found(p) for k, p in _ranges(given).items() if len(p) > 1}


def _quantile(share: Value, given: Value) -> Value:
    if not isinstance(share, float):
        raise Unknown("a share must be a number")
    buckets: defaultdict[Labels, list[tuple[float, float]]] = defaultdict(list)
    for labels, value in _vector(given).items():
        rest = frozenset(pair for pair in _bare(labels) if pair[0] != "le")
        buckets[rest].append((float(dict(labels)["le"]), value))
    return {labels: _between(share, sorted(each)) for labels, each in buckets.items()}


def _between(share: float, buckets: list[tuple[float, float]]) -> float:
    """Return a quantile of cumulative buckets, as if values lay evenly within each."""
    if len(buckets) < 2 or not math.isinf(buckets[-1][0]) or not buckets[-1][1]:
        return math.nan
    rank = share * buckets[-1][1]
    at = next(i for i, (_, count) in enumerate(buckets) if count >= rank)
    if at == len(buckets) - 1:
        return buckets[-2][0]
    low, before = buckets[at - 1] if at else (0.0, 0.0)
    high, count = buckets[at]
    return low + (high - low) * ((rank - before) / (count - before) if count > before else 1.0)


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "rate": _per_series(lambda p: _increase(p) / (p[-1][0] - p[0][0])),
    "delta": _per_series(lambda p: p[-1][1] - p[0][1]),
    "resets": _per_series(lambda p: float(sum(b[1] < a[1] for a, b in pairwise(p)))),
    "histogram_quantile": _quantile,
    "vector": lambda number: {Labels(): number},
}
