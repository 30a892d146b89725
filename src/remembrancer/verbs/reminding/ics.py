"""ics: intentions out to a calendar and in from one (RFC 5545).

An intention is a VTODO; its UID is its id, so that a calendar may be imported again. Times are
local, with the zone's IANA name as TZID; no VTIMEZONE is written or read. What a calendar has no
word for (events, contexts, cron, tiers) stands in X-REMEMBRANCER; what it has a word for is read
from there alone, so that an edit in a calendar counts.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from ...keeping.intentions import IntentionFilter
from ...keeping.store import Store
from ...nouns.clock import Clock, from_us, to_us
from ...nouns.errors import InvalidInput, TooLarge
from ...nouns.ids import IdMaker, to_uuid
from ...nouns.intention import Intention, IntentionState, TriggerType
from ...nouns.memory import BankRef
from ...nouns.recurrence import Gap, Recurrence, ShortMonth
from ...reading.icalendar import Component, Property, escaped, parse, write
from ...reading.recurrence.zones import instants, local_of, zone_of
from ..remind import MOST_AT_ONCE, Remind
from .ics_data import data_of, kept_data
from .options import recurrence_of
from .reminders import KEPT_STATES, Reminder, check_possible, intention_of

DATA = "X-REMEMBRANCER"
MOST_EXPORTED = 10_000
ALL_DAY_HOUR = 9
"""When something that a calendar gives a whole day is due; no standard says so."""
_PRODUCT = "-//Remembrancer//Intentions//EN"
_DURATION = re.compile(
    r"([+-]?)P(?:(\d{1,5})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,8})S)?)?"
)
_DONE = {"COMPLETED", "CANCELLED"}
_MOST_SKIPPED = 1_000  # told


@dataclass(frozen=True, slots=True)
class Skipped:
    """A component that was not imported, and why."""

    uid: str
    reason: str


@dataclass(frozen=True, slots=True)
class Imported:
    """The intentions of a calendar as they stand; `new` of them were not known."""

    intentions: tuple[Intention, ...]
    new: int
    skipped: tuple[Skipped, ...]


class Calendars:
    """The verbs; everything they need is passed in."""

    def __init__(self, store: Store, remind: Remind, *, ids: IdMaker, clock: Clock) -> None:
        self._store = store
        self._remind = remind
        self._ids = ids
        self._clock = clock

    async def export(
        self,
        ref: BankRef,
        states: Sequence[IntentionState] | None = None,
        ceiling: float | None = None,
    ) -> str:
        """Return intentions as a calendar: of some states, or all that have not ended.

        Raises:
            TooLarge: there are more than fit.
        """
        wanted = IntentionFilter(states=states or KEPT_STATES, ceiling=ceiling)
        if await self._store.intention_count(ref, wanted) > MOST_EXPORTED:
            raise TooLarge(
                f"a calendar holds at most {MOST_EXPORTED} intentions: name a state",
                field="state",
                limit=MOST_EXPORTED,
            )
        found = await self._store.intentions(ref, wanted, MOST_EXPORTED)
        return await asyncio.to_thread(_calendar, found)

    async def load(
        self, ref: BankRef, data: bytes, zone: str = "UTC", ceiling: float | None = None
    ) -> Imported:
        """Register the to-dos and events of a calendar; known ones are left alone.

        What cannot be used, has ended, or lies in the past is skipped and told. `zone` is that of
        times that name none.

        Raises:
            InvalidInput, TooLarge: it is no calendar, or breaks a limit; nothing was stored.
        """
        zone_of(zone)
        now = self._clock.now_us()
        reminders, skipped = await asyncio.to_thread(self._read, ref, data, zone, now)
        made = await self._remind(ref, reminders, ceiling=ceiling)
        return Imported(made.intentions, len(made.new), tuple(skipped[:_MOST_SKIPPED]))

    def _read(
        self, ref: BankRef, data: bytes, zone: str, now: int
    ) -> tuple[list[Reminder], list[Skipped]]:
        found = [
            (part, _floating(calendar, zone))
            for calendar in parse(data)
            for part in calendar.parts
            if part.name in ("VTODO", "VEVENT")
        ]
        if len(found) > MOST_AT_ONCE:
            raise TooLarge(
                f"the calendar has {len(found)} entries; the limit is {MOST_AT_ONCE}",
                field="ics",
                limit=MOST_AT_ONCE,
            )
        reminders: list[Reminder] = []
        skipped: list[Skipped] = []
        for part, floating in found:
            uid = part.first("UID")
            try:
                reminder = _reminder(ref, part, floating, now)
                check_possible(intention_of(reminder, now, self._ids), now)
                reminders.append(reminder)
            except InvalidInput as error:
                skipped.append(Skipped(uid.text[:200] if uid else "", error.message))
        return reminders, skipped


def _calendar(found: Sequence[Intention]) -> str:
    calendar = Component("VCALENDAR")
    calendar.properties += [Property("VERSION", "2.0"), Property("PRODID", _PRODUCT)]
    calendar.parts += [_todo(i) for i in found]
    return write(calendar)


def _todo(i: Intention) -> Component:
    todo = Component("VTODO")
    title, _, rest = i.content.partition("\n")
    lines = [
        Property("UID", to_uuid(i.id)),
        Property("DTSTAMP", _utc(i.updated_at)),
        Property("CREATED", _utc(i.created_at)),
        Property("SUMMARY", escaped(title)),
        Property("PRIORITY", str(_priority(i.importance))),
        Property("STATUS", _status(i.state)),
    ]
    if rest.strip():
        lines.append(Property("DESCRIPTION", escaped(i.content)))
    if i.trigger_type is TriggerType.TIME:
        lines += _times(i)
        alarm = Component("VALARM")
        alarm.properties += [
            Property("ACTION", "DISPLAY"),
            Property("DESCRIPTION", escaped(title)),
            Property("TRIGGER", "PT0S"),
        ]
        todo.parts.append(alarm)
    lines.append(Property(DATA, escaped(json.dumps(data_of(i), ensure_ascii=False))))
    todo.properties += lines
    return todo


def _times(i: Intention) -> Iterator[Property]:
    rule = recurrence_of(i)
    if rule is None:
        yield _start(i.trigger_at or 0, i.options.get("zone", "UTC"))
        return
    yield _local("DTSTART", rule.start, rule.zone)
    if (spelled := _spelled(rule)) is not None:
        yield Property("RRULE", spelled)
    for name, dates in (("RDATE", rule.rdates), ("EXDATE", rule.exdates)):
        for date in dates:
            yield _local(name, date, rule.zone)


def _spelled(rule: Recurrence) -> str | None:
    """Return a rule as an RRULE; None where there is no word for it."""
    text = rule.rrule.removeprefix("RRULE:") if rule.rrule else None
    if rule.every_s is not None and rule.every_s % 60 == 0:
        text = f"FREQ=MINUTELY;INTERVAL={rule.every_s // 60}"
    if text is None:
        return None
    bare = not re.search(r"\b(UNTIL|COUNT)=", text.upper())
    if rule.until is not None and bare:
        return f"{text};UNTIL={_utc(rule.until)}"
    if rule.count is not None and bare and not rule.rdates:
        return f"{text};COUNT={rule.count}"
    return text


def _reminder(ref: BankRef, part: Component, zone: str, now: int) -> Reminder:
    """Return what a to-do or an event asks for.

    Raises:
        InvalidInput: it cannot be used; says why.
    """
    uid = part.first("UID")
    if uid is None or not uid.value.strip():
        raise InvalidInput("it has no UID")
    if part.first("RECURRENCE-ID") is not None:
        raise InvalidInput("changes of a single instance (RECURRENCE-ID) are not read")
    status = part.first("STATUS")
    if status is not None and status.value.strip().upper() in _DONE:
        raise InvalidInput(f"it is {status.value.strip().lower()}")
    summary, description = part.first("SUMMARY"), part.first("DESCRIPTION")
    content = summary.text if summary is not None else ""
    if description is not None and description.text.strip():
        whole = description.text.startswith(content)  # as `_todo` writes it
        content = description.text if whole else f"{content}\n{description.text}"
    data = part.first(DATA)
    known = kept_data(data.text) if data is not None else {}
    priority = part.first("PRIORITY")
    if "importance" not in known and priority is not None:
        known["importance"] = _importance(priority.value)
    reminder = Reminder(content=content, trigger_type=TriggerType.TIME, id=_id(ref, uid.text))
    reminder = replace(reminder, **known)
    if reminder.trigger_type is not TriggerType.TIME:
        return reminder
    at, zone = _due(part, zone)
    reminder = _timed(part, reminder, at, zone)
    one_shot = reminder.recurrence is None and not reminder.recurring
    if part.name == "VEVENT" and one_shot and (reminder.trigger_at or 0) < now:
        raise InvalidInput("it is over")
    return reminder


def _timed(part: Component, reminder: Reminder, at: datetime, zone: str) -> Reminder:
    """Add when it is due, once or again and again."""
    info = zone_of(zone)
    options = dict(reminder.options) | {"zone": zone}
    told: Mapping[str, Any] = options.pop("rule", {})
    rules, added, left = part.all("RRULE"), part.all("RDATE"), part.all("EXDATE")
    if len(rules) > 1:
        raise InvalidInput("it has several RRULE")
    own = {name: told.get(name) for name in ("cron", "every_s", "until", "count")}
    if not rules and not added and not (own["cron"] or own["every_s"]):
        alarm = at + _ahead(part)
        first = to_us(alarm.replace(tzinfo=info))
        return replace(reminder, trigger_at=first, options=options)
    shift = _ahead(part)
    if (at + shift).date() != at.date():
        shift = timedelta()  # the days of the rule would be others
    rule = Recurrence(
        zone=zone,
        start=at + shift,
        rrule=rules[0].value.strip() if rules else None,
        cron=None if rules else own["cron"],
        every_s=None if rules else own["every_s"],
        until=None if rules else own["until"],
        count=None if rules and re.search(r"COUNT=", rules[0].value.upper()) else own["count"],
        rdates=tuple(each + shift for each in _dates(added, zone)),
        exdates=tuple(each + shift for each in _dates(left, zone)),
        gap=Gap(told.get("gap", Gap.FORWARD)),
        short_month=ShortMonth(told.get("short_month", ShortMonth.SKIP)),
    )
    return replace(reminder, recurrence=rule, options=options)


def _due(part: Component, zone: str) -> tuple[datetime, str]:
    """Return when it begins, or is due, in local time, and the zone."""
    for name in ("DTSTART", "DUE"):
        if (found := part.first(name)) is not None:
            return _when(found, zone)
    raise InvalidInput("it has neither DTSTART nor DUE")


def _when(found: Property, floating: str) -> tuple[datetime, str]:
    zone = _zone(found, floating)
    return _moment(found.value.strip(), zone), zone


def _moment(text: str, zone: str) -> datetime:
    """Read a date or a time as local time of a zone."""
    text = text.partition("/")[0]  # of a period the beginning
    try:
        if len(text) == 8:
            return datetime.strptime(text, "%Y%m%d").replace(hour=ALL_DAY_HOUR)
        read = datetime.strptime(text.rstrip("Zz"), "%Y%m%dT%H%M%S")
    except ValueError:
        raise InvalidInput(f"{text[:40]!r} is no time") from None
    if not 2 <= read.year <= 9987:
        raise InvalidInput(f"{text[:40]!r} lies outside the calendar")
    return local_of(to_us(read), zone_of(zone)) if text[-1] in "Zz" else read


def _zone(found: Property, floating: str) -> str:
    """Return the IANA zone of a property; vendors put a prefix before it."""
    name = found.params.get("TZID")
    if found.value.strip().upper().endswith("Z"):
        return "UTC"
    if name is None:
        return floating
    zone = _known(name)
    if zone is None:
        raise InvalidInput(f"its TZID {name[:60]!r} is no IANA zone")
    return zone


def _known(name: str) -> str | None:
    parts = name.strip("/").split("/")
    for first in range(len(parts)):
        candidate = "/".join(parts[first:])
        try:
            zone_of(candidate)
        except InvalidInput:
            continue
        return candidate
    return None


def _floating(calendar: Component, zone: str) -> str:
    named = calendar.first("X-WR-TIMEZONE")
    return (_known(named.text.strip()) if named is not None else None) or zone


def _dates(found: Sequence[Property], zone: str) -> Iterator[datetime]:
    """Yield local times of a zone, whatever zones they are told in."""
    info = zone_of(zone)
    for each in found:
        own = _zone(each, zone)
        for text in filter(None, each.value.split(",")):
            local = _moment(text.strip(), own)
            if own == zone:
                yield local
            else:
                [us] = instants(local, zone_of(own), Gap.FORWARD)
                yield local_of(us, info)


def _ahead(part: Component) -> timedelta:
    """Return how much before or after its time the first alarm is."""
    for alarm in part.parts:
        trigger = alarm.first("TRIGGER") if alarm.name == "VALARM" else None
        if trigger is None or trigger.params.get("RELATED", "START").upper() != "START":
            continue
        match = _DURATION.fullmatch(trigger.value.strip().upper())
        if match is not None:
            sign = -1 if match[1] == "-" else 1
            weeks, days, hours, minutes, seconds = (int(g or 0) for g in match.groups()[1:])
            return sign * timedelta(
                weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds
            )
    return timedelta()


def _id(ref: BankRef, uid: str) -> bytes:
    """Return the id of a UID: itself where it is a UUID, else one derived from it."""
    try:
        return UUID(uid.strip()).bytes
    except ValueError:
        name = f"{ref.tenant}\n{ref.bank}\n{uid.strip()}"
        made = bytearray(hashlib.blake2b(name.encode(), digest_size=16).digest())
        made[6] = made[6] & 0x0F | 0x80  # UUIDv8: of our own making
        made[8] = made[8] & 0x3F | 0x80
        return bytes(made)


def _start(at: int, zone: str) -> Property:
    """Spell a time in its zone, or in UTC where clocks show it a second time."""
    local = local_of(at, zone_of(zone))
    first = instants(local, zone_of(zone), Gap.FORWARD)
    return _local("DTSTART", local, zone) if first == [at] else Property("DTSTART", _utc(at))


def _local(name: str, local: datetime, zone: str) -> Property:
    text = local.strftime("%Y%m%dT%H%M%S")
    return Property(name, f"{text}Z") if zone == "UTC" else Property(name, text, {"TZID": zone})


def _utc(us: int) -> str:
    return from_us(us).astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def _status(state: IntentionState) -> str:
    match state:
        case IntentionState.DONE:
            return "COMPLETED"
        case IntentionState.CANCELLED | IntentionState.EXPIRED:
            return "CANCELLED"
    return "NEEDS-ACTION"


def _priority(importance: float) -> int:
    """Return 1 (most important) to 9."""
    return min(9, max(1, 9 - round(8 * importance)))


def _importance(priority: str) -> float:
    """Return the importance of a priority, 0 (none is said) to 9."""
    number = int(priority) if priority.strip().isdecimal() and len(priority) < 3 else 0
    return (9 - number) / 8 if 1 <= number <= 9 else 0.5
