"""The audit log's hash chain: whole over writers, restarts and trims; any change is found."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from remembrancer.app import App
from remembrancer.keeping.batch import Batch
from remembrancer.keeping.chain import AUDIT
from remembrancer.nouns.memory import BankRef
from remembrancer.settings import Settings
from remembrancer.verbs.audit_chain import Verified, verify
from remembrancer.verbs.retaining.units import Item

REF = BankRef("default", "b")


def with_app(folder: Path, work: Callable[[App], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        app = await App.open(Settings(data=folder, embedder="none"), background=False)
        try:
            return await work(app)
        finally:
            await app.close()

    return asyncio.run(run())


async def write(app: App, count: int) -> None:
    """Write entries both ways: beside a change, and some time after it."""
    await app.retain(REF, [Item("Mira likes the mill.", document="d")])
    audit = app.audit_log.audit
    for number in range(count):
        entry = audit.entry("test.done", {"number": number, "none": None, "word": "Grüße"})
        if number % 2:
            app.audit_log.add(REF, entry)
        else:
            await app.store.apply(REF, Batch(records=[entry]))
            await app.store.apply(REF, Batch(records=[entry]))  # told again, it is no new one
    await app.audit_log.flush()


def checked(folder: Path, expected: tuple[int, str] | None = None) -> Verified:
    found: Verified = with_app(folder, lambda app: verify(app.store, REF, expected))
    return found


def change(folder: Path, statement: str, *values: Any) -> None:
    [path] = [p for p in folder.glob("*") if p.suffix in (".db", ".sqlite", ".sqlite3")]
    with sqlite3.connect(path) as db:
        assert db.execute(statement, values).rowcount > 0
    db.close()


def test_it_holds_over_both_ways_of_writing_and_over_restarts(tmp_path: Path) -> None:
    assert checked(tmp_path).ok
    with_app(tmp_path, lambda app: write(app, 5))
    first = checked(tmp_path)
    with_app(tmp_path, lambda app: write(app, 4))
    second = checked(tmp_path, first.head)
    assert (first.ok, second.ok, second.faults) == (True, True, [])
    assert (first.entries, second.entries) == (5, 9)
    assert second.head[0] == 9
    assert checked(tmp_path, (99, "0" * 64)).faults
    assert checked(tmp_path, (5, "0" * 64)).faults


def test_each_kind_of_tampering_is_found(tmp_path: Path) -> None:
    for name, statement, told in (
        ("changed", "UPDATE record SET data = replace(data, 'test.done', 'test.gone')", "changed"),
        ("taken out", "DELETE FROM record WHERE kind = 'audit' AND data LIKE '%\"n\":3,%'", "gone"),
        ("newest", "DELETE FROM record WHERE kind = 'audit' AND data LIKE '%\"n\":6,%'", "gone"),
        ("head", "DELETE FROM record WHERE kind = 'audit-chain'", "head"),
    ):
        folder = tmp_path / name
        folder.mkdir()
        with_app(folder, lambda app: write(app, 6))
        change(folder, statement)
        found = checked(folder)
        assert not found.ok, name
        assert told in " ".join(found.faults), (name, found.faults)


def test_what_is_dropped_for_age_is_no_fault(tmp_path: Path) -> None:
    async def work(app: App) -> int:
        await write(app, 8)
        return await app.store.record_trim(REF, AUDIT, 3)

    assert with_app(tmp_path, work) == 5
    found = checked(tmp_path)
    assert (found.faults, found.entries, found.trimmed) == ([], 3, 5)


def test_entries_from_before_there_was_a_chain_are_told_apart(tmp_path: Path) -> None:
    with_app(tmp_path, lambda app: write(app, 3))
    change(tmp_path, "DELETE FROM record WHERE kind = 'audit-chain'")
    plain = json.dumps({"action": "old", "metadata": {}})
    change(tmp_path, "UPDATE record SET data = ? WHERE kind = 'audit'", plain)
    assert checked(tmp_path).ok
    with_app(tmp_path, lambda app: write(app, 2))
    found = checked(tmp_path)
    assert (found.faults, found.entries, found.older) == ([], 2, 3)
