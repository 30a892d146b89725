"""The generated classes for documents, chunks, memories, entities and graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hindsight_client import Hindsight
from hindsight_client_api.exceptions import ApiException
from hindsight_client_api.models.dry_run_extract_request import DryRunExtractRequest
from hindsight_client_api.models.update_document_request import UpdateDocumentRequest
from hindsight_client_api.models.update_memory_request import UpdateMemoryRequest

Run = Callable[[Any], Any]
Plain = Callable[[Any], dict[str, Any]]

SLASHES = "projects/2024/plan v1.md"


class TestDocumentNames:
    @pytest.mark.parametrize("name", [SLASHES, "a/chunks", "/leading", "50% off?", "Ørsted/日記"])
    def test_any_name_leads_back_to_its_document(
        self, client: Hindsight, bank: str, run: Run, name: str
    ) -> None:
        client.retain(bank, "The pump was oiled on Monday.", document_id=name, tags=["pump"])
        document = run(client.documents.get_document(bank, name))
        assert (document.id, document.original_text) == (name, "The pump was oiled on Monday.")
        chunks = run(client.documents.list_document_chunks(bank, name))
        assert [c.document_id for c in chunks.items] == [name]
        assert chunks.items[0].chunk_id == f"{bank}_{name}_0"
        chunk = run(client.documents.get_chunk(chunks.items[0].chunk_id))
        assert (chunk.bank_id, chunk.chunk_text) == (bank, "The pump was oiled on Monday.")
        request = UpdateDocumentRequest(tags=["valve"])
        assert run(client.documents.update_document(bank, name, request)).success
        found = client.recall(
            bank, "pump", tags=["valve"], tags_match="all_strict", include_chunks=True
        )
        assert found.results[0].document_id == name
        assert chunks.items[0].chunk_id in found.chunks
        assert run(client.documents.delete_document(bank, name)).document_id == name
        assert client.recall(bank, "pump").results == []


class TestDocumentList:
    def test_is_filtered_and_paged(
        self, client: Hindsight, bank: str, run: Run, plain: Plain
    ) -> None:
        for name, tags in (("old", ["a"]), ("mid", ["a", "b"]), ("new", None)):
            client.retain(bank, f"This is the {name} one.", document_id=name, tags=tags)
        listed = run(client.documents.list_documents(bank))
        rows = [plain(item) for item in listed.items]
        assert [row["id"] for row in rows] == ["new", "mid", "old"]
        assert (listed.total, listed.limit, listed.offset) == (3, 100, 0)
        assert rows[0]["text_length"] == len("This is the new one.")
        assert rows[0]["memory_unit_count"] > 0
        second = run(client.documents.list_documents(bank, limit=1, offset=1))
        assert [plain(item)["id"] for item in second.items] == ["mid"]
        tagged = run(client.documents.list_documents(bank, tags=["b"]))
        assert [plain(item)["id"] for item in tagged.items] == ["mid"]
        named = run(client.documents.list_documents(bank, q="ol"))
        assert [plain(item)["id"] for item in named.items] == ["old"]


class TestUpsert:
    def test_a_new_version_replaces_the_old_one(
        self, client: Hindsight, bank: str, run: Run
    ) -> None:
        client.retain(bank, "The gate code is 1111.", document_id="gate")
        client.retain(bank, "The gate code is 2222.", document_id="gate")
        assert [r.text for r in client.recall(bank, "gate code").results] == [
            "The gate code is 2222."
        ]
        assert run(client.documents.get_document(bank, "gate")).original_text.endswith("2222.")

    def test_append(self, client: Hindsight, bank: str, run: Run) -> None:
        client.retain(bank, "Day one was sunny.", document_id="log")
        client.retain(bank, "Day two was wet.", document_id="log", update_mode="append")
        text = run(client.documents.get_document(bank, "log")).original_text
        assert text.index("Day one was sunny.") < text.index("Day two was wet.")
        with pytest.raises(ApiException) as refused:
            client.retain(bank, "Day three.", update_mode="append")
        assert refused.value.status == 400

    def test_reprocess(
        self, client: Hindsight, garden: str, run: Run, finished: Callable[[str, str], Any]
    ) -> None:
        answer = run(client.documents.reprocess_document(garden, "notes"))
        assert answer.success
        assert finished(garden, answer.operation_id).status == "completed"
        assert "tomatoes" in client.recall(garden, "What does Marta grow?").results[0].text


class TestCuration:
    def one(self, client: Hindsight, bank: str, run: Run) -> str:
        client.retain(bank, "The spare key hangs in the shed.", document_id="key")
        return str(client.recall(bank, "spare key").results[0].id)

    def update(self, client: Hindsight, bank: str, memory: str, **what: Any) -> Any:
        request = UpdateMemoryRequest(**what)
        return client.memory.update_memory(bank, memory, request)

    def test_get(self, client: Hindsight, garden: str, run: Run) -> None:
        [best, *_] = client.recall(garden, "What does Marta grow?").results
        memory = run(client.memory.get_memory(garden, best.id))
        assert (memory["id"], memory["text"], memory["type"]) == (best.id, best.text, "world")
        assert memory["document_id"] == "notes"
        assert memory["state"] == "valid"
        assert "Marta" in memory["entities"]
        with pytest.raises(ApiException) as missing:
            run(client.memory.get_memory(garden, "00000000-0000-0000-0000-000000000000"))
        assert missing.value.status == 404

    def test_edit(self, client: Hindsight, bank: str, run: Run) -> None:
        memory = self.one(client, bank, run)
        run(self.update(client, bank, memory, text="The spare key lies under the pot."))
        texts = {r.text for r in client.recall(bank, "Where is the spare key?").results}
        assert texts == {"The spare key lies under the pot."}
        assert run(client.memory.get_memory(bank, memory))["edited_at"]

    def test_invalidate_and_revive(
        self, client: Hindsight, bank: str, run: Run, plain: Plain
    ) -> None:
        memory = self.one(client, bank, run)
        run(self.update(client, bank, memory, state="invalidated", reason="it was moved"))
        assert client.recall(bank, "spare key").results == []
        listed = run(client.memory.list_memories(bank, state="invalidated"))
        rows = {plain(item)["id"]: plain(item) for item in listed.items}
        assert rows[memory]["invalidation_reason"] == "it was moved"
        run(self.update(client, bank, memory, state="valid"))
        assert client.recall(bank, "spare key").results[0].id == memory

    def test_dates_and_entities(self, client: Hindsight, bank: str, run: Run) -> None:
        memory = self.one(client, bank, run)
        run(
            self.update(
                client, bank, memory, occurred_start="2024-05-01T00:00:00Z", entities=["Shed"]
            )
        )
        changed = run(client.memory.get_memory(bank, memory))
        assert changed["occurred_start"].startswith("2024-05-01")
        assert changed["entities"] == ["Shed"]

    def test_what_is_filtered(self, client: Hindsight, garden: str, run: Run, plain: Plain) -> None:
        client.retain(garden, "The cellar is dry.", document_id="cellar", tags=["house"])
        by_document = run(client.memory.list_memories(garden, document_id="cellar"))
        assert {plain(item)["document_id"] for item in by_document.items} == {"cellar"}
        by_tag = run(client.memory.list_memories(garden, tags=["house"], tags_match="all_strict"))
        assert {plain(item)["document_id"] for item in by_tag.items} == {"cellar"}
        [marta] = [
            item
            for item in run(client.entities.list_entities(garden)).items
            if item.canonical_name == "Marta"
        ]
        by_entity = client.list_memories(garden, entity_id=marta.id)
        assert by_entity.items
        assert all("Marta" in plain(item)["entities"] for item in by_entity.items)

    def test_clear(self, client: Hindsight, garden: str, run: Run) -> None:
        assert run(client.memory.clear_bank_memories(garden, type="experience")).success
        assert client.recall(garden, "Marta").results
        cleared = run(client.memory.clear_bank_memories(garden))
        assert cleared.success
        assert client.recall(garden, "Marta").results == []
        assert run(client.banks.get_bank_profile(garden)).bank_id == garden


class TestViews:
    def test_graph(self, client: Hindsight, garden: str, run: Run) -> None:
        graph = run(client.memory.get_graph(garden, limit=50)).to_dict()
        assert graph["limit"] == 50
        assert graph["total_units"] == len(graph["nodes"]) > 0
        ids = {node["data"]["id"] for node in graph["nodes"]}
        assert ids == {row["id"] for row in graph["table_rows"]}
        assert graph["edges"]
        for edge in graph["edges"]:
            assert {edge["data"]["source"], edge["data"]["target"]} <= ids

    def test_entity_graph(self, client: Hindsight, garden: str, run: Run) -> None:
        graph = run(client.entities.get_entity_graph(garden, min_count=1)).to_dict()
        labels = {node["data"]["label"] for node in graph["nodes"]}
        assert {"Marta", "Rui"} <= labels
        assert graph["total_entities"] == len(graph["nodes"])
        assert graph["total_edges"] == len(graph["edges"]) > 0

    def test_observations_of_entities_are_made_no_more(
        self, client: Hindsight, garden: str, run: Run
    ) -> None:
        [item, *_] = run(client.entities.list_entities(garden)).items
        with pytest.raises(ApiException) as gone:
            run(client.entities.regenerate_entity_observations(garden, item.id))
        assert gone.value.status == 410

    def test_scopes_of_observations(self, client: Hindsight, garden: str, run: Run) -> None:
        assert run(client.memory.list_observation_scopes(garden)).scopes == []

    def test_dry_run_stores_nothing(self, client: Hindsight, bank: str, run: Run) -> None:
        request = DryRunExtractRequest.from_dict(
            {"content": "My aunt Vera sold the boat in May 2023.", "context": "a letter"}
        )
        found = run(client.memory.dry_run_extract_memories(bank, request))
        assert any("Vera" in fact.text for fact in found.facts)
        assert client.recall(bank, "Vera").results == []
