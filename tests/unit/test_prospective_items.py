"""Items of the library's future, read as reminders."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from remembrancer.faces.library.prospective_items import reminder_of
from remembrancer.nouns.clock import to_us
from remembrancer.verbs.reminding.option_checks import check_options

NOW = to_us(datetime(2026, 5, 4, 9))


@pytest.mark.parametrize(
    ("given", "zone"),
    [
        ({"zone": "Europe/Berlin"}, "Europe/Berlin"),
        ({"zone": "Europe/Berlin", "quietHours": {"zone": "Asia/Tokyo"}}, "Asia/Tokyo"),
        ({}, "UTC"),
    ],
)
def test_quiet_hours_are_of_the_zone_of_their_item(given: dict[str, Any], zone: str) -> None:
    hours = {"start": "22:00", "end": "07:00", **given.get("quietHours", {})}
    item = {"content": "x", "trigger_type": "event_based", "trigger_event": "e", **given}
    reminder, _ = reminder_of({**item, "quietHours": hours}, NOW)
    check_options(reminder.options)
    assert reminder.options["quiet"]["zone"] == zone
