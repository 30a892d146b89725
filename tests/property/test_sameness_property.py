"""What changes the meaning changes the key, and what does not, does not."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from remembrancer.nouns.memory import Kind, Layer, Modality, Polarity, Precision, Role, Unit
from remembrancer.reading.sameness import KEY_BYTES, key_of
from remembrancer.reading.types import DateSpan, Span

DAY = 86_400_000_000
NAMES = ["Anna", "Bob", "Clara", "Dmitri", "Zoë", "O'Neil", "Jean-Luc", "Łukasz", "李雷"]
NUMBERS = ["0", "1", "7", "12", "1,200", "3.5", "-4", "$40", "90%", "two", "eleven", "forty"]
VERBS = ["work", "worked", "work out", "used to work"]
PREPOSITIONS = ["to", "from", "with", "near", "without"]
SUBJECTS = ["I", "we", "he", "she", "Anna", "my sister"]
FILLERS = ["really", "just", "actually", "honestly", "so", "very", "literally", "um"]

sentences = st.tuples(
    st.sampled_from(SUBJECTS),
    st.sampled_from(VERBS),
    st.sampled_from(PREPOSITIONS),
    st.sampled_from(NAMES),
    st.sampled_from(["for", "in"]),
    st.sampled_from(NUMBERS),
    st.sampled_from(["days", "weeks"]),
)


def key(text: str, day: int | None = None, before: str = "", **more: Any) -> bytes | None:
    unit = Unit(b"id", more.pop("layer", Layer.FACT), text, 0, 0, speaker="Ann", **more)
    dates = [] if day is None else [DateSpan(day * DAY, (day + 1) * DAY, Precision.DAY, Span(0, 1))]
    return key_of(unit, dates, before)


@given(sentences, st.integers(0, 6), st.data())
def test_another_word_is_another_key(words: tuple[str, ...], at: int, data: st.DataObject) -> None:
    """Numbers, names, prepositions, pronouns and tense."""
    choices = [SUBJECTS, VERBS, PREPOSITIONS, NAMES, ["for", "in"], NUMBERS, ["days", "weeks"]]
    other = data.draw(st.sampled_from(choices[at]))
    assume(other != words[at])
    assert key(" ".join(words)) != key(" ".join([*words[:at], other, *words[at + 1 :]]))


@given(sentences, st.sampled_from(["not", "never", "don't", "didn't", "no longer"]))
def test_a_denial_is_another_key(words: tuple[str, ...], denial: str) -> None:
    assert key(" ".join(words)) != key(" ".join([words[0], denial, *words[1:]]))


@given(sentences, st.integers(0, 9), st.integers(0, 9) | st.none())
def test_another_day_is_another_key(words: tuple[str, ...], day: int, other: int | None) -> None:
    text = " ".join(words)
    assert (key(text, day) == key(text, other)) is (day == other)


@given(sentences)
def test_another_order_is_another_key(words: tuple[str, ...]) -> None:
    turned = [words[3], *words[1:3], words[0], *words[4:]]
    assume(words[0] != words[3])
    assert key(" ".join(words)) != key(" ".join(turned))


@given(
    sentences,
    st.lists(st.tuples(st.integers(0, 7), st.sampled_from(FILLERS)), max_size=4),
    st.sampled_from(["", ".", "!", "...", " 	", "\n"]),
    st.sampled_from([" ", "  ", "\n", "\u00a0"]),
    st.sampled_from([str, str.upper, str.lower, str.title]),
)
def test_fillers_signs_and_case_change_nothing(
    words: tuple[str, ...], fillers: list[tuple[int, str]], end: str, gap: str, case: Any
) -> None:
    said = list(words)
    for at, filler in fillers:
        if said[min(at, len(said)) - 1] != "without":  # "without really" is a denial's own
            said.insert(at, filler)
    assert key(case(gap.join(said)) + end) == key(" ".join(words)) is not None


@given(
    sentences,
    st.sampled_from(list(Role)),
    st.sampled_from(list(Kind)),
    st.sampled_from(list(Polarity)),
    st.sampled_from(list(Modality)),
    st.lists(st.sampled_from("abc"), unique=True),
)
def test_who_how_and_for_whom_are_all_of_the_key(
    words: tuple[str, ...],
    role: Role,
    kind: Kind,
    polarity: Polarity,
    modality: Modality,
    tags: list[str],
) -> None:
    text = " ".join(words)
    told = {"role": role, "kind": kind, "polarity": polarity, "modality": modality}
    plain = (Role.NONE, Kind.WORLD, Polarity.AFFIRMED, Modality.ASSERTED)
    same = (role, kind, polarity, modality) == plain and not tags
    assert (key(text, **told, tags=tuple(tags)) == key(text)) is same


@given(st.text(max_size=200), st.text(max_size=80), st.sampled_from(list(Layer)))
def test_any_text_has_a_key_of_its_length_or_none(text: str, before: str, layer: Layer) -> None:
    found = key(text, layer=layer, before=before)
    assert found is None or len(found) == KEY_BYTES
    assert found == key(text, layer=layer, before=before)
