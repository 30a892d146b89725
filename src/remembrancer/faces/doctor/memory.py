"""Checks of the memory: its schema, its integrity, its model, and what waits or failed in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from ...app import App
from ...keeping.opening import open_store, store_folder
from ...keeping.sqlite.integrity import fault_of
from ...keeping.sqlite.store import FILE
from ...models.bge import BUNDLED, SHA256, verify
from ...nouns.clock import Clock
from ...nouns.errors import InvalidInput, ModelUnavailable, RemembrancerError
from ...nouns.memory import DEFAULT_TENANT, JobState
from ...settings import Settings
from ..exposure import Addresses, check_keys
from . import machine
from .finding import Finding, State, fail, ok, warn


def model(settings: Settings) -> Finding:
    """Check the embedder's files; models elsewhere are not asked."""
    spec = settings.embedder.strip()
    if spec == "none":
        return warn("model", "no embedder", "recall works by words alone; unset embedder for one")
    if spec != "bge-small":
        return ok("model", f"{spec}, which is not looked at")
    try:
        for name, digest in SHA256.items():
            verify(BUNDLED / name, digest)
    except ModelUnavailable as error:
        return fail("model", error.message, "install the package again")
    return ok("model", f"bge-small: {len(SHA256)} files are the pinned ones")


async def store(settings: Settings, clock: Clock, addresses: Addresses) -> AsyncIterator[Finding]:
    """Check the store; one that is of another schema is not opened."""
    try:
        held = open_store(settings, clock)
        found, known = await held.schema()
    except RemembrancerError as error:
        yield fail("store", error.message, "check --data, --store and REMEMBRANCER_STORE")
        return
    if found == 0:
        yield ok("store", "empty yet")
        return
    if found > known:
        yield fail("store", f"schema {found}, this version knows {known}", "upgrade remembrancer")
        return
    path: Path = store_folder(settings) / FILE
    integrity = await asyncio.to_thread(_integrity, path)
    if integrity is not None:
        yield integrity
        if integrity.state is State.FAIL:
            return
    if found < known:
        mend = "take a backup first; the next command or server brings it up to date"
        yield warn("store", f"schema {found}, this version has {known}", mend)
        return
    yield ok("store", f"schema {found}")
    async for finding in _opened(settings, clock, addresses):
        yield finding


def _integrity(path: Path) -> Finding | None:
    """Check a database file; None when rows are elsewhere."""
    if not path.is_file():
        return None
    fault = fault_of(path)
    if fault is None:
        return ok("integrity", f"{path.name} passes its check")
    mend = "stop all servers and put the last backup in its place: `remembrancer restore`"
    return fail("integrity", fault, mend)


async def _opened(settings: Settings, clock: Clock, addresses: Addresses) -> AsyncIterator[Finding]:
    try:
        app = await App.open(settings, clock=clock, background=False)
    except RemembrancerError as error:
        yield fail("open", error.message, "see the message")
        return
    try:
        told = await app.status(DEFAULT_TENANT)
        totals = await app.store.totals()
        seen = f"{totals.banks:,} banks, {totals.documents:,} documents"
        yield ok("open", f"{seen}, {totals.sources:,} memories")
        written = machine.clock(
            clock.now_us(), max((b.updated_at for b in told.banks), default=None)
        )
        if written.state is not State.OK:
            yield written
        for note in told.notes:
            yield warn("open", note, "see `remembrancer status`")
        failed = totals.jobs.get(JobState.FAILED, 0)
        if failed:
            mend = "look at them: `remembrancer operations list --bank BANK --state failed`"
            yield warn("operations", f"{failed:,} failed", mend)
        yield await _keys(app, addresses)
    finally:
        await app.close()


async def _keys(app: App, addresses: Addresses) -> Finding:
    try:
        await check_keys(app, addresses)
    except InvalidInput as error:
        return fail("keys", error.message, "remembrancer keys create NAME --permission admin")
    if await app.gate.has_key():
        return ok("keys", "there is an API key")
    return ok("keys", "no API key: only this machine may ask")
