"""Ends a round: faults mended, what was queued done, then every promise looked at."""

from __future__ import annotations

import asyncio
import io
import re
import time
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

from model import Document, World
from rounds import BANK, PATH, Round
from servers import Server
from victim import settings, small_segments

from remembrancer.app import App
from remembrancer.finding.indexes import Indexes
from remembrancer.finding.state import IndexState
from remembrancer.nouns.memory import BankRef, Layer

_WORDS = re.compile(r"qx[a-z]+oyo")
_SETTLE_S = 25.0
_LATER_US = 7_200_000_000  # when all leases, pauses and reminders are over
_OPEN = ("pending", "processing")
_REF = BankRef("default", BANK)


def settle(made: Round) -> None:
    """Mend everything, wait until nothing is left to do, and check what the wire says."""
    made.calm()
    world = made.world
    ahead = max(0, made.latest_ms - made.now_ms()) * 1_000 + _LATER_US
    for server in made.servers:
        server.resume()
    made._ahead(ahead)
    server = made.servers[0]
    for each in made.servers:
        if each.reap():
            made.up(each)
    _export(made, server)
    _finish_operations(world, server)
    _deliver(made)
    for name, document in sorted(world.documents.items()):
        _check_document(world, server, name, document)
    for memory in world.memories.values():
        found = server.ask("GET", f"/v1/memories/{memory.id}?entity_id={BANK}")
        words = set(_WORDS.findall(found.body["content"])) if found.ok else {""}
        if not (len(words) == 1 and words <= memory.allowed):
            world.blame("lost", f"memory {memory.id} holds {words}, not {memory.allowed}")
    _swept(made, server)
    for each in made.servers:
        if not each.stop():
            world.blame("stuck", "a server did not stop")
    asyncio.run(_examine(made))


def _export(made: Round, server: Server) -> None:
    """Export, and look for what must be in the archive."""
    found = server.ask("POST", f"{PATH}/document-transfer/export")
    if not found.ok:
        made.world.blame("stuck", f"export was not taken: {found.status}")
        return
    status = _ended(server, found.body["operation_id"])
    if status is None or status["status"] != "completed":
        made.world.blame("stuck", f"export: {status}")
        return
    raw = server.ask("GET", status["result_metadata"]["download_url"]).body
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        text = b"".join(archive.read(name) for name in archive.namelist()).decode()
    told = set(_WORDS.findall(text))
    for document in made.world.documents.values():
        sure = document.sure()
        if sure and not set(sure) <= told:
            made.world.blame("lost", f"the export lacks {sure}")
    if left := told & made.world.gone():
        made.world.blame("leak", f"the export holds {left}")


def _ended(server: Server, operation: str) -> dict[str, Any] | None:
    deadline = time.monotonic() + _SETTLE_S
    while time.monotonic() < deadline:
        found = server.ask("GET", f"{PATH}/operations/{operation}")
        if found.ok and found.body["status"] not in _OPEN:
            body: dict[str, Any] = found.body
            return body
        time.sleep(0.03)
    return None


def _finish_operations(world: World, server: Server) -> None:
    for operation, token in sorted(world.operations.items()):
        status = _ended(server, operation)
        if status is None:
            world.blame("stuck", f"operation {operation}")
        elif status["status"] == "not_found":
            world.blame("lost", f"operation {operation} of {token}")
        elif status["status"] != "completed":
            world.failed_operations += 1
            _may_have_failed(world, token)


def _may_have_failed(world: World, token: str) -> None:
    """Allow what was there before to an operation that said that it failed."""
    for document in world.documents.values():
        without = {tuple(t for t in c if t != token) for c in document.allowed if token in c}
        document.allowed |= without


def _deliver(made: Round) -> None:
    """Take and acknowledge all that is due until every reminder has come."""
    world = made.world
    deadline = time.monotonic() + _SETTLE_S
    step = {"n": 0}
    while True:
        items = made.leased(step)
        for item in items:
            made.ack(step, item)
        waiting = [name for name, r in world.reminders.items() if r.kept and r.fires and not r.seen]
        if not items and not waiting:
            return
        if time.monotonic() > deadline:
            world.blame("lost", f"never came: {waiting}" if waiting else "deliveries do not end")
            return
        if not items:
            time.sleep(0.05)


def _check_document(world: World, server: Server, name: str, document: Document) -> None:
    found = server.ask("GET", f"{PATH}/documents/{name}")
    held: tuple[str, ...] = ()
    if found.ok:
        held = tuple(_WORDS.findall(found.body["original_text"]))
        if not held:
            world.blame("half", f"{name} is there without its text")
    elif found.status != 404:
        world.blame("stuck", f"{name} cannot be read: {found.status}")
        return
    if held in document.allowed:
        document.allowed = {held}
        document.queued = document.asked = False
        return
    wanted = sorted(document.allowed)
    twice = any(n > 1 for n in Counter(held).values())
    world.blame("twice" if twice else "lost", f"{name} holds {held}, not one of {wanted}")


def _swept(made: Round, server: Server) -> None:
    """Wait until no byte of what was forgotten is left in the folder."""
    gone = made.world.gone()
    deadline = time.monotonic() + _SETTLE_S
    while left := _found(made.folder, gone):
        if time.monotonic() > deadline:
            made.world.blame("leak", f"bytes of {left}")
            return
        time.sleep(0.1)


def _found(folder: Path, words: set[str]) -> dict[str, list[str]]:
    places: dict[str, list[str]] = {}
    for path in folder.rglob("*"):
        try:
            data = path.read_bytes() if path.is_file() else b""
        except FileNotFoundError:
            continue
        for word in words:
            if word.encode() in data:
                places.setdefault(word, []).append(path.name)
    return places


async def _examine(made: Round) -> None:
    """Read the store itself: whole documents, an index that says what the rows say."""
    world = made.world
    small_segments()
    app = await App.open(
        settings(made.folder, made.site.store), clock=made.servers[0].control, background=False
    )
    try:
        async with app.store.snapshot(_REF) as view:
            for document in await view.documents(limit=10_000):
                known = world.documents.get(document.name or "")
                wanted = known.sure() if known else None
                if wanted is None:
                    continue
                units = await view.units_of(document.id)
                told = [_WORDS.findall(u.text) for u in units if u.layer is Layer.SOURCE]
                sources = [t for words in told for t in words]
                if sorted(sources) != sorted(wanted):
                    world.blame("half", f"{document.name} has memories of {sources}, not {wanted}")
                facts = {t for u in units if u.layer is Layer.FACT for t in _WORDS.findall(u.text)}
                if not facts <= set(wanted):
                    world.blame("half", f"{document.name} has facts of {facts - set(wanted)}")
            fresh = await Indexes(None, 32, 1 << 30).state_for(_REF, view)
            folder = made.folder / "index" / app.store.identity
            kept = await Indexes(folder, 32, 1 << 30).state_for(_REF, view)
            rows = await view.scan(limit=100_000)
            sources_live = {row.unit_id for row in rows if row.layer == Layer.SOURCE}
            if _live(fresh) != _live(kept) or not sources_live <= _live(kept).keys():
                world.blame("mismatch", "the index says other than the rows")
    finally:
        await app.close()


def _live(state: IndexState | None) -> dict[bytes, tuple[Any, ...]]:
    """Return what an index holds of each live row: its bits, codes and postings, by id."""
    held: dict[bytes, tuple[Any, ...]] = {}
    if state is None:
        return held
    for part, dead in zip(state.parts, state.dead, strict=True):
        postings: dict[int, list[Any]] = {row: [] for row in range(part.n)}
        for field in (part.text, part.window, part.tags):
            for number, term in enumerate(field.terms):
                for place in range(int(field.starts[number]), int(field.starts[number + 1])):
                    weight = field.weights[place].tobytes()
                    postings[int(field.docs[place])].append((int(term), weight))
        for row in range(part.n):
            if dead is None or not dead[row]:
                arrays = (part.bits[..., row], part.codes[row], part.scales[row])
                name = part.ids[row : row + 1].tobytes()
                held[name] = (*(a.tobytes() for a in arrays), *sorted(postings[row]))
    return held
