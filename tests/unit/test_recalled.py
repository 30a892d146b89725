"""Which text a memory gave back, and which only speaks of memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.reading.recalled import find_recalled

LINES = "- Petra lives in Lyon\n- Petra has two cats"


def told(text: str) -> str:
    """Return what is left of a text beside its blocks."""
    left, at = "", 0
    for block in find_recalled(text):
        left += text[at : block.start]
        at = block.end
    return (left + text[at:]).strip()


@pytest.mark.parametrize(
    "block",
    [
        f"<memories>\n{LINES}\n</memories>",
        f"<relevant-memories count='2'>\n{LINES}\n</relevant-memories>",
        f"<retrieved context>{LINES}</retrieved context>",
        f"<memories>\n{LINES}\n<memories>\n{LINES}\n</memories>\n- the end\n</memories>",
        f"[MEMORIES]\n{LINES}\n[/MEMORIES]",
        f"--- BEGIN MEMORY ---\n{LINES}\n--- END MEMORY ---",
        f"Relevant memories:\n{LINES}",
        f"Here are some relevant memories from earlier chats:\n\n{LINES}",
        f"## Recalled context (2):\n{LINES}",
        "Known:\n- Petra lives in Lyon. (said 2025-03-04)\n- Petra left. (planned, 2025-05-06)",
        "Recently said:\n- [2025-03-04] user: I live in Lyon.",
        "Standing instructions:\n- user: Be brief.\n\nDue:\n- [2025-03-04 09:00] Call.",
    ],
)
def test_what_a_memory_gave_back_is_found_whole(block: str) -> None:
    assert told(block) == ""
    assert told(f"Good morning!\n\n{block}\n\nI own a canoe.").split() == (
        "Good morning! I own a canoe.".split()
    )


@pytest.mark.parametrize(
    "text",
    [
        "<memory unit='KiB'>2097152</memory>",
        f"<memories>\n{LINES}",  # never closed: where it ends is not known
        f"[MEMORIES]\n{LINES}",
        "Relevant memories:\nI cannot think of any.",
        "## Memory\n\nThe mill remembers the flood.",
        "Known:\n- the mill is closed\n- the baker too",
        "Due:\n- the rent",
        "I recall that the relevant facts are these: he left, and she stayed.",
    ],
)
def test_what_only_speaks_of_memory_is_not(text: str) -> None:
    assert find_recalled(text) == []


PARTS = ("<memories>", "</memories>", "Known:\n", "- a", " (2020-01-01)", "\n", "[memory]", "[/]")


@given(st.lists(st.sampled_from([*PARTS, "x y z "])))
def test_blocks_are_in_order_and_within_the_text(parts: list[str]) -> None:
    text = "".join(parts)
    ends = [0]
    for block in find_recalled(text):
        assert ends[-1] <= block.start < block.end <= len(text)
        ends.append(block.end)
