"""What runs, waits and is refused, by the policy alone: the time is passed in."""

from __future__ import annotations

import pytest

from remembrancer.verbs.admission.policy import RECENT_S, Bounds, Policy, Reason, Recent


def policy(running=2, tenant_running=None, queue=8, tenant_queue=4, wait_s=10.0, recent=None):
    bounds = Bounds(running, tenant_running or running, queue, tenant_queue, wait_s)
    return Policy(bounds, recent or Recent())


def enter(of, tenant, now=0.0, **more):
    return of.enter(tenant, now, **more)


def begun(tickets):
    return [ticket.tenant for ticket in tickets]


def test_one_tenant_alone_has_all_places_and_then_waits():
    one = policy()
    first, second, third = (enter(one, "a") for _ in range(3))
    assert first.ticket.began_at == second.ticket.began_at == 0.0
    assert third.ticket.began_at is None
    assert (one.running, one.queued) == (2, 1)
    assert one.leave(first.ticket, 1.0) == [third.ticket]
    assert third.ticket.began_at == 1.0


def test_a_queue_of_one_tenant_is_bounded():
    one = policy(running=1, tenant_queue=2)
    for _ in range(3):
        assert enter(one, "a").refusal is None
    refused = enter(one, "a")
    assert refused.ticket is None
    assert refused.refusal.reason is Reason.TENANT
    assert refused.refusal.retry_after_s >= 1
    assert one.full("a").reason is Reason.TENANT
    assert one.full("b") is None
    assert one.queued == 2


def test_tenants_take_turns_whatever_the_length_of_their_queues():
    one = policy(running=1)
    last = enter(one, "x").ticket
    for tenant in "aaabbc":
        enter(one, tenant)
    order = []
    while begun_now := one.leave(last, 5.0):
        [last] = begun_now
        order.append(last.tenant)
    assert order == ["a", "b", "c", "a", "b", "a"]


def test_the_last_place_is_kept_for_who_asked_lately():
    one = policy(running=2)
    small = enter(one, "small", 0.0).ticket
    one.leave(small, 0.01)
    flood = [enter(one, "flood", 0.02).ticket for _ in range(3)]
    assert [t.began_at is not None for t in flood] == [True, False, False]
    # The small tenant need not wait, though others did before it.
    assert enter(one, "small", 0.03).ticket.began_at == 0.03


def test_a_place_is_kept_for_a_while_only():
    one = policy(running=2)
    one.leave(enter(one, "small", 0.0).ticket, 0.01)
    later = 0.02 + RECENT_S
    assert enter(one, "flood", later).ticket.began_at is not None
    assert enter(one, "flood", later).ticket.began_at is not None


def test_what_a_tenant_did_in_another_class_counts():
    recent = Recent()
    reads, writes = policy(recent=recent), policy(recent=recent)
    enter(reads, "reader", 0.0)
    assert enter(writes, "writer", 0.1).ticket.began_at is not None
    assert enter(writes, "writer", 0.1).ticket.began_at is None


def test_a_tenant_has_at_most_its_share_of_what_takes_long():
    heavy = policy(running=3, tenant_running=2)
    tickets = [enter(heavy, "a").ticket for _ in range(3)]
    assert [t.began_at is not None for t in tickets] == [True, True, False]
    assert enter(heavy, "b", 99.0).ticket.began_at == 99.0


def test_in_a_full_queue_the_newest_of_the_largest_gives_way():
    one = policy(running=1, queue=4, tenant_queue=4)
    enter(one, "flood")
    waiting = [enter(one, "flood").ticket for _ in range(4)]
    entry = enter(one, "small")
    assert entry.ticket is not None
    assert entry.displaced is waiting[-1]
    assert one.displaced(entry.displaced).reason is Reason.FULL
    assert one.queued == 4
    for _ in range(2):  # until both have as much there
        last = enter(one, "small")
    assert last.refusal.reason is Reason.FULL


def test_what_cannot_be_in_time_is_refused_at_once():
    one = policy(running=1)
    ticket = enter(one, "a", 0.0).ticket
    one.leave(ticket, 2.0)  # so long one takes
    enter(one, "a", 2.0)
    assert enter(one, "b", 2.0, left_s=0.5).refusal.reason is Reason.LATE
    assert enter(one, "b", 2.0, left_s=60).ticket is not None


def test_retry_after_grows_with_what_waits():
    one = policy(running=1, queue=100, tenant_queue=20)
    one.leave(enter(one, "a", 0.0).ticket, 0.5)
    for _ in range(21):
        enter(one, "a", 1.0)
    assert enter(one, "a", 1.0).refusal.retry_after_s == pytest.approx(0.5 * 21)


def test_who_waited_too_long_or_left_takes_no_place():
    one = policy(running=1)
    first = enter(one, "a").ticket
    gone, late, last = (enter(one, tenant).ticket for tenant in "bcd")
    assert one.leave(gone, 1.0) == []
    assert one.waited(late).reason is Reason.WAITED
    assert begun(one.leave(first, 2.0)) == ["d"]
    assert last.began_at == 2.0


def test_long_work_lets_others_have_their_turn_and_goes_on():
    one = policy(running=1)
    long = enter(one, "a").ticket
    assert one.again(long, 1.0) == []  # nobody waits
    assert long.began_at == 0.0
    other = enter(one, "b", 1.0).ticket
    assert one.again(long, 2.0) == [other]
    assert long.began_at is None
    assert one.running == 1
    assert one.leave(other, 3.0) == [long]
    assert long.began_at == 3.0


def test_recent_tenants_are_bounded():
    recent = Recent(most=2)
    for number in range(5):
        recent.saw(f"t{number}", 0.0)
    assert recent.other_than("t4", (), 0.5)
    assert not recent.other_than("t4", {"t3"}, 0.5)
    assert not recent.other_than("t4", (), 5.0)


def test_who_begins_when_another_one_comes_is_named():
    one = policy(running=2)
    one.leave(enter(one, "small", 0.0).ticket, 0.01)
    waiting = [enter(one, "flood", 0.02).ticket for _ in range(2)][1]
    later = enter(one, "flood", 0.02 + 2 * RECENT_S)
    assert later.begun == [waiting]
    assert later.ticket.began_at is None


def test_long_work_goes_on_before_what_else_its_tenant_waits_for():
    one = policy(running=1)
    long = enter(one, "a").ticket
    waiting = [enter(one, "a").ticket for _ in range(3)]
    assert one.again(long, 1.0) == []  # nobody else waits
    assert long.began_at == 1.0
    other = enter(one, "b", 1.0).ticket
    assert one.again(long, 2.0) == [other]
    assert one.leave(other, 3.0) == [long]
    assert one.leave(long, 7.0) == [waiting[0]]
    assert one.mean_s == pytest.approx(1.0 + 0.1 * (6.0 - 1.0))  # all that it ran


def test_what_waits_of_a_flood_lets_others_end_but_not_for_ever():
    bounds = Bounds(2, 2, 8, 4, 10.0, yield_s=0.1)
    one = Policy(bounds, Recent())
    first, second = [enter(one, "flood", 0.0).ticket for _ in range(2)]
    waiting = [enter(one, "flood", 0.0).ticket for _ in range(2)]
    small = enter(one, "small", 0.01).ticket
    assert one.leave(first, 0.02) == [small]
    assert one.leave(second, 0.03) == []  # rather than beside the small one
    assert one.leave(small, 0.04) == waiting[:1]
    enter(one, "small", 0.05)
    assert one.leave(waiting[0], 0.06) == []
    assert one.holds_back
    assert one.let_in(0.5) == waiting[1:]
    assert not one.holds_back


def test_long_works_of_a_tenant_go_on_in_the_order_in_which_they_let_others_go():
    # One may hold what the other waits for.
    one = policy(running=2)
    first, second = [enter(one, "a").ticket for _ in range(2)]
    waiting = enter(one, "a").ticket
    others = [enter(one, "b", 0.5).ticket for _ in range(2)]
    assert one.again(first, 1.0) == others[:1]
    assert one.again(second, 1.5) == others[1:]
    assert one.leave(others[0], 2.0) == [first]
    assert one.again(first, 9.0) == [second]
    assert one.leave(second, 10.0) == [first]
    assert waiting.began_at is None
