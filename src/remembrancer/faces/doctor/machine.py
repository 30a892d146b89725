"""Checks of the machine: variables, clock, zones, disk, permissions, ports, installed extras."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ...keeping.part_files import left
from ...nouns.clock import iso
from ...settings import Settings
from ..ports import trouble
from .finding import Finding, fail, ok, warn

_LEAST_FREE, _LITTLE_FREE = 100_000_000, 1_000_000_000
_FIRST_US = 1_735_689_600_000_000  # 2025: no build of this is older
_AHEAD_US = 300_000_000
_EXTRAS = {
    "client": ("httpx",),
    "encryption": ("cryptography",),
    "files": ("markitdown",),
    "llm": ("httpx",),
    "mcp": ("httpx", "mcp"),
    "nlp": ("spacy",),
    "otel": ("opentelemetry",),
    "postgres": ("psycopg",),
}
_WAIT_S = 10.0
_PREFIX = "REMEMBRANCER_"
_OTHERS = {f"{_PREFIX}{name}" for name in ("URL", "MCP_KEY", "MCP_BANK_ID", "TRACEBACK")}
_NAMED = 5  # variables
_LOOKED_AT = 20_000  # of the index


def variables(environment: Mapping[str, str]) -> Finding:
    """Check that the settings could be read, and that each variable of ours is one of them."""
    known = {f"{_PREFIX}{name.upper()}" for name in Settings.model_fields} | _OTHERS
    given = [name for name in environment if name.upper().startswith(_PREFIX)]
    strange = sorted(name for name in given if name.upper() not in known)
    if not strange:
        return ok("settings", "can be read")
    near = get_close_matches(strange[0].upper(), sorted(known), 1)
    return warn(
        "settings",
        f"no setting is called {', '.join(strange[:_NAMED])}: it changes nothing",
        f"did you mean {near[0]}?" if near else "docs/settings.md has the names of all",
    )


def clock(now: int, newest: int | None) -> Finding:
    """Check the time, against when the store was last written."""
    if now < _FIRST_US:
        return fail("clock", f"it is {iso(now)}", "set the machine's clock; use NTP")
    if newest is not None and newest > now + _AHEAD_US:
        return warn(
            "clock",
            f"it is {iso(now)}, but the store was written at {iso(newest)}",
            "set the machine's clock: what is due, and what holds now, is told by it",
        )
    try:
        ZoneInfo("Europe/Berlin")
    except ZoneInfoNotFoundError:
        return fail("clock", "there are no time zones", "pip install tzdata")
    return ok("clock", f"{iso(now)}")


def disk(folder: Path) -> Finding:
    """Check how much may still be written."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    free = shutil.disk_usage(place).free
    seen = f"{free / 1e9:,.1f} GB free at {place}"
    if free < _LEAST_FREE:
        return fail("disk", seen, "free some, or move the folder: writes will be refused")
    if free < _LITTLE_FREE:
        return warn("disk", seen, "free some: a backup needs as much as the store has")
    return ok("disk", seen)


def folder(place: Path) -> Finding:
    """Check that the folder is there, can be written, and is nobody else's to read."""
    if not place.exists():
        return warn("folder", f"{place} is not there yet", "the first `retain` or `serve` makes it")
    if not place.is_dir() or not os.access(place, os.R_OK | os.W_OK | os.X_OK):
        return fail("folder", f"{place} cannot be used", f"make it a folder of yours: {place}")
    for path in (place, *sorted(place.glob("memory.db*"))):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            return warn(
                "folder", f"others may use {path} (mode {mode:o})", f"chmod go-rwx {str(path)!r}"
            )
    return ok("folder", f"{place}, for this user alone")


def index(place: Path) -> Finding | None:
    """Check that index files can be replaced: else what is forgotten stays in them."""
    top = place / "index"
    if not top.exists():
        return None
    paths = islice(chain((top,), top.glob("*"), top.glob("*/lock")), _LOOKED_AT)
    kept = next((path for path in paths if not os.access(path, os.R_OK | os.W_OK)), None)
    if kept is None:
        return ok("index", f"{top} can be written")
    return fail(
        "index",
        f"{kept} is of another user, so what is forgotten stays in its files",
        f"chown -R $(stat -c %u:%g {str(place)!r}) {str(top)!r}, or delete it while nothing runs",
    )


def strays(place: Path) -> Iterator[Finding]:
    """Check that nothing lies in the folder that a killed restore or backup left.

    Opening the store deletes what may be deleted, so this comes after it.
    """
    for path in left(place):
        yield warn(
            "folder",
            f"{path} is a copy that was not finished; it may hold what was forgotten since",
            f"rm -r {str(path)!r}, unless a backup or restore runs there",
        )


def ports(addresses: Mapping[str, tuple[str, int]]) -> Iterator[Finding]:
    """Check that addresses, by the name of what is served there, are free or ours already."""
    runs = False
    for name, (host, number) in addresses.items():
        error = trouble(host, number)
        spelled = f"{host}:{number}"
        if error is None:
            yield ok(name, f"{spelled} is free")
        elif name == "http" and (version := _version(host, number)) is not None:
            runs = True
            yield ok(name, f"{spelled} serves remembrancer {version}")
        elif runs and name == "grpc":
            yield ok(name, f"{spelled} is taken, by that server as it seems")
        else:
            yield warn(
                name,
                f"{spelled} cannot be taken ({error.strerror or error})",
                f"is another server running there? else name another one: --{name} HOST:PORT",
            )


def extras(settings: Settings) -> Iterator[Finding]:
    """Check what is installed besides, and that what the settings need is."""
    there = [name for name, modules in _EXTRAS.items() if all(map(find_spec, modules))]
    yield ok("extras", f"installed: {', '.join(there) or 'none'}")
    needed = {
        "postgres": (settings.store or "").startswith(("postgres:", "postgresql:")),
        "llm": settings.llm not in ("", "none"),
        "nlp": bool(settings.nlp.strip()),
    }
    for name, wanted in needed.items():
        if wanted and name not in there:
            mend = f"pip install 'remembrancer[{name}]'"
            yield fail("extras", f"the settings need {name}, which is not installed", mend)


def _version(host: str, number: int) -> str | None:
    """Return the version of a server of ours at an address, or None."""
    connection = HTTPConnection(host, number, timeout=_WAIT_S)
    try:
        connection.request("GET", "/version")
        told = json.loads(connection.getresponse().read(65_536))
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()
    version = told.get("api_version") if isinstance(told, dict) else None
    return version if isinstance(version, str) else None
