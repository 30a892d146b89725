"""Fits how likely it is that an answer answers: makes src/remembrancer/finding/calibration.json.

Questions are asked of their own chat, of the others (which know nothing of them), and of samples of
4 to 150 memories of both; so are those of `notes.txt`, of their own notes, of others, of samples of
3 to 8, and of their own without what answers. Two logistic models with a small L2 penalty are
fitted by Newton's method: whether a bank knows the answer, over all searches, and which candidates
answer, over those of banks that do. Each set of data counts by a weight (`SHARES`), so that a large
one does not decide alone.

The figures are cross-validated: those of a chat or of notes come from models fitted without any
question or memory of it. Beliefs (PrecisionMemBench) are never fitted to: with `--beliefs` and
`--cases` the models are asked of them as they are.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import remembrancer
from remembrancer.app import App
from remembrancer.finding.calibration import (
    KNOWN,
    RELEVANT,
    WORDS,
    Calibration,
    Logistic,
    from_json,
)
from remembrancer.finding.part import merge_parts
from remembrancer.finding.search import Query, search
from remembrancer.finding.state import IndexState
from remembrancer.finding.tagging import TagFilter, TagMatch
from remembrancer.nouns.clock import to_us
from remembrancer.nouns.memory import BankRef
from remembrancer.verbs.recall import RecallOptions

from . import report
from .datasets import Chat, load_chats
from .metrics import Case, Figures, distinct, frac_at
from .notes import Notes, load_notes
from .precision import judge, retain_beliefs, right_of
from .retrieval import retain_chats, spoken

TARGET = Path(__file__).parent.parent / "src/remembrancer/finding/calibration.json"
SIZES = {"chats": (4, 8, 15, 50, 150), "notes": (3, 5, 8)}  # of sampled banks
TOP = 20  # candidates of a search that are fitted to
OTHERS = 3  # other notes that a question is asked of
ELSEWHERE = 0.22  # weight of a chat's question asked of another, of which there are many
SHARES = {"speech": 1.0, "assistant": 4.0, "notes": 1.5}
LIMITS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
SAMPLED = 0.5  # weight of a sampled bank, times its data's share
ANSWERS, QUOTES = 0.15, 0.5  # thresholds, see `Calibration`
PENALTY = 1.0

Floats = NDArray[np.float64]
_BLANK = Calibration(
    Logistic(0.0, np.zeros(len(KNOWN))), Logistic(0.0, np.zeros(len(RELEVANT))), 0.0, 0.0
)


@dataclass(frozen=True, slots=True)
class Search:
    """One search: what the models see, which candidates answer, and where it belongs.

    `home` is the chat whose memories were searched, `asker` that whose question it is. `own`: the
    bank knows the answer. `names` are the keys of the candidates, best first.
    """

    data: str
    home: str
    asker: str
    own: bool
    sampled: bool
    known: Floats
    relevant: Floats
    right: Floats
    names: tuple[str, ...]
    gold: frozenset[str]
    labels: tuple[str, ...]

    @property
    def weight(self) -> float:
        """How much it counts."""
        share = SHARES[self.data] * (SAMPLED if self.sampled else 1.0)
        elsewhere = not self.own and not self.sampled
        return share * (ELSEWHERE if elsewhere else 1.0)


@dataclass(slots=True)
class Bank:
    """A bank's index, the key of each memory (what gold names), and when it is asked."""

    name: str
    state: IndexState
    keys: dict[bytes, str]
    now: int | None


def fit(features: Floats, right: Floats, weights: Floats) -> Logistic:
    """Fit a logistic model by Newton's method, with an L2 penalty on standardised coefficients."""
    mean = np.average(features, axis=0, weights=weights)
    spread = np.sqrt(np.average((features - mean) ** 2, axis=0, weights=weights)) + 1e-9
    rows = np.c_[(features - mean) / spread, np.ones(len(features))]
    penalty = PENALTY * np.eye(rows.shape[1])
    penalty[-1, -1] = 0
    found = np.zeros(rows.shape[1])
    for _ in range(60):
        guess = 1 / (1 + np.exp(-(rows @ found)))
        slope = rows.T @ (weights * (guess - right)) + penalty @ found
        curve = (rows * (weights * guess * (1 - guess))[:, None]).T @ rows + penalty
        step = np.linalg.solve(curve, slope)
        found -= step
        if np.abs(step).max() < 1e-7:
            break
    coefficients = found[:-1] / spread
    return Logistic(float(found[-1] - coefficients @ mean), coefficients)


def fitted(searches: Sequence[Search]) -> Calibration:
    """Fit both models."""
    seen = [s for s in searches if s.names]
    known = fit(
        np.array([s.known for s in seen]),
        np.array([float(s.own) for s in seen]),
        np.array([s.weight for s in seen]),
    )
    own = [s for s in seen if s.own]
    relevant = fit(
        np.concatenate([s.relevant for s in own]),
        np.concatenate([s.right for s in own]),
        np.concatenate([np.full(len(s.names), s.weight) for s in own]),
    )
    return Calibration(known, relevant, ANSWERS, QUOTES)


def cross_validated(searches: Sequence[Search]) -> list[tuple[Search, float, Floats]]:
    """Return searches with the probabilities of models that were fitted without their groups."""
    found = []
    for group in sorted({s.home for s in searches}):
        model = fitted([s for s in searches if group not in (s.home, s.asker)])
        for each in (s for s in searches if s.home == group):
            known = float(model.known(each.known)) if each.names else 0.0
            relevant = model.relevant(each.relevant.T) if each.names else np.empty(0)
            found.append((each, known, known * relevant))
    return found


def figures_of(judged: Sequence[tuple[Search, float, Floats]]) -> Figures:
    """Return what the thresholds do, over all whole banks."""
    figures: Figures = {}
    for data in SHARES:
        mine = [j for j in judged if j[0].data == data and not j[0].sampled]
        own = np.array([k for s, k, _ in mine if s.own])
        rest = np.array([k for s, k, _ in mine if not s.own])
        for name, limit in (("answers", ANSWERS), ("quotes", QUOTES)):
            figures[f"{data}.{name}.known"] = float((own >= limit).mean())
            figures[f"{data}.{name}.unknown"] = float((rest >= limit).mean())
        if data == "notes":
            for limit in LIMITS:
                asked = [(s, r) for s, _, r in mine if s.home == s.asker]
                figures |= _trade_off("notes", limit, asked)
            continue
        for name, limit in (("no cut-off", 0.0), ("answers", ANSWERS)):
            shares = [
                frac_at(Case(distinct(s.names) if k >= limit else (), s.gold, ()), 10)
                for s, k, _ in mine
                if s.own and (data != "speech" or "cat1-4" in s.labels)
            ]
            figures[f"{data}.frac@10.{name}"] = sum(shares) / len(shares)
        edges = (0.0, 0.05, 0.1, 0.2, 0.4, 0.6, 1.01)
        guesses = np.concatenate([r for s, _, r in mine if s.own])
        truth = np.concatenate([s.right for s, _, _ in mine if s.own])
        for low, high in pairwise(edges):
            inside = (guesses >= low) & (guesses < high)
            if inside.any():
                figures[f"{data}.said {low}-{min(high, 1.0)}"] = float(guesses[inside].mean())
                figures[f"{data}.true {low}-{min(high, 1.0)}"] = float(truth[inside].mean())
    return figures


def _trade_off(name: str, limit: float, asked: Sequence[tuple[Search, Floats]]) -> Figures:
    """Return what a lowest relevance leaves of what is right, and of what is not."""
    pairs = [
        judge(frozenset(n for n, p in zip(s.names, r, strict=True) if p >= limit), s.gold)
        for s, r in asked
    ]
    return {
        f"{name}.precision at {limit}": sum(p for p, _ in pairs) / len(pairs),
        f"{name}.recall at {limit}": sum(r for _, r in pairs) / len(pairs),
    }


class Asking:
    """Asks questions of banks, and of parts of them."""

    def __init__(self, app: App, data: str, embedded: bool) -> None:
        self._app = app
        self._data = data
        self._embedded = embedded

    async def vector(self, question: str) -> Any:
        """Return the vector of a question, if there are any."""
        if not self._embedded:
            return None
        return (await self._app.recall.embed(question, RecallOptions()))[0]

    def __call__(
        self,
        question: str,
        vector: Any,
        bank: Bank,
        asker: str,
        gold: frozenset[str],
        *,
        groups: tuple[str, ...] = (),
        only: Sequence[bytes] | None = None,
        tags: TagFilter | None = None,
        top: int = TOP,
    ) -> Search:
        """Ask one question of a bank, or of some of its memories."""
        options = RecallOptions(now=bank.now, tags=tags)
        query = replace(self._app.recall.query(question, vector, options), calibration=_BLANK)
        state = bank.state if only is None else _part_of(bank.state, sorted(set(only)))
        seen = _seen(state, query, bank.keys, gold, top)
        sampled = only is not None
        return Search(self._data, bank.name, asker, bool(gold), sampled, *seen, gold, groups)


async def of_chats(app: App, chats: Sequence[Chat], data: str, embedded: bool) -> list[Search]:
    """Ask the questions of chats of every chat, and of samples."""
    asking = Asking(app, data, embedded)
    banks = {chat.name: await _of_chat(app, chat) for chat in chats}
    chance = random.Random(7)
    found = []
    for chat in chats:
        for question in chat.questions:
            vector = await asking.vector(question.text)
            asked = (question.text, vector)
            for bank in banks.values():
                gold = question.gold if bank.name == chat.name else frozenset[str]()
                found.append(asking(*asked, bank, chat.name, gold, groups=question.groups))
            others = [name for name in banks if name != chat.name]
            size = chance.choice(SIZES["chats"])
            for name in (chat.name, chance.choice(others)) if others else (chat.name,):
                bank = banks[name]
                gold = question.gold if name == chat.name else frozenset[str]()
                answering = [i for i, key in bank.keys.items() if key in gold]
                kept = answering[: max(1, size // 3)]
                only = [*kept, *chance.sample(sorted(bank.keys), min(size, len(bank.keys)))]
                found.append(
                    asking(*asked, bank, chat.name, gold, groups=question.groups, only=only)
                )
    return found


async def of_notes(app: App, every: Sequence[Notes], embedded: bool) -> list[Search]:
    """Ask the questions of notes of these, of others, and of some of both."""
    asking = Asking(app, "notes", embedded)
    banks = {notes.name: await _of_notes(app, notes.name) for notes in every}
    chance = random.Random(8)
    found = []
    for notes in every:
        mine = banks[notes.name]
        others = [bank for bank in banks.values() if bank is not mine]
        for question, gold in notes.questions:
            asked = (question, await asking.vector(question))
            found.append(asking(*asked, mine, notes.name, gold))
            for bank in chance.sample(others, OTHERS):
                found.append(asking(*asked, bank, notes.name, frozenset()))
            answering = [i for i, key in mine.keys.items() if key in gold]
            rest = sorted(i for i in mine.keys if i not in answering)
            if gold:
                found.append(asking(*asked, mine, notes.name, frozenset(), only=rest))
            for size in SIZES["notes"]:
                kept = answering[: size - 1]
                held = frozenset(mine.keys[i] for i in kept)
                only = [*kept, *chance.sample(rest, size - len(kept))]
                found.append(asking(*asked, mine, notes.name, held, only=only))
                bank = chance.choice(others)
                only = chance.sample(sorted(bank.keys), size)
                found.append(asking(*asked, bank, notes.name, frozenset(), only=only))
    return found


async def of_beliefs(app: App, cases: Sequence[Any], embedded: bool) -> list[Search]:
    """Ask the cases of the beliefs' bank."""
    asking = Asking(app, "beliefs", embedded)
    bank = await _keyed(app, cases[0].get("userId") or "test-user", "belief")
    asked = [c for c in cases if any(map(str.isalnum, c["query"])) and not c.get("userId")]
    found = []
    for case in asked:
        vector = await asking.vector(case["query"])
        tags = TagFilter(tuple(case["scope"]), TagMatch.ANY_STRICT)
        gold = right_of(case)
        found.append(asking(case["query"], vector, bank, bank.name, gold, tags=tags, top=50))
    return found


def _seen(
    state: IndexState,
    query: Query,
    keys: Mapping[bytes, str],
    gold: frozenset[str],
    top: int = TOP,
) -> tuple[Floats, Floats, Floats, tuple[str, ...]]:
    """Search; return what the models see, which of the first candidates answer, and their keys."""
    found = search(state, query)
    names = tuple(keys[i] for i in found.id_list(0, top))
    right = np.array([float(name in gold) for name in names])
    if found.features is None:
        return np.zeros(len(KNOWN)), np.zeros((0, len(RELEVANT))), right, names
    return found.features.known, found.features.relevant.T[:top], right, names


async def _of_chat(app: App, chat: Chat) -> Bank:
    turns = {s.name: [m.id for m in spoken(s)] for s in chat.sessions}
    state, units = await _read(app, chat.name)
    keys = {u.id: turns[u.metadata["session"]][u.turn] for u in units if u.metadata}
    return Bank(chat.name, state, keys, to_us(chat.asked_at) if chat.asked_at else None)


async def _of_notes(app: App, name: str) -> Bank:
    return await _keyed(app, name, "key")


async def _keyed(app: App, name: str, field: str) -> Bank:
    """Return a bank whose memories have their keys in a field of their metadata."""
    state, units = await _read(app, name)
    return Bank(name, state, {u.id: u.metadata[field] for u in units if u.metadata}, None)


async def _read(app: App, name: str) -> tuple[IndexState, Sequence[Any]]:
    ref = BankRef("default", name)
    async with app.store.snapshot(ref) as view:
        state = await app.indexes.state_for(ref, view)
        assert state is not None
        return state, await view.units([i for part in state.parts for i in _ids(part.ids)])


def _part_of(state: IndexState, ids: Sequence[bytes]) -> IndexState:
    """Return an index of some rows alone."""
    gone = []
    for part in state.parts:
        mask = np.ones(part.n, dtype=bool)
        mask[part.locate(ids)] = False
        gone.append(mask)
    small = merge_parts(state.parts, gone)
    return IndexState(state.revision, state.generation, state.dim, (small,), (None,))


def _ids(ids: NDArray[np.bytes_]) -> list[bytes]:
    raw = ids.tobytes()
    return [raw[i : i + 16] for i in range(0, len(raw), 16)]


def as_json(model: Calibration, figures: Figures) -> dict[str, Any]:
    """Return a calibration as the file has it."""

    def one(logistic: Logistic, names: tuple[str, ...]) -> dict[str, float]:
        values = zip(names, logistic.coefficients.tolist(), strict=True)
        return {"intercept": round(logistic.intercept, 4)} | {n: round(v, 4) for n, v in values}

    return {
        "known": one(model.known, KNOWN),
        "relevant": one(model.relevant, RELEVANT),
        "answers": model.answers,
        "quotes": model.quotes,
        "cross_validated": {name: round(value, 3) for name, value in figures.items()},
    }


def main(argv: Sequence[str] | None = None) -> Figures:
    """Run from the command line."""
    parser = report.parser(
        "calibrate",
        __doc__ or "",
        "python -m bench.calibrate locomo.json beam.json --data kept",
    )
    for name in ("speech", "assistant"):
        parser.add_argument(name, type=Path)
    for name in ("beliefs", "cases"):
        parser.add_argument(f"--{name}", type=Path, help="asked at the end, never fitted to")
    parser.add_argument("--data", type=Path, help="keep the memories here, and use them again")
    parser.add_argument("--write", action="store_true", help=f"write {TARGET.name}")
    options = parser.parse_args(argv)
    if options.data is not None:
        return _run(options, options.data)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        return _run(options, Path(folder))


def _run(options: Any, folder: Path) -> Figures:
    notes = load_notes()
    searches: dict[str, list[Search]] = defaultdict(list)
    asked: dict[str, list[Search]] = {}
    for data in ("speech", "assistant"):
        chats = load_chats(getattr(options, data))
        with _opened(folder / data) as (memory, fresh):
            if fresh:
                retain_chats(memory, chats, lambda: None)
            for name, app, embedded in _both(memory):
                searches[name] += memory.wait(of_chats(app, chats, data, embedded))
    with _opened(None) as (memory, _):
        for each in notes:
            for key, text in each.texts.items():
                memory.retain(text, bank=each.name, document=key, metadata={"key": key})
        for name, app, embedded in _both(memory):
            searches[name] += memory.wait(of_notes(app, notes, embedded))
    if options.beliefs and options.cases:
        cases = json.loads(options.cases.read_text(encoding="utf-8"))
        with _opened(None) as (memory, _):
            retain_beliefs(memory, json.loads(options.beliefs.read_text(encoding="utf-8")))
            for name, app, embedded in _both(memory):
                asked[name] = memory.wait(of_beliefs(app, cases, embedded))
    return _fit(options, searches, asked)


def _fit(
    options: Any, searches: Mapping[str, list[Search]], asked: Mapping[str, list[Search]]
) -> Figures:
    """Fit, show and write the models of each embedding model."""
    every: Figures = {}
    made: dict[str, Any] = {}
    for name, mine in searches.items():
        figures = figures_of(cross_validated(mine))
        model = fitted(mine)
        made[name] = as_json(model, figures)
        judged = [
            (s, model.known(s.known) * model.relevant(s.relevant.T)) for s in asked.get(name, ())
        ]
        for limit in LIMITS if judged else ():
            figures |= _trade_off("beliefs", limit, judged)
        report.show(f"{name}, cross-validated", figures)
        every |= {f"{name}.{figure}": value for figure, value in figures.items()}
    for read in made.values():
        from_json(read)  # it reads back
    if options.write:
        TARGET.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    else:
        report.console.print_json(json.dumps(made))
    report.write(options.json, every)
    return every


@contextmanager
def _opened(folder: Path | None) -> Iterator[tuple[remembrancer.Memory, bool]]:
    """Open a memory, one for now when no folder is named; tell whether it is new."""
    with tempfile.TemporaryDirectory(prefix="bench-") as passing:
        place = folder or Path(passing)
        place.mkdir(parents=True, exist_ok=True)
        fresh = not (place / "memory.db").exists()
        with remembrancer.open(place) as memory:
            yield memory, fresh


def _both(memory: remembrancer.Memory) -> Iterator[tuple[str, App, bool]]:
    """Return what to fit: for the embedding model, and for words alone."""
    app = memory.inner.app
    assert app.embedder is not None
    yield str(app.embedder.fingerprint["model"]), app, True
    yield WORDS, app, False


if __name__ == "__main__":
    main()
