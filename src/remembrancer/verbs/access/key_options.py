"""What an API key is made for, checked; and what one key may make of others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...nouns.caller import Caller, Permission, Rate
from ...nouns.clock import DAY_US
from ...nouns.errors import Forbidden, InvalidInput, TooLarge
from ...nouns.memory import DEFAULT_TENANT
from ...nouns.names import MAX_BANK_CHARS, tenant_name
from ...nouns.text import clean

NAME_CHARS = 128
MOST_BANKS = 100  # patterns of one key
MOST_RATE = 1_000_000.0
MOST_GRACE_S = 30 * DAY_US // 1_000_000
LIMITED = (Permission.READ, Permission.WRITE, Permission.ADMIN)
"""The classes of requests that have a rate."""


@dataclass(frozen=True, slots=True)
class KeyOptions:
    """What a key is for; see `nouns.caller.Caller`."""

    name: str
    tenant: str = DEFAULT_TENANT
    permissions: frozenset[Permission] = frozenset({Permission.READ, Permission.WRITE})
    banks: tuple[str, ...] = ()
    max_tier_rank: float | None = None
    expires_at: int | None = None
    rates: Mapping[Permission, Rate] = field(default_factory=dict)


def checked(options: KeyOptions, now: int) -> KeyOptions:
    """Return options as they are kept.

    Raises:
        InvalidInput: names the field at fault.
    """
    name = " ".join(clean(options.name).split())
    if not 1 <= len(name) <= NAME_CHARS:
        raise InvalidInput(
            f"name must have 1 to {NAME_CHARS} characters: say who uses the key",
            field="name",
            limit=NAME_CHARS,
        )
    if not options.permissions:
        raise InvalidInput(
            f"permissions is empty: give some of {', '.join(Permission)}", field="permissions"
        )
    if options.expires_at is not None and options.expires_at <= now:
        raise InvalidInput("expires_at lies in the past", field="expires_at")
    if options.max_tier_rank is not None and not math.isfinite(options.max_tier_rank):
        raise InvalidInput("max_tier_rank must be a number", field="max_tier_rank")
    _check_banks(options.banks)
    _check_rates(options.rates)
    return replace(
        options,
        name=name,
        tenant=tenant_name(options.tenant, "tenant"),
        banks=tuple(dict.fromkeys(options.banks)),
    )


def may_hold(names: Sequence[str]) -> frozenset[Permission]:
    """Read permissions by name.

    Raises:
        InvalidInput: there is none of a name.
    """
    for number, name in enumerate(names):
        if name not in frozenset(Permission):
            raise InvalidInput(
                f"permissions[{number}] must be one of {', '.join(Permission)}, not {name[:40]!r}",
                field=f"permissions[{number}]",
            )
    return frozenset(map(Permission, names))


def granted(caller: Caller, options: KeyOptions) -> KeyOptions:
    """Return options that a caller may give away: nothing that it does not have itself.

    A ceiling and an end of the caller's own hold for the new key as well.

    Raises:
        Forbidden: it asks for more.
    """
    if options.tenant != caller.tenant:
        caller.needs(Permission.CROSS_TENANT)
    lacking = sorted(options.permissions - caller.permissions)
    if lacking:
        raise Forbidden(
            f"this key cannot give {', '.join(lacking)} to another one: it lacks it itself",
            field="permissions",
        )
    if caller.banks and not (options.banks and set(options.banks) <= set(caller.banks)):
        raise Forbidden(
            f"this key reaches banks named {', '.join(caller.banks)} alone: give banks of these",
            field="banks",
        )
    ceilings = [r for r in (caller.max_tier_rank, options.max_tier_rank) if r is not None]
    ends = [t for t in (caller.expires_at, options.expires_at) if t is not None]
    return replace(
        options,
        max_tier_rank=min(ceilings, default=None),
        expires_at=min(ends, default=None),
        rates={**caller.rates, **_slower(options.rates, caller.rates)},
    )


def checked_grace(seconds: float) -> int:
    """Return a time of grace in microseconds.

    Raises:
        InvalidInput: it is negative or longer than 30 days.
    """
    if not 0 <= seconds <= MOST_GRACE_S:
        raise InvalidInput(
            f"grace_seconds must be from 0 to {MOST_GRACE_S} (30 days)",
            field="grace_seconds",
            limit=MOST_GRACE_S,
        )
    return int(seconds * 1_000_000)


def _slower(
    asked: Mapping[Permission, Rate], own: Mapping[Permission, Rate]
) -> Mapping[Permission, Rate]:
    return {
        name: Rate(min(rate.per_second, own[name].per_second), min(rate.burst, own[name].burst))
        if name in own
        else rate
        for name, rate in asked.items()
    }


def _check_banks(banks: tuple[str, ...]) -> None:
    if len(banks) > MOST_BANKS:
        raise TooLarge(
            f"banks has {len(banks)} patterns; the limit is {MOST_BANKS}",
            field="banks",
            limit=MOST_BANKS,
        )
    for number, pattern in enumerate(banks):
        if clean(pattern) != pattern or not 1 <= len(pattern) <= MAX_BANK_CHARS:
            raise InvalidInput(
                f"banks[{number}] must be a pattern of 1 to {MAX_BANK_CHARS} characters, "
                "such as customer-*",
                field=f"banks[{number}]",
                limit=MAX_BANK_CHARS,
            )


def _check_rates(rates: Mapping[Permission, Rate]) -> None:
    for name, rate in rates.items():
        if name not in LIMITED:
            raise InvalidInput(
                f"rates.{name}: only {', '.join(LIMITED)} have a rate", field=f"rates.{name}"
            )
        if not (0 < rate.per_second <= MOST_RATE and 1 <= rate.burst <= MOST_RATE):
            raise InvalidInput(
                f"rates.{name} must be above 0 a second, and at least 1 at once",
                field=f"rates.{name}",
                limit=MOST_RATE,
            )
