"""What a round does: steps and faults, all drawn from its seed before anything is started."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import dataclass
from typing import Any

KILL, POWER, TAIL, FULL = "killed", "power cut", "log cut short", "disk full"
SYNC, WRITE, DROP, AHEAD, BACK = "sync fails", "write fails", "dropped", "clock ahead", "clock back"
INDEX, HOST, STALL, RACE = "index corrupted", "other host", "stalled", "race"
DATABASE = "database cut"  # connections of PostgreSQL

SQLITE = (KILL, POWER, TAIL, FULL, SYNC, WRITE, DROP, AHEAD, BACK, INDEX, HOST, STALL, RACE)
POSTGRES = (KILL, DROP, AHEAD, BACK, INDEX, HOST, STALL, RACE, DATABASE)
_TWO = {STALL, RACE}  # need a second server
_OPS = (
    *["retain"] * 4,
    *["queue"] * 3,
    *["replace"] * 3,
    *["append"] * 3,
    *["forget"] * 2,
    *["remember", "revise", "drop_memory"],
    *["remind"] * 3,
    *["remind_event", "event"],
    *["check"] * 3,
    *["recall"] * 2,
    *["prime", "export", "late_ack"],
)
_DOCUMENTS = 5


@dataclass(frozen=True)
class Plan:
    """The steps of a round, in order; `servers`: how many serve the folder."""

    seed: int
    servers: int
    faults: tuple[str, ...]
    steps: tuple[dict[str, Any], ...]

    @property
    def digest(self) -> str:
        """Equal for equal plans."""
        told = json.dumps([self.seed, self.servers, self.steps], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()


def plan(seed: int, kinds: tuple[str, ...], only: str | None = None) -> Plan:
    """Draw a round: about 20 steps with two or three faults among them.

    Args:
        seed: the same one gives the same round.
        kinds: the faults there are.
        only: no other fault than this one.
    """
    dice = random.Random(seed)
    first = kinds[seed % len(kinds)]  # so that each kind gets its share
    rest = [k for k in kinds if k != first]
    chosen = [only] * 2 if only else [first, *dice.sample(rest, dice.randint(1, 2))]
    two = bool(_TWO & set(chosen))
    if two:  # taking back writes needs one writer
        chosen = [KILL if k in (POWER, TAIL) else k for k in chosen]
    steps: list[dict[str, Any]] = [{"do": "retain", "n": n, "doc": f"d{n}"} for n in range(2)]
    for n in range(2, 18):
        doc = f"d{dice.randrange(_DOCUMENTS)}"
        steps.append({"do": dice.choice(_OPS), "n": n, "doc": doc, "at": dice.randrange(2)})
        if steps[-1]["do"] in ("remind", "check"):
            steps[-1]["in_ms"] = dice.choice((-500, 50, 300, 30_000, 3_600_000))
    for kind in chosen:
        fault = {
            "fault": kind,
            "n": 20 + len(steps),
            "after": dice.randint(1, 40),
            "ms": dice.choice((0, 2, 5, 10, 20)),
            "count": dice.randint(1, 3),
            "us": dice.choice((2_000_000, 90_000_000, 4_000_000_000, 90_000_000_000)),
            "doc": f"d{dice.randrange(_DOCUMENTS)}",
            "dice": dice.randrange(1 << 30),
        }
        steps.insert(dice.randint(3, len(steps) - 3), fault)
    return Plan(seed, 2 if two else 1, tuple(chosen), tuple(steps))
