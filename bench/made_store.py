"""Stores of made data, loaded once into a folder and used again while they fit."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import remembrancer
from remembrancer import Item

from . import made, report
from .metrics import Figures

EMBEDDER = "hash:384"
SMALL_BANK = "small"
_DOCUMENTS_A_CALL = 4
_STORED_BANK_TURNS = 100_000
_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Loaded:
    """What one retain of made turns did, and the seconds that the memory took."""

    turns: int
    units: int
    seconds: float


def bank_of(turns: int) -> str:
    """Return the name of the bank with so many made turns."""
    return f"made-{turns}"


def units_bank_of(units: int) -> str:
    """Return the name of the bank with so many units, turns and the facts read from them."""
    return f"units-{units}"


def load_sizes(folder: Path, sizes: Sequence[int]) -> Figures:
    """Make sure that `folder` holds a bank of each size; return how fast it went."""
    figures: Figures = {}
    with remembrancer.open(folder, embedder=EMBEDDER) as memory, report.progress() as bars:
        there = {b.ref.bank: b.document_count for b in memory.status().banks}
        for turns in sizes:
            bank = bank_of(turns)
            if there.get(bank) == _documents(turns):
                continue
            task = bars.add_task(f"load {turns:,} turns", total=turns)
            seconds = 0.0
            for loaded in load_bank(memory, bank, turns):
                seconds += loaded.seconds
                bars.advance(task, loaded.turns)
            figures[f"load.{turns}.turns_per_s"] = turns / seconds
    return figures


def load_stored(folder: Path, units: int) -> Figures:
    """Make sure that `folder` holds `units` units over several banks, and a small bank."""
    seconds, new, number = 0.0, 0, 0
    with remembrancer.open(folder, embedder=EMBEDDER) as memory, report.progress() as bars:
        stored = sum(b.unit_count for b in memory.status().banks)
        task = bars.add_task(f"load {units:,} units", total=units, completed=stored)
        if stored == 0:
            stored += sum(x.units for x in load_bank(memory, SMALL_BANK, made.DOCUMENT_TURNS))
        while stored < units:
            for loaded in load_bank(memory, f"stored-{number}", _STORED_BANK_TURNS):
                seconds += loaded.seconds
                new += loaded.units
                stored += loaded.units
                bars.update(task, completed=stored)
                if stored >= units:
                    break
            number += 1
    return {"load.stored.units_per_s": new / seconds} if new else {}


def load_units(folder: Path, sizes: Sequence[int]) -> None:
    """Make sure that `folder` holds a bank of at least so many units, of each size."""
    with remembrancer.open(folder, embedder=EMBEDDER) as memory, report.progress() as bars:
        there = {b.ref.bank: b.unit_count for b in memory.status().banks}
        for units in sizes:
            bank = units_bank_of(units)
            stored = there.get(bank, 0)
            task = bars.add_task(f"load {units:,} units", total=units, completed=stored)
            if stored < units:
                for loaded in load_bank(memory, bank, units):  # a turn is a unit at least
                    stored += loaded.units
                    bars.update(task, completed=stored)
                    if stored >= units:
                        break


def load_bank(memory: remembrancer.Memory, bank: str, turns: int) -> Iterator[Loaded]:
    """Retain a made bank, whose name is the seed; yield what each call did.

    What is there already is left alone and counts no units.
    """
    for items, size in _calls(bank, turns):
        started = time.perf_counter()
        done = memory.retain_many(items, bank=bank)
        yield Loaded(size, len(done.ids), time.perf_counter() - started)


def _calls(bank: str, turns: int) -> Iterator[tuple[list[Item], int]]:
    """Yield the items of each call and how many turns they hold."""
    items, size = [], 0
    for number in range(_documents(turns)):
        count = min(made.DOCUMENT_TURNS, turns - number * made.DOCUMENT_TURNS)
        content = json.dumps(made.document(bank, number, count))
        said = int(made.said_at(number).timestamp()) * _US
        items.append(Item(content, timestamp=said, document=f"day-{number:05d}"))
        size += count
        if len(items) == _DOCUMENTS_A_CALL:
            yield items, size
            items, size = [], 0
    if items:
        yield items, size


def _documents(turns: int) -> int:
    return -(-turns // made.DOCUMENT_TURNS)
