"""Cron expressions in local time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from ...nouns.errors import InvalidInput
from ...nouns.recurrence import Recurrence
from .rrules import HORIZON
from .zones import all_instants, instants

_NAMED = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_BACK = timedelta(hours=26)  # local times before `after` that may still lie beyond it


def fields_of(text: str) -> str:
    """Return the five fields of an expression.

    Raises:
        InvalidInput: it is none.
    """
    spelled = _NAMED.get(text.strip().lower(), text.strip())
    try:
        if len(spelled.split()) != 5:
            raise CronSimError("five fields are wanted")
        CronSim(spelled, datetime(2026, 1, 1))
    except CronSimError as error:
        raise InvalidInput(
            f"cron {text[:60]!r} cannot be used ({error}); "
            "write minute, hour, day, month and weekday, as in '30 8 * * 1-5'",
            field="cron",
        ) from None
    return spelled


def cron_times(rule: Recurrence, zone: ZoneInfo, local_after: datetime) -> Iterator[int]:
    """Yield the instants of an expression, from about `local_after` on.

    With a fixed hour, each local time counts once, like a daily rule. With `*` or a step as the
    hour, it runs in each hour that clocks show: twice in one that comes twice, never in one that is
    left out (as cron of Debian does).
    """
    spelled = fields_of(rule.cron or "")
    every_hour = spelled.split()[1].startswith("*")
    begin = max(rule.start, local_after - _BACK)
    horizon = begin + HORIZON
    try:
        for local in CronSim(spelled, begin - timedelta(minutes=1)):
            if local > horizon:
                return
            yield from all_instants(local, zone) if every_hour else instants(local, zone, rule.gap)
    except CronSimError:  # it finds nothing within 50 years
        return
