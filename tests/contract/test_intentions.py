"""Intentions, occurrences and events: written once, read in order, gone with their source."""

from __future__ import annotations

from dataclasses import replace

import pytest
from contract_kit import NOW

from remembrancer.keeping.batch import Batch
from remembrancer.keeping.intentions import IntentionBatch, IntentionFilter, OccurrenceMove
from remembrancer.nouns.errors import Conflict
from remembrancer.nouns.intention import (
    OPEN,
    Event,
    Intention,
    IntentionState,
    Occurrence,
    OccurrenceState,
    TriggerType,
)
from remembrancer.nouns.memory import BankRef

DUE, LEASED, ACKED = OccurrenceState.DUE, OccurrenceState.LEASED, OccurrenceState.ACKED


def intend(make, content: str = "call Bob", **more) -> Intention:
    kind = more.pop("trigger_type", TriggerType.TIME)
    return Intention(make.ids.new(), content, kind, NOW, NOW, **more)


def occur(make, of: Intention, slot: str = "1", **more) -> Occurrence:
    return Occurrence(make.ids.new(), of.id, slot, NOW, NOW, NOW, ready_at=NOW, **more)


async def test_an_intention_reads_back_as_written(store, ref, make):
    source = make.row()
    await store.apply(ref, Batch(units=[source]))
    full = intend(
        make,
        trigger_type=TriggerType.CONTEXT,
        importance=0.9,
        recurring=True,
        trigger_at=NOW,
        trigger_event="deploy",
        cue_text="ü cooking",
        cue=b"\x01\x02\x03\x04",
        cue_generation=1,
        similarity_threshold=0.0,
        source_id=source.unit.id,
        tier_rank=-1.5,
        state=IntentionState.PAUSED,
        next_due=NOW + 5,
        expires_at=NOW + 9,
        armed=False,
        fired_count=3,
        last_fired_at=NOW - 1,
        options={"zone": "Europe/Berlin"},
    )
    plain = intend(make)
    await store.intend(ref, IntentionBatch(put=[full, plain]))
    found = await store.intentions_by_id(ref, [plain.id, b"none", full.id])
    assert found == [replace(plain, version=1), replace(full, version=1)]


async def test_a_stale_version_is_refused_and_writes_nothing(store, ref, make):
    one, other = intend(make), intend(make)
    await store.intend(ref, IntentionBatch(put=[one]))
    with pytest.raises(Conflict):
        await store.intend(ref, IntentionBatch(put=[other, one]))
    assert await store.intentions_by_id(ref, [other.id]) == []
    [stored] = await store.intentions_by_id(ref, [one.id])
    await store.intend(ref, IntentionBatch(put=[replace(stored, content="call Ann")]))
    [again] = await store.intentions_by_id(ref, [one.id])
    assert (again.content, again.version) == ("call Ann", 2)


async def test_lists_and_counts_keep_to_states_and_ceilings(store, ref, make):
    items = [
        intend(make, f"n{n}", tier_rank=rank, state=state)
        for n, (rank, state) in enumerate(
            [
                (None, IntentionState.ACTIVE),
                (0, IntentionState.ACTIVE),
                (2, IntentionState.ACTIVE),
                (None, IntentionState.DONE),
            ]
        )
    ]
    await store.intend(ref, IntentionBatch(put=items))

    async def names(wanted: IntentionFilter, **more) -> list[str]:
        found = [i.content for i in await store.intentions(ref, wanted, **more)]
        if not more:
            assert await store.intention_count(ref, wanted) == len(found)
        return found

    active = IntentionFilter(states=[IntentionState.ACTIVE])
    assert await names(IntentionFilter()) == ["n0", "n1", "n2", "n3"]
    assert await names(active) == ["n0", "n1", "n2"]
    assert await names(replace(active, ceiling=1)) == ["n0", "n1"]
    assert await names(replace(active, ceiling=-1)) == ["n0"]
    assert await names(active, limit=1, offset=1) == ["n1"]


async def test_what_is_due_comes_soonest_first(store, ref, make):
    items = [
        intend(make, "late", next_due=NOW + 3),
        intend(make, "soon", next_due=NOW + 1),
        intend(make, "edge", next_due=NOW + 2),
        intend(make, "secret", next_due=NOW, tier_rank=9),
        intend(make, "paused", next_due=NOW, state=IntentionState.PAUSED),
        intend(make, "never"),
    ]
    await store.intend(ref, IntentionBatch(put=items))
    due = await store.intentions_due(ref, NOW + 2, 1.0)
    assert [i.content for i in due] == ["soon", "edge"]
    assert [i.content for i in await store.intentions_due(ref, NOW + 9, None, limit=2)] == [
        "secret",
        "soon",
    ]
    assert await store.next_due() == NOW
    assert await store.banks_due(NOW) == [ref]
    assert await store.banks_due(NOW - 1) == []


async def test_events_find_who_waits_for_them(store, ref, make):
    kind = TriggerType.EVENT
    items = [
        intend(make, "a", trigger_type=kind, trigger_event="deploy"),
        intend(make, "b", trigger_type=kind, trigger_event="Deploy"),
        intend(make, "c", trigger_type=kind, trigger_event="login", tier_rank=2),
        intend(make, "d", trigger_type=kind, trigger_event="deploy", state=IntentionState.DONE),
    ]
    await store.intend(ref, IntentionBatch(put=items))
    waiting = await store.intentions_on(ref, ["login", "deploy", "deploy"], None)
    assert [i.content for i in waiting] == ["a", "c"]
    assert await store.intentions_on(ref, ["login"], 1.0) == []


async def test_an_event_is_kept_once(store, ref):
    first = Event("e1", "deploy", NOW, NOW, {"ok": True})
    applied = await store.intend(ref, IntentionBatch(events=[first]))
    assert applied.events == ("e1",)
    again = replace(first, name="other")
    later = Event("e2", "login", NOW + 5, NOW + 5)
    assert (await store.intend(ref, IntentionBatch(events=[again, later]))).events == ("e2",)
    assert await store.events(ref, ["deploy"], NOW) == [first]
    assert await store.events(ref, None, NOW) == [first, later]
    assert await store.events(ref, None, NOW + 1) == [later]
    assert await store.events_trim(ref, NOW + 1) == 1
    assert await store.events(ref, None, 0) == [later]


async def test_an_occurrence_is_made_once_a_slot(store, ref, make):
    item = intend(make)
    await store.intend(ref, IntentionBatch(put=[item]))
    first, twin = occur(make, item), occur(make, item)
    orphan = occur(make, intend(make))
    applied = await store.intend(ref, IntentionBatch(occurrences=[first, twin, orphan]))
    assert [o.id for o in applied.created] == [first.id]
    [offer] = await store.offers(ref)
    assert (offer.occurrence, offer.intention.id) == (first, item.id)


async def test_a_move_needs_the_state_and_the_token(store, ref, make):
    item = intend(make)
    made = occur(make, item, data={"why": "x"})
    await store.intend(ref, IntentionBatch(put=[item], occurrences=[made]))
    lease = OccurrenceMove(made.id, LEASED, NOW + 60, OPEN, lease=True)
    [leased] = (await store.intend(ref, IntentionBatch(moves=[lease]))).moved
    assert (leased.state, leased.token, leased.attempts, leased.ready_at) == (
        LEASED,
        1,
        1,
        NOW + 60,
    )
    stale = OccurrenceMove(made.id, ACKED, None, OPEN, token=0)
    assert (await store.intend(ref, IntentionBatch(moves=[stale]))).moved == ()
    ack = replace(stale, token=1)
    ack = replace(ack, missed=2)
    [acked] = (await store.intend(ref, IntentionBatch(moves=[ack]))).moved
    assert (acked.state, acked.ready_at, acked.missed) == (ACKED, None, 2)
    assert (await store.intend(ref, IntentionBatch(moves=[ack]))).moved == ()
    [offer] = await store.offers_by_id(ref, [b"none", made.id])
    assert offer.occurrence == acked


async def test_offers_come_by_importance_then_by_registration(store, ref, make):
    items = [
        intend(make, c, importance=i) for c, i in [("a", 0.5), ("b", 0.9), ("c", 0.5), ("d", 5)]
    ]
    ranked = intend(make, "secret", tier_rank=3)
    await store.intend(
        ref,
        IntentionBatch(
            put=[*items, ranked],
            occurrences=[occur(make, i) for i in (*reversed(items), ranked)],
        ),
    )
    offers = await store.offers(ref, ready_before=NOW, ceiling=1)
    assert [o.intention.content for o in offers] == ["d", "b", "a", "c"]
    assert await store.offers(ref, ready_before=NOW - 1) == []
    mine = await store.offers(ref, intention_ids=[items[0].id], ready_before=NOW, states=[DUE])
    assert [o.intention.content for o in mine] == ["a"]
    assert await store.offers(ref, states=[ACKED]) == []


async def test_cues_are_read_on_from_a_place(store, ref, make):
    kind = TriggerType.CONTEXT
    items = [intend(make, f"n{n}", trigger_type=kind, cue=bytes([n] * 4)) for n in range(5)]
    await store.intend(ref, IntentionBatch(put=items[:3]))
    await store.intend(ref, IntentionBatch(put=[*items[3:], intend(make)]))
    first = await store.cues(ref, 0, limit=2)  # a place is never cut in two
    assert [c.intention_id for c in first] == [i.id for i in items[:3]]
    rest = await store.cues(ref, first[-1].place)
    assert [(c.intention_id, c.cue, c.active) for c in rest] == [
        (i.id, i.cue, True) for i in items[3:]
    ]
    [stored] = await store.intentions_by_id(ref, [items[0].id])
    await store.intend(ref, IntentionBatch(put=[replace(stored, state=IntentionState.DONE)]))
    [changed] = await store.cues(ref, rest[-1].place)
    assert (changed.intention_id, changed.active) == (items[0].id, False)


async def test_what_cues_do_not_show_leaves_their_places(store, ref, make):
    kind = TriggerType.CONTEXT
    item = intend(make, trigger_type=kind, cue=b"\0\0\x80\x3f", recurring=True)
    await store.intend(ref, IntentionBatch(put=[item, intend(make)]))
    [first] = await store.cues(ref, 0)
    changes = (
        ({"last_fired_at": NOW + 1, "content": "call Eve"}, False),
        ({"importance": 0.9, "next_due": NOW + 5, "tier_rank": 2.0}, False),
        ({"armed": False}, True),
        ({"fired_count": 1}, False),
        ({"armed": True}, True),
        ({"similarity_threshold": 0.5}, True),
        ({"state": IntentionState.PAUSED}, True),
        ({"cue": b"\0\0\0\x40", "cue_generation": 2}, True),
        ({}, False),
    )
    for change, seen in changes:
        [stored] = await store.intentions_by_id(ref, [item.id])
        made = replace(stored, **change)
        await store.intend(ref, IntentionBatch(put=[made]))
        [read] = await store.intentions_by_id(ref, [item.id])
        assert read == replace(made, version=stored.version + 1)
        after = await store.cues(ref, first.place)
        assert [c.intention_id for c in after] == ([item.id] if seen else []), change
        first = after[0] if after else first
        with pytest.raises(Conflict):
            await store.intend(ref, IntentionBatch(put=[made]))


async def test_a_batch_of_memories_changes_the_future_with_them(store, ref, make):
    row = make.row()
    old, kept = intend(make, "old"), intend(make, "kept")
    other = occur(make, kept)
    await store.intend(ref, IntentionBatch(put=[old, kept], occurrences=[other]))
    new = intend(make, "new", source_id=row.unit.id)
    move = OccurrenceMove(other.id, OccurrenceState.DISMISSED, None, OPEN)
    future = IntentionBatch(remove=[old.id], put=[new], moves=[move])
    await store.apply(ref, Batch(units=[row], future=future))
    found = await store.intentions(ref, IntentionFilter())
    assert [i.content for i in found] == ["kept", "new"]
    assert await store.offers(ref, states=OPEN) == []
    with pytest.raises(Conflict):  # a stale version undoes all of it
        await store.apply(ref, Batch(units=[make.row()], future=IntentionBatch(put=[new])))
    async with store.snapshot(ref) as view:
        assert (await view.counts())["units"] == 1


async def test_a_check_reads_one_snapshot(store, ref, make):
    items = [
        intend(make, "due", next_due=NOW),
        intend(make, "later", next_due=NOW + 9),
        intend(make, "waits", trigger_type=TriggerType.EVENT, trigger_event="deploy"),
        intend(make, "words", trigger_type=TriggerType.CONTEXT, cue_text="cooking"),
        intend(make, "cue", trigger_type=TriggerType.CONTEXT, cue=bytes(4)),
    ]
    open_one, ended = occur(make, items[0]), occur(make, items[1], state=ACKED)
    batch = IntentionBatch(put=items, occurrences=[open_one, replace(ended, ready_at=None)])
    await store.intend(ref, batch)

    def work(reader):
        due, waiting, unindexed = reader.intentions_checked(NOW, ["deploy", "x"], None, 10)
        names = [[i.content for i in some] for some in (due, waiting, unindexed)]
        ids = [i.id for i in items]
        assert [i.id for i in reader.intentions_by_id([ids[4], b"?" * 16, ids[0]])] == [
            ids[4],
            ids[0],
        ]
        assert [c.intention_id for c in reader.cues(0)] == [ids[4]]
        assert [o.occurrence.id for o in reader.opened(ids)] == [open_one.id]
        offered, count = reader.offered(NOW, None, 1)
        assert ([o.occurrence.id for o in offered], count) == ([open_one.id], 1)
        assert reader.offered(NOW - 1, None, 1) == ([], 0)
        return names

    assert await store.read(ref, work) == [["due"], ["waits"], ["words"]]
    places = await store.offer_places(ref, NOW)
    assert places == [(NOW, open_one.id)]
    assert await store.offer_places(ref, NOW - 1) == []
    assert await store.offer_places(BankRef("acme", "none"), NOW) == []


async def test_forgetting_a_unit_removes_what_was_read_from_it(store, ref, make):
    row, other = make.row(), make.row()
    await store.apply(ref, Batch(units=[row, other]))
    mine, plain = intend(make, source_id=row.unit.id), intend(make)
    await store.intend(ref, IntentionBatch(put=[mine, plain], occurrences=[occur(make, mine)]))
    of = IntentionFilter(source_ids=[row.unit.id])
    assert await store.intention_count(ref, of) == 1
    await store.apply(ref, Batch(erase=[row.unit.id]))
    assert await store.intention_count(ref, of) == 0
    assert await store.offers(ref) == []
    late = intend(make, source_id=row.unit.id)
    await store.intend(ref, IntentionBatch(put=[late]))
    assert [i.id for i in await store.intentions(ref, IntentionFilter())] == [plain.id]


async def test_other_banks_are_out_of_reach(store, ref, make):
    item = intend(make, next_due=NOW, trigger_event="deploy", cue=b"1234")
    made = occur(make, item)
    told = Event("e", "deploy", NOW, NOW)
    await store.intend(ref, IntentionBatch(put=[item], occurrences=[made], events=[told]))
    for stranger in (BankRef("elsewhere", ref.bank), BankRef(ref.tenant, "another")):
        await store.intend(
            stranger,
            IntentionBatch(
                remove=[item.id],
                occurrences=[occur(make, item, "2")],
                moves=[OccurrenceMove(made.id, ACKED, None, OPEN)],
            ),
        )
        assert await store.intentions(stranger, IntentionFilter()) == []
        assert await store.intentions_by_id(stranger, [item.id]) == []
        assert await store.intentions_due(stranger, NOW, None) == []
        assert await store.intentions_on(stranger, ["deploy"], None) == []
        assert await store.cues(stranger, 0) == []
        assert await store.offers(stranger) == []
        assert await store.offers_by_id(stranger, [made.id]) == []
        assert await store.events(stranger, None, 0) == []
        assert await store.events_trim(stranger, NOW + 9) == 0
    [offer] = await store.offers(ref)
    assert offer.occurrence == made
    await store.bank_drop(ref)
    assert await store.offers(ref) == []
    assert await store.next_due() is None


async def test_a_strict_batch_is_refused_whole(store, ref, make):
    item = intend(make)
    made = occur(make, item)
    await store.intend(ref, IntentionBatch(put=[item], occurrences=[made]))
    [stored] = await store.intentions_by_id(ref, [item.id])
    batch = IntentionBatch(
        put=[replace(stored, fired_count=1)],
        moves=[OccurrenceMove(made.id, ACKED, None, OPEN, token=7)],
        strict=True,
    )
    with pytest.raises(Conflict):
        await store.intend(ref, batch)
    assert await store.intentions_by_id(ref, [item.id]) == [stored]
    assert await store.offer_count(ref, NOW, None) == 1
    assert await store.offer_count(ref, NOW - 1, None) == 0


async def test_what_is_to_be_sent_waits_until_it_is(store, ref, make, clock):
    item = intend(make)
    made = occur(make, item)
    await store.intend(ref, IntentionBatch(put=[item], occurrences=[made]))
    assert await store.next_due() == NOW
    [offer] = await store.to_send(ref, NOW)
    assert offer.occurrence == made
    await store.intend(ref, IntentionBatch(sent=[made.id]))
    assert await store.to_send(ref, NOW + 99) == []
    assert await store.next_due() is None
    assert await store.banks_due(NOW + 99) == []
    snooze = OccurrenceMove(made.id, OccurrenceState.SNOOZED, NOW + 50, OPEN)
    await store.intend(ref, IntentionBatch(moves=[snooze]))
    assert await store.next_due() == NOW + 50
    await store.intend(ref, IntentionBatch(sent=[made.id]))  # too early: it is not its time yet
    assert await store.banks_due(NOW + 50) == [ref]
    await store.intend(ref, IntentionBatch(moves=[replace(snooze, state=ACKED, ready_at=None)]))
    assert await store.to_send(ref, NOW + 99) == []


async def test_a_stream_reads_on_from_its_place(store, ref, make):
    items = [intend(make, f"n{n}", tier_rank=n) for n in range(3)]
    made = [occur(make, item) for item in items]
    made[0] = replace(made[0], ready_at=NOW + 5)
    await store.intend(ref, IntentionBatch(put=items, occurrences=made))

    async def names(after: tuple[int, bytes], before: int, **more) -> list[str]:
        offers = await store.offers_since(ref, after, before, more.pop("ceiling", None), **more)
        return [o.intention.content for o in offers]

    assert await names((0, b""), NOW) == ["n1", "n2"]
    assert await names((0, b""), NOW + 5, ceiling=1) == ["n1", "n0"]
    assert await names((NOW, made[1].id), NOW + 5) == ["n2", "n0"]
    assert await names((NOW, made[1].id), NOW + 5, limit=1) == ["n2"]


async def test_events_are_found_by_their_ids(store, ref):
    events = [Event(f"e{n}", "deploy", NOW + n, NOW, {"n": n}) for n in range(3)]
    await store.intend(ref, IntentionBatch(events=events))
    assert await store.events_by_id(ref, ["e2", "none", "e0"]) == [events[2], events[0]]
    assert await store.events_by_id(ref, []) == []
    assert await store.events_by_id(BankRef(ref.tenant, "elsewhere"), ["e0"]) == []
    assert await store.events_by_id(BankRef("somebody", ref.bank), ["e0"]) == []


async def test_cues_that_want_embedding_are_found_in_all_banks(store, ref, make):
    other = BankRef("somebody", "bank")
    kind = TriggerType.CONTEXT

    def cue(generation: int, state: IntentionState = IntentionState.ACTIVE) -> Intention:
        return intend(make, trigger_type=kind, cue_text="x", cue_generation=generation, state=state)

    own, waits, old, new = (cue(number) for number in (0, -1, 1, 2))
    paused, done = cue(1, IntentionState.PAUSED), cue(1, IntentionState.DONE)
    await store.intend(ref, IntentionBatch(put=[own, waits, old, new, paused, done]))
    elsewhere = cue(3)
    await store.intend(other, IntentionBatch(put=[elsewhere]))
    found = await store.cues_stale(2)
    assert set(found) == {(ref, i.id) for i in (waits, old, paused)} | {(other, elsewhere.id)}
    assert len(await store.cues_stale(2, 2)) == 2
    assert {i for _, i in await store.cues_stale(3)} == {waits.id, old.id, new.id, paused.id}


async def test_what_goes_on_with_another_unit_outlives_its_own(store, ref, make):
    old, new = make.row(), make.row()
    await store.apply(ref, Batch(units=[old]))
    stays, goes = intend(make, source_id=old.unit.id), intend(make, source_id=old.unit.id)
    opened = occur(make, stays)
    await store.intend(ref, IntentionBatch(put=[stays, goes], occurrences=[opened]))
    moved = replace(stays, source_id=new.unit.id, version=1)
    batch = Batch(erase=[old.unit.id], units=[new], future=IntentionBatch(put=[moved]))
    await store.apply(ref, batch)
    assert await store.intentions(ref, IntentionFilter()) == [replace(moved, version=2)]
    assert [o.occurrence.id for o in await store.offers(ref)] == [opened.id]
