"""Calendars: the syntax, what of them becomes an intention, and there and back again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.finding.terms import Analyzer
from remembrancer.keeping.sqlite import SqliteStore
from remembrancer.nouns.clock import FixedClock, from_us, to_us
from remembrancer.nouns.errors import InvalidInput, TooLarge
from remembrancer.nouns.ids import IdMaker, to_uuid
from remembrancer.nouns.intention import IntentionState, TriggerType
from remembrancer.nouns.memory import BankRef
from remembrancer.nouns.recurrence import Gap, Recurrence, ShortMonth
from remembrancer.reading.icalendar import Component, Property, escaped, parse, write
from remembrancer.verbs.remind import Reminder
from remembrancer.verbs.reminding.future import Future

NOW = to_us(datetime(2026, 5, 4, 9))
REF, OTHER = BankRef("default", "bank"), BankRef("default", "other")


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., None]:
    def go(scene: Callable[[Future], Awaitable[None]]) -> None:
        async def main() -> None:
            clock = FixedClock(NOW)
            store = SqliteStore(tmp_path, clock=clock)
            await store.open()
            try:
                await scene(
                    Future(
                        store,
                        None,
                        Analyzer(),
                        ids=IdMaker(clock),
                        clock=clock,
                        generation=0,
                        event_days=30,
                    )
                )
            finally:
                await store.close()

        asyncio.run(main())

    return go


def calendar(*entries: str, head: str = "") -> bytes:
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", *filter(None, [head]), *entries, "END:VCALENDAR"]
    return "\r\n".join(lines).encode()


def event(*lines: str, uid: str = "u1@example.org", kind: str = "VEVENT") -> str:
    body = [f"BEGIN:{kind}", *([f"UID:{uid}"] if uid else []), *lines, f"END:{kind}"]
    return "\r\n".join(body)


def local(us: int | None, zone: str = "UTC") -> str:
    from zoneinfo import ZoneInfo

    assert us is not None
    return from_us(us).astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M")


REMINDERS = [
    Reminder("once", TriggerType.TIME, trigger_at=NOW + 5_000_000, options={"zone": "Asia/Tokyo"}),
    Reminder(  # 02:30 for the second time
        "twice",
        TriggerType.TIME,
        trigger_at=to_us(datetime(2026, 10, 25, 1, 30)),
        options={"zone": "Europe/Berlin"},
    ),
    Reminder("över\nzwei; Zeilen, mit \\ und \N{PARTY POPPER}" * 9, TriggerType.TIME, trigger_at=0),
    Reminder(
        "rule",
        TriggerType.TIME,
        importance=0.33,
        recurrence=Recurrence(
            "America/New_York",
            datetime(2026, 5, 1, 2, 30),
            rrule="FREQ=WEEKLY;BYDAY=MO,SU",
            rdates=(datetime(2026, 5, 20, 7),),
            exdates=(datetime(2026, 5, 11, 2, 30),),
            until=NOW + 90 * 86_400_000_000,
            gap=Gap.SKIP,
        ),
    ),
    Reminder(
        "short months",
        TriggerType.TIME,
        recurrence=Recurrence(
            "Europe/Berlin",
            datetime(2026, 1, 31, 8),
            rrule="FREQ=MONTHLY",
            count=9,
            short_month=ShortMonth.LAST_DAY,
        ),
    ),
    Reminder(
        "cron",
        TriggerType.TIME,
        recurrence=Recurrence("Europe/Berlin", datetime(2026, 5, 1), cron="30 8 * * 1-5", count=99),
        options={"misfire": "all", "cooldown_s": 5},
    ),
    Reminder(
        "every", TriggerType.TIME, recurrence=Recurrence("UTC", datetime(2026, 5, 1), every_s=5400)
    ),
    Reminder(
        "odd", TriggerType.TIME, recurrence=Recurrence("UTC", datetime(2026, 5, 1), every_s=100)
    ),
    Reminder("standing", TriggerType.TIME, trigger_at=NOW, recurring=True, tier_rank=2),
    Reminder(
        "logs",
        TriggerType.EVENT,
        trigger_event="deploy; done",
        options={"where": {"ok": True}, "look_back_s": 60, "channel": "mail"},
    ),
    Reminder(
        "pesto",
        TriggerType.CONTEXT,
        cue_text="cooking",
        similarity_threshold=0.5,
        recurring=True,
        state=IntentionState.PAUSED,
    ),
    Reminder(
        "both",
        TriggerType.COMPOSITE,
        expires_at=NOW + 86_400_000_000,
        state=IntentionState.PROPOSED,
        options={
            "condition": {"all": [{"event": "e"}, {"context": "c"}]},
            "quiet": {"start": "22:00", "end": "06:00", "zone": "Europe/Berlin"},
        },
    ),
]


def test_there_and_back_again(run: Any) -> None:
    async def scene(future: Future) -> None:
        made = (await future.remind(REF, REMINDERS)).intentions
        text = await future.calendars.export(REF)
        assert max(len(line.encode()) for line in text.split("\r\n")) <= 75
        again = await future.calendars.load(OTHER, text.encode())
        assert (again.new, again.skipped) == (len(made), ())
        for one, other in zip(made, again.intentions, strict=True):
            same = ("id", "content", "trigger_type", "trigger_event", "cue_text", "recurring")
            same += ("similarity_threshold", "importance", "tier_rank", "expires_at", "state")
            assert [getattr(one, n) for n in same] == [getattr(other, n) for n in same]
            assert future.remind.preview(one, 20) == future.remind.preview(other, 20)
            named = ("misfire", "cooldown_s", "where", "look_back_s", "channel", "condition")
            named += ("quiet",)
            assert [one.options.get(n) for n in named] == [other.options.get(n) for n in named]
        for back in (REF, OTHER):
            known = await future.calendars.load(back, text.encode())
            assert (known.new, len(known.intentions)) == (0, len(made))

    run(scene)


def test_an_edit_in_a_calendar_counts(run: Any) -> None:
    async def scene(future: Future) -> None:
        daily = Recurrence("Europe/Berlin", datetime(2026, 5, 5, 8), rrule="FREQ=DAILY")
        await future.remind(REF, [Reminder("stretch", TriggerType.TIME, recurrence=daily)])
        text = await future.calendars.export(REF)
        text = text.replace("20260505T080000", "20260505T213000").replace("stretch", "sleep")
        [found] = (await future.calendars.load(OTHER, text.encode())).intentions
        assert found.content == "sleep"
        assert local(found.next_due, "Europe/Berlin") == "2026-05-05 21:30"

    run(scene)


def test_events_of_other_calendars(run: Any) -> None:
    async def scene(future: Future) -> None:
        data = calendar(
            event(
                "SUMMARY:Dentist",
                "DESCRIPTION:Bring the card",
                "DTSTART;TZID=Europe/Berlin:20260506T100000",
                "PRIORITY:1",
                "BEGIN:VALARM",
                "TRIGGER:-P1DT30M",
                "ACTION:DISPLAY",
                "END:VALARM",
            ),
            event("SUMMARY:Holiday", "DTSTART;VALUE=DATE:20260601", uid="u2"),
            event("SUMMARY:Floating", "DTSTART:20260507T120000", uid="u3"),
            event(
                "SUMMARY:Weekly",
                'DTSTART;TZID="/vendor.example/20260101/America/New_York":20260504T090000',
                "RRULE:FREQ=WEEKLY;COUNT=3",
                "EXDATE:20260511T130000Z",
                uid="u4",
            ),
            event("SUMMARY:Taxes", "DUE:20260601T120000Z", uid="u5", kind="VTODO"),
            head="X-WR-TIMEZONE:Asia/Tokyo",
        )
        done = await future.calendars.load(REF, data)
        assert done.skipped == ()
        card, holiday, floating, weekly, taxes = done.intentions
        assert (card.content, card.importance) == ("Dentist\nBring the card", 1.0)
        assert local(card.trigger_at, "Europe/Berlin") == "2026-05-05 09:30"
        assert local(holiday.trigger_at, "Asia/Tokyo") == "2026-06-01 09:00"
        assert local(floating.trigger_at, "Asia/Tokyo") == "2026-05-07 12:00"
        times = [local(at, "America/New_York") for at in future.remind.preview(weekly, 9)]
        assert times == ["2026-05-04 09:00", "2026-05-18 09:00"]
        assert local(taxes.trigger_at) == "2026-06-01 12:00"

    run(scene)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("SUMMARY:x", "DTSTART:20250101T100000Z"), "over"),
        (("SUMMARY:x", "DTSTART:20250101T100000Z", "RRULE:FREQ=DAILY;COUNT=3"), "ended"),
        (("SUMMARY:x", "DTSTART;TZID=Customised Zone:20270101T100000"), "IANA"),
        (("SUMMARY:x", "DTSTART:soon"), "no time"),
        (("SUMMARY:x",), "DTSTART"),
        (("DTSTART:20270101T100000Z",), "empty"),
        (("SUMMARY:x", "DTSTART:20270101T100000Z", "STATUS:CANCELLED"), "cancelled"),
        (("SUMMARY:x", "DTSTART:20270101T100000Z", "RRULE:FREQ=SECONDLY"), "rrule"),
        (("SUMMARY:x", "DTSTART:20270101T100000Z", "RECURRENCE-ID:20270101T100000Z"), "single"),
        (("SUMMARY:x", "DTSTART:20270101T100000Z", "X-REMEMBRANCER:[]"), "JSON object"),
        (("SUMMARY:x", 'X-REMEMBRANCER:{"trigger_type":"zap"}'), "cannot be read"),
        (("SUMMARY:x", 'X-REMEMBRANCER:{"rule":{"gap":5}}'), "cannot be read"),
        (
            ("SUMMARY:x", 'X-REMEMBRANCER:{"importance":1e999}', "DTSTART:20270101T100000Z"),
            "finite",
        ),
        (("SUMMARY:x", 'X-REMEMBRANCER:{"options":{"quiet":5}}', "DUE:20270101T10Z"), "no time"),
        (("SUMMARY:x", 'X-REMEMBRANCER:{"options":{"quiet":5}}', "DUE:20270101"), "quietHours"),
    ],
)
def test_what_cannot_be_used_is_skipped_and_told(run: Any, lines: Any, reason: str) -> None:
    async def scene(future: Future) -> None:
        fine = event("SUMMARY:fine", "DTSTART:20270101T100000Z", uid="fine")
        done = await future.calendars.load(REF, calendar(event(*lines), fine))
        assert [i.content for i in done.intentions] == ["fine"]
        assert [s.uid for s in done.skipped] == ["u1@example.org"]
        assert reason in done.skipped[0].reason

    run(scene)


def test_the_id_is_the_uid_or_follows_from_it(run: Any) -> None:
    async def scene(future: Future) -> None:
        own = "0197a3c2-5b1e-7d04-8a7e-2f1d5c9b6e10"
        entry = ("SUMMARY:x", "DTSTART:20270101T100000Z")
        data = calendar(event(*entry, uid=own), event(*entry, uid="a@b"), event(*entry, uid="c@d"))
        ids = [to_uuid(i.id) for i in (await future.calendars.load(REF, data)).intentions]
        assert ids[0] == own
        assert len(set(ids)) == 3
        elsewhere = (await future.calendars.load(OTHER, data)).intentions
        assert {to_uuid(i.id) for i in elsewhere} & set(ids) == {own}
        none = await future.calendars.load(REF, calendar(event(*entry, uid="")))
        assert "UID" in none.skipped[0].reason

    run(scene)


def test_a_calendar_is_read_under_a_ceiling(run: Any) -> None:
    async def scene(future: Future) -> None:
        await future.remind(REF, REMINDERS)
        text = await future.calendars.export(REF, None, ceiling=1)
        assert "SUMMARY:standing" not in text
        assert "SUMMARY:standing" in await future.calendars.export(REF, None, ceiling=2)
        assert "SUMMARY" not in await future.calendars.export(REF, [IntentionState.DONE])

    run(scene)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        b"\xff\xfe",
        b"BEGIN:VCALENDAR",
        b"BEGIN:VEVENT\r\nEND:VEVENT",
        b"BEGIN:VCALENDAR\r\nEND:VEVENT",
        b"BEGIN:VCALENDAR\r\nno colon\r\nEND:VCALENDAR",
        b"SUMMARY:x\r\nBEGIN:VCALENDAR\r\nEND:VCALENDAR",
        b"BEGIN:VCALENDAR\n" + b"BEGIN:A\n" * 9 + b"END:A\n" * 9 + b"END:VCALENDAR",
    ],
)
def test_what_is_no_calendar_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(data)
    assert refused.value.field == "ics"


def test_limits() -> None:
    with pytest.raises(TooLarge):
        parse(b"x" * 5_000_001)
    with pytest.raises(TooLarge):
        parse(b"BEGIN:VCALENDAR\n" + b"\n" * 200_001)
    with pytest.raises(TooLarge):
        parse(b"BEGIN:VCALENDAR\nX:" + b"y" * 9 + (b"\n " + b"z" * 99_999) * 3)


def test_lines_are_unfolded_and_parameters_may_be_quoted() -> None:
    [found] = parse(
        b'BEGIN:VCALENDAR\r\nx;A="b:c;d";E=f:one\r\n  two\\, three\\nfour\r\n'
        b"\tfive\r\nEND:VCALENDAR"
    )
    [line] = found.properties
    assert (line.name, line.params) == ("X", {"A": "b:c;d", "E": "f"})
    assert line.text == "one two, three\nfourfive"


@given(st.text(max_size=300), st.text("abc:;, ", min_size=1, max_size=40))
def test_any_text_comes_back(text: str, param: str) -> None:
    from remembrancer.nouns.text import clean

    written = Component("VCALENDAR", [Property("X", escaped(text), {"P": param})])
    out = write(written)
    assert all(len(line.encode()) <= 75 for line in out.split("\r\n"))
    [read] = parse(out.encode())
    assert read.properties[0].text == clean(text)
    assert read.properties[0].params == {"P": param}


def test_nothing_is_written_twice_within_a_moment(run: Any) -> None:
    async def scene(future: Future) -> None:
        entry = event("SUMMARY:x", "DTSTART:20270101T100000Z")
        done = await future.calendars.load(REF, calendar(entry, entry))
        assert (done.new, len(done.intentions)) == (1, 2)
        soon = NOW + timedelta(days=400) // timedelta(microseconds=1)
        assert (done.intentions[0].next_due or 0) < soon

    run(scene)
