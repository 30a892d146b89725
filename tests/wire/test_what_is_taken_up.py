"""What becomes of a chat as programs hand it in: which facts are read of it, whose, and once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from told_kit import Mind, chat

HARP = "My sister Ines plays the harp in Ghent."
PROMPT = "You are Brindle, a helpful assistant of Larch Ltd. You help users with their harps."


@pytest.mark.parametrize("frame", ["{}", "<memories>\n{}\n</memories>", "[MEMORY]\n{}\n[/MEMORY]"])
@pytest.mark.parametrize("prose", [False, True], ids=["chat", "prose"])
def test_what_is_recalled_and_pasted_again_and_again_stays_one_memory(
    mind: Mind, frame: str, prose: bool
) -> None:
    mind.retain(HARP)
    for n in range(4):
        recalled = mind.prime("Who plays the harp?", format="text")["text"]
        assert "harp" in recalled
        said = f"{frame.format(recalled)}\n\nQuestion {n}: what should I cook tonight?"
        turns = (("system", PROMPT), ("user", said), ("assistant", "A soup with leeks."))
        done = mind.retain({"content": said} if prose else chat(*turns))
        assert done["facts_count"] == 0
        assert done["coverage"] == 1.0
    assert [fact["text"] for fact in mind.facts()] == [HARP]
    assert [text for text in mind.texts("Who plays the harp in Ghent?") if "Ines" in text] == [HARP]
    primed = mind.prime("Who plays the harp?")["results"]
    assert [each["content"] for each in primed if "Ines" in each["content"]] == [HARP]
    assert mind.prime("harp", format="text")["text"].count("Ines") == 1


def test_what_was_pasted_still_stands_in_its_document(mind: Mind) -> None:
    said = f"<recalled_memories>\n- {HARP}\n</recalled_memories>\n\nI own a kayak."
    mind.retain(chat(("user", said), document_id="d"))
    assert HARP in mind.ask("GET", "/documents/d")["original_text"]
    assert [memory["text"] for memory in mind.memories()] == ["I own a kayak."]


@pytest.mark.parametrize(
    "text",
    [
        "<domain><memory unit='KiB'>2097152</memory> <name>larch</name></domain> is the machine.",
        "## Memory\n\nThe mill has a memory of its own: everyone in Ghent remembers the flood.",
        "Known:\n- the mill is closed on Mondays",
        "I keep my memories in a box: photos, letters and stamps.",
    ],
)
def test_what_is_told_of_memories_is_a_memory(mind: Mind, text: str) -> None:
    mind.retain(text)
    assert "".join(memory["text"] for memory in mind.memories()).split() == text.split()


def test_prompts_schedules_and_tool_output_give_no_facts(mind: Mind) -> None:
    turns = (
        ("system", "You are Dr. Alda Reyes, a surgeon in Porto. Dr. Reyes owns two boats."),
        ("user", "[cron] The nightly sweep has removed 41 files. The disk has 3 errors."),
        ("tool", "Petra lives in Porto. Petra has two cats."),
        ("assistant", "As an AI language model, I have no boat in Porto."),
        ("user", "I rent a garage in Faro."),
    )
    assert mind.retain(chat(*turns))["facts_count"] == 1
    assert [fact["text"] for fact in mind.facts()] == ["I rent a garage in Faro."]
    assert mind.entities() == {"Faro"}


def test_a_greeting_leaves_nothing_known(mind: Mind) -> None:
    done = mind.retain(chat(("user", "Hey!"), ("assistant", "Hello! How can I help?")))
    assert done["facts_count"] == 0
    assert mind.facts() == []
    assert mind.texts("What do I like? Which facts are known?") == []
    told = mind.ask("POST", "/reflect", {"query": "What do I like?"})["text"]
    assert told.startswith("Nothing is known")


def test_saying_it_twice_leaves_it_once(mind: Mind) -> None:
    for _ in range(2):
        mind.retain("I collect old stamps.")
    assert mind.texts("What do I collect?") == ["I collect old stamps."]
    [listed] = mind.memories()
    assert listed["proof_count"] == 2
    assert mind.prime()["count"] == 1


def test_what_the_user_sold_is_of_the_user_and_of_that_day(mind: Mind) -> None:
    turns = (("user", "I sold my sailing boat yesterday."), ("assistant", "I'm glad you did."))
    mind.retain(chat(*turns, timestamp="2025-04-10T09:00:00Z"))
    [fact] = mind.facts()
    assert (fact["subject"], fact["negated"]) == ("user", False)
    assert fact["occurred_start"] == "2025-04-09T00:00:00Z"
    found = mind.recall("Who sold the sailing boat?")[0]
    assert (found["type"], found["role"]) == ("world", "user")


def test_labels_of_channels_and_banks_are_no_actors(mind: Mind) -> None:
    mind.bank = "ops-larch"
    mind.retain(
        {
            "content": "The backup failed at night.",
            "context": "chat:#ops-larch",
            "tags": ["Team Larch"],
            "metadata": {"channel": "Ops Larch", "bot": "Pager"},
            "document_id": "Larch Log",
        }
    )
    assert mind.entities() == set()
    [found] = mind.recall("What failed?")
    assert (found["context"], found["metadata"]["bot"]) == ("chat:#ops-larch", "Pager")
    assert found["facts"][0]["subject"] == "the backup"


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Mi chiamo Piero e lavoro in un forno a Bari.", "Dove lavora Piero?"),
        ("我住在上海，喜欢喝茶。", "喜欢喝茶"),
        ("Ich backe seit Mai Brot in Ulm.", "Wo backe ich Brot?"),
        ("私は京都で抹茶を飲みます。", "京都 抹茶"),
    ],
)
def test_what_is_said_stays_in_its_language(mind: Mind, text: str, query: str) -> None:
    mind.retain(text)
    assert mind.texts(query) == [text]
    assert all(fact["text"] in text for fact in mind.facts())
    assert text in mind.prime(format="text")["text"]


def test_a_friend_of_a_friend_is_the_friend_s(mind: Mind) -> None:
    mind.retain(chat(("user", "My friend Otto is a welder. He also has a friend named Piet.")))
    assert mind.edges() == {frozenset(("Otto", "Piet"))}
    assert [(f["subject"], f["entities"]) for f in mind.facts()] == [
        ("Otto", ["Otto"]),
        ("Otto", ["Otto", "Piet"]),
    ]


SOURCES = {
    "java": """
import java.util.Queue;

public class Planner extends Worker {
    private final Queue<Ticket> waiting = new ArrayDeque<>();

    // The next Ticket, or null.
    public Ticket next(Channel Main) {
        return waiting.poll();
    }
}
""",
    "rust": """
use std::collections::BTreeMap;

pub struct Depot { stock: BTreeMap<Label, Crate> }

impl Depot {
    pub fn take(&mut self, label: &Label) -> Option<Crate> {
        self.stock.remove(label)
    }
}
""",
    "python": """
from dataclasses import dataclass

@dataclass
class Parcel(Freight):
    Weight: Decimal = Decimal(0)

    def loaded(self, Truck: Vehicle) -> bool:
        return self in Truck.cargo
""",
}


@pytest.mark.parametrize("fenced", [False, True], ids=["bare", "fenced"])
@pytest.mark.parametrize("language", SOURCES)
def test_names_in_a_program_are_nobody(mind: Mind, language: str, fenced: bool) -> None:
    code = SOURCES[language].strip()
    mind.retain(f"```{language}\n{code}\n```" if fenced else code)
    assert mind.entities() == set()
    assert mind.facts() == []
    word = {"java": "ArrayDeque", "rust": "BTreeMap", "python": "dataclass"}[language]
    assert word in mind.texts(word)[0]
    mind.retain(chat(("user", f"I wrote this with Clara in Bern:\n\n{code}\n\nClara likes it.")))
    assert mind.entities() == {"Bern", "Clara"}


@pytest.mark.parametrize(
    ("text", "denied", "affirmed"),
    [
        ("User does not use Nano and uses Helix", "Nano", "Helix"),
        ("The user never eats fish but loves cheese.", "fish", "cheese"),
        ("I no longer rent but own a flat.", "rent", "own"),
    ],
)
def test_of_a_denial_and_its_opposite_each_keeps_its_side(
    mind: Mind, text: str, denied: str, affirmed: str
) -> None:
    mind.retain(text)
    no, yes = mind.facts()
    assert (denied in no["text"], no["negated"]) == (True, True)
    assert (affirmed in yes["text"], yes["negated"]) == (True, False)


def test_a_question_about_somebody_is_no_word_of_them(mind: Mind) -> None:
    mind.retain(chat(("user", "Do you remember anything about Ludmila?")))
    assert mind.facts() == []
    for query in ("Who is Ludmila?", "Do you remember Ludmila?"):
        told = mind.ask("POST", "/reflect", {"query": query})["text"]
        assert told.startswith("Nothing is known")
    assert "Known:" not in mind.prime("Who is Ludmila?", format="text")["text"]


def test_each_part_of_a_long_turn_says_whose_it_is_and_when(mind: Mind) -> None:
    tale = " ".join(f"I painted shed number {n} on the north side of the mill." for n in range(100))
    assert len(tale) > 4_500
    lines = ("[2023-02-03 10:00] Nora: What did you do?", f"[2023-02-03 10:02] Tom: {tale}")
    mind.retain({"content": "\n".join(lines), "document_id": "c"})
    parts = [memory for memory in mind.memories() if "painted" in memory["text"]]
    assert len(parts) > 5
    assert {(part["speaker"], part["mentioned_at"]) for part in parts} == {
        ("Tom", "2023-02-03T10:02:00Z")
    }
    assert {fact["subject"] for fact in mind.facts()} == {"Tom"}
    assert {found["speaker"] for found in mind.recall("Who painted shed number 97?")} == {"Tom"}


POLICY = "Invoices at Larch Ltd.\n\nAlways send invoices to pay@larch.example.\n\nNever call first."


@pytest.mark.parametrize(
    "item",
    [
        chat(("tool", POLICY)),
        chat(("assistant", POLICY)),
        chat(("user", f"Please summarise this:\n\n{POLICY}")),
        chat(("user", f"Translate to French: {POLICY}")),
        {"content": "Ann: Always send invoices to pay@larch.example.\nBob: Never call me first."},
    ],
    ids=["tool", "assistant", "summarise", "translate", "people"],
)
def test_what_a_document_or_another_demands_is_no_instruction(
    mind: Mind, item: dict[str, Any]
) -> None:
    mind.retain(item, chat(("user", "Always answer me in metric units.")))
    text = mind.prime(format="text")["text"]
    standing, _, rest = text.partition("\n\n")
    assert standing == "Standing instructions:\n- user: Always answer me in metric units."
    assert "pay@larch.example" in rest  # known all the same, and whose words it is
    found = mind.recall("Where do invoices go? pay larch")[0]
    assert found["role"] in {"tool", "assistant", "user"} or found["speaker"] == "Ann"


def test_a_path_in_a_request_is_no_file(mind: Mind, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("The vault opens with 0451.")
    item = {"content": f"see {secret}", "doc_path": str(secret), "file": f"file://{secret}"}
    answer = mind.answer("POST", "/memories", {"items": [item], "path": str(secret)})
    assert answer.status_code == 200
    assert "doc_path" in answer.headers["X-Ignored-Params"]
    assert "0451" not in str(mind.memories())
    assert mind.texts("vault 0451") == []
