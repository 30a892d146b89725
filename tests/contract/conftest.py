"""The contract suite runs over every store named here; tests may be coroutines."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from contract_kit import DIM, NOW, Maker, ids_of

from postgres_kit import Space
from remembrancer.keeping.aes import AesSealer
from remembrancer.keeping.postgres import PostgresStore
from remembrancer.keeping.sqlite import SqliteStore
from remembrancer.keeping.store import Store
from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.memory import BankRef, Layer

KINDS = ("sqlite", "postgres")
SEALED = ("sealed", "sealed-postgres")
SEALED_MODULES = {"test_claims", "test_entities"}
"""Those that also run over a store that seals; when proving all do, on both databases."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine test; a `store` it asks for is opened before and closed after it."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    args = {name: pyfuncitem.funcargs[name] for name in names}

    async def main() -> None:
        store = args.get("store")
        if store is not None:
            await store.open()
            await store.generation_begin({"model": "first", "dim": DIM})
        try:
            await pyfuncitem.obj(**args)
        finally:
            if store is not None:
                await store.close()

    asyncio.run(main())
    return True


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test over every store, but for those of one store alone."""
    if "kind" not in metafunc.fixturenames:
        return
    module = metafunc.module.__name__
    name = module.removeprefix("test_")
    kinds = (name,) if name in KINDS else SEALED if name == "sealing" else KINDS
    if kinds == KINDS and module != "test_moving":  # the others make plain stores besides
        if "REMEMBRANCER_PROVE" in os.environ:
            kinds += SEALED
        elif module in SEALED_MODULES:
            kinds += SEALED[:1]
    metafunc.parametrize("kind", kinds)


@pytest.fixture
def make_store(kind: str, request: pytest.FixtureRequest, tmp_path: Path, clock: FixedClock) -> Any:
    """Make a store, not yet opened; each call opens the same data."""
    given = {"sealer": AesSealer([bytes(range(32))])} if kind in SEALED else {}
    if kind in ("sqlite", "sealed"):
        return lambda **more: SqliteStore(tmp_path / "data", clock=clock, **{**given, **more})
    space: Space = request.getfixturevalue("space")
    return lambda **more: PostgresStore(
        space.url, clock=clock, schema=space.schema, **{**given, **more}
    )


@pytest.fixture
def place(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """Where `make_store` opens stores, for another process: a folder or a URL, and a schema."""
    if kind in ("sqlite", "sealed"):
        return str(tmp_path / "data"), ""
    return request.getfixturevalue("space")


@pytest.fixture
def store(make_store: Callable[..., Store]) -> Store:
    return make_store()


@pytest.fixture
def ref() -> BankRef:
    return BankRef("acme", "ada")


@pytest.fixture
def make(clock: FixedClock) -> Maker:
    return Maker(clock)


@pytest.fixture
def check() -> Callable[..., Any]:
    """Return a check that what a store says about a bank in several ways is one story."""

    async def consistent(store: Store, ref: BankRef) -> None:
        async with store.snapshot(ref) as view:
            rows = await view.scan(limit=100_000)
            counts = await view.counts()
            documents = await view.documents(limit=10_000)
            entities = await view.entities(limit=10_000)
            ids = [row.unit_id for row in rows]
            assert ids == sorted(ids)
            assert ids_of(await view.units(ids)) == ids
            assert await view.index_rows(ids) == rows
            by_layer = [sum(row.layer == layer for row in rows) for layer in Layer]
            names = ("sources", "facts", "observations")
            assert [counts[name] for name in names] == by_layer
            assert counts["units"] == len(ids)
            assert counts["documents"] == len(documents)
            assert counts["entities"] == len(entities)
            for entity in entities:
                newest = await view.newest(100_000, entity=entity.name)
                times = [unit.mentioned_at for unit in newest]
                assert entity.mention_count == len(newest) > 0
                assert (entity.first_seen, entity.last_seen) == (min(times), max(times))
            page = await view.changes(0, limit=1_000_000)
            if page is not None:
                last = {change.unit_id: change.op for change in page.changes}
                assert {i for i, op in last.items() if op == 1} == set(ids)
            generation = view.generation
        waiting = await store.generation_pending(generation, limit=100_000)
        without = {row.unit_id for row in rows if row.codes is None}
        if generation:
            assert {p.unit_id for p in waiting if p.ref == ref} == without

    return consistent
