"""Observations and mental models follow their memories; forget reaches them all."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from retain_kit import REF, item, opened

from llm_kit import Endpoint, Reply
from remembrancer.app import App
from remembrancer.keeping.browse import UnitFilter
from remembrancer.nouns.memory import JobState, Layer, Unit
from remembrancer.verbs.consolidate import CONSOLIDATE, MINE
from remembrancer.verbs.mental_models import REFRESH

GARDEN = [
    "The garden by the lake has roses and tulips.",
    "The garden by the lake has roses and lilies.",
    "The garden by the lake has roses and poppies.",
]
OTHER = "Marta repaired the kitchen sink on Monday."


async def filled(app: App, *more: str) -> None:
    for number, text in enumerate((*GARDEN, *more)):
        await app.retain(REF, [item(text, f"d{number}")])


async def consolidated(app: App) -> dict[str, Any]:
    job, _ = await app.consolidate.enqueue(REF)
    await app.thinker.drain()
    done = await app.store.job(REF, job.id)
    assert done is not None
    assert (done.state, done.error) == (JobState.COMPLETED, None)
    assert done.result is not None
    return dict(done.result)


async def observations(app: App) -> list[Unit]:
    def work(reader: Any) -> list[Unit]:
        wanted = UnitFilter(layers=(Layer.OBSERVATION,), invalid=False)
        return [
            u for u in reader.browse(wanted, 100, 0).units if u.attributes and MINE in u.attributes
        ]

    return await app.store.read(REF, work)


async def test_without_a_model_a_group_is_named_by_its_own_words(tmp_path: Path) -> None:
    async with opened(tmp_path, embedder="bge-small") as app:
        await filled(app, OTHER)
        done = await consolidated(app)
        assert (done["observations_created"], done["usage"]["calls"]) == (1, 0)
        [made] = await observations(app)
        assert made.text.startswith("3 memories")
        assert any(text.removeprefix("") in made.text for text in GARDEN)
        assert made.attributes is not None
        assert made.attributes["proof_count"] == 3
        shown = await app.browse.memory(REF, made.id)
        assert shown.shown.proof_count == 3
        again = await consolidated(app)
        assert (again["groups_unchanged"], again["observations_created"]) == (1, 0)
        assert [u.id for u in await observations(app)] == [made.id]


def observe(texts: list[tuple[str, list[int]]]) -> Reply:
    told = [{"text": text, "based_on": based_on} for text, based_on in texts]
    return Reply(json.dumps({"observations": told}))


async def test_a_model_says_what_memories_come_to_and_nothing_new_costs_nothing(
    tmp_path: Path,
) -> None:
    said = [
        ("The garden by the lake has roses.", [1, 2, 3]),
        ("The garden by the lake has the roses.", [1, 2]),
        ("Bob planted 40 roses by the lake.", [1, 2]),
        ("The garden has tulips.", [1]),
    ]
    with Endpoint(lambda _: observe(said)) as endpoint:
        settings = {**endpoint.settings, "llm_retain": "none"}
        async with opened(tmp_path, embedder="bge-small", **settings) as app:
            await filled(app)
            done = await consolidated(app)
            assert done["refused"] == {"invented_number": 1}
            [made] = await observations(app)
            assert made.text == "The garden by the lake has roses."
            assert len(endpoint.requests) == 1
            await consolidated(app)
            assert len(endpoint.requests) == 1
            endpoint.script = lambda _: observe(
                [("The garden by the lake has roses and ferns.", [1, 4])]
            )
            await app.retain(REF, [item("The garden by the lake has roses and ferns.", "new")])
            done = await consolidated(app)
            assert (done["observations_updated"], done["observations_created"]) == (1, 0)
            [new] = await observations(app)
            assert (new.id, new.text) == (made.id, "The garden by the lake has roses and ferns.")
            [entry] = await app.curate.history(REF, new.id)
            assert entry["was"]["text"] == made.text
            # What only an earlier text rests on is a reason to erase it, too.
            await app.forget(REF, documents=["d1"])
            assert await observations(app) == []
            async with app.store.snapshot(REF) as view:
                assert (await view.counts())["observations"] == 0


async def test_a_failing_model_leaves_the_plain_titles_and_is_asked_again(tmp_path: Path) -> None:
    with Endpoint(lambda _: Reply("no idea")) as endpoint:
        settings = {**endpoint.settings, "llm_retain": "none"}
        async with opened(tmp_path, embedder="bge-small", **settings) as app:
            await filled(app)
            done = await consolidated(app)
            assert (done["groups_without_model"], done["observations_created"]) == (1, 1)
            assert done["usage"]["failed_calls"] == done["usage"]["calls"] == 2
            endpoint.script = lambda _: observe([("The garden has roses.", [1, 2, 3])])
            done = await consolidated(app)
            assert done["observations_updated"] == 1
            assert [u.text for u in await observations(app)] == ["The garden has roses."]


async def test_observations_of_other_tags_are_kept_apart(tmp_path: Path) -> None:
    async with opened(tmp_path, embedder="bge-small") as app:
        for number, text in enumerate(GARDEN):
            await app.retain(REF, [item(text, f"a{number}", tags=("a",))])
            await app.retain(REF, [item(text, f"b{number}", tags=("b",))])
        await consolidated(app)
        assert sorted(u.tags for u in await observations(app)) == [("a",), ("b",)]


async def test_a_replaced_memory_takes_its_observation_along(tmp_path: Path) -> None:
    async with opened(tmp_path, embedder="bge-small") as app:
        await filled(app)
        await consolidated(app)
        await app.retain(REF, [item("I sold my car to Ben for cash.", "d0")])
        assert await observations(app) == []
        await consolidated(app)
        assert await observations(app) == []


def answered(body: dict[str, Any]) -> Reply:
    """Answer with the first memory shown, word for word."""
    text = body["messages"][1]["content"]
    [(number, words), *_] = re.findall(
        r'<memory number="(\d+)"[^>]*>(.*?)</memory>', text, re.DOTALL
    )
    return Reply(json.dumps({"answer": words, "used": [int(number)]}))


async def refreshed(app: App, key: str) -> dict[str, Any]:
    job = await app.mental_models.enqueue(REF, key)
    await app.thinker.drain()
    done = await app.store.job(REF, job.id)
    assert done is not None
    assert done.error is None
    return dict(done.result or {})


async def test_a_mental_model_is_refreshed_kept_apart_and_forgotten(tmp_path: Path) -> None:
    with Endpoint(answered) as endpoint:
        settings = {**endpoint.settings, "llm_retain": "none", "llm_consolidation": "none"}
        async with opened(tmp_path, embedder="bge-small", **settings) as app:
            await filled(app, OTHER)
            model, _ = await app.mental_models.create(REF, "Sink", "Who repaired the kitchen sink?")
            await app.thinker.drain()
            [shown] = await app.shelf.shown(REF, [await app.shelf.get(REF, model.id)], basis=True)
            assert shown.content == "Marta repaired the kitchen sink on Monday."
            assert (shown.stale, [u.text for u in shown.basis]) == (False, [shown.content])
            assert shown.model.usage["input_tokens"] == 100
            found = await app.recall(REF, "Who repaired the kitchen sink?")
            assert all(a.unit.layer is not Layer.OBSERVATION for a in found.answers)
            assert (await refreshed(app, model.id))["outcome"] == "content_unchanged"
            await app.retain(REF, [item("Marta repaired the kitchen sink again today.", "more")])
            [shown] = await app.shelf.shown(REF, [await app.shelf.get(REF, model.id)])
            assert shown.stale
            await app.forget(REF, documents=["d3"])
            [shown] = await app.shelf.shown(REF, [await app.shelf.get(REF, model.id)])
            assert (shown.content, shown.stale) == (None, True)
            kept = await app.shelf.get(REF, model.id)
            await app.mental_models.delete(REF, kept.id)
            assert await app.shelf.all(REF) == []


async def test_mental_models_work_without_a_model(tmp_path: Path) -> None:
    async with opened(tmp_path, embedder="bge-small") as app:
        model, _ = await app.mental_models.create(REF, "Sink", "Who repaired the kitchen sink?")
        await app.thinker.drain()
        [shown] = await app.shelf.shown(REF, [await app.shelf.get(REF, model.id)])
        assert (shown.content, shown.model.outcome) == (None, "content_preserved_no_new_facts")
        await filled(app, OTHER)
        assert (await refreshed(app, model.id))["outcome"] == "content_written"
        [shown] = await app.shelf.shown(REF, [await app.shelf.get(REF, model.id)])
        assert "Marta repaired the kitchen sink on Monday." in (shown.content or "")


async def test_those_that_ask_for_it_are_refreshed_after_consolidation(tmp_path: Path) -> None:
    async with opened(tmp_path, embedder="bge-small") as app:
        trigger = {"refresh_after_consolidation": True}
        await app.mental_models.create(REF, "Garden", "What has the garden?", trigger=trigger)
        await app.mental_models.create(REF, "Sink", "Who repaired the sink?")
        await app.thinker.drain()
        await filled(app)
        before = len(await app.store.jobs(REF, kind=REFRESH))
        await consolidated(app)
        assert len(await app.store.jobs(REF, kind=REFRESH)) == before + 1


async def test_a_consolidation_that_waits_is_not_queued_twice(tmp_path: Path) -> None:
    async with opened(tmp_path, embedder="bge-small") as app:
        first, known = await app.consolidate.enqueue(REF)
        second, again = await app.consolidate.enqueue(REF)
        assert (first.id, known, again) == (second.id, False, True)
        assert len(await app.store.jobs(REF, kind=CONSOLIDATE)) == 1
