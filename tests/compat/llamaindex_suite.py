"""What `test_llamaindex.py` runs in the environment that has LlamaIndex."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory

import remembrancer
from remembrancer.compat.llamaindex import RemembrancerMemoryBlock


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[remembrancer.Memory]:
    with remembrancer.open(tmp_path, embedder="hash:64") as opened:
        yield opened


def chat(block: RemembrancerMemoryBlock, **options: Any) -> Memory:
    given = {"session_id": "talk", "token_limit": 1_000, "tokenizer_fn": str.split, **options}
    return Memory.from_defaults(memory_blocks=[block], **given)


def said(role: str, text: str, **more: Any) -> ChatMessage:
    return ChatMessage(role=role, content=text, **more)


def texts(memory: remembrancer.Memory, bank: str = "default") -> list[str]:
    """Return what is kept, in the order in which it was said."""
    found = memory.recall("cat", bank=bank, limit=100, min_relevance=0)
    return [each.text for each in sorted(found, key=lambda each: each.memory.turn)]


def test_what_leaves_the_short_term_memory_is_kept_and_given_back(
    memory: remembrancer.Memory,
) -> None:
    async def use() -> None:
        short = {"token_limit": 60, "chat_history_token_ratio": 0.3, "token_flush_size": 5}
        talk = chat(RemembrancerMemoryBlock(memory), **short)
        for name in ("Tom", "Ada", "Kit"):
            await talk.aput_messages(
                [said("user", f"One cat is called {name}."), said("assistant", f"{name} the cat.")]
            )
        assert texts(memory) == ["One cat is called Tom.", "Tom the cat."]
        assert {found.memory.document for found in memory.recall("Tom")} == {"talk"}
        await talk.aput_messages([said("user", "My cat is back."), said("assistant", "Which cat?")])
        assert texts(memory)[:4] == [
            "One cat is called Tom.",
            "Tom the cat.",
            "One cat is called Ada.",
            "Ada the cat.",
        ]

    asyncio.run(use())


def test_what_is_known_stands_in_the_system_message(memory: remembrancer.Memory) -> None:
    async def use() -> None:
        memory.retain("Kim drinks green tea.")
        talk = chat(RemembrancerMemoryBlock(memory))
        await talk.aput(said("user", "Tea, please"))
        system, last = await talk.aget()
        assert system.role.value == "system"
        assert "<long_term_memory>" in (system.content or "")
        assert "Kim drinks green tea." in (system.content or "")
        assert last.content == "Tea, please"
        assert len(await chat(RemembrancerMemoryBlock(memory, bank="other")).aget("Tea")) == 0

    asyncio.run(use())


def test_an_agent_is_told_what_is_known(memory: remembrancer.Memory) -> None:
    async def use() -> None:
        memory.retain("Kim drinks green tea.")
        asked: list[list[ChatMessage]] = []

        class Model(MockFunctionCallingLLM):
            def _prepare_chat_with_tools(self, tools: Any, **given: Any) -> dict[str, Any]:
                told: dict[str, Any] = super()._prepare_chat_with_tools(tools, **given)
                asked.append(told["messages"])
                return told

        agent = FunctionAgent(llm=Model(), tools=[], streaming=False)
        await agent.run("Tea, please", memory=chat(RemembrancerMemoryBlock(memory)))
        assert any("Kim drinks green tea." in (m.content or "") for m in asked[0])

    asyncio.run(use())


def test_it_is_shortened_by_lines_from_the_end(memory: remembrancer.Memory) -> None:
    async def use() -> None:
        for number in range(20):
            memory.retain(f"Fact number {number} is about cats and their many ways.")
        block = RemembrancerMemoryBlock(memory)
        whole = await block.aget([said("user", "cats")])
        for tokens in (1, 20, 100):
            shorter = await block.atruncate(whole, tokens)
            assert shorter is not None
            assert whole.startswith(shorter + "\n")
            assert len(shorter) <= len(whole) - tokens * 6
        assert await block.atruncate(whole, 10_000) is None
        small = chat(block, token_limit=80)
        await small.aput(said("user", "cats"))
        system, _ = await small.aget()
        assert 0 < len((system.content or "").split()) <= 80

    asyncio.run(use())


def test_a_session_can_be_kept_whole(memory: remembrancer.Memory) -> None:
    async def use() -> None:
        block = RemembrancerMemoryBlock(memory, accept_short_term_memory=False)
        talk = chat(block)
        await talk.aput_messages([said("user", "One cat is Tom."), said("assistant", "A cat.")])
        await block.akeep(talk)
        revision = memory.recall("cat").revision
        await block.akeep(talk)
        assert memory.recall("cat").revision == revision
        await talk.aput(said("user", "Another cat is Ada."))
        await block.akeep(talk)
        assert texts(memory) == ["One cat is Tom.", "A cat.", "Another cat is Ada."]

    asyncio.run(use())


def test_tools_and_empty_messages_are_not_kept(memory: remembrancer.Memory) -> None:
    async def use() -> None:
        call = {"tool_calls": [{"name": "look", "input": "cat"}]}
        block = RemembrancerMemoryBlock(memory)
        await block.aput([said("system", "cat"), said("tool", "cat"), said("user", "")])
        await block.aput([ChatMessage(role="assistant", additional_kwargs=call)])
        assert texts(memory) == []
        await block.aput([said("user", "A cat.")], from_short_term_memory=False)
        assert texts(memory) == ["A cat."]

    asyncio.run(use())


def test_bad_input_is_a_value_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="bank"):
        RemembrancerMemoryBlock(tmp_path, bank="")
    block = RemembrancerMemoryBlock(tmp_path, embedder="none", max_tokens=-1)
    with pytest.raises(ValueError, match="max_tokens"):
        asyncio.run(block.aget())
    block.close()
    block.close()


def test_the_documented_example_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (Path(__file__).parents[2] / "docs" / "migrate" / "llamaindex.md").read_text()
    marked = r"<!-- runs with llama-index-core -->\n```python\n(.*?)```\n\n```\n(.*?)```"
    found = re.search(marked, text, re.DOTALL)
    assert found is not None
    code, output = found.groups()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REMEMBRANCER_EMBEDDER", "hash:64")
    exec(code, {})
    assert capsys.readouterr().out == output
