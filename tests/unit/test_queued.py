"""Queued retains: families, ids given by callers, and what a cancel or a crash leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from remembrancer.app import App
from remembrancer.keeping.batch import Batch
from remembrancer.nouns.errors import Conflict, NotFound
from remembrancer.nouns.memory import BankRef, Job, JobState, Layer
from remembrancer.settings import Settings
from remembrancer.verbs.retaining.queued import BATCH_RETAIN, RETAIN
from remembrancer.verbs.retaining.units import Item

REF = BankRef("default", "b")
ID = bytes(range(16))


def with_app(folder: Path, work: Callable[[App], Awaitable[None]]) -> None:
    async def main() -> None:
        app = await App.open(Settings(data=folder, embedder="hash:32"), background=False)
        try:
            await work(app)
        finally:
            await app.close()

    asyncio.run(main())


async def texts(app: App, document: str) -> list[str]:
    async with app.store.snapshot(REF) as view:
        found = await view.document(document)
        assert found is not None
        units = await view.units_of(found.id)
    return [unit.text for unit in units if unit.layer is Layer.SOURCE]


def test_one_document_is_one_operation(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        items = [Item("The door is red", document="d"), Item("The gate is blue", document="d")]
        job = await app.queued.enqueue(REF, items)
        assert (job.kind, job.document, job.items, job.batch) == (RETAIN, "d", 2, False)
        nameless = await app.queued.enqueue(REF, [Item("One of two"), Item("Two of two")])
        assert (nameless.kind, nameless.items) == (RETAIN, 2)
        assert await app.store.job_count(REF) == 2

    with_app(tmp_path, work)


def test_several_documents_are_a_family(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        items = [Item(f"Door {n} is red", document=f"d{n % 3}") for n in range(6)]
        parent = await app.queued.enqueue(REF, items)
        assert (parent.kind, parent.items, parent.batch) == (BATCH_RETAIN, 6, True)
        children = await app.store.job_children(REF, parent.id)
        assert [(c.kind, c.part, c.document, c.items) for c in children] == [
            (RETAIN, n, f"d{n}", 2) for n in range(3)
        ]
        await app.worker.drain()
        operation = await app.operations.get(REF, parent.id)
        assert operation is not None
        assert operation.job.state is JobState.COMPLETED
        assert operation.result is not None
        assert operation.result["document_ids"] == ["d0", "d1", "d2"]
        assert operation.result["items"] == 6
        assert operation.result["unit_ids_count"] == 6 + operation.result["facts_count"]
        assert operation.result["extraction_errors_count"] == 0

    with_app(tmp_path, work)


def test_an_id_given_again_returns_the_old_operation(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        first = await app.queued.enqueue(REF, [Item("The door is red")], operation_id=ID)
        assert first.id == ID
        family = [Item("Other words", document="x"), Item("And others", document="y")]
        again = await app.queued.enqueue(REF, family, operation_id=ID)
        assert (again.id, again.kind, again.items) == (ID, RETAIN, 1)
        both = await asyncio.gather(
            *(app.queued.enqueue(REF, family, operation_id=bytes(16)) for _ in range(5))
        )
        assert {job.id for job in both} == {bytes(16)}
        assert await app.store.job_count(REF) == 1 + 3
        await app.worker.drain()
        again = await app.queued.enqueue(REF, family, operation_id=ID)
        assert again.state is JobState.COMPLETED

    with_app(tmp_path, work)


def test_an_id_in_use_elsewhere_is_refused(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        now = app.clock.now_us()
        other = Job(ID, REF, "other", JobState.PENDING, now, now)
        await app.store.apply(REF, Batch(jobs=[other]))
        for ref in (REF, BankRef("default", "second")):
            with pytest.raises(Conflict) as caught:
                await app.queued.enqueue(ref, [Item("The door is red")], operation_id=ID)
            assert caught.value.field == "operation_id"
        job = await app.queued.enqueue(
            BankRef("stranger", "b"), [Item("The door is red")], operation_id=ID
        )
        assert job.id == ID

    with_app(tmp_path, work)


class Hanging:
    """An embedder that never answers."""

    dim = 32

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def embed(self, texts: object) -> object:
        self.asked.set()
        return await asyncio.Event().wait()


def test_cancelling_a_replacement_at_work_leaves_a_whole_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(app: App) -> None:
        await app.retain(REF, [Item("The door is red", document="d")])
        hanging = Hanging()
        monkeypatch.setattr(app.retain._enrich, "_embedder", hanging)
        new = [Item(f"Gate {n} is blue", document="d") for n in range(3)]
        job = await app.queued.enqueue(REF, new)
        app.worker.start()
        await hanging.asked.wait()
        await app.operations.cancel(REF, job.id)
        with pytest.raises(Conflict, match="cancelled"):
            await app.operations.cancel(REF, job.id)
        found = await texts(app, "d")
        assert found in (["The door is red"], [item.content for item in new])
        stands = await app.operations.get(REF, job.id)
        assert stands is not None
        assert stands.job.state is JobState.CANCELLED
        # Queued again, it is done in full.
        monkeypatch.setattr(app.retain._enrich, "_embedder", None)
        await app.operations.retry(REF, job.id)
        app.worker.wake()
        while stands.job.state is not JobState.COMPLETED:
            await asyncio.sleep(0.01)
            stands = await app.operations.get(REF, job.id)
            assert stands is not None
        assert await texts(app, "d") == [item.content for item in new]

    with_app(tmp_path, work)


def test_what_an_attempt_left_half_read_is_read_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(app: App) -> None:
        hanging = Hanging()
        monkeypatch.setattr(app.retain._enrich, "_embedder", hanging)
        item = Item("Ann keeps a box in the red shed.", document="d")
        job = await app.queued.enqueue(REF, [item])
        app.worker.start()
        await hanging.asked.wait()
        await app.worker.stop(grace_s=0)
        assert await texts(app, "d") == [item.content]
        monkeypatch.setattr(app.retain._enrich, "_embedder", None)
        await app.worker.drain()
        done = await app.operations.get(REF, job.id)
        assert done is not None
        assert done.result is not None
        assert (done.job.state, done.attempts) == (JobState.COMPLETED, 1)
        assert (done.result["unit_ids_count"], done.result["facts_count"]) == (2, 1)
        assert await texts(app, "d") == [item.content]

    with_app(tmp_path, work)


def test_what_was_there_already_is_counted(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        item = Item("Ann keeps a box in the red shed.", document="d")
        await app.retain(REF, [item])
        job = await app.queued.enqueue(REF, [item])
        await app.worker.drain()
        done = await app.operations.get(REF, job.id)
        assert done is not None
        assert done.result is not None
        assert done.result["unchanged_document_ids"] == ["d"]
        assert (done.result["unit_ids_count"], done.result["facts_count"]) == (2, 1)

    with_app(tmp_path, work)


def test_forgetting_a_document_that_only_waits_ends_its_operation(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        job = await app.queued.enqueue(REF, [Item("The door is red", document="d")])
        receipt = await app.forget(REF, documents=["d", "none"])
        assert receipt.documents == ("d",)
        kept = await app.store.job(REF, job.id)
        assert kept is not None
        assert (kept.state, kept.payload) == (JobState.CANCELLED, {})
        with pytest.raises(Conflict, match="forgotten"):
            await app.operations.retry(REF, job.id)
        await app.worker.drain()
        async with app.store.snapshot(REF) as view:
            assert await view.documents() == []

    with_app(tmp_path, work)


def test_unknown_operations_are_not_found(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        assert await app.operations.get(REF, ID) is None
        for verb in (app.operations.cancel, app.operations.retry, app.operations.delete):
            with pytest.raises(NotFound):
                await verb(REF, ID)

    with_app(tmp_path, work)
