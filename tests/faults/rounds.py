"""Plays a round: the steps of its plan against one or two servers, with its faults."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import plan as plans
from model import Document, Memory, Reminder, World, said, word
from plan import Plan
from servers import Answer, Server
from shim import CLOCK, FAIL_SYNC, FAIL_WRITE, FULL, KILL_IN, STALL, UNDO, cut_power, limit_files

BANK = "proof"
PATH = f"/v1/default/banks/{BANK}"
_FULL_STEPS = 2  # steps for which the disk stays full
_TAKEN_OVER_S = 8.0


@dataclass
class Site:
    """Where rounds are played: servers, the store, and how connections to it are cut."""

    base: Path
    servers: list[Server]
    store: str | None = None
    cut: Callable[[], None] | None = None
    broken: tuple[str, ...] = ()


@dataclass
class Round:
    """A round under way."""

    site: Site
    plan: Plan
    folder: Path
    world: World
    faults: Counter[str] = field(default_factory=Counter)
    latest_ms: int = 0  # the latest time that any server has had
    _drop_ms: int | None = None
    _full: int = 0

    @property
    def servers(self) -> list[Server]:
        """Those of this round."""
        return self.site.servers[: self.plan.servers]

    def now_ms(self) -> int:
        """The time as the servers have it."""
        now = self.servers[0].control.now_us() // 1_000
        self.latest_ms = max(self.latest_ms, now)
        return now

    def play(self) -> None:
        """Do all steps."""
        for server in self.servers:
            server.control.calm()
            server.control[CLOCK] = 0
            server.control[UNDO] = int(self.plan.servers == 1 and self.site.store is None)
            server.control.host("")
            self.up(server)
        for step in self.plan.steps:
            self._full = max(0, self._full - 1)
            if not self._full:
                self._disk(full=False)
            for server in self.servers:
                if server.reap():
                    self.up(server)
            self.now_ms()
            if "fault" in step:
                self._hurt(step)
            else:
                getattr(self, f"do_{step['do']}")(step)

    def up(self, server: Server) -> None:
        """Start a server; a disk that fails is mended when it cannot start with it."""
        for _ in range(3):
            if server.start(self.folder, self.site.store, self.site.broken):
                return
            self.calm()
        raise AssertionError(f"seed {self.plan.seed}: the server does not start any more")

    def calm(self) -> None:
        """Mend everything but the clock."""
        self._full = 0
        self._disk(full=False)
        for server in self.servers:
            server.control.calm()

    def ask(self, step: dict[str, Any], method: str, path: str, body: Any = None) -> Answer:
        """Ask the server that the step names; count the answer."""
        drop = None
        if self._drop_ms is not None:
            drop, self._drop_ms = partial(time.sleep, self._drop_ms / 1_000), None
        server = self.servers[step.get("at", 0) % len(self.servers)]
        found = server.ask(method, path, body, drop=drop)
        self.world.count(found.status)
        return found

    def token(self, step: dict[str, Any], more: int = 0) -> str:
        """The word of a step."""
        return word(self.plan.seed, 100 + 2 * step["n"] + more)

    # What is asked.

    def do_retain(self, step: dict[str, Any]) -> None:
        self._put(step, f"{step['doc']}")

    def do_replace(self, step: dict[str, Any]) -> None:
        self._put(step, step["doc"])

    def do_append(self, step: dict[str, Any]) -> None:
        document, token = self.world.document(step["doc"]), self.token(step)
        if document.open:
            return
        found = self._retain(step, step["doc"], token, update_mode="append")
        self._took(document, found, lambda sure: document.extended(token, sure))

    def do_queue(self, step: dict[str, Any]) -> None:
        """Queue two documents, or the end of one."""
        token = self.token(step)
        if step["n"] % 2:
            document = self.world.document(step["doc"])
            if document.open:
                return
            found = self._retain(step, step["doc"], token, queued=True, update_mode="append")
            document.queued = True
            document.extended(token, found.ok)
        else:
            names = [f"q{step['n']}", f"r{step['n']}"]
            tokens = token, self.token(step, 1)
            items = [
                {"content": said(t), "document_id": n} for n, t in zip(names, tokens, strict=True)
            ]
            found = self.ask(step, "POST", f"{PATH}/memories", {"items": items, "async": True})
            for name, t in zip(names, tokens, strict=True):
                self.world.document(name).queued = True
                self.world.document(name).put((t,), found.ok)
        if found.ok:
            self.world.operations[found.body["operation_id"]] = token

    def do_forget(self, step: dict[str, Any]) -> None:
        document = self.world.document(step["doc"])
        if document.open:
            return
        had = {t for content in document.allowed for t in content}
        found = self.ask(step, "DELETE", f"{PATH}/documents/{step['doc']}")
        if found.status == 404:
            if () not in document.allowed:
                self.world.blame("lost", f"{step['doc']} is not there to be forgotten")
            document.put((), True)
            return
        self._took(document, found, lambda sure: document.put((), sure))
        if found.ok:
            self.world.forgotten |= had

    def do_remember(self, step: dict[str, Any]) -> None:
        token = self.token(step)
        found = self.ask(step, "POST", "/v1/memories", {"content": said(token), "entity_id": BANK})
        if found.ok:
            self.world.memories[step["doc"]] = Memory(found.body["memory_id"], {token})

    def do_revise(self, step: dict[str, Any]) -> None:
        memory, token = self.world.memories.get(step["doc"]), self.token(step)
        if memory is None or "" in memory.allowed:
            self.do_remember(step)
            return
        body = {"content": said(token), "entity_id": BANK}
        found = self.ask(step, "PUT", f"/v1/revise/{memory.id}", body)
        if found.status == 404:
            self.world.blame("lost", f"memory {memory.id} is not there to be revised")
        elif found.ok:
            memory.allowed = {token}
        elif found.status == 0 or found.status >= 500:
            memory.allowed.add(token)

    def do_drop_memory(self, step: dict[str, Any]) -> None:
        memory = self.world.memories.get(step["doc"])
        if memory is None or len(memory.allowed) > 1 or "" in memory.allowed:
            self.do_remember(step)
            return
        body = {"entity_id": BANK, "memory_ids": [memory.id]}
        found = self.ask(step, "POST", "/v1/forget", body)
        if found.ok:
            self.world.forgotten |= memory.allowed
            memory.allowed = {""}
        elif found.status == 0 or found.status >= 500:
            memory.allowed.add("")

    def do_remind(self, step: dict[str, Any]) -> None:
        name, due = self.token(step), self.now_ms() + step["in_ms"]
        body = {"content": name, "triggerAt": due}
        found = self.ask(step, "POST", f"{PATH}/intentions", body)
        self.world.reminders[name] = Reminder(due, found.ok)

    def do_remind_event(self, step: dict[str, Any]) -> None:
        name = self.token(step)
        body = {"content": name, "triggerEvent": f"e-{step['doc']}"}
        found = self.ask(step, "POST", f"{PATH}/intentions", body)
        self.world.reminders[name] = Reminder(
            None, found.ok, f"e-{step['doc']}", fires=False, may_fire=False
        )

    def do_event(self, step: dict[str, Any]) -> None:
        event = f"e-{step['doc']}"
        waiting = [r for r in self.world.reminders.values() if r.event == event]
        found = self.ask(step, "POST", f"{PATH}/events", {"name": event, "id": f"i{step['n']}"})
        for reminder in waiting:
            reminder.may_fire = True
            reminder.fires |= found.ok and reminder.kept

    def do_check(self, step: dict[str, Any]) -> None:
        """Lease what is due; acknowledge all but one in three."""
        for number, item in enumerate(self.leased(step)):
            one = item["occurrence"]
            if number % 3 == 2:
                self.world.leases.append((one["id"], one["token"]))
            else:
                self.ack(step, item)

    def leased(self, step: dict[str, Any]) -> list[dict[str, Any]]:
        """Lease what is due, and check that it is."""
        body = {"lease_seconds": 30, "limit": 20}
        found = self.ask(step, "POST", f"{PATH}/intentions/check", body)
        self.now_ms()
        items: list[dict[str, Any]] = found.body["items"] if found.ok else []
        for item in items:
            known = self.world.reminders.get(item["content"])
            if known is None:
                continue
            known.seen += 1
            known.occurrences.add(item["occurrence"]["id"])
            if known.due is not None and known.due > self.latest_ms:
                self.world.blame("early", f"{item['content']} came before {known.due}")
            if not known.may_fire:
                self.world.blame("early", f"{item['content']} came without its event")
            if known.acked:
                self.world.blame("twice", f"{item['content']} came after it was acknowledged")
            if len(known.occurrences) > 1:
                self.world.blame("twice", f"{item['content']} has two occurrences")
        return items

    def ack(self, step: dict[str, Any], item: dict[str, Any]) -> None:
        """Acknowledge an occurrence under its lease."""
        one = item["occurrence"]
        body = {"token": one["token"]}
        found = self.ask(step, "POST", f"{PATH}/occurrences/{one['id']}/ack", body)
        if found.ok and item["content"] in self.world.reminders:
            self.world.reminders[item["content"]].acked = True

    def do_late_ack(self, step: dict[str, Any]) -> None:
        """Acknowledge under a lease that has passed to another: that must be refused."""
        made = self.token(step)
        body = {"content": made, "triggerAt": self.now_ms() - 10}
        kept = self.ask(step, "POST", f"{PATH}/intentions", body)
        self.world.reminders[made] = Reminder(body["triggerAt"], kept.ok)
        first = {i["content"]: i for i in self.leased(step)}.get(made)
        if first is None:
            return
        self._ahead(40_000_000)
        again = {i["content"]: i for i in self.leased(step)}.get(made)
        if again is None:
            return
        late = {"token": first["occurrence"]["token"]}
        path = f"{PATH}/occurrences/{first['occurrence']['id']}/ack"
        if self.ask(step, "POST", path, late).ok:
            self.world.blame("twice", f"{made} was acknowledged under a lease that was over")
        self.ack(step, again)

    def do_recall(self, step: dict[str, Any]) -> None:
        document = self.world.document(step["doc"])
        sure = document.sure()
        wanted = sure[-1] if sure else next(iter(sorted(self.world.gone())), None)
        if wanted is None:
            return
        found = self.ask(step, "POST", f"{PATH}/memories/recall", {"query": f"{wanted} shed"})
        if found.ok:
            is_there = any(wanted in r["text"] for r in found.body["results"])
            if is_there != bool(sure):
                kind = "lost" if sure else "leak"
                self.world.blame(kind, f"recall of {wanted}: {is_there}")

    def do_prime(self, step: dict[str, Any]) -> None:
        found = self.ask(step, "POST", "/v1/prime", {"entity_id": BANK})
        if found.ok:
            text = str(found.body)
            for token in self.world.gone():
                if token in text:
                    self.world.blame("leak", f"prime holds {token}")

    def do_export(self, step: dict[str, Any]) -> None:
        found = self.ask(step, "POST", f"{PATH}/document-transfer/export")
        if found.ok:
            self.world.operations[found.body["operation_id"]] = "export"

    def _put(self, step: dict[str, Any], name: str) -> None:
        document, token = self.world.document(name), self.token(step)
        if document.open:
            return
        found = self._retain(step, name, token)
        self._took(document, found, lambda sure: document.put((token,), sure))

    def _retain(
        self, step: dict[str, Any], name: str, token: str, *, queued: bool = False, **more: Any
    ) -> Answer:
        item = {"content": said(token), "document_id": name, **more}
        body = {"items": [item], "async": queued}
        return self.ask(step, "POST", f"{PATH}/memories", body)

    def _took(self, document: Document, found: Answer, apply: Callable[[bool], None]) -> None:
        if found.ok:
            apply(True)
        elif found.status == 0 or found.status >= 500:
            apply(False)
            document.asked |= found.status == 0  # a server that still runs may be at it yet

    # What goes wrong.

    def _hurt(self, fault: dict[str, Any]) -> None:
        kind = fault["fault"]
        self.faults[kind] += 1
        server = self.servers[fault["n"] % len(self.servers)]
        if kind == plans.KILL:
            self._kill(server, fault)
        elif kind in (plans.POWER, plans.TAIL):
            self._kill(server, fault)
            dice = random.Random(fault["dice"])
            cut_power(server.undo, dice, tail=kind == plans.TAIL)
            for left in self.folder.glob("*-shm"):
                left.unlink()
        elif kind == plans.FULL:
            self._full = _FULL_STEPS + 1
            self._disk(full=True)
        elif kind in (plans.SYNC, plans.WRITE):
            if server.limits_files:
                self._full = 2
                self._disk(full=True)
            else:
                word = FAIL_SYNC if kind == plans.SYNC else FAIL_WRITE
                server.control[word] = fault["count"]
        elif kind == plans.DROP:
            self._drop_ms = fault["ms"]
        elif kind in (plans.AHEAD, plans.BACK):
            self._ahead(fault["us"] if kind == plans.AHEAD else -fault["us"])
        elif kind == plans.INDEX:
            self._spoil_index(server, fault)
        elif kind == plans.HOST:
            server.kill()
            server.control.host(f"other-{fault['dice'] % 1000}")
            self.up(server)
        elif kind == plans.STALL:
            self._stall(fault)
        elif kind == plans.RACE:
            self._race(fault)
        elif kind == plans.DATABASE:
            assert self.site.cut is not None
            self._while_asked(fault, self.site.cut)

    def _kill(self, server: Server, fault: dict[str, Any]) -> None:
        """Kill in the middle of a replacement: at its n-th write or sync, or some time after."""
        if not server.limits_files and self.site.store is None:
            server.control[KILL_IN] = fault["after"]
            self._put({**fault, "at": self.servers.index(server)}, fault["doc"])
            server.reap(0.02)
        else:
            self._while_asked(fault, server.kill)
        server.control[KILL_IN] = 0
        server.kill()
        if self.plan.servers == 1:  # what a dead process was at is done or not: never later
            for document in self.world.documents.values():
                document.asked = False

    def _while_asked(self, fault: dict[str, Any], act: Callable[[], None]) -> None:
        """Do something while a replacement is under way."""
        timer = threading.Timer(fault["ms"] / 1_000, act)
        timer.start()
        self._put({**fault, "at": fault["n"]}, fault["doc"])
        timer.join()

    def _ahead(self, us: int) -> None:
        for server in self.servers:
            server.control[CLOCK] += us
        self.now_ms()

    def _disk(self, *, full: bool) -> None:
        for server in self.servers:
            if server.limits_files:
                if server.pid is not None:
                    limit_files(server.pid, 4_096 if full else None)
            else:
                server.control[FULL] = int(full)

    def _spoil_index(self, server: Server, fault: dict[str, Any]) -> None:
        """Have the index written, then break its files while nobody serves."""
        token = self.token(fault)
        self._retain(fault, "scrap", token)
        found = self.ask(fault, "DELETE", f"{PATH}/documents/scrap")
        if found.ok:
            self.world.forgotten.add(token)
        deadline = time.monotonic() + 3
        while not (files := self._index_files()) and time.monotonic() < deadline:
            time.sleep(0.02)
        for each in self.servers:
            each.kill()
        dice = random.Random(fault["dice"])
        for path in sorted(files):
            data = bytearray(path.read_bytes() if path.exists() else b"")
            if not data:
                continue
            if dice.random() < 0.3:
                data = data[: dice.randrange(len(data))]
            else:
                for _ in range(20):
                    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
            path.write_bytes(data)

    def _index_files(self) -> list[Path]:
        found = (self.folder / "index").rglob("*")
        return [p for p in found if p.is_file() and p.name != "lock"]

    def _stall(self, fault: dict[str, Any]) -> None:
        """Stop a worker between claiming a job and doing it until another has done it."""
        name, old, new = f"s{fault['n']}", self.token(fault), self.token(fault, 1)
        for server in self.servers:
            server.control[STALL] = 1
        try:
            self._taken_over(fault, name, old, new)
        finally:
            for server in self.servers:
                server.control[STALL] = 0
                server.resume()

    def _taken_over(self, fault: dict[str, Any], name: str, old: str, new: str) -> None:
        found = self._retain({**fault, "at": 0}, name, old, queued=True)
        document = self.world.document(name)
        document.put((old,), found.ok)
        document.queued = True
        if not found.ok:  # it may have stopped before it could answer
            return
        operation = found.body["operation_id"]
        self.world.operations[operation] = old
        deadline = time.monotonic() + 2
        while not any(s.stalled for s in self.servers) and time.monotonic() < deadline:
            time.sleep(0.01)
        for server in self.servers:
            server.control[STALL] = 0
        awake = [s for s in self.servers if not s.stalled]
        if len(awake) == 1:
            self._ahead(60_000_000)
            self._wait_done(awake[0], operation)
            body = {"items": [{"content": said(new), "document_id": name}]}
            told = awake[0].ask("POST", f"{PATH}/memories", body)
            document.put((new,), self.world.count(told.status))

    def _wait_done(self, server: Server, operation: str) -> None:
        deadline = time.monotonic() + _TAKEN_OVER_S
        while time.monotonic() < deadline:
            found = server.ask("GET", f"{PATH}/operations/{operation}")
            if found.ok and found.body["status"] not in ("pending", "processing"):
                return
            time.sleep(0.05)

    def _race(self, fault: dict[str, Any]) -> None:
        """Append to one document through both servers at once, several times."""
        name = f"c{fault['n']}"
        document = self.world.document(name)
        answers: dict[str, Answer] = {}

        def append(server: Server, token: str) -> None:
            item = {"content": said(token), "document_id": name, "update_mode": "append"}
            answers[token] = server.ask("POST", f"{PATH}/memories", {"items": [item]})

        for turn in range(3):
            tokens = [word(self.plan.seed, 300 + 10 * fault["n"] + 2 * turn + i) for i in (0, 1)]
            threads = [
                threading.Thread(target=append, args=pair)
                for pair in zip(self.servers, tokens, strict=True)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            before, after = set(document.allowed), set()
            for order in (tokens, tokens[::-1]):
                one = Document(set(before))
                for token in order:
                    if self.world.count(answers[token].status):
                        one.extended(token, True)
                    elif answers[token].status == 0 or answers[token].status >= 500:
                        one.extended(token, False)
                after |= one.allowed
            document.allowed = after
        document.queued = True


def play(site: Site, plan: Plan) -> Round:
    """Play a round up to its last step, and leave it for the checks."""
    folder = site.base / "rounds" / f"round-{plan.seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    made = Round(site, plan, folder, World(plan.seed))
    made.play()
    return made
