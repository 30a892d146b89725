"""Two servers for the proof that nothing crosses between tenants: one with alpha's data, one bare.

Both tell the same time, which stands still while a request is answered.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from routes_kit import Filler, Operation
from served_kit import WAIT_S, Served

from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.ids import bank_key, to_ulid, to_uuid
from stores_kit import Rows, rows_of, stored

MARKS = ("kestrel", "Ottilie", "gearbox")
TEXT = "Ottilie saw a kestrel on the gearbox in March."
HIDDEN = "quillfeather"  # of alpha's, and in no request of anybody else
BANK = "shared"
NOW_US = 1_780_000_000_000_000
TICK = timedelta(milliseconds=20)

QUIET = {  # what no answer is told apart by
    "uptime_seconds",
    "access_count",  # counted a little later
    "db_acquire_ms",
    "took_ms",
    "duration_ms",
    "duration_seconds",
    "total_duration_seconds",
    "next_cursor",  # holds an id, encoded
    "time_seconds",
    "key_id",
}
FORMS = (
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"[0-9a-f]{32}"), "HEX"),
    (re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b"), "ULID"),
    (re.compile(r'(?<="subscription_id":)\d+'), "NUMBER"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)?"), "TIME"),
    (re.compile(r"rmb_[\w-]{43}"), "KEY"),
)


def rows(folder: Path, tenant: str, kind: str | None = None) -> dict[str, str]:
    """Return a hash of every table's rows that belong to banks of a tenant."""
    with closing(Rows(folder, kind)) as db:
        named = db.all(f"SELECT bank_key, name FROM bank WHERE tenant = '{tenant}'")
        assert all(key == bank_key(tenant, name) for key, name in named)
        mine = {key for key, _ in named}
        found = {}
        for table, columns in db.tables().items():
            if "bank_key" not in columns:
                continue
            at = columns.index("bank_key")
            kept = sorted(repr(row) for row in db.all(f"SELECT * FROM {table}") if row[at] in mine)
            found[table] = hashlib.sha256("\n".join(kept).encode()).hexdigest()
    assert {"bank", "unit", "record", "intention"} <= found.keys()
    return found


def unit_ids(folder: Path, known: str, kind: str | None = None) -> set[str]:
    """Return the ids of all memories there are but those in a text, in each spelling."""
    ids = [bytes(id_) for (id_,) in rows_of(folder, "SELECT unit_id FROM unit", kind)]
    others = [id_ for id_ in ids if to_uuid(id_) not in known]
    return {spell(id_) for id_ in others for spell in (to_uuid, to_ulid, bytes.hex)}


@dataclass
class World:
    """A server over a folder, and its keys by name."""

    served: Served
    clock: FixedClock
    kind: str | None = None
    keys: dict[str, str] = field(default_factory=dict)
    _watch: Rows | None = None
    _version: Any = None
    _rows: dict[str, str] = field(default_factory=dict)

    def ask(
        self, operation: Operation, filler: Filler, key: str | None
    ) -> tuple[httpx.Response, str]:
        """Send the request of a route; of a stream only the first piece is read."""
        return self.send(operation.method, filler.url(operation), filler.request(operation), key)

    def send(
        self, method: str, url: str, request: dict[str, Any], key: str | None
    ) -> tuple[httpx.Response, str]:
        """Send a request with a key of that name, or that is one."""
        more = dict(request)
        headers = dict(more.pop("headers", {}))
        if key is not None:
            headers["Authorization"] = f"Bearer {self.keys.get(key, key)}"
        with self.served.http.stream(method, url, headers=headers, **more) as answer:
            if answer.headers.get("content-type", "").startswith("text/event-stream"):
                text = next(answer.iter_text(), "")
            else:
                text = answer.read().decode("utf-8", "replace")
        return answer, text

    def write_log(self) -> None:
        """Have audit entries written now: what becomes of them would else hang on time."""
        self.served.run(self.served.app.audit_log.flush())

    def rows(self) -> dict[str, str]:
        """Return hashes of alpha's rows, made anew where anything was committed meanwhile."""
        folder = self.served.app.settings.data
        if self._watch is None:
            self._watch = Rows(folder, self.kind)
        version = self._watch.version()
        if version != self._version:
            self._version, self._rows = version, rows(folder, "alpha", self.kind)
        return self._rows

    def close(self) -> None:
        """Close what looks at the rows."""
        if self._watch is not None:
            self._watch.close()


@dataclass
class Worlds:
    """Both servers, what fills alpha's names in, and what of alpha's nobody else ever sends."""

    full: World
    bare: World
    filler: Filler
    hidden: tuple[str, ...]

    def tick(self) -> None:
        """Let a little time pass, before both alike."""
        self.full.clock.advance(TICK)


@contextmanager
def two_worlds(folder: Path, schemas: dict[str, Any], kind: str | None = None) -> Iterator[Worlds]:
    """Yield a server with alpha's data beside one without.

    Nothing works in the background in either, so that only requests change rows; at the end those
    of alpha must be as they were, when all is written that waited to be.
    """
    clock = FixedClock(NOW_US)
    more = {"rate_limit": False}  # how soon to come again would differ
    here, there = (
        {"folder": each, "clock": clock, **more, **stored(each, kind)}
        for each in (folder / "full", folder / "bare")
    )
    with Served(background=True, **here) as served:
        values = fill(served)
    with Served(**here) as one, Served(**there) as two:
        full, bare = World(one, clock, kind), World(two, clock, kind)
        for world in (full, bare):
            world.keys = {
                "alpha": world.served.key("alpha"),
                "reader": world.served.key("alpha", "read"),
                "beta": world.served.key("beta"),
            }
        listed = one.ask(full.keys["alpha"], "GET", "/v1/keys").json()["keys"]
        values["key_id"] = listed[0]["id"]
        hidden = (HIDDEN, *unit_ids(one.app.settings.data, json.dumps(values), kind))
        assert len(hidden) > 10
        one.settle()
        before = full.rows()
        yield Worlds(full, bare, Filler(schemas, values), hidden)
        one.settle()
        after = full.rows()
        full.close()
        assert not {name for name in after if after[name] != before[name]}


def fill(served: Served) -> dict[str, Any]:
    """Give tenant alpha something of each kind; return ids and names by parameter."""
    key = served.key("alpha")

    def ask(method: str, path: str, body: Any = None, bank: str = BANK) -> Any:
        url = path[1:] if path.startswith("//") else f"/v1/default/banks/{bank}{path}"
        answer = served.ask(key, method, url, body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def finished(operation: str) -> Any:
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            found = ask("GET", f"/operations/{operation}")
            if found["status"] not in {"pending", "processing"}:
                return found
            time.sleep(0.005)
        raise AssertionError("the operation did not end")

    item: dict[str, Any] = {"content": TEXT, "document_id": "log", "tags": ["field"]}
    item["entities"] = [{"text": "Ottilie"}]
    ask("POST", "/memories", {"items": [item]})
    hook = {"url": "https://hooks.example/x", "event_types": ["retain.completed"]}
    webhook = ask("POST", "/webhooks", hook)["id"]
    intention = ask("POST", "/intentions", {"content": TEXT, "triggerAt": 1_000_000})
    offered = ask("POST", "/intentions/check", {"mode": "lease"})["items"]
    ask("POST", "/events", {"name": "kestrel", "id": "event-of-alpha"})
    theirs = {"messages": TEXT, "user_id": "ottilie", "metadata": {"where": "gearbox"}}
    ask("POST", "//compat/mem0/memories", theirs)
    operation = ask("POST", "/document-transfer/export")["operation_id"]
    rule = ask("POST", "/directives", {"name": "kestrel", "content": TEXT})["id"]
    told = {"id": "m", "name": "kestrel", "source_query": "Where was the kestrel?"}
    made = ask("POST", "/mental-models", told)["operation_id"]
    page = ask("POST", "/knowledge-base/pages", {k: told[k] for k in told if k != "id"})
    archive = finished(operation)["result_metadata"]["download_url"].rpartition("/download/")[2]
    for each in (made, page["operation_id"]):
        finished(each)
    memories = ask("GET", "/memories/list")["items"]
    values = {
        "bank_id": BANK,
        "entity_id": ask("GET", "/entities")["items"][0]["id"],
        "document_id": "log",
        "chunk_id": f"{BANK}_log_0",
        "memory_id": memories[0]["id"],
        "memory_ids": [each["id"] for each in memories],
        "center_id": memories[0]["id"],
        "document_ids": ["log"],
        "operation_id": operation,
        "webhook_id": webhook,
        "directive_id": rule,
        "mental_model_id": "m",
        "page_id": page["page_id"],
        "node_id": page["page_id"],
        "intention_id": intention["id"],
        "occurrence_id": (offered[0].get("occurrence") or offered[0])["id"],
        "log_id": ask("GET", "/audit-logs")["items"][0]["id"],
        "key": httpx.URL(archive).path,
        **VALUES,
    }
    hide(ask)
    return values


def hide(ask: Any) -> None:
    """Give alpha more of each kind, with a word in it that is never sent by others."""
    mark = HIDDEN
    text = f"Mr {mark.title()} keeps the kestrel's gearbox in Oslo since 2019. I like {mark} tea."
    for bank in (BANK, f"{mark}-den"):
        for n in range(3):
            item = {"content": f"{text} {n}", "document_id": f"{mark}-{n}", "tags": ["field", mark]}
            item["entities"] = [{"text": mark.title()}]
            ask("POST", "/memories", {"items": [item]}, bank)
        ask("POST", "/intentions", {"content": text, "triggerEvent": mark}, bank)
        ask("POST", "/intentions", {"content": text, "triggerAt": 1_000_000}, bank)
        ask("POST", "/events", {"name": "kestrel", "id": f"event-of-{mark}"}, bank)
        ask("POST", "/directives", {"name": mark, "content": text}, bank)
        named = {"id": mark, "name": mark, "source_query": "Where was the kestrel?"}
        ask("POST", "/mental-models", named, bank)
        hook = {"url": f"https://{mark}.example/x", "event_types": ["retain.completed"]}
        ask("POST", "/webhooks", hook, bank)
        ask("PATCH", "", {"name": f"kestrel of {mark}", "mission": text}, bank)
    ask("POST", "//v1/memories", {"content": text, "entity_id": BANK})
    ask("POST", "//v1/memories", {"content": text})
    ask("POST", "//v1/keys", {"name": mark, "permissions": ["read"]})
    theirs = {"messages": text, "user_id": mark, "agent_id": mark, "metadata": {mark: mark}}
    ask("POST", "//compat/mem0/memories", theirs)


VALUES: dict[str, Any] = {
    "query": "Where was the kestrel?",
    "cue": "kestrel",
    "similarity_cue": "kestrel",
    "queryText": "kestrel",
    "mode": "peek",
    "items": [{"content": "A plain note of beta."}],
    "tags": ["field"],
    "subscription_id": 7,
    "slug": "alpha",
    "entity_type": "user",
    "user_id": "ottilie",
    "q": "kestrel",
    "delivery_id": "0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10",
}
BY_OPERATION: dict[str, dict[str, Any]] = {
    # `items` has another meaning there.
    "create_intentions": {"items": [{"content": "Look up.", "triggerAt": 4_000_000_000_000}]},
    "create_events": {"items": [{"name": "noon"}]},
}


def filled(filler: Filler, operation: Operation) -> Filler:
    values = filler.values | BY_OPERATION.get(operation.name, {})
    if "{bank_id}" not in operation.path:
        values["entity_id"] = BANK  # HEBBS's name of a bank
    return Filler(filler.schemas, values)


def normal(value: Any) -> Any:
    """Return an answer without what differs from server to server by itself."""
    if isinstance(value, dict):
        return {k: normal(v) for k, v in value.items() if k not in QUIET}
    if isinstance(value, list):
        return [normal(each) for each in value]
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) > 1e11:
        return "MOMENT"
    if isinstance(value, str):
        for form, word in FORMS:
            value = form.sub(word, value)
    return value


def told(text: str) -> Any:
    try:
        return normal(json.loads(text))
    except ValueError:
        return normal(text)
