"""Refuses options of an intention that could not be followed when it fires."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import time
from typing import Any

from ...nouns.errors import InvalidInput
from ...reading.recurrence.zones import zone_of
from .conditions import check_where, read_condition
from .options import Misfire

MOST_SECONDS = 366 * 86_400
NAME_CHARS = 512


def check_options(options: Mapping[str, Any]) -> None:
    """Check options in the form in which they are kept; see `intention_options`.

    Raises:
        InvalidInput: names the field, as the wire spells it.
    """
    if "misfire" in options and options["misfire"] not in list(Misfire):
        raise InvalidInput(f"misfire must be one of {', '.join(Misfire)}", field="misfire")
    for name, spelled in (("cooldown_s", "cooldownSeconds"), ("look_back_s", "lookBackSeconds")):
        if name in options:
            _check_seconds(options[name], spelled)
    if "quiet" in options:
        _check_quiet(options["quiet"])
    if "zone" in options:
        zone_of(options["zone"])
    if "where" in options:
        check_where(options["where"])
    if "condition" in options:
        read_condition(options["condition"])
    channel = options.get("channel")
    named = isinstance(channel, str) and 1 <= len(channel) <= NAME_CHARS
    if channel is not None and not named:
        raise InvalidInput(
            f"channel must have 1 to {NAME_CHARS} characters", field="channel", limit=NAME_CHARS
        )


def _check_seconds(value: Any, name: str) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not 0 <= value <= MOST_SECONDS:
        raise InvalidInput(
            f"{name} must be 0 to {MOST_SECONDS} seconds", field=name, limit=MOST_SECONDS
        )


def _check_quiet(quiet: Any) -> None:
    if not isinstance(quiet, Mapping) or not all(isinstance(v, str) for v in quiet.values()):
        raise InvalidInput("quietHours must hold start, end and zone", field="quietHours")
    times = []
    for name in ("start", "end"):
        try:
            told = time.fromisoformat(quiet[name])
        except (KeyError, TypeError, ValueError):
            told = None
        if told is None or told.tzinfo is not None:
            raise InvalidInput(
                f"quietHours.{name} must be a time of day such as 22:00", field=f"quietHours.{name}"
            )
        times.append(told)
    if times[0] == times[1]:
        raise InvalidInput(
            "quietHours begin and end at one time: leave them out for none", field="quietHours.end"
        )
    zone_of(quiet.get("zone", ""))
