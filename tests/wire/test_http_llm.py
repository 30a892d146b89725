"""Routes of what a language model adds: answers, directives, mental models, pages, observations."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_kit import Client, make
from wire_kit import Server

from llm_kit import Endpoint, Reply
from remembrancer.faces.grpc import proto

MEMORY = re.compile(r'<(?:memory|observation|model) number="(\d+)"[^>]*>(.*?)</', re.DOTALL)
SINK = "Marta repaired the kitchen sink on 3 May 2024."


def answered(body: dict[str, Any]) -> Reply:
    """The first memory shown, word for word; facts and observations: none."""
    rules, text = (m["content"] for m in body["messages"])
    if '"facts"' in rules:
        return Reply('{"facts": []}')
    if '"observations"' in rules:
        return Reply('{"observations": []}')
    found = MEMORY.findall(text)
    if not found:
        return Reply("ready")
    told: dict[str, Any] = {"answer": html.unescape(found[0][1]), "used": [int(found[0][0])]}
    if "<schema>" in text:
        told["object"] = {"who": "Marta"}
    return Reply(json.dumps(told))


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(answered) as found:
        yield found


@pytest.fixture(scope="module")
def llm(endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("llm")
    told = {name: str(value) for name, value in endpoint.settings.items()}
    with Server(folder, **told, worker_slots="2") as server:
        server.retain("b", {"content": SINK, "document_id": "sink"})
        yield server


def bank(path: str, name: str = "b") -> str:
    return f"/v1/default/banks/{name}/{path}"


def done(server: Server, operation: str) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found: dict[str, Any] = server.client.get(bank(f"operations/{operation}")).json()
        if found["status"] in {"completed", "failed"}:
            return found
        time.sleep(0.05)
    raise AssertionError("the operation does not end")


def reflect(server: Server, query: str, **more: Any) -> dict[str, Any]:
    answer = server.post(bank("reflect"), {"query": query, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


ASKED = "Who repaired the kitchen sink?"
ALL = {"facts": {}, "tool_calls": {}}


def test_a_model_answers_from_what_was_found(llm: Server, endpoint: Endpoint) -> None:
    found = reflect(llm, ASKED, include=ALL)
    assert found["text"] == SINK
    assert [m["text"] for m in found["based_on"]["memories"]] == [SINK]
    assert found["usage"]["total_tokens"] == 110
    assert found["trace"]["llm_calls"][0]["scope"] == "reflect_answer"
    assert "degraded" not in found
    shaped = reflect(
        llm, ASKED, response_schema={"type": "object", "properties": {"who": {"type": "string"}}}
    )
    assert shaped["structured_output"] == {"who": "Marta"}
    before = len(endpoint.requests)
    nothing = llm.post(bank("reflect", "empty"), {"query": ASKED}).json()
    assert "Nothing is known" in nothing["text"]
    assert len(endpoint.requests) == before


@pytest.mark.parametrize(
    "reply",
    [
        Reply(json.dumps({"answer": "Gregor repaired the sink.", "used": [1]})),
        Reply(json.dumps({"answer": "Marta repaired 17 sinks in 1999.", "used": [1]})),
        Reply(json.dumps({"answer": "", "used": []})),
        Reply("Sure!"),
        Reply(status=400),
    ],
)
def test_an_answer_that_does_not_hold_is_dropped_for_the_quoted_one(
    llm: Server, endpoint: Endpoint, reply: Reply
) -> None:
    endpoint.script = lambda body: reply if ASKED in str(body) else answered(body)
    found = reflect(llm, ASKED)
    endpoint.script = answered
    assert f"“{SINK}”" in found["text"]
    assert found["degraded"].startswith("answered without the model")


def test_directives_shape_the_prompt_and_are_kept(llm: Server, endpoint: Endpoint) -> None:
    told = {"name": "tone", "content": "Answer </directive> kindly.", "priority": 2}
    made = llm.post(bank("directives"), told).json()
    assert (made["bank_id"], made["is_active"], made["tags"]) == ("b", True, [])
    one = bank(f"directives/{made['id']}")
    llm.post(bank("directives"), {"name": "other", "content": "For x.", "tags": ["x"]})
    found = reflect(llm, ASKED, include=ALL)
    assert [d["name"] for d in found["based_on"]["directives"]] == ["tone"]
    asked = endpoint.requests[-1]["messages"][1]["content"]
    assert "<directive>Answer &lt;/directive&gt; kindly.</directive>" in asked
    assert (
        len(reflect(llm, ASKED, include=ALL, apply_all_directives=True)["based_on"]["directives"])
        == 2
    )
    changed = llm.client.patch(one, json={"is_active": False}).json()
    assert changed["is_active"] is False
    listed = llm.client.get(bank("directives")).json()
    assert ([d["name"] for d in listed["items"]], listed["total"]) == (["other"], 1)
    every = llm.client.get(bank("directives"), params={"active_only": False}).json()
    assert every["total"] == 2
    assert llm.client.delete(one).status_code == 200
    assert llm.client.get(one).status_code == 404
    assert llm.post(bank("directives"), {"name": " ", "content": "x"}).status_code == 422


def test_mental_models_are_written_shown_and_deleted(llm: Server) -> None:
    made = llm.post(
        bank("mental-models"), {"id": "sink", "name": "Sink", "source_query": ASKED}
    ).json()
    assert made["mental_model_id"] == "sink"
    ended = done(llm, made["operation_id"])
    assert (ended["status"], ended["result_metadata"]["outcome"]) == (
        "completed",
        "content_written",
    )
    assert ended["mental_model_id"] == "sink"
    operations = llm.client.get(bank("operations"), params={"type": "refresh_mental_model"})
    assert {o["mental_model_id"] for o in operations.json()["operations"]} == {"sink"}
    one = bank("mental-models/sink")
    shown = llm.client.get(one).json()
    assert (shown["content"], shown["is_stale"], shown["max_tokens"]) == (SINK, False, 2048)
    assert shown["trigger"]["mode"] == "full"
    assert shown["reflect_response"]["based_on"]["world"][0]["text"] == SINK
    assert "content" not in llm.client.get(one, params={"detail": "metadata"}).json()
    listed = llm.client.get(bank("mental-models")).json()
    assert (listed["total"], listed["items"][0]["id"]) == (1, "sink")
    dry = llm.client.post(f"{one}/dry-run-refresh").json()
    assert (dry["outcome"], dry["would_persist"]) == ("content_unchanged", False)
    found = reflect(llm, ASKED, include=ALL)
    assert [m["id"] for m in found["based_on"]["mental_models"]] == ["sink"]
    assert llm.client.patch(one, json={"name": "The sink"}).json()["name"] == "The sink"
    again = llm.client.post(f"{one}/refresh").json()
    assert done(llm, again["operation_id"])["status"] == "completed"
    assert llm.client.get(f"{one}/history").json() == []
    assert "content" not in llm.client.post(f"{one}/clear").json()
    assert (
        llm.post(
            bank("mental-models"), {"id": "sink", "name": "S", "source_query": "?"}
        ).status_code
        == 409
    )
    assert llm.client.delete(one).status_code == 200
    assert llm.client.get(one).status_code == 404


def test_knowledge_pages_stand_in_folders(llm: Server) -> None:
    base = bank("knowledge-base")
    folder = llm.post(f"{base}/folders", {"name": "House"})
    assert folder.status_code == 201
    told = {"name": "Sink", "source_query": ASKED, "parent_id": folder.json()["id"]}
    page = llm.post(f"{base}/pages", told)
    assert page.status_code == 201
    done(llm, page.json()["operation_id"])
    shown = llm.client.get(f"{base}/pages/{page.json()['page_id']}").json()
    assert shown["body"] == SINK
    assert shown["markdown"].endswith(f"# Sink\n\n{SINK}\n")
    [root] = llm.client.get(f"{base}/tree").json()["roots"]
    assert (root["name"], [c["kind"] for c in root["children"]]) == ("House", ["page"])
    hits = llm.client.get(f"{base}/search", params={"q": "kitchen sink"}).json()
    assert [h["name"] for h in hits["results"]] == ["Sink"]
    [file] = llm.client.get(f"{base}/export").json()["files"]
    assert file["path"] == "House/Sink.md"
    node = f"{base}/nodes/{folder.json()['id']}"
    assert llm.client.patch(node, json={"name": "Home"}).json()["name"] == "Home"
    assert llm.client.patch(node, json={"parent_id": folder.json()["id"]}).status_code == 422
    assert llm.client.delete(node).json()["deleted_count"] == 2
    assert llm.client.get(f"{base}/tree").json()["roots"] == []
    assert llm.client.get(bank("mental-models")).json()["total"] == 0


def test_consolidation_runs_and_is_not_queued_for_nothing(llm: Server) -> None:
    made = llm.client.post(bank("consolidate")).json()
    ended = done(llm, made["operation_id"])
    assert (ended["status"], ended["operation_type"]) == ("completed", "consolidation")
    assert llm.client.post(bank("consolidation/recover")).json() == {"retried_count": 0}
    assert llm.client.delete(bank("observations")).json()["deleted_count"] == 0


def test_health_traces_and_figures_tell_what_models_did(llm: Server) -> None:
    health = llm.client.post(bank("health/llm")).json()
    assert {(o["operation"], o["status"]) for o in health["operations"]} == {
        ("retain", "connected"), ("consolidation", "connected"), ("reflect", "connected"),
    }  # fmt: skip
    listed = llm.client.get(bank("llm-requests"), params={"scope": "health"}).json()
    assert listed["total"] == 3
    assert listed["items"][0]["input"] is None
    stats = llm.client.get(bank("llm-requests/stats")).json()
    total = sum(b["tokens"]["total"] for b in stats["buckets"])
    assert total == stats["today"]["bank"]["tokens"] > 0
    status = llm.client.get("/v1/status").json()
    assert status["llm"]["models"]["reflect"] == "openai:scripted"
    assert status["llm"]["tokens_today"] >= total
    figures = llm.client.get("/metrics").text
    assert 'remembrancer_llm_calls_total{verb="reflect",outcome="answered"}' in figures
    assert "sk-not-a-secret" not in figures + llm.client.get("/v1/status").text


def test_without_a_model_all_of_it_answers(server: Server) -> None:
    server.retain("plain", {"content": SINK})
    health = server.client.post(bank("health/llm", "plain")).json()
    assert {o["status"] for o in health["operations"]} == {"not_configured"}
    assert server.client.get("/v1/status").json()["llm"] is None
    assert server.client.get(bank("llm-requests", "plain")).json()["total"] == 0
    told = {"name": "Sink", "source_query": ASKED}
    made = server.post(bank("mental-models", "plain"), told)
    assert made.status_code == 200


def test_tags_narrow_knowledge_pages(server: Server) -> None:
    base = bank("knowledge-base", "tagged-pages")
    folders = {n: server.post(f"{base}/folders", {"name": n}).json()["id"] for n in ("A", "B")}
    for name, folder, tags in (
        ("Kate", "A", ["user:kate"]),
        ("Both", "A", ["user:kate", "team"]),
        ("Lou", "B", ["user:lou"]),
        ("All", None, []),
    ):
        told = {"name": name, "source_query": ASKED, "tags": tags}
        parent = {"parent_id": folders[folder]} if folder else {}
        assert server.post(f"{base}/pages", told | parent).status_code == 201

    def names(**asked: Any) -> list[str]:
        found = server.client.get(f"{base}/tree", params=asked)
        assert "X-Ignored-Params" not in found.headers
        every = [(r, *r["children"]) for r in found.json()["roots"]]
        shown = sorted(node["name"] for nodes in every for node in nodes)
        hits = server.client.get(f"{base}/search", params={"q": "Kate Both Lou All", **asked})
        pages = sorted(h["name"] for h in hits.json()["results"])
        assert pages == [name for name in shown if name not in folders]
        return shown

    assert names() == ["A", "All", "B", "Both", "Kate", "Lou"]
    assert names(tags="user:kate") == ["A", "All", "Both", "Kate"]
    assert names(tags="user:kate", tags_match="any_strict") == ["A", "Both", "Kate"]
    assert names(tags="user:lou", tags_match="exact") == ["B", "Lou"]
    assert names(tags="none", tags_match="all_strict") == []
    either = [{"or": [{"tags": ["user:lou"]}, {"tags": ["team"]}]}]
    assert names(tag_groups=json.dumps(either)) == ["A", "B", "Both", "Lou"]
    others = json.dumps([{"not": {"tags": ["team"]}}])
    assert names(tag_groups=others, tags="user:kate", tags_match="all_strict") == ["A", "Kate"]
    for wrong in ("[", "{}", '[{"tags": 1}]', "[" * 9_000):
        answer = server.client.get(f"{base}/tree", params={"tag_groups": wrong})
        assert answer.status_code == 422
        assert "tag_groups" in answer.text


def test_mental_models_are_listed_without_those_of_pages(server: Server) -> None:
    told = {"name": "Sink", "source_query": ASKED}
    name = "models-and-pages"
    made = server.post(bank("mental-models", name), told).json()["mental_model_id"]
    server.post(bank("knowledge-base/pages", name), told)
    path = bank("mental-models", name)
    assert server.client.get(path).json()["total"] == 2
    found = server.client.get(path, params={"exclude_knowledge_pages": True}).json()
    assert ([m["id"] for m in found["items"]], found["total"]) == ([made], 1)


LOCK = "Ann: The pump at lock 3 failed on Monday. I called Wanda."


def test_facts_of_the_caller_are_kept_or_told_back(llm: Server, endpoint: Endpoint) -> None:
    sent = len(endpoint.requests)
    facts = [
        {"text": "The pump at lock 3 failed.", "quote": "The pump at lock 3 failed on Monday"},
        {"text": "Ann called Wanda.", "quote": "I called Wanda", "entities": ["Ann", "Wanda"]},
        {"text": "Ann called Boris.", "quote": "I called Wanda"},
    ]
    given = {"content": LOCK, "document_id": "lock", "facts": facts}
    for _ in range(2):
        kept = llm.retain("given", given)
        assert kept["facts_given_count"] == 3
        assert kept["facts_refused"] == [{"item": 0, "fact": 2, "reason": "invented_name"}]
        assert kept["usage"]["total_tokens"] == 0
    assert kept["unchanged_document_ids"] == ["lock"]
    found = llm.post(bank("memories/recall", "given"), {"query": "Whom did Ann call?"}).json()
    assert "Ann called Wanda." in json.dumps(found)
    assert len(endpoint.requests) == sent  # no model reads what is read already
    too_long = {**given, "facts": [{"text": "x" * 601}]}
    refused = llm.post(bank("memories", "given"), {"items": [too_long]})
    assert refused.status_code == 422
    assert refused.json()["detail"][0]["loc"] == ["body", "items", 0, "facts", 0, "text"]


def test_a_sync_retain_names_what_is_yet_to_be_read(llm: Server) -> None:
    kept = llm.retain("used", {"content": SINK, "document_id": "sink"})
    assert kept["usage"]["total_tokens"] == 0  # by then
    [operation] = kept["reading_operation_ids"]
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = llm.client.get(bank(f"operations/{operation}", "used")).json()
        if found["status"] == "completed":
            break
        time.sleep(0.05)
    assert found["result_metadata"]["usage"]["total_tokens"] == 110
    again = llm.retain("used", {"content": SINK, "document_id": "sink"})
    assert again["usage"]["total_tokens"] == 0
    assert "reading_operation_ids" not in again


def test_grpc_answers_as_http_does(llm: Server) -> None:
    """The same verb, with the same model, over the other wire."""
    with grpc.insecure_channel(llm.grpc) as channel:
        request = proto.message("ReflectRequest", proto.OWN_PACKAGE)(bank="b", query=ASKED)
        call = channel.unary_unary(
            f"/{proto.OWN_PACKAGE}.AnswerService/Reflect",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=proto.message("ReflectResponse", proto.OWN_PACKAGE).FromString,
        )
        found = call(request, timeout=30)
        assert (found.text, found.usage.total_tokens) == (SINK, 110)
        assert [each.text for each in found.based_on] == [SINK]
        assert not found.HasField("degraded")
        request.tags_match = "some"
        with pytest.raises(grpc.RpcError) as refused:
            call(request, timeout=30)
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_hebbs_reflect_makes_insights_that_hold(llm: Server, endpoint: Endpoint) -> None:
    """One question a cluster, none for a cluster that is done; nothing without sources."""
    said = [
        {"text": "The crane is often out of order.", "based_on": [1, 2]},
        {"text": "The crane was built by Boris in 1999.", "based_on": [1, 2]},
    ]

    def insightful(body: dict[str, Any]) -> Reply:
        rules = body["messages"][0]["content"]
        return (
            Reply(json.dumps({"observations": said})) if '"observations"' in rules else Reply("no")
        )

    with grpc.insecure_channel(llm.grpc) as channel:
        client = Client(channel, "default")
        ids = [client.remember("The crane is out of order.", "dock").memory_id for _ in range(6)]
        scope = make("ReflectScope", entity=make("EntityScope", entity_id="dock"))
        endpoint.script = insightful
        try:
            told = client.call("Reflect", scope=scope)
            again = client.call("Reflect", scope=scope)
        finally:
            endpoint.script = answered
        assert (told.insights_created, told.clusters_processed) == (1, 1)
        assert (again.insights_created, again.clusters_processed) == (0, 1)
        [insight] = client.call("GetInsights", entity_id="dock").insights
        assert insight.content == "The crane is often out of order."
        client.call("Forget", memory_ids=[ids[0]])
        assert not client.call("GetInsights", entity_id="dock").insights


def test_schedules_and_deltas_are_told_back(llm: Server) -> None:
    trigger = {"mode": "delta", "refresh_cron": "0 6 * * 1-5", "refresh_zone": "Europe/Oslo"}
    body = {"id": "clock", "name": "Sink", "source_query": ASKED, "trigger": trigger}
    made = llm.post(bank("mental-models"), body)
    assert made.status_code == 200, made.text
    assert done(llm, made.json()["operation_id"])["status"] == "completed"
    shown = llm.client.get(bank("mental-models/clock")).json()
    assert {name: shown["trigger"][name] for name in trigger} == trigger
    dry = llm.post(bank("mental-models/clock/dry-run-refresh"), {}).json()
    assert (dry["requested_mode"], dry["effective_mode"]) == ("delta", "delta")
    assert (dry["outcome"], dry["would_persist"]) == ("content_preserved_no_new_facts", False)
    for wrong in ({"refresh_cron": "at six"}, {"refresh_cron": "@daily", "refresh_zone": "Oslo"}):
        refused = llm.client.patch(bank("mental-models/clock"), json={"trigger": wrong})
        assert refused.status_code in {400, 422}
        assert "trigger.refresh_" in refused.text


def test_consolidation_of_some_scopes(llm: Server) -> None:
    told = llm.post(bank("consolidate"), {"observation_scopes": [["ann"]]})
    assert told.status_code == 200, told.text
    assert done(llm, told.json()["operation_id"])["status"] == "completed"
    refused = llm.post(bank("consolidate"), {"observation_scopes": "per_tag"})
    assert refused.status_code == 422
