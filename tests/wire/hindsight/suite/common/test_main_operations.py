"""What every user of the client does: retain, recall, reflect, and look at what is there."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hindsight_client import Hindsight
from hindsight_client_api.exceptions import ApiException
from hindsight_client_api.models.recall_request import RecallRequest

Run = Callable[[Any], Any]


def texts(answer: Any) -> str:
    return "\n".join(result.text for result in answer.results)


class TestRetain:
    def test_one_memory_with_all_that_belongs_to_it(self, client: Hindsight, bank: str) -> None:
        answer = client.retain(
            bank,
            "Ines adopted a grey cat called Pixel.",
            timestamp=datetime(2024, 1, 15, 10, 30, tzinfo=UTC),
            context="a call with Ines",
            document_id="calls/ines",
            metadata={"channel": "phone"},
            entities=[{"text": "Pixel", "type": "PET"}],
        )
        assert answer.success is True
        assert answer.bank_id == bank
        assert answer.items_count == 1
        assert answer.var_async is False
        assert answer.operation_id is None
        assert answer.usage.total_tokens == 0  # a language model reads it afterwards
        [found] = [r for r in client.recall(bank, "Who is Pixel?").results if "grey cat" in r.text]
        assert found.context == "a call with Ines"
        assert found.metadata == {"channel": "phone"}
        assert found.document_id == "calls/ines"
        assert found.mentioned_at.startswith("2024-01-15T10:30:00")
        assert "Pixel" in found.entities

    def test_a_batch(self, client: Hindsight, bank: str) -> None:
        answer = client.retain_batch(
            bank,
            [
                {"content": "The north lift is out of order.", "context": "house rules"},
                {"content": "Parcels go to the porter.", "timestamp": "2024-02-01T08:00:00Z"},
                {"content": "Quiet hours begin at ten.", "timestamp": "unset"},
            ],
            document_id="house",
        )
        assert (answer.success, answer.items_count) == (True, 3)
        assert "porter" in texts(client.recall(bank, "Where do parcels go?"))

    def test_in_the_background(
        self, client: Hindsight, bank: str, finished: Callable[[str, str], Any]
    ) -> None:
        answer = client.retain(bank, "The ferry sails on Tuesdays.", retain_async=True)
        assert answer.var_async is True
        assert answer.usage is None
        status = finished(bank, answer.operation_id)
        assert status.status == "completed"
        assert status.result_metadata["unit_ids_count"] > 0
        assert "Tuesdays" in texts(client.recall(bank, "When does the ferry sail?"))


class TestRecall:
    def test_what_was_retained_is_found(self, client: Hindsight, garden: str) -> None:
        answer = client.recall(garden, "What does Marta grow?")
        assert answer.results
        assert "tomatoes" in answer.results[0].text
        assert answer.results[0].type == "world"
        assert answer.results[0].scores.final > 0
        assert (answer.trace, answer.chunks, answer.entities) == (None, None, None)

    def test_within_limits(self, client: Hindsight, garden: str) -> None:
        wide = client.recall(garden, "Marta", types=["world"], budget="high", max_tokens=2048)
        small = client.recall(garden, "Marta", types=["world"], budget="low", max_tokens=40)
        assert 0 < len(small.results) < len(wide.results)
        assert client.recall(garden, "Marta", types=["observation"]).results == []

    def test_with_all_that_can_be_included(self, client: Hindsight, garden: str) -> None:
        answer = client.recall(
            garden,
            "What does Marta grow?",
            trace=True,
            query_timestamp="2024-06-01T00:00:00Z",
            include_entities=True,
            max_entity_tokens=300,
            include_chunks=True,
            max_chunk_tokens=1000,
            include_source_facts=True,
        )
        assert answer.trace
        methods = {each["method_name"] for each in answer.trace["retrieval_results"]}
        assert {"semantic", "bm25"} <= methods <= {"semantic", "bm25", "graph", "temporal"}
        marta = answer.entities["Marta"]
        assert (marta.canonical_name, marta.observations) == ("Marta", [])
        chunk = answer.chunks[answer.results[0].chunk_id]
        assert "tomatoes" in chunk.text
        assert chunk.chunk_index == 0
        assert chunk.id == f"{garden}_notes_0"


class TestReflect:
    def test_a_question_is_answered(self, client: Hindsight, garden: str) -> None:
        answer = client.reflect(garden, "What does Rui do?", budget="low")
        assert "radios" in answer.text
        assert (answer.based_on, answer.structured_output, answer.trace) == (None, None, None)

    def test_with_context_and_a_limit(self, client: Hindsight, garden: str) -> None:
        answer = client.reflect(garden, "Who repairs?", context="old radios", max_tokens=40)
        assert answer.text
        assert len(answer.text.encode()) <= 160

    def test_into_a_schema(self, client: Hindsight, garden: str) -> None:
        schema = {
            "type": "object",
            "properties": {
                "summary": {"type": "string"},
                "plants": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["summary"],
        }
        answer = client.reflect(garden, "What does Marta grow?", response_schema=schema)
        assert answer.text
        assert isinstance(answer.structured_output, dict)
        assert answer.structured_output["summary"]

    def test_what_it_rests_on(self, client: Hindsight, garden: str) -> None:
        answer = client.reflect(
            garden, "Where does Marta live?", include_facts=True, include_tool_calls=True
        )
        known = {result.id for result in client.recall(garden, "Marta", budget="high").results}
        assert {memory.id for memory in answer.based_on.memories} & known
        assert answer.based_on.mental_models == answer.based_on.directives == []
        assert answer.trace.tool_calls[0].tool == "recall"
        assert answer.trace.tool_calls[0].output


class TestListMemories:
    def test_all(self, client: Hindsight, garden: str, plain: Callable[[Any], Any]) -> None:
        listed = client.list_memories(garden)
        assert listed.total == len(listed.items) > 0
        assert (listed.limit, listed.offset) == (100, 0)
        rows = [plain(item) for item in listed.items]
        assert any("tomatoes" in row["text"] for row in rows)
        assert {row["fact_type"] for row in rows} == {"world"}

    def test_by_page_type_and_words(
        self, client: Hindsight, garden: str, plain: Callable[[Any], Any]
    ) -> None:
        total = client.list_memories(garden).total
        pages = [client.list_memories(garden, limit=2, offset=n) for n in range(0, total, 2)]
        assert {page.total for page in pages} == {total}
        assert [page.offset for page in pages] == list(range(0, total, 2))
        ids = [plain(item)["id"] for page in pages for item in page.items]
        assert len(set(ids)) == len(ids) == total
        found = client.list_memories(garden, search_query="radios")
        assert found.items
        assert all("radios" in plain(item)["text"] for item in found.items)
        assert client.list_memories(garden, type="observation").total == 0


class TestEndToEnd:
    def test_from_a_new_bank_to_an_answer(self, client: Hindsight, bank: str) -> None:
        profile = client.create_bank(bank, name="Kitchen", mission="Know what is cooked here.")
        assert (profile.bank_id, profile.name) == (bank, "Kitchen")
        client.retain_batch(
            bank,
            [
                {"content": "Omar is allergic to peanuts."},
                {"content": "Omar cooked lentil soup on Friday."},
                {"content": "Dana bought saffron for the rice."},
            ],
        )
        assert "peanuts" in texts(client.recall(bank, "What is Omar allergic to?"))
        assert "saffron" in client.reflect(bank, "What did Dana buy?").text
        assert client.list_memories(bank).total >= 3
        assert client.delete_bank(bank).success


class TestBankStats:
    def test_counts(self, client: Hindsight, garden: str, run: Run) -> None:
        deadline = time.monotonic() + 30  # with a language model it reads in the background
        while (stats := run(client.banks.get_agent_stats(garden))).pending_operations:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert stats.bank_id == garden
        assert stats.total_nodes == stats.nodes_by_fact_type["world"] > 0
        assert stats.total_documents == 1
        assert stats.total_links == sum(stats.links_by_link_type.values())
        assert (stats.pending_operations, stats.failed_operations) == (0, 0)


class TestOperations:
    def test_list(
        self, client: Hindsight, bank: str, run: Run, finished: Callable[[str, str], Any]
    ) -> None:
        operation = client.retain(bank, "Tides are high.", retain_async=True).operation_id
        finished(bank, operation)
        listed = run(client.operations.list_operations(bank))
        assert (listed.bank_id, listed.limit, listed.offset) == (bank, 20, 0)
        row = next(each for each in listed.operations if each.id == operation)
        assert (row.status, row.items_count, row.error_message) == ("completed", 1, None)
        assert listed.total >= 1
        assert run(client.operations.list_operations(bank, status="failed")).total == 0


class TestDocuments:
    def test_get(self, client: Hindsight, garden: str, run: Run) -> None:
        document = run(client.documents.get_document(garden, "notes"))
        assert (document.id, document.bank_id) == ("notes", garden)
        assert "Rui repairs old radios" in document.original_text
        assert document.memory_unit_count > 0
        assert document.content_hash
        assert set(document.tags) == {"plants", "work"}

    def test_delete(self, client: Hindsight, garden: str, run: Run) -> None:
        client.retain(garden, "The cellar floods in spring.", document_id="cellar")
        gone = run(client.documents.delete_document(garden, "notes"))
        assert (gone.success, gone.document_id) == (True, "notes")
        assert gone.memory_units_deleted > 0
        with pytest.raises(ApiException) as missing:
            run(client.documents.get_document(garden, "notes"))
        assert missing.value.status == 404
        assert "tomatoes" not in texts(client.recall(garden, "What does Marta grow?"))
        assert "cellar" in texts(client.recall(garden, "What floods?"))


class TestEntities:
    def test_list(self, client: Hindsight, garden: str, run: Run) -> None:
        listed = run(client.entities.list_entities(garden))
        assert listed.total == len(listed.items)
        names = {item.canonical_name: item for item in listed.items}
        assert {"Marta", "Rui"} <= names.keys()
        assert names["Marta"].mention_count >= 2

    def test_pages(self, client: Hindsight, garden: str, run: Run) -> None:
        first = run(client.entities.list_entities(garden, limit=1, offset=0))
        second = run(client.entities.list_entities(garden, limit=1, offset=1))
        assert (first.limit, first.offset, second.limit, second.offset) == (1, 0, 1, 1)
        assert len(first.items) == len(second.items) == 1
        assert first.items[0].id != second.items[0].id
        assert first.total == second.total >= 2

    def test_get(self, client: Hindsight, garden: str, run: Run) -> None:
        for item in run(client.entities.list_entities(garden)).items:
            found = run(client.entities.get_entity(garden, item.id))
            assert (found.id, found.canonical_name) == (item.id, item.canonical_name)
            assert found.mention_count == item.mention_count


class TestTags:
    @pytest.fixture
    def tagged(self, client: Hindsight, bank: str) -> str:
        said = "The {} team meets in the {} room."
        for name, room, tags in (
            ("red", "large", ["red"]),
            ("blue", "small", ["blue"]),
            ("purple", "round", ["red", "blue"]),
            ("grey", "quiet", None),
        ):
            client.retain(bank, said.format(name, room), document_id=name, tags=tags)
        return bank

    def teams(self, answer: Any) -> set[str]:
        return {result.document_id for result in answer.results}

    def test_any_gives_untagged_ones_too(self, client: Hindsight, tagged: str) -> None:
        found = client.recall(tagged, "Where does the team meet?", tags=["red"], tags_match="any")
        assert self.teams(found) == {"red", "purple", "grey"}

    def test_all_gives_untagged_ones_too(self, client: Hindsight, tagged: str) -> None:
        tags = ["red", "blue"]
        found = client.recall(tagged, "Where does the team meet?", tags=tags, tags_match="all")
        assert self.teams(found) == {"purple", "grey"}

    def test_strict_ones_do_not(self, client: Hindsight, tagged: str) -> None:
        query, tags = "Where does the team meet?", ["red", "blue"]
        some = client.recall(tagged, query, tags=tags, tags_match="any_strict")
        assert self.teams(some) == {"red", "blue", "purple"}
        every = client.recall(tagged, query, tags=tags, tags_match="all_strict")
        assert self.teams(every) == {"purple"}

    def test_no_tags_is_no_filter(self, client: Hindsight, tagged: str) -> None:
        found = client.recall(tagged, "Where does the team meet?")
        assert self.teams(found) == {"red", "blue", "purple", "grey"}
        assert {tuple(sorted(r.tags or [])) for r in found.results} == {
            ("red",), ("blue",), ("blue", "red"), (),
        }  # fmt: skip

    def test_groups(self, client: Hindsight, tagged: str, run: Run) -> None:
        groups = [{"and": [{"tags": ["red"]}, {"not": {"tags": ["blue"]}}]}]
        request = RecallRequest.from_dict({"query": "Where do they meet?", "tag_groups": groups})
        assert self.teams(run(client.memory.recall_memories(tagged, request))) == {"red"}

    def test_tags_of_a_batch_are_joined(self, client: Hindsight, bank: str) -> None:
        client.retain_batch(
            bank,
            [{"content": "The boiler was swept.", "tags": ["heating"]}],
            document_tags=["house"],
        )
        [found] = client.recall(
            bank, "boiler", tags=["house", "heating"], tags_match="exact"
        ).results
        assert set(found.tags) == {"heating", "house"}

    def test_reflect_and_list_by_tag(self, client: Hindsight, tagged: str, run: Run) -> None:
        query = "Where does the team meet?"
        answer = client.reflect(tagged, query, tags=["blue"], tags_match="any_strict")
        assert "small" in answer.text
        assert "large" not in answer.text
        listed = run(client.memory.list_tags(tagged))
        assert {item.tag for item in listed.items} == {"red", "blue"}
        assert all(item.count >= 2 for item in listed.items)
        assert [item.tag for item in run(client.memory.list_tags(tagged, q="bl*")).items] == [
            "blue"
        ]


class TestDeleteBank:
    def test_all_of_it_goes(self, client: Hindsight, garden: str, run: Run) -> None:
        gone = client.delete_bank(garden)
        assert gone.success is True
        assert gone.deleted_count > 0
        with pytest.raises(ApiException) as missing:
            run(client.banks.get_bank_profile(garden))
        assert missing.value.status == 404
        assert run(client.banks.get_agent_stats(garden)).total_nodes == 0
        assert client.recall(garden, "tomatoes").results == []


class TestMission:
    def test_is_kept(self, client: Hindsight, bank: str, run: Run) -> None:
        client.create_bank(bank, name="Helper")
        answer = client.set_mission(bank, "Help with the garden.")
        assert (answer.bank_id, answer.mission) == (bank, "Help with the garden.")
        kept = run(client.banks.get_bank_profile(bank))
        assert (kept.name, kept.mission) == ("Helper", "Help with the garden.")


class TestAsyncRecall:
    async def told(self, aclient: Hindsight, bank: str) -> None:
        await aclient.aretain_batch(
            bank,
            [
                {"content": "My cousin Lena studies marine biology.", "tags": ["study"]},
                {"content": "On Sundays, Lena plays the cello."},
            ],
            document_id="lena",
        )

    async def test_what_was_retained_is_found(self, aclient: Hindsight, bank: str) -> None:
        answer = await aclient.aretain(bank, "Lena owns a red kayak.", context="a letter")
        assert answer.success
        found = await aclient.arecall(bank, "What does Lena own?")
        assert "kayak" in texts(found)
        assert found.results[0].context == "a letter"

    async def test_within_limits(self, aclient: Hindsight, bank: str) -> None:
        await self.told(aclient, bank)
        small = await aclient.arecall(bank, "Lena", max_tokens=20, budget="low", types=["world"])
        wide = await aclient.arecall(bank, "Lena", max_tokens=4096, budget="high")
        assert 0 < len(small.results) < len(wide.results)

    async def test_trace(self, aclient: Hindsight, bank: str) -> None:
        await self.told(aclient, bank)
        answer = await aclient.arecall(bank, "What does Lena play?", trace=True)
        assert answer.trace
        assert answer.trace["query"]["text"] == "What does Lena play?"

    async def test_entities_and_chunks(self, aclient: Hindsight, bank: str) -> None:
        await self.told(aclient, bank)
        answer = await aclient.arecall(bank, "cello", include_entities=True, include_chunks=True)
        assert answer.entities["Lena"].entity_id
        assert "cello" in next(iter(answer.chunks.values())).text

    async def test_tags(self, aclient: Hindsight, bank: str) -> None:
        await self.told(aclient, bank)
        found = await aclient.arecall(bank, "Lena", tags=["study"], tags_match="all_strict")
        assert "biology" in texts(found)
        assert "cello" not in texts(found)


class TestAsyncReflect:
    async def test_a_question_is_answered(self, aclient: Hindsight, bank: str) -> None:
        await aclient.aretain(bank, "Tomas keeps eleven hives behind the mill.")
        answer = await aclient.areflect(bank, "What does Tomas keep?", include_facts=True)
        assert "hives" in answer.text
        assert answer.based_on.memories

    async def test_into_a_schema(self, aclient: Hindsight, bank: str) -> None:
        await aclient.aretain(bank, "Tomas keeps 11 hives behind the mill.")
        schema = {
            "type": "object",
            "properties": {"hives": {"type": "integer"}},
            "required": ["hives"],
        }
        answer = await aclient.areflect(bank, "How many hives are there?", response_schema=schema)
        assert answer.text
        assert answer.structured_output == {"hives": 11}


class TestAsyncDeleteBank:
    async def test_all_of_it_goes(self, aclient: Hindsight, bank: str) -> None:
        await aclient.acreate_bank(bank, name="Short-lived")
        await aclient.aretain(bank, "This will not stay.")
        assert (await aclient.adelete_bank(bank)).success is True
        assert (await aclient.arecall(bank, "stay")).results == []
        listed = await aclient.memory.list_memories(bank)
        assert listed.total == 0
