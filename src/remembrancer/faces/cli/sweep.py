"""Runs sweeps at once, so that what was forgotten is gone from the disk when a command ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .output import remark, results

if TYPE_CHECKING:
    from ...app import App
    from ...nouns.memory import BankRef, Job
    from ...settings import Settings

_WAIT_S = 30.0  # for another process that took the sweep over
_POLL_S = 0.1


async def sweep_now(app: App, ref: BankRef) -> bool:
    """Run the sweeps that are due, and no other jobs; return whether this bank's are all done."""
    import asyncio  # noqa: PLC0415

    from ...keeping.worker import Worker, without_context  # noqa: PLC0415
    from ...verbs.forget import SWEEP  # noqa: PLC0415

    async def handle(job: Job) -> Mapping[str, Any]:
        await app.forget.sweep(job.ref)
        return {}

    worker = Worker(app.store, {SWEEP: without_context(handle)}, clock=app.clock)
    loop = asyncio.get_running_loop()
    end = loop.time() + _WAIT_S
    await worker.drain()
    while not (done := await _done(app, ref)) and loop.time() < end:
        await asyncio.sleep(_POLL_S)
        await worker.drain()
    return done


def show_swept(settings: Settings, swept: bool) -> None:
    """Say how far what was forgotten is gone."""
    from ...keeping.opening import on_postgres  # noqa: PLC0415

    if not swept:
        remark("the bytes on disk are still in use elsewhere; the next sweep removes them")
    elif on_postgres(settings):
        results().print(
            "removed from the tables; freed places on disk hold old bytes until they are used "
            "again (docs/postgres.md)",
            soft_wrap=True,
        )
    else:
        results().print("removed from the bytes on disk", soft_wrap=True)


async def _done(app: App, ref: BankRef) -> bool:
    from ...nouns.memory import JobState  # noqa: PLC0415
    from ...verbs.forget import SWEEP  # noqa: PLC0415

    counts = [
        await app.store.job_count(ref, state=state, kind=SWEEP)
        for state in (JobState.PENDING, JobState.PROCESSING, JobState.FAILED)
    ]
    return not any(counts)
