"""Pydantic AI's own agent with our toolset, and a model that does as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

import remembrancer
from remembrancer.compat.pydantic_ai import RemembrancerToolset
from remembrancer.nouns.names import bank_ref


@pytest.fixture(autouse=True)
def loop() -> Iterator[None]:
    """A loop for `run_sync`, which makes one that nobody closes where there is none."""
    made = asyncio.new_event_loop()
    asyncio.set_event_loop(made)
    yield
    asyncio.set_event_loop(None)
    made.close()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[remembrancer.Memory]:
    with remembrancer.open(tmp_path, embedder="hash:64") as opened:
        yield opened


class Model:
    """Calls tools in turn, then says "done"; keeps what it was told."""

    def __init__(self, *calls: tuple[str, dict[str, Any]]) -> None:
        self._calls = list(calls)
        self.instructions: list[str | None] = []
        self.tools: list[str] = []
        self.told: list[Any] = []

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.instructions.append(info.instructions)
        self.tools = [tool.name for tool in info.function_tools]
        for part in messages[-1].parts:
            if isinstance(part, ToolReturnPart | RetryPromptPart):
                self.told.append(part.content)
        if self._calls:
            return ModelResponse(parts=[ToolCallPart(*self._calls.pop(0))])
        return ModelResponse(parts=[TextPart("done")])


def talk(model: Model, toolset: RemembrancerToolset[Any], said: str, deps: Any = None) -> None:
    agent = Agent(FunctionModel(model.answer), toolsets=[toolset], deps_type=object)
    assert agent.run_sync(said, deps=deps).output == "done"


def test_what_one_run_keeps_another_knows(memory: remembrancer.Memory) -> None:
    toolset = RemembrancerToolset[None](memory)
    first = Model(("retain", {"content": "Kim drinks green tea.", "tags": ["taste"]}))
    talk(first, toolset, "Remember that I, Kim, drink green tea.")
    assert first.tools == ["retain", "recall", "remind"]
    assert first.told == ["kept"]
    assert first.instructions[0] is None
    second = Model(("recall", {"question": "What does Kim drink?", "limit": 1}))
    talk(second, toolset, "Tea, please")
    assert "Kim drinks green tea." in (second.instructions[0] or "")
    [[found]] = second.told
    assert found["text"] == "Kim drinks green tea."
    [kept] = memory.recall("tea")
    assert kept.memory.tags == ("taste",)
    assert found["said_at"] == kept.memory.said_at.isoformat()


def test_reminders_by_time_event_and_topic(memory: remembrancer.Memory) -> None:
    model = Model(
        ("remind", {"content": "call the bank", "at": "every friday at 9:00"}),
        ("remind", {"content": "ask about the trip", "event": "holiday over"}),
        ("remind", {"content": "mention the discount", "topic": "buying shoes"}),
    )
    talk(model, RemembrancerToolset[None](memory, zone="Europe/Berlin"), "Remind me")
    with memory.prospective() as manager:
        items = {item.content: item for item in manager.get_active()}
        assert len(items) == len(model.told) == 3
        assert items["call the bank"].recurring
        assert items["ask about the trip"].trigger_event == "holiday over"
        assert items["mention the discount"].cue_text == "buying shoes"
        [due] = manager.check(events=["holiday over"])
        assert due.content == "ask about the trip"


def test_the_model_is_told_what_to_mend(memory: remembrancer.Memory) -> None:
    model = Model(
        ("remind", {"content": "call the bank", "at": "whenever you like"}),
        ("remind", {"content": "call the bank", "at": "tomorrow at 9:00"}),
    )
    talk(model, RemembrancerToolset[None](memory), "Remind me")
    assert "at" in model.told[0]
    assert model.told[1].startswith("registered as ")
    unsure = Model(("remind", {"content": "x", "at": "tomorrow", "event": "y"}))
    talk(unsure, RemembrancerToolset[None](memory), "Remind me")
    assert unsure.told == ["give just one of at, event and topic"]
    with memory.prospective() as manager:
        assert manager.get_count() == 1


@dataclass
class User:
    name: str


def test_each_user_has_a_bank(memory: remembrancer.Memory) -> None:
    def bank(ctx: RunContext[User]) -> str:
        return ctx.deps.name

    toolset = RemembrancerToolset[User](memory, bank=bank)
    talk(Model(("retain", {"content": "Kim has a dog."})), toolset, "x", User("kim"))
    lee = Model(("recall", {"question": "Who has a dog?"}))
    talk(lee, toolset, "dog", User("lee"))
    assert lee.instructions[0] is None
    assert lee.told == [[]]
    assert len(memory.recall("Who has a dog?", bank="kim")) == 1


def test_priming_can_be_left_to_the_agent(tmp_path: Path) -> None:
    toolset = RemembrancerToolset[None](tmp_path, prime=False, embedder="none")
    talk(Model(("retain", {"content": "Kim has a dog."})), toolset, "x")
    plain, primed = Model(), Model()
    talk(plain, toolset, "Hello")
    assert plain.instructions == [None]
    agent = Agent(FunctionModel(primed.answer), instructions=toolset.primed, deps_type=type(None))
    agent.run_sync("Hello", deps=None)
    assert "Kim has a dog." in (primed.instructions[0] or "")
    toolset.close()
    toolset.close()


def test_what_is_primed_counts_as_used_once_a_run(tmp_path: Path) -> None:
    calls = [("recall", {"question": "Who has a dog?"})] * 3
    with remembrancer.open(tmp_path, embedder="none") as memory:
        memory.retain("Kim has a dog.")
        talk(Model(*calls), RemembrancerToolset[None](memory), "dog")
    with remembrancer.open(tmp_path, embedder="none") as memory:
        context = memory.wait(memory.inner.app.prime(bank_ref("default")))
        assert [primed.unit.access_count for primed in context.memories] == [1]
