"""What a tenant waits for alone, and beside another one that floods the server; and what floods,
idle connections, slow readers and huge bodies cost in memory.

`overload.KIND.ratio` is the victim's p99 beside a flood by its p99 alone, measured right before; at
most 3 is the aim. `work` counts the processor's time that the server had between question and
answer instead, and `work_ratio` compares that: it says as much on a busy machine. Victim and flood
are processes of their own; so is the server, with the stand-in embedder unless another is named.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import resource
import socket
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from . import made, report
from .flooding import flood
from .made_store import EMBEDDER
from .metrics import Figures, latency_figures
from .server import Server, rss_mb
from .wires import Wire, recall_of, retain_of, spelled

PARTS = ("recall", "retain", "huge", "idle", "slow")
BAR = 3.0
"""The ratio that no flood should exceed."""

_ROOT = "the-key-of-this-bench"
_VICTIM, _FLOOD = "victim", "flood"
_WARM_UP = 50
_LEAST_MS = 0.1
_PAUSE_S = 0.01  # of the victim between two questions
_HUGE_CLIENTS = 6
_OPEN_AT_ONCE = 200
_SLOW_READERS = 20
_STALL_S = 3.0
_SPARE_FILES = 256
_SAMPLED_S = 0.1


def run(folder: Path, options: argparse.Namespace) -> Figures:
    """Measure the parts asked for, on a server of its own."""
    figures: Figures = {}
    more_files(options.idle)
    folder.mkdir(parents=True, exist_ok=True)
    with Server(
        folder, options.embedder, api_key=_ROOT, stall_s=str(_STALL_S), rate_limit="false"
    ) as server:
        keys = {name: key_of(server.port, name, _ROOT) for name in (_VICTIM, _FLOOD)}
        for name, key in keys.items():
            asyncio.run(_load(server.port, key, name, options.turns))
        ask = _Victim(server, keys[_VICTIM], options.turns)
        figures["rss.start_mb"] = rss_mb(server.pid)
        for kind, clients in (
            ("recall", options.clients),
            ("retain", options.clients),
            ("huge", min(_HUGE_CLIENTS, options.clients)),
        ):
            if kind in options.parts:
                figures |= _beside(server, ask, keys[_FLOOD], kind, clients, options)
        if "idle" in options.parts:
            figures |= _idle(server, ask, options.idle, options.seconds)
        if "slow" in options.parts:
            figures |= asyncio.run(_slow(server, keys[_FLOOD]))
    return figures


def _beside(
    server: Server, ask: _Victim, key: str, kind: str, clients: int, options: argparse.Namespace
) -> Figures:
    """Ask alone, then beside a flood of a kind."""
    alone = ask(options.seconds)
    with (
        flood(
            server.port, key, kind, _FLOOD, options.turns, clients, options.megabytes
        ) as flooding,
        _peak(server.pid) as peak,
    ):
        beside = ask(options.seconds)
    name = f"overload.{kind}"
    found = _compared(name, alone, beside)
    found[f"{name}.flood.clients"] = clients
    found[f"{name}.flood.done_per_s"] = flooding.done_per_s
    found[f"{name}.flood.shed"] = flooding.shed
    found[f"{name}.flood.processor"] = flooding.processor
    found[f"{name}.flood.no_retry_after"] = flooding.told["unsaid"]
    found[f"{name}.rss_peak_mb"] = peak.mb
    return found


def _compared(name: str, alone: Sequence[Spent], beside: Sequence[Spent]) -> Figures:
    """Return latencies, and how many times as long the 99th percentile is beside others."""
    found: Figures = {}
    for side, spent in (("alone", alone), ("beside", beside)):
        found |= latency_figures(f"{name}.{side}", [each.wall_ms for each in spent])
        found |= latency_figures(f"{name}.{side}.work", [each.work_ms for each in spent])
    found[f"{name}.ratio"] = found[f"{name}.beside.p99_ms"] / found[f"{name}.alone.p99_ms"]
    work = f"{name}.beside.work.p99_ms", f"{name}.alone.work.p99_ms"
    found[f"{name}.work_ratio"] = found[work[0]] / max(found[work[1]], _LEAST_MS)
    return found


class Spent(NamedTuple):
    """What a question took: milliseconds of waiting, and of the server's processor meanwhile."""

    wall_ms: float
    work_ms: float


class _Victim:
    """A tenant with one client that asks one question after the other, a little apart."""

    def __init__(self, server: Server, key: str, turns: int) -> None:
        self._port = server.port
        self._pid = server.pid
        self._key = key
        self._asked = made.questions(_VICTIM, turns, 2_000)

    def __call__(self, seconds: float) -> list[Spent]:
        """Ask for so long; return what each answer took."""
        return asyncio.run(self._ask(seconds))

    async def _ask(self, seconds: float) -> list[Spent]:
        spent: list[Spent] = []
        async with Wire(self._port, self._key) as wire:
            for question in self._asked[:_WARM_UP]:
                await wire.post(*recall_of(_VICTIM, question))
            ends = time.monotonic() + seconds
            number = _WARM_UP
            while time.monotonic() < ends:
                path, body = recall_of(_VICTIM, self._asked[number % len(self._asked)])
                number += 1
                worked, started = _work_ms(self._pid), time.perf_counter()
                told = await wire.post(path, body)
                wall_ms = (time.perf_counter() - started) * 1e3
                spent.append(Spent(wall_ms, _work_ms(self._pid) - worked))
                if told.status != 200:
                    raise RuntimeError(f"the victim was answered {told.status}: {told.body!r}")
                await asyncio.sleep(_PAUSE_S)
        return spent


def _work_ms(pid: int) -> float:
    """Return the processor's time that all threads of a process have had, in milliseconds."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # it has just ended
            total += int((task / "schedstat").read_text(encoding="ascii").split()[0])
    return total / 1e6


class _Peak:
    mb = 0.0


@contextlib.contextmanager
def _peak(pid: int) -> Iterator[_Peak]:
    """Watch the most memory that a process holds in the block, in a thread of its own."""
    peak, ended = _Peak(), threading.Event()

    def watch() -> None:
        while not ended.wait(_SAMPLED_S):
            peak.mb = max(peak.mb, rss_mb(pid))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        ended.set()
        thread.join()


def _idle(server: Server, ask: _Victim, wanted: int, seconds: float) -> Figures:
    """Hold connections open that ask nothing, and ask beside them."""
    before, alone = rss_mb(server.pid), ask(seconds)
    held: list[socket.socket] = []
    try:
        with contextlib.suppress(OSError):  # as many as the machine lets us
            while len(held) < wanted:
                held.append(socket.create_connection(("127.0.0.1", server.port), timeout=5))
                if not len(held) % _OPEN_AT_ONCE:
                    time.sleep(0.02)  # for the server to take them
        beside = ask(seconds)
        after = rss_mb(server.pid)
    finally:
        for each in held:
            each.close()
    found = _compared("idle", alone, beside)
    found["idle.connections"] = len(held)
    found["idle.rss_mb"] = after
    found["idle.kb_a_connection"] = (after - before) * 1024 / max(1, len(held))
    return found


async def _slow(server: Server, key: str) -> Figures:
    """Ask for long answers and take nothing of them, until the server cuts the connections."""
    before = rss_mb(server.pid)
    request = (
        "GET /openapi.json HTTP/1.1\r\n"  # the longest answer that needs no work
        f"Host: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n\r\n"
    ).encode() * 24  # answers that no buffer of the system takes
    loop = asyncio.get_running_loop()
    held: list[socket.socket] = []
    for _ in range(_SLOW_READERS):
        each = socket.socket()
        each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        each.setblocking(False)
        await loop.sock_connect(each, ("127.0.0.1", server.port))
        await loop.sock_sendall(each, request)
        held.append(each)
    peak, cut, ends = 0.0, 0, loop.time() + 5 * _STALL_S
    while cut < len(held) and loop.time() < ends:
        await asyncio.sleep(_SAMPLED_S)
        peak = max(peak, rss_mb(server.pid))
        cut = sum(_was_cut(each) for each in held)
    for each in held:
        each.close()
    return {
        "slow.readers": len(held),
        "slow.cut": cut,
        "slow.rss_before_mb": before,
        "slow.rss_peak_mb": peak,
    }


def _was_cut(held: socket.socket) -> bool:
    """Tell whether a connection was reset, without reading from it."""
    # State 1 is "established": see tcp_info of Linux.
    return held.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != 1


def more_files(connections: int) -> None:
    """Let this process, and the server that it starts, open as many files as it may and needs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + _SPARE_FILES
    if soft < wanted:
        top = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        resource.setrlimit(resource.RLIMIT_NOFILE, (top, hard))


def key_of(port: int, tenant: str, root: str) -> str:
    """Make a key of a tenant."""
    body = {"name": tenant, "tenant": tenant, "permissions": ["read", "write"]}
    request = Request(
        f"http://127.0.0.1:{port}/v1/keys",
        spelled(body),
        {"Content-Type": "application/json", "Authorization": f"Bearer {root}"},
    )
    try:
        with urlopen(request) as answer:
            told: dict[str, Any] = json.loads(answer.read())
    except HTTPError as error:
        raise RuntimeError(f"no key of {tenant}: {error.read()!r}") from None
    return str(told["key"])


async def _load(port: int, key: str, bank: str, turns: int) -> None:
    async with Wire(port, key) as wire:
        for number in range(-(-turns // made.DOCUMENT_TURNS)):
            count = min(made.DOCUMENT_TURNS, turns - number * made.DOCUMENT_TURNS)
            content = json.dumps(made.document(bank, number, count))
            told = await wire.post(*retain_of(bank, content, f"day-{number:05d}"))
            if told.status != 200:
                raise RuntimeError(f"retain was answered {told.status}: {told.body!r}")


def main(argv: Sequence[str] | None = None) -> Figures:
    """Run from the command line."""
    parser = report.parser(
        "overload", __doc__ or "", "python -m bench.overload --json bench/results/overload.json"
    )
    parser.add_argument("--turns", type=int, default=1_000, help="turns of each tenant's bank")
    parser.add_argument("--seconds", type=float, default=6.0, help="of each measurement")
    parser.add_argument("--clients", type=int, default=400, help="of the flood")
    parser.add_argument("--megabytes", type=int, default=25, help="of a huge body")
    parser.add_argument("--idle", type=int, default=10_000, help="connections that ask nothing")
    parser.add_argument("--embedder", default=EMBEDDER)
    parser.add_argument("--parts", type=_parts, default=PARTS, help=f"by commas: {','.join(PARTS)}")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="overload-") as folder:
        found = run(Path(folder) / "data", options)
    report.show_latency("overload", found)
    for name in ("recall", "retain", "huge"):
        if (ratio := found.get(f"overload.{name}.ratio")) is not None:
            held = "held" if ratio <= BAR else "missed"
            report.console.print(
                f"beside a flood of {name}: p99 x {ratio:.2f} (bar {BAR:g} {held})"
            )
    report.write(options.json, found)
    return found


def _parts(text: str) -> tuple[str, ...]:
    parts = tuple(text.split(","))
    for part in parts:
        if part not in PARTS:
            raise argparse.ArgumentTypeError(f"unknown part {part!r}; choose {', '.join(PARTS)}")
    return parts


if __name__ == "__main__":
    main()
