"""What holds for a bank is read once and then known for a while; the audit log's bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from remembrancer.finding.indexes import Indexes
from remembrancer.keeping.chain import AUDIT
from remembrancer.keeping.sqlite import SqliteStore
from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.errors import InvalidInput, TooLarge
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import BankRef
from remembrancer.settings import Settings
from remembrancer.verbs import audit as audit_module
from remembrancer.verbs.audit import Audit, AuditFilter, AuditLog
from remembrancer.verbs.bank_config import ACTIVE, BankConfig, BankConfigs, checked, effective
from remembrancer.verbs.banks import Banks

NOW = 1_700_000_000_000_000
REF = BankRef("acme", "ada")


@dataclass
class House:
    """What the tests of this file need of the house."""

    store: SqliteStore
    clock: FixedClock
    configs: BankConfigs
    banks: Banks
    log: AuditLog


@pytest.fixture
def run(tmp_path: Path) -> Callable[[Callable[[House], Awaitable[None]]], None]:
    """Run a coroutine function with an open house."""

    async def main(work: Callable[[House], Awaitable[None]]) -> None:
        clock = FixedClock(NOW)
        settings = Settings()
        store = SqliteStore(tmp_path, clock=clock)
        await store.open()
        configs = BankConfigs(store, settings, clock=clock)
        ids = IdMaker(clock)
        indexes = Indexes(None, 0, 1_000_000)
        banks = Banks(store, indexes, configs, settings, ids=ids, clock=clock)
        log = AuditLog(store, configs, Audit(ids=ids, clock=clock), clock=clock)
        try:
            await work(House(store, clock, configs, banks, log))
        finally:
            await log.close()
            await store.close()

    return lambda work: asyncio.run(main(work))


async def _tokens(house: House) -> int:
    return (await house.configs.of(REF)).recall_max_tokens


def test_what_was_read_counts_for_five_seconds(run) -> None:
    async def work(house: House) -> None:
        assert await _tokens(house) == 4096
        await house.store.bank_put(REF, {"config": {"recall_max_tokens": 50}})
        house.clock.us += 4_999_999
        assert await _tokens(house) == 4096
        house.clock.us += 1
        assert await _tokens(house) == 50
        house.clock.us -= 1_000_000  # a clock that was set back is no reason to trust it
        await house.store.bank_put(REF, {})
        assert await _tokens(house) == 4096

    run(work)


def test_a_change_here_counts_at_once(run) -> None:
    async def work(house: House) -> None:
        assert await _tokens(house) == 4096
        await house.banks.update(REF, updates={"recall_max_tokens": 50})
        assert await _tokens(house) == 50
        await house.banks.update(REF, name="Ada")
        await house.banks.reset(REF)
        assert await _tokens(house) == 4096
        assert (await house.banks.get(REF)).name == "Ada"
        await house.banks.update(REF, updates={"recall_max_tokens": 60})
        await house.banks.delete(REF)
        assert await _tokens(house) == 4096

    run(work)


def test_changes_at_once_are_all_kept(run) -> None:
    async def work(house: House) -> None:
        names = ["retain_mission", "observations_mission", "retain_default_strategy"]
        await asyncio.gather(*(house.banks.update(REF, updates={n: n}) for n in names))
        await asyncio.gather(*(house.banks.add_to_mission(REF, f"line {n}") for n in range(9)))
        found = (await house.banks.get(REF)).config
        assert {n: found.overrides[n] for n in names} == {n: n for n in names}
        assert sorted(found.reflect_mission.splitlines()) == [f"line {n}" for n in range(9)]

    run(work)


def test_what_is_too_large_changes_nothing(run) -> None:
    async def work(house: House) -> None:
        await house.banks.update(REF, name="Ada", updates={"reflect_mission": "m"})
        for change in (
            house.banks.update(REF, updates={"memory_defense": {"x": "y" * 70_000}}),
            house.banks.update(REF, name="n" * 513),
            house.banks.add_to_mission(REF, "z" * 10_000),
        ):
            with pytest.raises(TooLarge):
                await change
        with pytest.raises(InvalidInput):
            await house.banks.add_to_mission(REF, " \n ")
        found = await house.banks.get(REF)
        assert (found.name, found.config.overrides) == ("Ada", {"reflect_mission": "m"})

    run(work)


def test_every_active_setting_has_a_value() -> None:
    values = effective(Settings(), {}).values
    assert values.keys() == BankConfig.model_fields.keys()
    assert {name for name, value in values.items() if value is not None} == ACTIVE


def test_null_is_kept_as_unset() -> None:
    assert checked({"recall_max_tokens": None}, "x") == {"recall_max_tokens": None}
    with pytest.raises(InvalidInput) as refused:
        checked({"prime_window_days": 0}, "")
    assert (refused.value.field, refused.value.limit) == ("prime_window_days", 0)


def test_entries_are_written_together_and_trimmed(run, monkeypatch) -> None:
    monkeypatch.setattr(audit_module, "KEPT", 20)

    async def work(house: House) -> None:
        await house.store.bank_put(REF, {})
        for n in range(30):
            house.clock.us += 1
            house.log.add(REF, house.log.audit.entry("door.paint", {"n": n}))
        await house.log.flush()
        page = await house.log.page(REF, AuditFilter(), 5, 0)
        assert page.total == 20
        assert [e.data["metadata"]["n"] for e in page.items] == [29, 28, 27, 26, 25]
        assert await house.store.record_count(REF, AUDIT) == 20
        assert (await house.store.bank(REF)).revision == 0

    run(work)


def test_entries_come_to_be_written_by_themselves(run) -> None:
    async def work(house: House) -> None:
        await house.store.bank_put(REF, {})
        house.log.add(REF, house.log.audit.entry("door.paint", {}))
        for _ in range(200):
            if await house.store.record_count(REF, AUDIT):
                break
            await asyncio.sleep(0.02)
        assert await house.store.record_count(REF, AUDIT) == 1

    run(work)


def test_closing_loses_none_that_are_being_written(run, monkeypatch) -> None:
    async def work(house: House) -> None:
        await house.banks.update(REF, name="Ada")
        real, begun = house.store.record_add, asyncio.Event()

        async def slow(new: Any) -> int:
            begun.set()
            await asyncio.sleep(0.1)
            return await real(new)

        monkeypatch.setattr(house.store, "record_add", slow)
        house.log.add(REF, house.log.audit.entry("door.paint", {"n": 1}))
        await begun.wait()
        house.log.add(REF, house.log.audit.entry("door.paint", {"n": 2}))
        await house.log.close()
        assert await house.store.record_count(REF, AUDIT) == 2

    run(work)


def test_entries_of_unknown_banks_make_none(run) -> None:
    async def work(house: House) -> None:
        house.log.add(REF, house.log.audit.entry("bank.delete", {}))
        await house.log.flush()
        assert await house.store.bank(REF) is None

    run(work)
