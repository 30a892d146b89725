"""Mental models by the clock and block by block; observations by scopes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from retain_kit import NOW, REF, item, opened
from test_consolidate import GARDEN, answered, consolidated, observations

from llm_kit import Endpoint, Reply
from remembrancer.app import App
from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.errors import InvalidInput
from remembrancer.nouns.memory import Job, JobState
from remembrancer.verbs.mental_models import FAILED, NOTHING, REFRESH, UNCHANGED, WRITTEN
from remembrancer.verbs.modelling.schedule import SCHEDULED, next_after
from remembrancer.verbs.modelling.scopes import scopes_of

ASKED = "What grows in the garden by the lake?"


def advance(app: App, **by: float) -> None:
    clock = app.clock
    assert isinstance(clock, FixedClock)
    clock.advance(timedelta(**by))


async def refreshes(app: App) -> list[Job]:
    return (await app.store.jobs(REF, kind=REFRESH))[::-1]


async def planned(app: App) -> list[Job]:
    return await app.store.jobs(REF, kind=SCHEDULED, state=JobState.PENDING)


async def test_the_clock_refreshes_what_has_changed_and_nothing_else(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await app.retain(REF, [item(GARDEN[0], "d0")])
        trigger = {"refresh_cron": "0 6 * * *", "refresh_zone": "Europe/Oslo"}
        model, _ = await app.mental_models.create(REF, "Garden", ASKED, key="g", trigger=trigger)
        await app.thinker.drain()
        [first] = await planned(app)
        due = datetime.fromtimestamp(first.run_after / 1e6, UTC)
        assert (due.hour, due.minute) == (4, 0)  # six in Oslo, in summer
        assert not (await app.store.jobs(REF, kind=None, state=JobState.PENDING))
        assert await app.mental_models.schedule.plan() == 0  # it is planned already
        advance(app, days=1)
        await app.thinker.drain()
        assert len(await refreshes(app)) == 1  # nothing has changed: it is not asked again
        await app.retain(REF, [item(GARDEN[1], "d1")])
        await app.thinker.drain()
        assert len(await refreshes(app)) == 1  # it is not six o'clock yet
        advance(app, days=1)
        await app.thinker.drain()
        assert [job.state for job in await refreshes(app)] == [JobState.COMPLETED] * 2
        assert len(await app.store.jobs(REF, kind=SCHEDULED)) <= 3  # those before are cleared away
        # A server that was away for days catches up once.
        await app.retain(REF, [item(GARDEN[2], "d2")])
        advance(app, days=5)
        await app.thinker.drain()
        assert len(await refreshes(app)) == 3
        await app.mental_models.update(REF, model.id, {"trigger": {}})
        advance(app, days=1)
        await app.thinker.drain()
        assert (len(await refreshes(app)), await planned(app)) == (3, [])


async def test_an_interval_between_refreshes_holds_for_the_clock_too(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        trigger = {"refresh_cron": "@hourly", "min_refresh_interval_seconds": 7_000}
        await app.mental_models.create(REF, "Garden", ASKED, key="g", trigger=trigger)
        await app.thinker.drain()
        for hour in range(1, 5):
            await app.retain(REF, [item(f"Lamp {hour} stands by the lake.", f"d{hour}")])
            advance(app, hours=1)
            await app.thinker.drain()
        assert len(await refreshes(app)) == 3


async def test_two_processes_refresh_once(tmp_path: Path) -> None:
    async with opened(tmp_path) as one, opened(tmp_path) as two:
        trigger = {"refresh_cron": "@daily"}
        await one.mental_models.create(REF, "Garden", ASKED, key="g", trigger=trigger)
        await one.thinker.drain()
        await one.retain(REF, [item(GARDEN[0])])
        assert await two.mental_models.schedule.plan() == 0
        for app in (one, two):
            advance(app, days=1)
        for app in (one, two, one):
            await app.thinker.drain()
        assert len(await refreshes(one)) == 2
        assert len(await planned(two)) == 1


@pytest.mark.parametrize(
    ("trigger", "field"),
    [
        ({"refresh_cron": "every morning"}, "trigger.refresh_cron"),
        ({"refresh_cron": "0 6 31 2 *"}, "trigger.refresh_cron"),
        ({"refresh_cron": "@daily", "refresh_zone": "Atlantis/Main"}, "trigger.refresh_zone"),
    ],
)
async def test_a_schedule_that_cannot_be_used_is_refused(
    tmp_path: Path, trigger: dict[str, Any], field: str
) -> None:
    async with opened(tmp_path, embedder="none") as app:
        with pytest.raises(InvalidInput) as refused:
            await app.mental_models.create(REF, "Garden", ASKED, trigger=trigger)
        assert refused.value.field == field


def test_a_schedule_follows_the_clocks_of_its_zone() -> None:
    trigger = {"refresh_cron": "30 2 * * *", "refresh_zone": "Europe/Oslo"}
    before = int(datetime(2026, 3, 28, 12, tzinfo=UTC).timestamp() * 1e6)
    due = next_after(trigger, before)
    assert due is not None
    # 02:30 does not exist on that day: it is half past three in summer time.
    assert datetime.fromtimestamp(due / 1e6, UTC) == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    assert next_after({}, NOW) is None


def changes(*told: dict[str, Any]) -> Reply:
    return Reply(json.dumps({"changes": list(told)}))


def script(reply: Reply) -> Any:
    def answer(body: dict[str, Any]) -> Reply:
        if '"changes"' in body["messages"][0]["content"]:
            return reply
        return answered(body)

    return answer


BASE = "The garden by the lake has roses and tulips."
NEW = "The garden by the lake has an old oak, too."
OAK = {"op": "insert_after", "block": 1, "text": "The garden has an old oak.", "used": [1]}


async def refreshed(app: App) -> dict[str, Any]:
    job = await app.mental_models.enqueue(REF, "g")
    await app.thinker.drain()
    done = await app.store.job(REF, job.id)
    assert done is not None
    assert (done.state, done.error) == (JobState.COMPLETED, None)
    assert done.result is not None
    return dict(done.result)


async def content(app: App) -> str | None:
    [shown] = await app.shelf.shown(REF, [await app.shelf.get(REF, "g")])
    return shown.content


async def begun(app: App) -> None:
    await app.retain(REF, [item(BASE, "d0")])
    trigger = {"mode": "delta"}
    await app.mental_models.create(REF, "Garden", ASKED, key="g", trigger=trigger)
    await app.thinker.drain()
    assert await content(app) == BASE
    advance(app, minutes=1)
    await app.retain(REF, [item(NEW, "d1")])
    advance(app, minutes=1)


def only_answers(endpoint: Endpoint) -> dict[str, Any]:
    return {**endpoint.settings, "llm_retain": "none", "embedder": "bge-small"}


async def test_new_memories_change_the_blocks_that_they_bear_on(tmp_path: Path) -> None:
    with Endpoint(script(changes(OAK, {**OAK, "text": "Wanda planted 40 oaks."}))) as endpoint:
        async with opened(tmp_path, **only_answers(endpoint)) as app:
            await begun(app)
            dry = await app.mental_models.candidate(REF, "g")
            assert (dry.mode, dry.outcome) == ("delta", WRITTEN)
            assert dry.delta is not None
            assert [each["op"] for each in dry.delta.applied] == ["insert_after"]
            assert [each["reason"] for each in dry.delta.skipped] == ["invented_number"]
            assert await content(app) == BASE
            done = await refreshed(app)
            assert (done["outcome"], done["effective_mode"]) == (WRITTEN, "delta")
            assert done["usage"]["calls"] == 1
            assert await content(app) == f"{BASE}\n\nThe garden has an old oak."
            shown = endpoint.requests[-1]["messages"][1]["content"]
            assert BASE in shown
            assert shown.count("<memory") == 1  # only what is new
            # Nothing new: no model is asked.
            sent = len(endpoint.requests)
            done = await refreshed(app)
            assert (done["outcome"], done["usage"]["calls"]) == (NOTHING, 0)
            assert len(endpoint.requests) == sent
            # What the older text was made from is a reason to erase the newer one, too.
            await app.forget(REF, documents=["d0"])
            assert await content(app) is None


@pytest.mark.parametrize(
    ("reply", "outcome", "mode", "why"),
    [
        (changes(), UNCHANGED, "delta", None),
        (Reply("I had rather not."), FAILED, "delta", None),
        (changes({**OAK, "used": []}), WRITTEN, "full", "delta_ops_all_skipped"),
        (changes({**OAK, "block": 9}), WRITTEN, "full", "delta_ops_all_skipped"),
        (changes({"op": "delete", "block": 1, "used": [1]}), WRITTEN, "full",
         "delta_ops_all_skipped"),
    ],
)  # fmt: skip
async def test_what_cannot_be_changed_stays_or_is_written_anew(
    tmp_path: Path, reply: Reply, outcome: str, mode: str, why: str | None
) -> None:
    with Endpoint(script(reply)) as endpoint:
        async with opened(tmp_path, **only_answers(endpoint)) as app:
            await begun(app)
            found = await app.mental_models.candidate(REF, "g")
            assert (found.mode, found.delta and found.delta.why) == (mode, why)
            if mode == "delta":
                done = await refreshed(app)
                assert (done["outcome"], await content(app)) == (outcome, BASE)
                [shown] = await app.shelf.shown(REF, [await app.shelf.get(REF, "g")])
                assert shown.stale == (outcome == FAILED)


async def test_another_question_or_none_before_is_written_anew(tmp_path: Path) -> None:
    with Endpoint(script(changes(OAK))) as endpoint:
        async with opened(tmp_path, **only_answers(endpoint)) as app:
            await begun(app)
            asked = {"source_query": "What stands in the garden by the lake?"}
            await app.mental_models.update(REF, "g", asked)
            found = await app.mental_models.candidate(REF, "g")
            assert (found.mode, found.delta and found.delta.why) == ("full", "source_query_changed")
            await app.mental_models.clear(REF, "g")
            found = await app.mental_models.candidate(REF, "g")
            assert (found.mode, found.delta and found.delta.why) == ("full", "no_baseline_content")


async def test_without_a_model_the_whole_text_is_written(tmp_path: Path) -> None:
    async with opened(tmp_path, embedder="bge-small") as app:
        await app.retain(REF, [item(BASE, "d0")])
        trigger = {"mode": "delta"}
        await app.mental_models.create(REF, "Garden", ASKED, key="g", trigger=trigger)
        await app.thinker.drain()
        await app.retain(REF, [item(NEW, "d1")])
        done = await refreshed(app)
        assert (done["outcome"], done["effective_mode"]) == (WRITTEN, "full")
        assert "oak" in (await content(app) or "")


def test_scopes_are_sets_of_tags() -> None:
    tags = ("b", "a")
    assert scopes_of(tags, None) == scopes_of(tags, "combined") == {("a", "b")}
    assert scopes_of(tags, "per_tag") == {("a",), ("b",)}
    assert scopes_of(tags, "shared") == scopes_of((), "per_tag") == {()}
    assert scopes_of(tags, "all_combinations") == {("a",), ("b",), ("a", "b")}
    assert scopes_of(tags, [["b", "x", "x"], []]) == {("b", "x"), ()}
    assert scopes_of(tags, []) == set()


async def test_observations_are_made_in_the_scopes_that_items_name(tmp_path: Path) -> None:
    async with opened(tmp_path, embedder="bge-small") as app:

        async def scopes() -> list[tuple[str, ...]]:
            return sorted(tuple(sorted(u.tags)) for u in await observations(app))

        for number, text in enumerate(GARDEN):
            tags = ("ann", f"room{number}")
            told = item(text, f"d{number}", tags=tags, observation_scopes="per_tag")
            await app.retain(REF, [told])
        await consolidated(app)
        assert await scopes() == [("ann",)]  # each room has one memory alone
        [made] = await observations(app)
        for number, text in enumerate(GARDEN):
            tags = ("ann", f"room{number}")
            told = item(text, f"d{number}", tags=tags, observation_scopes=[["ann"], []])
            await app.retain(REF, [told])
        job, known = await app.consolidate.enqueue(REF, [[]])
        assert not known
        assert (await app.consolidate.enqueue(REF, [[]]))[1]
        assert not (await app.consolidate.enqueue(REF, [["ann"], []]))[1]
        await app.thinker.drain()
        assert (await app.store.job(REF, job.id)) is not None
        assert await scopes() == [(), ("ann",)]
        assert made.id in {u.id for u in await observations(app)}
        ids = {u.id for u in await observations(app)}
        done = await consolidated(app)
        assert (done["groups_unchanged"], done["observations_created"]) == (2, 0)
        assert {u.id for u in await observations(app)} == ids


async def test_too_many_tags_for_all_their_combinations_are_refused(tmp_path: Path) -> None:
    async with opened(tmp_path, embedder="none") as app:
        told = item("x y", tags=tuple("abcdefg"), observation_scopes="all_combinations")
        with pytest.raises(InvalidInput) as refused:
            await app.retain(REF, [told])
        assert (refused.value.field, refused.value.limit) == ("items[0].observation_scopes", 6)
