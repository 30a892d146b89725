"""Runs sweeps at once, so that what was forgotten is gone from the disk when a command ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...nouns.errors import RemembrancerError
from .output import remark, results

if TYPE_CHECKING:
    from ...app import App
    from ...nouns.memory import BankRef, Job
    from ...settings import Settings

_WAIT_S = 30.0  # for another process that took the sweep over
_POLL_S = 0.1
_BUSY = "StoreBusy:"  # how the error of a sweep begins that met a reader


@dataclass(frozen=True, slots=True)
class Swept:
    """How far it is: all done, or why it failed, or neither while somebody reads what is there.

    `then`: what to do once that is mended.
    """

    done: bool
    error: str | None = None
    then: str = "the next `forget` in this bank removes them, too"


async def sweep_now(app: App, ref: BankRef) -> Swept:
    """Run the sweeps that are due, and no other jobs; return how far this bank's are."""
    import asyncio  # noqa: PLC0415

    from ...keeping.worker import Worker, without_context  # noqa: PLC0415
    from ...verbs.forget import SWEEP  # noqa: PLC0415

    async def handle(job: Job) -> Mapping[str, Any]:
        await app.forget.sweep(job.ref)
        return {}

    worker = Worker(app.store, {SWEEP: without_context(handle)}, clock=app.clock)
    loop = asyncio.get_running_loop()
    end = loop.time() + _WAIT_S
    while True:
        await worker.drain()
        waits, swept = await _state(app, ref)
        if not waits or loop.time() >= end:
            return swept
        await asyncio.sleep(_POLL_S)


def tell_swept(settings: Settings, swept: Swept, *, quiet: bool = False) -> None:
    """Say how far what was forgotten is gone; `quiet`: only when that failed.

    Raises:
        RemembrancerError: the sweep failed.
    """
    if swept.error is not None:
        raise RemembrancerError(
            "it is forgotten, but its bytes could not be removed from disk: "
            f"{swept.error.rstrip('.')}; mend that (`remembrancer doctor` may tell how), and "
            f"{swept.then}"
        )
    if not quiet:
        _show(settings, swept)


def _show(settings: Settings, swept: Swept) -> None:
    from ...keeping.opening import on_postgres  # noqa: PLC0415

    if not swept.done:
        remark("the bytes on disk are still in use elsewhere; the next sweep removes them")
    elif on_postgres(settings):
        results().print(
            "removed from the tables; freed places on disk hold old bytes until they are used "
            "again (docs/postgres.md)",
            soft_wrap=True,
        )
    else:
        results().print("removed from the bytes on disk", soft_wrap=True)


async def _state(app: App, ref: BankRef) -> tuple[bool, Swept]:
    """Return whether a sweep of the bank is still to come, and how far they are."""
    from ...nouns.memory import JobState  # noqa: PLC0415
    from ...verbs.forget import SWEEP  # noqa: PLC0415

    waits, error, left = False, None, False
    for job in await app.store.jobs(ref, kind=SWEEP, limit=100):
        if job.state is JobState.COMPLETED:
            break  # it removed what those before it had to remove, as well
        left = True
        waits = waits or job.state in (JobState.PENDING, JobState.PROCESSING)
        if job.error and not job.error.startswith(_BUSY):
            error = error or job.error
    return waits, Swept(not left, error)
