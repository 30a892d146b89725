"""Fits how likely it is that an answer answers: makes src/remembrancer/finding/calibration.json.

Questions are asked of their own chat, of the others (which know nothing of them), and of samples of
15, 50 and 150 memories of both, so that small banks count as well; beliefs are asked of their bank.
Two logistic models with a small L2 penalty are fitted by Newton's method: whether a bank knows the
answer, over all searches, and which candidates answer, over those of banks that do. Each set of
data counts by a weight (`SHARES`), so that a large one does not decide alone.

The figures are cross-validated: those of a chat come from models fitted without any question or
memory of it, those of beliefs from models fitted without a fifth of the cases.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterable, Mapping, Sequence
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
from .precision import judge, retain_beliefs, right_of
from .retrieval import retain_chats, spoken

TARGET = Path(__file__).parent.parent / "src/remembrancer/finding/calibration.json"
SIZES = (15, 50, 150)  # of sampled banks
TOP = 20  # candidates of a search that are fitted to
FOLDS = 5  # of the belief cases
ELSEWHERE = 0.22  # weight of a chat's question asked of another, of which there are many
SHARES = {"speech": 1.0, "assistant": 4.0, "beliefs": 15.0}
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

    `home` is the chat whose memories were searched, `asker` that whose question it is; both are
    the fold of a belief case. `own`: the bank knows the answer. `names` are the keys of the
    candidates, best first.
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
        elsewhere = not self.own and not self.sampled and self.data != "beliefs"
        return share * (ELSEWHERE if elsewhere else 1.0)


@dataclass(slots=True)
class Bank:
    """A bank's index, and the key of each memory: what a question's gold names."""

    state: IndexState
    keys: dict[bytes, str]
    chat: Chat


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
        if data == "beliefs":
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
    for limit in (0.15, 0.2, 0.25, 0.3, 0.35, 0.4):
        pairs = [
            judge(frozenset(n for n, p in zip(s.names, r, strict=True) if p >= limit), s.gold)
            for s, _, r in judged
            if s.data == "beliefs"
        ]
        figures[f"beliefs.precision at {limit}"] = sum(p for p, _ in pairs) / len(pairs)
        figures[f"beliefs.recall at {limit}"] = sum(r for _, r in pairs) / len(pairs)
    return figures


async def of_chats(app: App, chats: Sequence[Chat], data: str, embedded: bool) -> list[Search]:
    """Ask the questions of chats of every chat, and of samples."""
    banks = {chat.name: await _bank(app, chat) for chat in chats}
    chance = random.Random(7)
    found: list[Search] = []
    for chat in chats:
        for question in chat.questions:
            vector = None
            if embedded:
                vector, _ = await app.recall.embed(question.text, RecallOptions())
            for name, bank in banks.items():
                now = bank.chat.asked_at
                options = RecallOptions(now=to_us(now) if now else None)
                query = replace(
                    app.recall.query(question.text, vector, options), calibration=_BLANK
                )
                own = name == chat.name
                gold = question.gold if own else frozenset[str]()
                seen = _seen(bank.state, query, bank.keys, gold)
                found.append(
                    Search(data, name, chat.name, own, False, *seen, gold, question.groups)
                )
            found += _sampled(app, banks, chat, question, vector, data, chance)
    return found


def _sampled(
    app: App,
    banks: Mapping[str, Bank],
    chat: Chat,
    question: Any,
    vector: Any,
    data: str,
    chance: random.Random,
) -> Iterable[Search]:
    """Ask a question of samples of its own chat, with what answers it, and of another."""
    others = [name for name in banks if name != chat.name]
    for size in SIZES:
        for name in (chat.name, chance.choice(others)) if others else (chat.name,):
            bank = banks[name]
            own = name == chat.name
            now = bank.chat.asked_at
            options = RecallOptions(now=to_us(now) if now else None)
            query = replace(app.recall.query(question.text, vector, options), calibration=_BLANK)
            answering = [i for i, key in bank.keys.items() if own and key in question.gold]
            ids = sorted({*answering[: size // 3], *chance.sample(sorted(bank.keys), size)})
            state = _part_of(bank.state, ids)
            gold = question.gold if own else frozenset[str]()
            seen = _seen(state, query, bank.keys, gold)
            yield Search(data, name, chat.name, own, True, *seen, gold, question.groups)


async def of_beliefs(app: App, cases: Sequence[Any], embedded: bool) -> list[Search]:
    """Ask the cases of the beliefs' bank."""
    ref = BankRef("default", cases[0].get("userId") or "test-user")
    async with app.store.snapshot(ref) as view:
        state = await app.indexes.state_for(ref, view)
        assert state is not None
        units = await view.newest(10_000)
    keys = {u.id: u.metadata["belief"] for u in units if u.metadata and u.source_id is None}
    asked = [c for c in cases if any(map(str.isalnum, c["query"])) and not c.get("userId")]
    found = []
    for number, case in enumerate(asked):
        vector = None
        if embedded:
            vector, _ = await app.recall.embed(case["query"], RecallOptions())
        tags = TagFilter(tuple(case["scope"]), TagMatch.ANY_STRICT)
        query = app.recall.query(case["query"], vector, RecallOptions(tags=tags))
        gold = right_of(case)
        seen = _seen(state, replace(query, calibration=_BLANK), keys, gold, top=50)
        fold = f"fold {number % FOLDS}"
        found.append(Search("beliefs", fold, fold, bool(gold), False, *seen, gold, ()))
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


async def _bank(app: App, chat: Chat) -> Bank:
    ref = BankRef("default", chat.name)
    turns = {s.name: [m.id for m in spoken(s)] for s in chat.sessions}
    async with app.store.snapshot(ref) as view:
        state = await app.indexes.state_for(ref, view)
        assert state is not None
        ids = [i for part in state.parts for i in _ids(part.ids)]
        units = await view.units(ids)
    keys = {u.id: turns[u.metadata["session"]][u.turn] for u in units if u.metadata}
    return Bank(state, keys, chat)


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
        "python -m bench.calibrate locomo.json beam.json beliefs.json cases.json --data kept",
    )
    for name in ("speech", "assistant", "beliefs", "cases"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--data", type=Path, help="keep the memory here, and use it again")
    parser.add_argument("--write", action="store_true", help=f"write {TARGET.name}")
    options = parser.parse_args(argv)
    if options.data is not None:
        options.data.mkdir(parents=True, exist_ok=True)
        return _run(options, options.data)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        return _run(options, Path(folder))


def _run(options: Any, folder: Path) -> Figures:
    speech, assistant = load_chats(options.speech), load_chats(options.assistant)
    beliefs = json.loads(options.beliefs.read_text(encoding="utf-8"))
    cases = json.loads(options.cases.read_text(encoding="utf-8"))
    fresh = not (folder / "memory.db").exists()
    every: Figures = {}
    made: dict[str, Any] = {}
    with remembrancer.open(folder) as memory:
        if fresh:
            retain_chats(memory, [*speech, *assistant], lambda: None)
            retain_beliefs(memory, beliefs)
        app = memory.inner.app
        assert app.embedder is not None
        for name, embedded in ((str(app.embedder.fingerprint["model"]), True), (WORDS, False)):

            async def all_of(embedded: bool = embedded) -> list[Search]:
                return [
                    *await of_chats(app, speech, "speech", embedded),
                    *await of_chats(app, assistant, "assistant", embedded),
                    *await of_beliefs(app, cases, embedded),
                ]

            searches = memory.wait(all_of())
            figures = figures_of(cross_validated(searches))
            made[name] = as_json(fitted(searches), figures)
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


if __name__ == "__main__":
    main()
