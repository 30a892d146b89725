from __future__ import annotations

import pytest

from remembrancer.nouns.memory import Role
from remembrancer.reading.causes import MOST_CAUSES, find_causes
from remembrancer.reading.facts import read_statements


def read(text: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the statements of a text, and (effect, cause) pairs."""
    found = read_statements(text, speaker="Ann", role=Role.USER, known=(), dates=lambda _: [])
    assert all(text[s.span.start : s.span.end] == s.text for s in found)
    pairs = [(found[e].text, found[c].text) for e, c in find_causes(text, found)]
    return [s.text for s in found], pairs


@pytest.mark.parametrize(
    ("text", "effect", "cause"),
    [
        ("I moved to Turin because my brother lives there.", "I moved to Turin", "my brother"),
        ("Because my brother lives in Turin, I rent there.", "I rent there.", "my brother"),
        ("Because my son has a cold, my wife stays home.", "my wife stays home.", "my son"),
        ("I don't eat cake because I'm diabetic.", "I don't eat cake", "I'm diabetic."),
        ("Since I'm diabetic, I refused the cake.", "I refused the cake.", "I'm diabetic"),
        ("I refused the cake since I'm diabetic.", "I refused the cake", "I'm diabetic."),
        ("I can't ski, since I have a bad knee.", "I can't ski", "I have a bad knee."),
        ("I lost my phone, so I missed the train.", "I missed the train.", "I lost"),
        ("I sold my car, and so I take the tram.", "I take the tram.", "I sold my car"),
        ("I lost my job; therefore I sold the boat.", "I sold the boat.", "I lost my job"),
        ("I lost my job. Therefore, I sold the boat.", "I sold the boat.", "I lost my job."),
        ("I lost my job. That's why I sold the boat.", "I sold the boat.", "I lost my job."),
        ("I lost my job. That’s why I sold the boat.", "I sold the boat.", "I lost my job."),
        ("I lost my job, which is why I sold the boat.", "I sold the boat.", "I lost my job"),
        ("I broke my arm. As a result, I left the team.", "I left the team.", "I broke my arm."),
        ("I broke my arm. Because of that, I left the team.", "I left the team.", "I broke my"),
        (
            "A fire closed the museum in Lyon. My tour was cancelled due to the fire.",
            "My tour was cancelled due to the fire.",
            "A fire closed",
        ),
        (
            "I broke my arm in June. This caused me to miss the final in Lyon.",
            "This caused me to miss the final in Lyon.",
            "I broke my arm in June.",
        ),
        ("Clara quit because she moved to Lyon.", "Clara quit", "she moved to Lyon."),
    ],
)
def test_an_effect_and_its_cause(text: str, effect: str, cause: str) -> None:
    _, pairs = read(text)
    assert len(pairs) == 1
    assert pairs[0][0] == effect
    assert pairs[0][1].startswith(cause)


@pytest.mark.parametrize(
    "text",
    [
        "I have lived in Turin since I was a child.",
        "Since I moved to Turin, I have been painting.",
        "I've played chess since I live in Turin.",
        "Since we last met, I bought a boat.",
        "I love Turin, especially since my brother lives there.",
        "I left not because I was ill but because I hated Turin.",
        "I moved to Turin and my brother lives in Lyon.",
        "I moved to Turin. I sold my car. My brother lives in Lyon.",
        "I own a bakery. So I bought a new oven.",
        "I sold my car so that I could buy a boat.",
        "I lost my job. Do you know why? That's why I sold the boat.",
        "I stayed in the hotel because of the storm.",
        'Bob said "I lost my job." That\'s why I sold the boat.',
        "I met Clara in Lyon. My tour was cancelled due to the fire.",
    ],
)
def test_no_cause(text: str) -> None:
    assert read(text)[1] == []


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Turin because it was cheap.",
        "I love Lyon because of the food.",
        "Because of the storm, I stayed in the hotel.",
        "I love Lyon, which is why it was hard.",
    ],
)
def test_a_reason_that_says_nothing_alone_stays_with_its_effect(text: str) -> None:
    assert read(text) == ([text], [])


def test_a_chain_of_causes() -> None:
    text = "My boss yelled at me, so I quit, so I have no income."
    assert read(text)[1] == [("I quit", "My boss yelled at me"), ("I have no income.", "I quit")]


def test_an_effect_has_at_most_a_few_causes() -> None:
    texts = ["I lost my job because I slept, so I drink. "] * 20
    found = read_statements(
        "".join(texts), speaker="Ann", role=Role.USER, known=(), dates=lambda _: []
    )
    pairs = find_causes("".join(texts), found)
    effects = [effect for effect, _ in pairs]
    assert len(pairs) >= 20
    assert max(map(effects.count, effects)) <= MOST_CAUSES
