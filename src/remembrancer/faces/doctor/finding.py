"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How well it is. With `fail` something does not work; `warn` should be known."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: what was looked at, how it is, what was seen, and how to mend it."""

    name: str
    state: State
    seen: str
    mend: str = ""


def ok(name: str, seen: str) -> Finding:
    """Return that something is well."""
    return Finding(name, State.OK, seen)


def warn(name: str, seen: str, mend: str) -> Finding:
    """Return what should be known."""
    return Finding(name, State.WARN, seen, mend)


def fail(name: str, seen: str, mend: str) -> Finding:
    """Return what does not work."""
    return Finding(name, State.FAIL, seen, mend)
