"""The golden vectors of prospective memory: what AgentOS does, and where ours differs on purpose.

`either` runs a vector in our own manner and in AgentOS's; where they differ each has its own test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import remembrancer
from remembrancer import InvalidInput, ModelUnavailable, ProspectiveMemoryManager
from remembrancer.nouns.clock import FixedClock, to_us

pytestmark = pytest.mark.filterwarnings("ignore:triggerAt looks like seconds")

NOW = datetime(2026, 5, 4, 9, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)
HOUR = 3_600_000
NAN, INF = float("nan"), float("inf")

STORES = ("sqlite", "postgres")
WORDS = {
    "north": [1.0, 0.0],
    "east": [0.0, 1.0],
    "slope": [0.7, 0.51**0.5],
    "deep": [1.0, 0.0, 0.0],
}
"""What the embedder of these tests makes of words."""


class Words:
    """Embeds by a table, or fails."""

    def __init__(self) -> None:
        self.down = False

    async def embed(self, texts: Any) -> Any:
        if self.down:
            raise ModelUnavailable("the embedder is away")
        return np.array([WORDS[text] for text in texts], dtype=np.float32)


@pytest.fixture(scope="module")
def make_store(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """The URL of a store of one's own, None for the data folder."""
    if request.param == "sqlite":
        yield None
        return
    server = request.getfixturevalue("postgres")
    space = server.make()
    yield space.url
    server.drop(space)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each vector over every store."""
    if "make_store" in metafunc.fixturenames:
        metafunc.parametrize("make_store", STORES, indirect=True, scope="module")


@pytest.fixture(scope="module")
def memory(
    tmp_path_factory: pytest.TempPathFactory, make_store: str | None
) -> Iterator[remembrancer.Memory]:
    folder = tmp_path_factory.mktemp("future")
    settings = remembrancer.Settings(data=folder, store=make_store, embedder="hash:8")
    with remembrancer.Memory(settings, FixedClock(to_us(NOW))) as opened:
        yield opened


@pytest.fixture
def words(memory: remembrancer.Memory, monkeypatch: pytest.MonkeyPatch) -> Words:
    table = Words()
    monkeypatch.setattr(memory.inner.app.embedder, "embed", table.embed)
    return table


_banks = count()


@pytest.fixture
def make(memory: remembrancer.Memory, words: Words) -> Callable[..., ProspectiveMemoryManager]:
    def made(compat: str | None = None, **more: Any) -> ProspectiveMemoryManager:
        return memory.prospective(f"bank-{next(_banks)}", compat=compat, **more)

    return made


@pytest.fixture
def ours(make: Any) -> ProspectiveMemoryManager:
    return make()


@pytest.fixture
def theirs(make: Any) -> ProspectiveMemoryManager:
    return make("agentos")


@pytest.fixture(params=[None, "agentos"], ids=["ours", "agentos"])
def either(make: Any, request: pytest.FixtureRequest) -> ProspectiveMemoryManager:
    return make(request.param)


def timed(content: str = "water the plants", at: Any = 1_000, **more: Any) -> dict[str, Any]:
    return {"content": content, "triggerType": "time_based", "triggerAt": at, **more}


def event(content: str = "read the logs", name: Any = "deploy", **more: Any) -> dict[str, Any]:
    return {"content": content, "triggerType": "event_based", "triggerEvent": name, **more}


def context(content: str = "mention the map", cue: Any = "north", **more: Any) -> dict[str, Any]:
    return {"content": content, "triggerType": "context_based", "cueText": cue, **more}


def told(found: Any) -> list[str]:
    return [item.content for item in found]


Manager = ProspectiveMemoryManager


# G1, G3: the time itself counts, and so does the past


@pytest.mark.parametrize(("at", "now", "fires"), [(1_000, 1_000, True), (1_000, 999, False)])
def test_a_time_is_reached_at_its_millisecond(
    either: Manager, at: int, now: int, fires: bool
) -> None:
    either.register(timed(at=at))
    assert bool(either.check(now=now)) is fires


def test_a_time_before_1970_is_past(either: Manager) -> None:
    either.register(timed(at=-5))
    assert told(either.check(now=0)) == ["water the plants"]


# G2, G4: times that are none


@pytest.mark.parametrize("at", [NAN, None, INF, "soon"])
def test_a_time_that_is_none_is_refused(ours: Manager, at: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        ours.register(timed(at=at))
    assert refused.value.field == "triggerAt"
    assert ours.get_count() == 0


def test_the_epoch_is_a_time(ours: Manager) -> None:
    ours.register(timed(at=0))
    assert told(ours.check(now=0)) == ["water the plants"]


@pytest.mark.parametrize("at", [0, NAN, None, INF, "soon", ""])
def test_agentos_keeps_what_never_fires(theirs: Manager, at: Any) -> None:
    item = theirs.register(timed(at=at))
    assert [i.id for i in theirs.get_active()] == [item.id]
    assert theirs.check(now=NOW_MS) == []
    assert theirs.get_count() == 1


def test_a_time_as_text_is_refused_and_agentos_reads_it(ours: Manager, theirs: Manager) -> None:
    with pytest.raises(InvalidInput):
        ours.register(timed(at="5"))
    assert theirs.register(timed(at="5")).trigger_at == "5"
    assert theirs.check(now=4) == []
    assert told(theirs.check(now=5)) == ["water the plants"]


# G5: seconds where milliseconds were meant


def test_what_looks_like_seconds_is_warned_of(ours: Manager, theirs: Manager) -> None:
    with pytest.warns(UserWarning, match="seconds"):
        ours.register(timed(at=NOW_MS // 1000))
    theirs.register(timed(at=NOW_MS // 1000))
    assert [len(m.check()) for m in (ours, theirs)] == [1, 1]


# G6, G7: what time it is


def test_now_zero_is_the_epoch_and_none_the_clock(either: Manager) -> None:
    either.register(timed(at=NOW_MS))
    assert either.check(now=0) == []
    assert told(either.check(now=None)) == ["water the plants"]


def test_now_nan_is_refused_and_for_agentos_no_time_has_come(
    ours: Manager, theirs: Manager
) -> None:
    for manager in (ours, theirs):
        manager.register(timed())
        manager.register(event())
    with pytest.raises(InvalidInput) as refused:
        ours.check(now=NAN)
    assert refused.value.field == "now"
    assert told(theirs.check(now=NAN, events=["deploy"])) == ["read the logs"]
    assert told(theirs.check()) == ["water the plants"]


# G8, G23: consumed is consumed


def test_a_clock_that_steps_back_revives_nothing(either: Manager) -> None:
    either.register(timed())
    either.register(timed("stretch", recurring=True))
    assert len(either.check(now=9_000)) == 2
    assert told(either.check(now=1_500)) == ["stretch"]
    assert either.check(now=500) == []


def test_after_firing_it_is_counted_and_not_active(either: Manager) -> None:
    either.register(timed())
    [item] = either.check()
    assert item.triggered
    assert (either.get_count(), either.get_active()) == (1, [])


# G9, G10, G11: events


@pytest.mark.parametrize(
    ("events", "fires"),
    [(["Deploy"], 0), (["deploy "], 0), (["deploy", "deploy"], 1), ([], 0), (["a", "deploy"], 1)],
)
def test_an_event_is_its_exact_name(either: Manager, events: list[str], fires: int) -> None:
    either.register(event())
    assert len(either.check(events=events)) == fires


def test_the_type_alone_says_what_triggers(either: Manager) -> None:
    either.register(timed(at=NOW_MS + HOUR, triggerEvent="deploy"))
    either.register(event(triggerAt=1))
    assert either.check(events=[]) == []
    assert told(either.check(events=["deploy"])) == ["read the logs"]


# G12, G13: similarity


def test_a_cosine_at_the_threshold_fires(either: Manager) -> None:
    either.register(context(cue="slope"))
    assert told(either.check(query_embedding=[1, 0])) == ["mention the map"]


def test_a_threshold_of_zero_is_one(either: Manager) -> None:
    either.register(context(similarityThreshold=0))
    assert told(either.check(queryEmbedding=[0, 1])) == ["mention the map"]


def test_dissimilar_contexts_do_not_fire(either: Manager) -> None:
    either.register(context())
    assert either.check(query_embedding=[0.69, 0.724]) == []
    assert told(either.check(query_embedding=[3, 0])) == ["mention the map"]


# G14, G15, G16: vectors that are missing or of another length


def test_another_dimension_never_fires_and_is_told(ours: Manager) -> None:
    ours.register(context(cue="deep", similarityThreshold=0))
    found = ours.check(query_embedding=[1, 0])
    assert found == []
    assert "dimension" in found.warnings[0]


@pytest.mark.parametrize("query", [[1, 0], [0, 0, 0], []])
def test_for_agentos_another_dimension_is_a_cosine_of_zero(
    theirs: Manager, query: list[float]
) -> None:
    theirs.register(context(cue="deep", similarityThreshold=0))
    theirs.register(context("not this", cue="deep"))
    assert told(theirs.check(query_embedding=query)) == ["mention the map"]


def test_a_context_without_cue_is_refused_and_kept_by_agentos(
    ours: Manager, theirs: Manager
) -> None:
    with pytest.raises(InvalidInput) as refused:
        ours.register(context(cue=None))
    assert refused.value.field == "cueText"
    theirs.register(context(cue=None))
    assert theirs.check(query_embedding=[1, 0]) == []
    assert len(theirs.get_active()) == 1


@pytest.mark.parametrize(("compat", "fires"), [(None, 1), ("agentos", 0)])
def test_without_an_embedder_words_count_but_not_for_agentos(
    tmp_path: Path, compat: str | None, fires: int
) -> None:
    with ProspectiveMemoryManager(tmp_path, compat=compat, embedder="none") as manager:
        manager.register(context(cue="northern maps"))
        assert len(manager.check(query_text="a map of the northern hills")) == fires
        assert manager.get_count() == 1


def test_a_text_is_embedded_and_for_agentos_nothing(ours: Manager, theirs: Manager) -> None:
    for manager in (ours, theirs):
        manager.register(context())
    assert told(ours.check(query_text="north")) == ["mention the map"]
    assert theirs.check(query_text="north") == []


# G17 to G21: tiers


def ranked(manager: Manager, *ranks: Any) -> None:
    for rank in ranks:
        manager.register(timed(str(rank), tierRank=rank))


@pytest.mark.parametrize(
    ("ceiling", "seen"), [(1, ["None", "0", "1"]), (-1, ["None"]), (2, ["None", "0", "1", "2"])]
)
def test_what_is_ranked_above_the_ceiling_is_withheld(
    either: Manager, ceiling: int, seen: list[str]
) -> None:
    ranked(either, None, 0, 1, 2)
    assert told(either.check(max_tier_rank=ceiling)) == seen


def test_what_was_withheld_fires_later(either: Manager) -> None:
    ranked(either, 0, 2)
    assert told(either.check(now=1_000, maxTierRank=1)) == ["0"]
    assert told(either.check(now=2_000, maxTierRank=3)) == ["2"]


@pytest.mark.parametrize("ceiling", [NAN, INF, "2"])
def test_a_ceiling_that_is_none_is_refused_and_opens_agentos(
    ours: Manager, theirs: Manager, ceiling: Any
) -> None:
    for manager in (ours, theirs):
        ranked(manager, 0, 2)
    with pytest.raises(InvalidInput) as refused:
        ours.check(max_tier_rank=ceiling)
    assert refused.value.field == "maxTierRank"
    assert told(theirs.check(max_tier_rank=ceiling)) == ["0", "2"]


def test_without_a_ceiling_the_owner_sees_all(either: Manager) -> None:
    ranked(either, 0, 2)
    assert told(either.check()) == ["0", "2"]


@pytest.mark.parametrize("rank", [NAN, "2", INF])
def test_a_rank_that_is_none_is_refused_and_gates_nothing_for_agentos(
    ours: Manager, theirs: Manager, rank: Any
) -> None:
    with pytest.raises(InvalidInput) as refused:
        ours.register(timed(tierRank=rank))
    assert refused.value.field == "tierRank"
    theirs.register(timed(tierRank=rank))
    assert len(theirs.check(max_tier_rank=-1)) == 1


# G22: importance


def test_importance_sorts_descending_and_ties_keep_their_order(either: Manager) -> None:
    for name, importance in {"a": 0.5, "b": 0.9, "c": 0.5, "d": 5, "e": -1}.items():
        either.register(timed(name, importance=importance))
    assert told(either.check()) == ["d", "b", "a", "c", "e"]


@pytest.mark.parametrize(
    ("compat", "order"), [(None, ["b", "f", "e"]), ("agentos", ["b", "e", "f"])]
)
def test_no_importance_is_the_middle_and_for_agentos_the_last(
    make: Any, compat: str | None, order: list[str]
) -> None:
    manager = make(compat)
    for name, more in {"b": {"importance": 0.9}, "f": {}, "e": {"importance": -1}}.items():
        manager.register(timed(name, **more))
    assert told(manager.check()) == order


# G24, G25


@pytest.mark.parametrize("unknown", ["01a22c45-6be2-7000-a30d-8e36e724424b", "pm_1_2", ""])
def test_removing_what_is_not_there_is_false(either: Manager, unknown: str) -> None:
    either.register(timed())
    assert either.remove(unknown) is False
    assert either.get_count() == 1


def test_an_embedder_that_is_down_delays_the_vector_and_stops_agentos(
    ours: Manager, theirs: Manager, words: Words
) -> None:
    words.down = True
    ours.register(context())
    with pytest.raises(ModelUnavailable):
        theirs.register(context())
    assert (ours.get_count(), theirs.get_count()) == (1, 0)
    assert told(ours.check(query_text="go north")) == ["mention the map"]


# What the manager's own tests say


def test_what_is_registered_is_returned(either: Manager) -> None:
    item = either.register(timed(at=NOW_MS + HOUR, importance=0.8))
    assert item.id
    assert (item.trigger_type, item.triggered, either.get_count()) == ("time_based", False, 1)
    assert either.register(event(importance=0.9)).trigger_event == "deploy"
    assert either.register(context(importance=0.6, recurring=True)).recurring
    assert item.to_dict() == {
        "id": item.id,
        "content": "water the plants",
        "triggerType": "time_based",
        "triggerAt": NOW_MS + HOUR,
        "importance": 0.8,
        "triggered": False,
        "recurring": False,
        "createdAt": NOW_MS,
    }


def test_times_to_come_wait(either: Manager) -> None:
    either.register(timed("late", at=NOW_MS - 1_000))
    either.register(timed("early", at=NOW_MS + 999_999_999))
    assert told(either.check()) == ["late"]
    assert told(either.get_active()) == ["early"]


def test_events_fire_what_waits_for_them(either: Manager) -> None:
    either.register(event())
    assert either.check(events=["login"]) == []
    assert told(either.check(events=["deploy"])) == ["read the logs"]


def test_once_or_at_every_check(either: Manager) -> None:
    either.register(timed("once"))
    either.register(timed("always", recurring=True))
    assert told(either.check()) == ["once", "always"]
    assert [told(either.check()) for _ in range(3)] == [["always"]] * 3
    assert told(either.get_active()) == ["always"]


def test_recurring_ones_are_sorted_too(either: Manager) -> None:
    either.register(timed("less", importance=0.3, recurring=True))
    either.register(timed("more", importance=0.9, recurring=True))
    for _ in range(2):
        assert told(either.check()) == ["more", "less"]


def test_removing_and_clearing(either: Manager) -> None:
    item = either.register(timed(at=NOW_MS + HOUR))
    assert either.remove(item.id) is True
    assert either.get_count() == 0
    either.register(timed())
    either.register(event())
    either.clear()
    assert (either.get_count(), either.check(events=["deploy"])) == (0, [])


def test_recurring_contexts_wait_for_their_end_but_not_for_agentos(
    ours: Manager, theirs: Manager
) -> None:
    for manager in (ours, theirs):
        manager.register(context(recurring=True))
    assert [len(ours.check(query_embedding=[1, 0])) for _ in range(3)] == [1, 0, 0]
    assert ours.check(query_embedding=[0, 1]) == []
    assert len(ours.check(query_embedding=[1, 0])) == 1
    assert [len(theirs.check(query_embedding=[1, 0])) for _ in range(3)] == [1, 1, 1]


def test_agentos_takes_other_types_and_makes_the_ids_itself(theirs: Manager) -> None:
    given = "01a22c45-6be2-7000-a30d-8e36e724424b"
    item = theirs.register(event(id=given, triggerType="moon_phase"))
    assert item.id != given
    assert theirs.check(events=["deploy"]) == []
    assert theirs.get_active()[0].trigger_type == "moon_phase"


# What goes beyond


def test_an_id_of_ones_own_is_registered_once(ours: Manager) -> None:
    given = "01a22c45-6be2-7000-a30d-8e36e724424b"
    assert ours.register(timed("first", id=given)).id == given
    assert ours.register(timed("second", id=given)).content == "first"
    assert ours.get_count() == 1


def test_fields_by_name_in_words_and_by_rule(ours: Manager) -> None:
    item = ours.register(
        content="stand up", trigger_type="time_based", at="tomorrow at 9:30", zone="Europe/Berlin"
    )
    assert item.trigger_at == NOW_MS + 24 * HOUR - HOUR - HOUR // 2
    rule = {"rrule": "FREQ=DAILY", "start": "2026-05-05T08:00"}
    again = ours.register(content="stretch", trigger_type="time_based", recurrence=rule)
    assert (again.trigger_at, again.recurring) == (NOW_MS + 23 * HOUR, True)
    assert told(ours.check(now=NOW + timedelta(hours=23))) == ["stand up", "stretch"]


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"colour": "red"}, "colour"),
        ({"triggerType": "moon_phase"}, "triggerType"),
        ({"importance": "high"}, "importance"),
        ({"recurring": "yes"}, "recurring"),
        ({"content": 5}, "content"),
        ({"cueEmbedding": [1, NAN]}, "cueEmbedding"),
        ({"id": "mine"}, "id"),
        ({"expires_at": 5}, "expiresAt"),
    ],
)
def test_what_is_wrong_is_named(ours: Manager, more: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        ours.register({**timed(), **more})
    assert refused.value.field == field
    assert ours.get_count() == 0


def test_a_lease_is_answered(make: Any) -> None:
    manager = make(mode="lease")
    manager.register(timed())
    manager.register(event())
    [item] = manager.check()
    assert (item.triggered, item.late, manager.check()) == (False, True, [])
    manager.nack(item)
    [item] = manager.check()
    manager.extend(item, 120)
    manager.ack(item)
    manager.ack(item)
    [item] = manager.check(events=["deploy"])
    manager.snooze(item.occurrence_id, 30)
    manager.dismiss(item)
    assert manager.get_active() == []


def test_it_survives_being_closed(tmp_path: Path) -> None:
    clock = FixedClock(to_us(NOW))
    with ProspectiveMemoryManager(tmp_path, embedder="none", clock=clock) as manager:
        item = manager.register(timed(at=NOW_MS + HOUR, tierRank=2, importance=0.7))
    later = FixedClock(to_us(NOW + timedelta(hours=1)))
    with ProspectiveMemoryManager(tmp_path, embedder="none", clock=later) as manager:
        [kept] = manager.get_active()
        assert kept == item
        assert told(manager.check()) == ["water the plants"]
