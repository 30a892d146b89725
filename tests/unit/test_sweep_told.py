"""How far what was forgotten is gone: all, not yet, or not at all and why."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from remembrancer.faces.cli import sweep
from remembrancer.faces.cli.sweep import Swept, sweep_now, tell_swept
from remembrancer.faces.doctor import machine
from remembrancer.faces.doctor.finding import State
from remembrancer.finding import index_files
from remembrancer.nouns.clock import SystemClock
from remembrancer.nouns.errors import RemembrancerError
from remembrancer.nouns.memory import BankRef, Job, JobState
from remembrancer.settings import Settings

REF = BankRef("default", "ann")
DENIED = "PermissionError: [Errno 13] Permission denied: 'index/1/lock'"
JOB = Job(b"1", REF, "sweep", JobState.PENDING, 1, 1)
FAILED = replace(JOB, state=JobState.FAILED, error=DENIED)
DONE = replace(JOB, state=JobState.COMPLETED)
BUSY = replace(JOB, error="StoreBusy: an open snapshot holds the log")


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        ([], Swept(done=True)),
        ([DONE, FAILED], Swept(done=True)),
        ([FAILED, DONE], Swept(done=False, error=DENIED)),
        ([BUSY], Swept(done=False)),
        ([replace(JOB, error=DENIED)], Swept(done=False, error=DENIED)),
    ],
)
async def test_how_far_the_sweeps_of_a_bank_are(
    jobs: list[Job], expected: Swept, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def listed(*_: object, **__: object) -> list[Job]:
        return jobs

    async def none(*_: object, **__: object) -> list[Job]:
        return []

    monkeypatch.setattr(sweep, "_WAIT_S", 0)
    app: Any = SimpleNamespace(
        store=SimpleNamespace(jobs=listed, claim=none), clock=SystemClock(), forget=None
    )
    assert await sweep_now(app, REF) == expected


def test_a_failed_sweep_is_an_error_and_a_waiting_one_is_not() -> None:
    settings = Settings()
    for quiet in (False, True):
        with pytest.raises(RemembrancerError, match="Permission denied"):
            tell_swept(settings, Swept(done=False, error=DENIED), quiet=quiet)
        tell_swept(settings, Swept(done=False), quiet=quiet)


def test_index_files_are_their_owners_alone_and_of_whom_the_folder_is(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    root = os.geteuid() == 0
    if root:
        os.chown(data, 65534, 65534)
    before = os.umask(0)
    try:
        folder = data / "index" / "0001"
        index_files.make_folder(folder)
        index_files.make_folder(folder)
        with index_files.opened(folder / "lock", "a"):
            pass
        index_files.write(folder / "one.seg", [b"text"], None)
    finally:
        os.umask(before)
    made = [folder.parent, folder, folder / "lock", folder / "one.seg"]
    assert [path.stat().st_mode & 0o777 for path in made] == [0o700, 0o700, 0o600, 0o600]
    assert {path.stat().st_uid for path in made} == {65534 if root else os.geteuid()}


def test_doctor_tells_when_the_index_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert machine.index(tmp_path) is None
    index_files.make_folder(tmp_path / "index" / "0001")
    told = machine.index(tmp_path)
    assert told is not None
    assert told.state is State.OK
    monkeypatch.setattr(os, "access", lambda path, _: not str(path).endswith("0001"))
    told = machine.index(tmp_path)
    assert told is not None
    assert told.state is State.FAIL
    assert "0001 is of another user" in told.seen
