"""What only newer clients can do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hindsight_client import Hindsight
from hindsight_client_api.exceptions import ApiException
from hindsight_client_api.models.bank_template_manifest import BankTemplateManifest
from hindsight_client_api.models.create_webhook_request import CreateWebhookRequest
from hindsight_client_api.models.update_memory_request import UpdateMemoryRequest

Run = Callable[[Any], Any]
Finished = Callable[[str, str], Any]


class TestRetainSince11:
    def test_all_fields_of_one_memory(self, client: Hindsight, bank: str, run: Run) -> None:
        answer = client.retain(
            bank,
            "The kiln fires at night.",
            timestamp="unset",
            document_id="kiln",
            entities=[{"text": "Kiln 2"}],
            resolve_entities=False,
            observation_scopes="per_tag",
            tags=["pottery"],
        )
        assert answer.success
        found = client.recall(bank, "When does the kiln fire?").results[0]
        assert found.entities == ["Kiln 2"]
        assert run(client.documents.get_document(bank, "kiln")).observation_scopes

    def test_suspended_retains_reach_nobody(self, client: Hindsight, garden: str) -> None:
        before = client.list_memories(garden).total
        with client.suspend_retains():
            assert client.retain(garden, "Not stored.").items_count == 0
            assert client.recall(garden, "Marta").results
        assert client.list_memories(garden).total == before

    async def test_files(self, aclient: Hindsight, bank: str, tmp_path: Path) -> None:
        path = tmp_path / "tides.txt"
        path.write_text("High tide is at noon.")
        answer = await aclient.aretain_files(bank, [path], context="harbour")
        assert len(answer.operation_ids) == 1


class TestRecallSince11:
    def test_tag_groups_scores_and_windows(self, client: Hindsight, garden: str) -> None:
        query = "What does Marta do?"
        grouped = client.recall(garden, query, tag_groups=[{"tags": ["plants"]}])
        assert {tuple(r.tags) for r in grouped.results} == {("plants",)}
        assert client.recall(garden, query, min_scores={"final": 2.0}).results == []
        window = {"start": "2024-04-01T00:00:00Z", "end": "2024-04-03T00:00:00Z"}
        near = client.recall(garden, query, temporal_window=window, trace=True)
        assert "tomatoes" in near.results[0].text

    async def test_observations_are_preferred_on_demand(
        self, aclient: Hindsight, bank: str
    ) -> None:
        await aclient.aretain(bank, "The well is deep.")
        for preferred in (None, True, False):
            found = await aclient.arecall(bank, "well", prefer_observations=preferred)
            assert found.results


class TestReflectSince11:
    def test_facts_say_where_they_stand(self, client: Hindsight, garden: str) -> None:
        answer = client.reflect(
            garden, "What does Marta grow?", include_facts=True, apply_all_directives=True
        )
        memory = next(m for m in answer.based_on.memories if "tomatoes" in m.text)
        assert (memory.type, memory.context) == ("world", "a visit")
        assert (memory.document_id, memory.chunk_id) == ("notes", f"{garden}_notes_0")
        assert (memory.tags, memory.metadata) == (["plants"], {"source": "diary"})
        assert memory.mentioned_at.startswith("2024-04-02T09:00:00")


class TestBanksSince11:
    def test_list_by_words_and_page(self, client: Hindsight, bank: str, run: Run) -> None:
        for suffix in "abc":
            client.create_bank(f"{bank}-{suffix}")
        listed = run(client.banks.list_banks(q=bank, limit=2, offset=0))
        assert (listed.total, listed.limit, listed.offset) == (3, 2, 0)
        assert len(listed.banks) == 2

    async def test_config(self, aclient: Hindsight, bank: str) -> None:
        changed = await aclient.aupdate_bank_config(bank, recall_max_tokens=512)
        assert changed["overrides"] == {"recall_max_tokens": 512}
        assert (await aclient.aget_bank_config(bank))["config"]["recall_max_tokens"] == 512
        assert (await aclient.areset_bank_config(bank))["overrides"] == {}

    def test_a_template_is_imported(self, client: Hindsight, bank: str, run: Run) -> None:
        from hindsight_client_api.api.bank_templates_api import BankTemplatesApi

        templates = BankTemplatesApi(client._api_client)
        body = {"version": "1", "bank": {"retain_mission": "Keep dates.", "retain_chunk_size": 800}}
        manifest = BankTemplateManifest.from_dict(body)
        dry = run(templates.import_bank_template(bank, manifest, dry_run=True))
        assert dry.dry_run
        assert client.get_bank_config(bank)["overrides"] == {}
        done = run(templates.import_bank_template(bank, manifest))
        assert (done.bank_id, done.config_applied) == (bank, True)
        assert client.get_bank_config(bank)["config"]["retain_chunk_size"] == 800


class TestListsSince11:
    def test_a_time_narrows_and_orders_memories(self, client: Hindsight, bank: str) -> None:
        for text, day in (("Swifts came.", 5), ("Swifts left.", 9), ("Snow fell.", 7)):
            client.retain(bank, text, timestamp=f"2024-05-0{day}T00:00:00Z")
        found = client.list_memories(bank, time_field="mentioned_at", start_date="2024-05-06")
        assert [item.text for item in found.items] == ["Swifts left.", "Snow fell."]
        assert found.total == 2
        assert client.list_memories(bank, end_date="2024-06-01").total == 0

    def test_tags_narrow_knowledge_pages(self, client: Hindsight, bank: str) -> None:
        for name in ("kate", "lou"):
            client.create_knowledge_page(bank, name, "Who is it?", tags=[f"user:{name}"])
        group = [{"tags": ["user:kate"]}]
        [page] = client.get_knowledge_base_tree(bank, tag_groups=group).roots
        assert page.name == "kate"
        found = client.search_knowledge_base(bank, "kate lou", tags=["user:lou"])
        assert [hit.name for hit in found.results] == ["lou"]
        assert client.list_mental_models(bank, exclude_knowledge_pages=True).total == 0

    def test_a_time_narrows_documents(self, client: Hindsight, bank: str, run: Run) -> None:
        client.retain(bank, "Snow fell.", document_id="snow")
        found = run(client.documents.list_documents(bank, end_date="2024-06-01"))
        assert (found.total, found.items) == (0, [])

    def test_memories(self, client: Hindsight, garden: str) -> None:
        client.retain(garden, "The cellar is dry.", document_id="cellar", tags=["house"])
        named = client.list_memories(garden, document_id="cellar", state="valid")
        assert {item.document_id for item in named.items} == {"cellar"}
        tagged = client.list_memories(garden, tags=["house"], tags_match="all_strict")
        assert {item.document_id for item in tagged.items} == {"cellar"}

    def test_typed_rows(self, client: Hindsight, garden: str, run: Run) -> None:
        for item in client.list_memories(garden).items:
            assert item.fact_type == "world"
            assert item.state == "valid"
            assert item.chunk_id
        [document] = run(client.documents.list_documents(garden)).items
        assert (document.id, document.bank_id) == ("notes", garden)
        graph = run(client.memory.get_graph(garden))
        assert {node.data.id for node in graph.nodes} == {row.id for row in graph.table_rows}

    def test_pages_of_webhooks_and_scopes(self, client: Hindsight, bank: str, run: Run) -> None:
        for name in "abc":
            request = CreateWebhookRequest(url=f"https://hooks.example/{name}")
            run(client.webhooks.create_webhook(bank, request))
        listed = run(client.webhooks.list_webhooks(bank, limit=2, offset=2))
        assert [item.url for item in listed.items] == ["https://hooks.example/a"]
        assert (listed.total, listed.limit, listed.offset) == (3, 2, 2)
        scopes = run(client.memory.list_observation_scopes(bank, limit=5))
        assert (scopes.scopes, scopes.total, scopes.limit) == ([], 0, 5)

    def test_one_entry_of_the_audit_log(self, client: Hindsight, bank: str, run: Run) -> None:
        client.create_bank(bank)
        client.retain(bank, "Dew fell.")

        async def entries() -> Any:
            while True:
                if found := (await client.audit.list_audit_logs(bank)).items:
                    return found
                await asyncio.sleep(0.05)

        [first, *_] = run(asyncio.wait_for(entries(), 30))
        entry = run(client.audit.get_audit_log(bank, first.id))
        assert (entry.id, entry.action, entry.started_at) == (
            first.id, first.action, first.started_at,
        )  # fmt: skip
        with pytest.raises(ApiException) as missing:
            run(client.audit.get_audit_log(bank, "00000000-0000-0000-0000-000000000000"))
        assert missing.value.status == 404

    def test_entity_graph_counts(self, client: Hindsight, garden: str, run: Run) -> None:
        graph = run(client.entities.get_entity_graph(garden))
        counts = {node.data.label: node.data.mention_count for node in graph.nodes}
        assert counts["Marta"] > 0


class TestCurationSince11:
    def test_resolve_entities(self, client: Hindsight, bank: str, run: Run) -> None:
        client.retain(bank, "The spare key hangs in the shed.")
        memory = client.recall(bank, "spare key").results[0].id
        request = UpdateMemoryRequest(entities=["Shed 2"], resolve_entities=False)
        run(client.memory.update_memory(bank, memory, request))
        assert run(client.memory.get_memory(bank, memory))["entities"] == ["Shed 2"]

    def test_bad_values_are_refused(self, client: Hindsight, bank: str, run: Run) -> None:
        client.retain(bank, "The spare key hangs in the shed.")
        memory = client.recall(bank, "spare key").results[0].id
        with pytest.raises(ApiException) as refused:
            run(client.memory.update_memory(bank, memory, UpdateMemoryRequest(state="lost")))
        assert refused.value.status == 422
