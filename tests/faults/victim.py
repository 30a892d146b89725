"""Serves folders until it is killed: imports once, and forks for each line of JSON that it reads.

A line: {"folder", "store", "broken": [...]}. The child prints its pid, then where it serves; the
parent prints `over` when it has ended. `broken` takes a guard out, to show that the proof sees it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
from shim import STALL, Control

from remembrancer.app import App
from remembrancer.faces.http.server import make_app
from remembrancer.faces.serving import serve
from remembrancer.finding import compaction
from remembrancer.keeping.relational import apply
from remembrancer.keeping.sqlite import connection
from remembrancer.settings import Settings
from remembrancer.verbs.reminding import occurrences
from remembrancer.verbs.retain import Retain

LEASE_S = 2.0


def settings(folder: Path, store: str | None) -> Settings:
    """What all processes open a folder with."""
    return Settings(
        data=folder,
        store=store,
        http="127.0.0.1:0",
        grpc="off",
        embedder="hash:32",
        worker_lease_s=LEASE_S,
        decay_interval_s=0,
        rate_limit=False,
    )


def small_segments() -> None:
    """Write index files for banks as small as those of a round."""
    compaction.TAIL_ROWS = 4


def no_fsync() -> None:
    """Acknowledge commits that are not on disk."""
    pragmas = (p for p in connection._WRITE_PRAGMAS if not p.startswith("synchronous"))
    connection._WRITE_PRAGMAS = ("synchronous = OFF", *pragmas)


def no_fencing() -> None:
    """Let who has lost a lease go on writing and answering."""
    checked = apply._expect
    apply._expect = lambda db, ref, batch, revision: checked(
        db, ref, replace(batch, fence=None), revision
    )
    check_open, move = occurrences._check_open, occurrences.OccurrenceMove
    occurrences._check_open = lambda offer, states, token: check_open(offer, states, None)

    def unfenced(*args: Any) -> Any:
        return move(*args[:4])

    occurrences.OccurrenceMove = unfenced  # type: ignore[misc,assignment]


def no_revision_check() -> None:
    """Write over what others have written since it was read."""
    checked = apply._expect
    apply._expect_hash = lambda db, ref, write: None
    apply._expect = lambda db, ref, batch, revision: checked(
        db, ref, replace(batch, expect_revision=None), revision
    )


BREAKS: dict[str, Callable[[], None]] = {
    "no-fsync": no_fsync,
    "no-fencing": no_fencing,
    "no-revision-check": no_revision_check,
}


def let_stall(control: Control) -> None:
    """Stop the process when told to, between claiming a job and doing it."""
    retain = Retain.__call__

    async def stalling(self: Retain, ref: Any, items: Any, *more: Any, **named: Any) -> Any:
        if named.get("fence") is not None and control[STALL]:
            control[STALL] = 0
            os.kill(os.getpid(), signal.SIGSTOP)
        return await retain(self, ref, items, *more, **named)

    Retain.__call__ = stalling  # type: ignore[method-assign,assignment]


async def warm(folder: Path) -> None:
    """Do once what a server does only when first asked, so that its forks need not."""
    app = await App.open(settings(folder, None), background=False)
    transport = httpx.ASGITransport(app=make_app(app, "127.0.0.1"))
    bank = "/v1/default/banks/warm"
    document = {"content": "The cart stands in the red shed behind the mill.", "document_id": "d"}
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            for path, body in (
                (f"{bank}/memories", {"items": [document]}),
                (f"{bank}/memories", {"items": [{**document, "update_mode": "append"}]}),
                (f"{bank}/memories", {"items": [document], "async": True}),
                (f"{bank}/memories/recall", {"query": "the shed"}),
                (f"{bank}/intentions", {"content": "call", "triggerAt": 5}),
                (f"{bank}/intentions/check", {}),
                (f"{bank}/events", {"name": "e"}),
                (f"{bank}/document-transfer/export", None),
                ("/v1/prime", {"entity_id": "warm"}),
                ("/v1/memories", {"content": "The cart is red.", "entity_id": "warm"}),
            ):
                (await client.post(path, json=body)).raise_for_status()
            (await client.get(f"{bank}/documents/d")).raise_for_status()
            (await client.delete(f"{bank}/documents/d")).raise_for_status()
    finally:
        await app.close()


def child(order: dict[str, Any], control: Control) -> None:
    for name in order["broken"]:
        BREAKS[name]()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    let_stall(control)
    asyncio.run(serve(settings(Path(order["folder"]), order["store"]), clock=control))


def main() -> None:
    small_segments()
    control = Control(Path(os.environ["FAULTS_CONTROL"]))
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(warm(Path(folder)))
    for line in sys.stdin:
        if (pid := os.fork()) == 0:
            code = 1
            try:
                child(json.loads(line), control)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        sys.stdout.write(f"pid {pid}\n")
        sys.stdout.flush()
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(f"\nover {status}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
