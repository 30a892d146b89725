"""Runs every check, and goes on after one that fails."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

from ...keeping.opening import store_folder
from ...nouns.clock import Clock
from ...nouns.errors import InvalidInput, RemembrancerError
from ...settings import Settings
from ..exposure import Addresses, check_before
from ..serving import address_of
from . import machine, memory
from .finding import Finding, fail, ok, warn

_LOOPBACK = ("127.", "localhost", "::1")


async def examine(settings: Settings, clock: Clock) -> AsyncIterator[Finding]:
    """Yield what is found, in the order in which things rest on each other."""
    yield machine.variables(os.environ)
    yield machine.clock(clock.now_us(), None)
    try:
        place = store_folder(settings)
    except InvalidInput as error:
        yield fail("settings", error.message, "unset REMEMBRANCER_STORE, or mend it")
        return
    yield machine.folder(place)
    yield machine.disk(place)
    for finding in machine.extras(settings):
        yield finding
    yield memory.model(settings)
    addresses, faults = _addresses(settings)
    async for found in memory.store(settings, clock, addresses):
        yield found
    if (indexed := machine.index(place)) is not None:
        yield indexed
    for stray in machine.strays(place):
        yield stray
    for fault in faults:
        yield fault
    for finding in machine.ports(addresses):
        yield finding
    yield _exposure(settings, addresses)


def _addresses(settings: Settings) -> tuple[dict[str, tuple[str, int]], list[Finding]]:
    """Return where it is to serve, and what is wrong with how that is told."""
    addresses: dict[str, tuple[str, int]] = {}
    found: list[Finding] = []
    for name, told in (("http", settings.http), ("grpc", settings.grpc)):
        if told == "off":
            continue
        try:
            addresses[name] = address_of(told, name)
        except InvalidInput as error:
            found.append(fail(name, error.message, f"mend REMEMBRANCER_{name.upper()}"))
    return addresses, found


def _exposure(settings: Settings, addresses: Addresses) -> Finding:
    try:
        check_before(settings, addresses)
    except RemembrancerError as error:
        return fail("exposure", error.message, "a server does not start like this")
    hosts = [host for host, _ in addresses.values() if not host.startswith(_LOOPBACK)]
    if hosts:
        return warn(
            "exposure",
            f"others reach {', '.join(sorted(set(hosts)))} without encryption",
            "put a proxy with TLS before it, and keep keys out of plain HTTP",
        )
    return ok("exposure", "only this machine reaches it")
