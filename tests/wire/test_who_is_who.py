"""Names over the wire: who is one, who is not, and that nothing is there twice."""

from __future__ import annotations

import pytest
from told_kit import Mind

ITEM = "Lena Ruiz works at Globex in Rotterdam with Tarek Aziz."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Milan", "Milana"),
        ("Tirana", "Tiran"),
        ("Dr. Moser", "Dr. Mos"),
        ("Anna Weber", "Peter Weber"),
        ("Larch Savings", "Larch Current"),
        ("Pump 31", "Pump 32"),
    ],
)
def test_likeness_alone_makes_nobody_one(mind: Mind, one: str, other: str) -> None:
    for name in (one, other):  # often beside each other, and of the same company
        mind.retain({"content": f"We saw {name}.", "entities": [{"text": name}]})
        both = {
            "content": f"We saw {one} and {other}.",
            "entities": [{"text": n} for n in (one, other)],
        }
        mind.retain(both)
    assert mind.entities() == {one, other}


def test_two_that_were_made_one_can_be_parted_again(mind: Mind) -> None:
    for name in ("Anna Weber", "Annie Weber"):
        mind.retain({"content": f"We saw {name} there.", "entities": [{"text": name}]})
    ids = {e["canonical_name"]: e["id"] for e in mind.ask("GET", "/entities")["items"]}
    assert len(ids) == 2
    kept, gone = ids["Anna Weber"], ids["Annie Weber"]
    mind.ask("POST", f"/entities/{kept}/merge", {"from": [gone]})
    assert mind.entities() == {"Anna Weber"}
    annie = [memory["id"] for memory in mind.memories() if "Annie" in memory["text"]]
    body = {"name": "Annie Weber", "memory_ids": annie}
    mind.ask("POST", f"/entities/{kept}/split", body)
    assert mind.entities() == {"Anna Weber", "Annie Weber"}


def test_handing_in_the_same_again_adds_nothing(mind: Mind) -> None:
    told = []
    for _ in range(3):
        done = mind.retain({"content": ITEM, "document_id": "episode"})
        told.append((mind.entities(), mind.memories(), mind.edges()))
    assert done["unchanged_document_ids"] == ["episode"]
    assert told[0] == told[1] == told[2]
    assert {"Lena Ruiz", "Tarek Aziz", "Globex", "Rotterdam"} <= told[0][0]


def test_what_several_items_of_one_call_share_is_there_once(mind: Mind) -> None:
    shared = "Tarek Aziz lives in Delft."
    mind.retain(
        {"content": f"{ITEM}\n\n{shared}", "document_id": "a"},
        {"content": f"{shared}\n\n{ITEM}", "document_id": "b"},
    )
    before = mind.entities(), mind.edges()
    mind.retain({"content": f"{shared}\n\n{ITEM}", "document_id": "c"}, shared)
    assert (mind.entities(), mind.edges()) == before
    assert mind.texts("Where does Tarek Aziz live? Delft").count(shared) == 1
    listed = [memory["text"] for memory in mind.memories()]
    assert sorted(listed) == sorted([ITEM, shared])
