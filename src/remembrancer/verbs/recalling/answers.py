"""From candidates to answers: which count, their rows within bounds, what holds put first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...finding.calibration import Calibration
from ...finding.search import Arm, Candidates
from ...keeping.view import Reader, Recalled
from .cutoff import FLOOR, cut_off
from .echoes import Echoes, told_first
from .included import sources_of
from .proof import Fold
from .recollection import Answer, Arms, MinScores, RecallOptions, payload_tokens
from .reranking import within
from .truth import Truth, current_first, seen_then, truths_of

NO_BOUND = 1 << 40  # tokens
_BROAD = 4  # times as many answers as are asked for


def _passing(found: Candidates, least: MinScores) -> NDArray[np.bool_]:
    """Return which candidates reach the lowest scores; a missing score passes."""
    mask = np.ones(len(found.ids), dtype=bool)
    for value, scores in (
        (least.semantic, found.arms[Arm.VECTOR]),
        (least.keyword, found.arms[Arm.TEXT]),
        (least.final, found.score),
    ):
        if value is not None:
            mask &= ~(scores < value)
    return mask


def _uncovered(reader: Reader, found: Candidates, limit: int) -> Candidates:
    """Take out what an observation among the best `limit` was derived from."""
    ids = found.id_list()
    rests = sources_of(reader, reader.units(ids[:limit]))
    said = {unit_id for each in rests.values() for unit_id in each}
    if not said:
        return found
    # A fact is found through its source.
    said |= {u.source_id for u in reader.units(sorted(said)) if u.source_id is not None}
    return found.only(np.array([unit_id not in said for unit_id in ids], dtype=bool))


def relevant(
    found: Candidates, options: RecallOptions, calibration: Calibration | None
) -> Candidates:
    """Return the candidates that are relevant enough; what others lead to need not be like them."""
    floor = 0.0 if options.related else FLOOR
    return cut_off(found, options.min_relevance, calibration, floor)


def kept(
    reader: Reader,
    found: Candidates,
    options: RecallOptions,
    calibration: Calibration | None = None,
) -> Candidates:
    """Return the candidates that the options let through; no cut-off without a calibration."""
    found = relevant(found, options, calibration)
    if options.least is not None:
        found = found.only(_passing(found, options.least))
    if options.prefer_observations:
        found = _uncovered(reader, found, options.limit)
    return found


def picked(
    reader: Reader, found: Candidates, options: RecallOptions, echoes: Echoes | None = None
) -> tuple[tuple[Answer, ...], int, int, int]:
    """Fetch the rows of the best candidates that fit the limit and the token budget.

    One that does not fit is passed over, so that a long text does not end the answer; one that
    says the same as a better one is folded into it; one that only asks comes after all others, and
    is left out where there is a cut-off. Returns the answers, their tokens, how many candidates
    were folded, and how many were left out since they only ask.
    """
    answers: list[Answer] = []
    asking: list[Answer] = []
    cutting = found.relevance is not None and options.min_relevance != 0
    folded = 0
    fold = Fold(reader)
    left = options.max_tokens
    for start in range(0, len(found.ids), options.limit):
        ids = found.id_list(start, start + options.limit)
        rows = {row.unit.id: row for row in reader.recalled(ids)}
        unseen = _unseen(reader, rows, options.as_of)
        fold.look_up(ids)
        scores = _scores(found, start, start + len(ids))
        for unit_id, scored in zip(ids, scores, strict=True):
            row = rows.get(unit_id)
            if row is None or unit_id in unseen:
                continue
            if fold.repeats(unit_id):
                folded += 1
                continue
            asks = echoes is not None and echoes(row)
            cost = payload_tokens(row.unit)
            if not asks and (cost > left or len(answers) == options.limit):
                continue
            score, arms, relevance = scored
            answer = Answer(*row, score, _arms(arms), relevance=relevance, asks=asks)
            fold.keep(unit_id)
            if asks:
                asking.append(answer)
                continue
            left -= cost
            answers.append(answer)
        if left < 1 or len(answers) == options.limit:
            break
    if not cutting:
        last, spent = within(asking, options.limit - len(answers), left)
        answers, left, asking = [*answers, *last], left - spent, []
    proofs = fold.proofs()
    if proofs:
        answers = [a._replace(proof=proofs.get(a.unit.id, a.proof)) for a in answers]
    return tuple(answers), options.max_tokens - left, folded, len(asking)


def broad(options: RecallOptions) -> RecallOptions:
    """Return options that bring more than is asked for, for `telling_first` to choose from."""
    return replace(options, limit=_BROAD * options.limit, max_tokens=NO_BOUND)


def telling_first(
    answers: Sequence[Answer], options: RecallOptions
) -> tuple[tuple[Answer, ...], int]:
    """Put what tells something before small talk, and cut to the limits; with the tokens."""
    first = sorted(answers, key=lambda answer: not answer.facts)
    return within(first, options.limit, options.max_tokens)


def with_current(
    reader: Reader,
    answers: Sequence[Answer],
    truths: Mapping[bytes, Truth],
    late: Candidates | None,
    at: int,
    options: RecallOptions,
    asked: set[str],
) -> tuple[tuple[Answer, ...], int]:
    """Mark answers that do not hold, and put what holds in their place before them.

    `late` are those that are missing among the answers.
    """
    whole = _marked(answers, truths)
    if late is not None:
        every = replace(options, limit=max(1, len(late.ids)), max_tokens=NO_BOUND)
        more, *_ = picked(reader, kept(reader, late, options), every)
        whole += _marked(more, truths_of(reader, [answer.unit for answer in more], at))
    chosen: list[Answer] = []
    left = options.max_tokens
    for answer in told_first(current_first(whole, asked)):
        cost = payload_tokens(answer.unit)
        if cost <= left and len(chosen) < options.limit:
            left -= cost
            chosen.append(answer)
    return tuple(chosen), options.max_tokens - left


def _marked(answers: Sequence[Answer], truths: Mapping[bytes, Truth]) -> list[Answer]:
    told = [(answer, truths.get(answer.unit.id)) for answer in answers]
    return [answer if truth is None else answer._replace(truth=truth) for answer, truth in told]


def _unseen(reader: Reader, rows: Mapping[bytes, Recalled], as_of: int | None) -> set[bytes]:
    """Return which memories were no part of what held then."""
    if as_of is None:
        return set()
    units = [row.unit for row in rows.values()]
    truths = truths_of(reader, units, as_of)
    return {u.id for u in units if not seen_then(u, truths.get(u.id), as_of)}


def _scores(
    found: Candidates, start: int, end: int
) -> list[tuple[float, list[float], float | None]]:
    """Return the score of each candidate, what each arm says of it, and how relevant it is."""
    score = found.score[start:end].tolist()
    arms = found.arms[:, start:end].T.tolist()
    relevance = found.relevance
    told = [None] * len(score) if relevance is None else relevance[start:end].tolist()
    return list(zip(score, arms, told, strict=True))


def _arms(raw: Sequence[float]) -> Arms:
    text, window, cosine, window_cosine, *bonuses = raw
    return Arms(text, window, _known(cosine), _known(window_cosine), *bonuses)


def _known(cosine: float) -> float | None:
    return None if math.isnan(cosine) else cosine
