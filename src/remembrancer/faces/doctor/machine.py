"""Checks of the machine: clock, zones, disk, permissions, ports, and the extras installed."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ...nouns.clock import iso
from ...settings import Settings
from .finding import Finding, fail, ok, warn

_LEAST_FREE, _LITTLE_FREE = 100_000_000, 1_000_000_000
_FIRST_US = 1_735_689_600_000_000  # 2025: no build of this is older
_AHEAD_US = 300_000_000
_EXTRAS = {
    "client": ("httpx",),
    "files": ("markitdown",),
    "llm": ("httpx",),
    "mcp": ("httpx", "mcp"),
    "otel": ("opentelemetry",),
    "postgres": ("psycopg",),
}
_WAIT_S = 10.0


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


def port(name: str, host: str, number: int, *, speaks_http: bool) -> Finding:
    """Check that an address is free, or that it is ours already."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            held.bind((host, number))
        except OSError as error:
            if speaks_http and (version := _version(host, number)) is not None:
                return ok(name, f"{host}:{number} serves remembrancer {version}")
            return warn(
                name,
                f"{host}:{number} cannot be taken ({error.strerror})",
                f"is a server running there? else name another one: --{name} HOST:PORT",
            )
    return ok(name, f"{host}:{number} is free")


def extras(settings: Settings) -> Iterator[Finding]:
    """Check what is installed besides, and that what the settings need is."""
    there = [name for name, modules in _EXTRAS.items() if all(map(find_spec, modules))]
    yield ok("extras", f"installed: {', '.join(there) or 'none'}")
    needed = {
        "postgres": (settings.store or "").startswith(("postgres:", "postgresql:")),
        "llm": settings.llm not in ("", "none"),
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
