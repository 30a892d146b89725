"""Which banks of a large tenant a question is put to, and what is kept in memory for that."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest
from retain_kit import opened

from remembrancer.app import App
from remembrancer.finding import outline as outlines
from remembrancer.finding.outline import BankVector, Outline
from remembrancer.models.vectors import normalise, quantise
from remembrancer.nouns.caller import Caller
from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.memory import BankRef
from remembrancer.verbs.recalling import likely
from remembrancer.verbs.recalling.searches import Asked, Search, Way

DIM = 70  # more than a word of bits
CALLER = Caller()
BANKS = 24


def vectors(key: int, *rows: np.ndarray) -> list[BankVector]:
    found = quantise(normalise(np.array(rows, np.float32)))
    return [BankVector(key, each.codes, each.scale) for each in found]


def test_a_bank_is_as_near_as_the_nearest_of_its_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    told = {key: rng.normal(size=(1 + key % 3, DIM)) for key in range(40)}
    asked = normalise(rng.normal(size=(1, DIM)).astype(np.float32))[0]
    exact = {
        key: float((normalise(rows.astype(np.float32)) @ asked).max()) for key, rows in told.items()
    }
    outline = Outline(DIM)
    assert outline.nearest(asked) == {}
    assert outline.stale(dict.fromkeys(told, 1)) == list(told)
    for start in range(0, 40, 4):  # more parts than are kept
        some = range(start, start + 4)
        rows = [each for key in some for each in vectors(key, *told[key])]
        outline.put(dict.fromkeys(some, 1), [*rows, BankVector(start, b"short", 1.0)])
    assert outline.nearest(asked) == pytest.approx(exact, abs=0.01)
    assert outline.nearest(asked, {3, 5, 99}).keys() == {3, 5}
    monkeypatch.setattr(outlines, "RESCORED", 20)
    few = outline.nearest(asked)
    assert 1 < len(few) < 40
    assert max(exact, key=exact.__getitem__) in few


def test_what_changed_is_told_anew_and_what_went_is_gone() -> None:
    outline, up = Outline(DIM), np.full(DIM, DIM**-0.5, np.float32)
    outline.put({1: 5, 2: 5, 3: 5}, [v for key in (1, 2, 3) for v in vectors(key, -up)])
    assert outline.stale({1: 5, 2: 6, 3: 5}) == [2]
    outline.put({2: 6}, vectors(2, up, -up))
    assert outline.nearest(up) == pytest.approx({1: -1, 2: 1, 3: -1})
    held = outline.memory_bytes
    assert outline.stale({2: 6}) == []
    assert outline.nearest(up) == pytest.approx({2: 1})
    assert outline.memory_bytes < held
    assert outline.stale({}) == []
    assert (outline.nearest(up), outline.memory_bytes) == ({}, 0)


async def fill(app: App) -> None:
    assert isinstance(app.clock, FixedClock)
    for number in range(BANKS):
        app.clock.us += 1
        text = f"The kiln of house{number} burns wood{number}."
        await app.memories.remember(BankRef("default", f"bank-{number:02d}"), text)


async def texts(
    app: App, cue: str, way: Way, top: int = 1, caller: Caller = CALLER
) -> tuple[list[str], list[str]]:
    done = await app.memories.strategies(caller, cue, [Search(way)], Asked(top_k=top))
    return [m.kept.unit.text for m in done.memories], [f.message for f in done.failures]


def test_the_nearest_banks_are_asked_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(likely, "MOST_BANKS", 12)

    async def test() -> None:
        async with opened(tmp_path) as app:
            await fill(app)
            for number in (3, BANKS - 1):  # beyond the first ones by name, too
                cue = f"The kiln of house{number} burns wood{number}."
                found, told = await texts(app, cue, Way.SIMILARITY)
                assert found == [cue]
                assert told == [
                    f"searched 1 of {BANKS} entities, those nearest to the cue: "
                    "name one to search it"
                ]
                assert (await texts(app, cue, Way.ANALOGICAL))[0] == [cue]
            cue, new = "A heron stands in the reeds", BankRef("default", "bank-00")
            unit = await app.memories.remember(new, cue)
            assert (await texts(app, cue, Way.SIMILARITY))[0] == [cue]
            await app.forget(new, unit_ids=[unit.id])
            assert cue not in (await texts(app, cue, Way.SIMILARITY, BANKS))[0]
            some = Caller(banks=("bank-1?", "bank-0[0-6]"))
            found, [said] = await texts(app, "The kiln of house8 burns wood8.", Way.SIMILARITY,
                1, some)  # fmt: skip
            assert "of 17 entities" in said
            assert "house8 " not in found[0]

    asyncio.run(test())


def test_what_is_recent_is_asked_of_the_banks_written_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(likely, "MOST_BANKS", 12)

    async def test() -> None:
        async with opened(tmp_path) as app:
            await fill(app)
            found, told = await texts(app, "", Way.TEMPORAL, 3)
            assert found == [
                f"The kiln of house{n} burns wood{n}." for n in range(BANKS - 1, BANKS - 4, -1)
            ]
            assert "searched 3 of 24 entities, those written last" in told[0]

    asyncio.run(test())


def test_few_banks_are_all_asked(tmp_path: Path) -> None:
    async def test() -> None:
        async with opened(tmp_path) as app:
            await fill(app)
            found, told = await texts(app, "The kiln of house7", Way.SIMILARITY, BANKS)
            assert (len(found), told) == (BANKS, [])

    asyncio.run(test())


def test_outlines_are_bounded_and_go_when_they_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(likely, "MOST_BANKS", 12)
    monkeypatch.setattr(likely, "MOST_BYTES", 10 * outlines.bytes_of(64))  # of ten memories

    async def test() -> None:
        async with opened(tmp_path) as app:
            await fill(app)
            mine = app.memories.strategies._likely
            _, [told] = await texts(app, "The kiln of house7", Way.SIMILARITY, 20)
            assert f"searched 10 of {BANKS}" in told
            assert list(mine._held) == ["default"]
            mine._held["default"].used -= 2 * likely.KEPT_S
            mine._expire()
            assert not mine._held

    asyncio.run(test())
