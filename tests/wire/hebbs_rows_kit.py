"""Two tenants before one server, for the tables of what HEBBS tests itself by.

A row is a function of a `Pair`. It acts for tenant `one`, while tenant `two` keeps memories of an
entity of the same name; these must be untouched when it is done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from grpc_kit import Client, strategy
from served_kit import Served

ROOM = "room"
OTHERS = ("The room of another.", "A lamp of another.", "A chair of another.")

Row = Callable[["Pair"], None]


class Hands:
    """The machine's clock, put forward."""

    def __init__(self) -> None:
        self.ahead_us = 0

    def now_us(self) -> int:
        return time.time_ns() // 1000 + self.ahead_us


@dataclass(frozen=True)
class Pair:
    """A client of each tenant, and the keys that they call with."""

    served: Served
    hands: Hands
    tenants: tuple[str, str]
    keys: tuple[str, str]
    one: Client
    two: Client

    def rest(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        """Send a request of tenant one, which must be answered with a status."""
        answer = self.served.ask(self.keys[0], method, path, body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def room(self, count: int = 5, **fields: Any) -> list[Any]:
        """Remember so many things of the room, for tenant one."""
        return [self.one.remember(f"Thing {n} of the room.", ROOM, **fields) for n in range(count)]

    def prime(self, entity: str = ROOM, **fields: Any) -> Any:
        return self.one.call("Prime", entity_id=entity, **fields)

    def recall(self, cue: str, *kinds: str, entity: str | None = ROOM, **fields: Any) -> Any:
        named = {} if entity is None else {"entity_id": entity}
        asked = [strategy(kind, **named) for kind in kinds]
        return self.one.call("Recall", cue=cue, strategies=asked, **fields)


class Other:
    """Tenant two, and what it has; it is there from the first row to the last."""

    def __init__(self, served: Served) -> None:
        self.tenant = f"two-{uuid4()}"
        self.key = served.key(self.tenant)
        self.client = served.calls(self.key)
        self.ids = [self.client.remember(text, ROOM).memory_id for text in OTHERS]
        self.before = _kept(self.client, self.ids)


@contextmanager
def pair_before(served: Served, hands: Hands, other: Other) -> Iterator[Pair]:
    """Yield a new tenant beside the other one, which must have afterwards what it had."""
    tenant = f"one-{uuid4()}"
    key = served.key(tenant)
    one = served.calls(key)
    yield Pair(served, hands, (tenant, other.tenant), (key, other.key), one, other.client)
    hands.ahead_us = 0
    assert _kept(other.client, other.ids) == other.before


def _kept(client: Client, ids: list[bytes]) -> list[Any]:
    """Return all that a tenant has, without what falls with time."""
    found = []
    for memory_id in ids:
        memory = client.get(memory_id)
        memory.ClearField("decay_score")
        found.append(memory.SerializeToString(deterministic=True))
    newest = [strategy("temporal")]
    told = client.call("Recall", cue="", strategies=newest, top_k=1000, reinforce=False)
    listed = [result.memory.memory_id for result in told.results]
    return [found, listed, client.call("Check").memory_count]


def ids_of(found: Any) -> list[bytes]:
    return [result.memory.memory_id for result in found.results]


def texts_of(found: Any) -> list[str]:
    return [result.memory.content for result in found.results]
