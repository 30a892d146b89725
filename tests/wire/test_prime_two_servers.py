"""Prime, revise and forget of one memory at once, over gRPC, by two server processes on a folder.

One serves in this process, the other in one of its own. As `tests/unit/test_prime_concurrency.py`
over the library: no use is lost, no revision is undone, nothing that was forgotten returns.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
from grpc_kit import Client, refused
from served_kit import Served
from wire_kit import Server

ROUNDS = 30  # times `prove`: 300 in full
TENANT = "default"
MISSING = grpc.StatusCode.NOT_FOUND

Record = Callable[[dict[str, float]], None]


def revised(client: Client, memory_id: bytes, text: str) -> str | None:
    """Revise a memory, and return the text when it was taken; None: it is forgotten."""
    try:
        client.call("Revise", memory_id=memory_id, content=text)
    except grpc.RpcError as error:
        if error.code() is not MISSING:
            raise
        return None
    return text


def forgotten(here: Client, there: Client, memory_id: bytes, entity: str) -> None:
    """Forget over one server; nobody may see it over the other one, from here on."""
    assert here.call("Forget", memory_ids=[memory_id]).forgotten_count == 1
    assert len(there.call("Prime", entity_id=entity).results) == 0
    with refused(MISSING):
        there.get(memory_id)


def one_round(
    clients: tuple[Client, Client], pool: ThreadPoolExecutor, number: int, rng: random.Random
) -> tuple[bytes, int, list[str | None]]:
    """Return the memory, how often it was primed, and which revisions were taken."""
    entity = f"entity-{number}"
    memory_id = clients[number % 2].remember(f"Memory {number}.", entity).memory_id
    work: list[Callable[[], Any]] = [lambda c=c: c.call("Prime", entity_id=entity) for c in clients]
    work += [
        lambda c=c, n=n: revised(c, memory_id, f"Memory {number}, text {n}.")
        for n, c in enumerate(clients)
    ]
    if number % 2:
        here, there = rng.sample(clients, 2)
        work.append(lambda: forgotten(here, there, memory_id, entity))
    order = rng.sample(range(len(work)), len(work))
    done = dict(zip(order, pool.map(lambda n: work[n](), order), strict=True))
    return memory_id, len(done[0].results) + len(done[1].results), [done[2], done[3]]


def test_two_servers_lose_undo_and_bring_back_nothing(
    tmp_path: Path, prove: int, record: Record
) -> None:
    folder, rng = tmp_path / "data", random.Random(7)
    kept, gone = [], []
    with Served(folder, auth="off") as mine:
        with Server(folder) as other, grpc.insecure_channel(other.grpc) as channel:
            clients = Client(mine.channel, TENANT), Client(channel, TENANT)
            with ThreadPoolExecutor(5) as pool:
                for number in range(ROUNDS * prove):
                    found = one_round(clients, pool, number, rng)
                    (gone if number % 2 else kept).append((number, *found))
        # The other one has ended, and has written what it counted; now this one does.
        mine.settle()
        client, uses = Client(mine.channel, TENANT), 0
        for number, memory_id, primed, taken in kept:
            memory = client.get(memory_id)
            uses += memory.access_count
            assert memory.access_count == primed == 2
            assert None not in taken
            assert memory.content in taken
            earlier = {each.content for each in memory.revised_from}
            assert earlier | {memory.content} == {f"Memory {number}.", *taken}
            assert memory.logical_clock == len(memory.revised_from) == 2
        for number, memory_id, *_ in gone:
            with refused(MISSING):
                client.get(memory_id)
            assert len(client.call("Prime", entity_id=f"entity-{number}").results) == 0
        assert client.call("Check").memory_count == len(kept)
    record(
        {
            "rounds": ROUNDS * prove,
            "memories_revised": len(kept),
            "memories_forgotten": len(gone),
            "uses_counted": uses,
            "uses_lost": 2 * len(kept) - uses,
        }
    )
