from __future__ import annotations

import re

import pytest

from remembrancer.nouns.memory import Modality, Polarity, Precision, Role
from remembrancer.reading.facts import read_statements
from remembrancer.reading.types import DateSpan, Span, Statement

Y, N = Polarity.AFFIRMED, Polarity.NEGATED
SAID, WISH, PLAN = Modality.ASSERTED, Modality.WISHED, Modality.PLANNED
HYPO, QUOTE = Modality.HYPOTHETICAL, Modality.QUOTED
_DATE = re.compile(r"\b(?:yesterday|last week|in \d{4}|on Friday|tomorrow)\b")


def _dates(text: str) -> list[DateSpan]:
    return [DateSpan(0, 1, Precision.DAY, Span(m.start(), m.end())) for m in _DATE.finditer(text)]


def _read(
    text: str, role: Role = Role.NONE, speaker: str | None = "Ann", known: tuple[str, ...] = ()
) -> list[Statement]:
    found = read_statements(text, speaker=speaker, role=role, known=known, dates=_dates)
    assert all(text[s.span.start : s.span.end] == s.text for s in found)
    return found


ONE: list[tuple[str, str | None, Polarity, Modality]] = [
    ("I live in Rome.", "Ann", Y, SAID),
    ("I’m vegetarian now, sadly.", "Ann", Y, SAID),
    ("I'm allergic to peanuts", "Ann", Y, SAID),
    ("i moved to berlin", "Ann", Y, SAID),
    ("We adopted two kittens.", "Ann", Y, SAID),
    ("My name is Luca.", "Ann", Y, SAID),
    ("My favorite color is green.", "Ann", Y, SAID),
    ("My sister lives in Oslo.", "Ann's sister", Y, SAID),
    ("My coworker Dana has a PhD.", "Dana", Y, SAID),
    ("My friend John is a chef.", "John", Y, SAID),
    ("My dog's name is Rex.", "Ann's dog", Y, SAID),
    ("My wife's birthday is on May 5.", "Ann's wife", Y, SAID),
    ("My sister's dog is called Rex.", "Ann's sister's dog", Y, SAID),
    ("Dana's birthday is on May 5.", "Dana", Y, SAID),
    ("My appointment with Dr. Lee is at noon.", "Ann", Y, SAID),
    ("Dana and I opened a bakery.", "Ann", Y, SAID),
    ("Our kids attend the local school.", "Ann's kids", Y, SAID),
    ("Dana works at the hospital.", "Dana", Y, SAID),
    ("Dana Miller is a nurse.", "Dana Miller", Y, SAID),
    ("Dana's a nurse.", "Dana", Y, SAID),
    ("Dana's brother plays the violin.", "Dana's brother", Y, SAID),
    ("The meeting was moved to the library.", "the meeting", Y, SAID),
    ("She moved to Berlin.", None, Y, SAID),
    ("It costs 40 euros.", None, Y, SAID),
    ("He left on Friday.", None, Y, SAID),
    ("Went to Paris with my mother.", "Ann", Y, SAID),
    ("Just got a new bicycle!", "Ann", Y, SAID),
    ("Yesterday, I painted the fence.", "Ann", Y, SAID),
    ("Last week my wife bought a red car.", "Ann's wife", Y, SAID),
    ("In 2020 we founded a company.", "Ann", Y, SAID),
    ("When I was a kid, I lived in Turin.", "Ann", Y, SAID),
    ("After we moved, my brother became a baker.", "Ann's brother", Y, SAID),
    ("Wow, thanks! I painted that lake.", "Ann", Y, SAID),
    ("Hey Bob, I started a pottery class.", "Ann", Y, SAID),
    ("- I own a bakery", "Ann", Y, SAID),
    ('"The Alchemist" is a novel by Paulo Coelho.', "The Alchemist", Y, SAID),
    ("I read “Dune” in school.", "Ann", Y, SAID),
    ("The user prefers short answers.", "user", Y, SAID),
    ("I used to smoke cigars.", "Ann", Y, SAID),
    ("I can't wait to see the mountains.", "Ann", Y, SAID),
    ("I've been going to the gym.", "Ann", Y, SAID),
    ("I not only cook, I also bake bread.", "Ann", Y, SAID),
    # denied
    ("I don't eat meat.", "Ann", N, SAID),
    ("I no longer eat meat.", "Ann", N, SAID),
    ("I have no children.", "Ann", N, SAID),
    ("I've never visited Japan.", "Ann", N, SAID),
    ("My sister isn't a doctor.", "Ann's sister", N, SAID),
    ("Dana does not drink coffee.", "Dana", N, SAID),
    ("We never go to church.", "Ann", N, SAID),
    # wished, planned, supposed, quoted
    ("I want to learn Spanish.", "Ann", Y, WISH),
    ("I'd love to see Norway.", "Ann", Y, WISH),
    ("I would like to visit Peru.", "Ann", Y, WISH),
    ("I hope to finish the marathon.", "Ann", Y, WISH),
    ("I'll call the dentist.", "Ann", Y, PLAN),
    ("I'm going to visit Bob.", "Ann", Y, PLAN),
    ("Gonna bake a cake for Bob.", "Ann", Y, PLAN),
    ("We're planning to buy a house.", "Ann", Y, PLAN),
    ("I'm meeting my lawyer tomorrow.", "Ann", Y, PLAN),
    ("I won't attend the wedding.", "Ann", N, PLAN),
    ("If it rains, I would stay inside.", "Ann", Y, HYPO),
    ("If I get the job I'll buy a Volvo.", "Ann", Y, HYPO),
    ("If I get the job, I'll buy a Volvo.", "Ann", Y, HYPO),
    ("When I get the job I'll buy a Volvo.", "Ann", Y, PLAN),
    ("I might sell the car.", "Ann", Y, HYPO),
    ("Bob said that he moved to Oslo.", "Bob", Y, QUOTE),
    ("Paul suggested that we sell the boat.", "Paul", Y, QUOTE),
    ("Paul recommended the red bicycle.", "Paul", Y, SAID),
    ("I want to check if the shop sells flour.", "Ann", Y, WISH),
    ('"I hate cats," said Bob.', None, Y, QUOTE),
    ("> I sold my house in Oslo.", None, Y, QUOTE),
]


@pytest.mark.parametrize(("text", "subject", "polarity", "modality"), ONE)
def test_one_statement(
    text: str, subject: str | None, polarity: Polarity, modality: Modality
) -> None:
    found = _read(text)
    assert [(s.subject, s.polarity, s.modality) for s in found][:1] == [
        (subject, polarity, modality)
    ]
    assert len(found) <= 2


NONE = [
    "",
    "hi",
    "Hey Bob! How are you?",
    "What a day!",
    "Thanks, Bob!",
    "Wow, that's great!",
    "That's so cool, Bob!",
    "Sounds good to me.",
    "I'm so happy for you!",
    "I'm glad you liked it.",
    "I appreciate your help with the garden.",
    "I love it!",
    "I think so too.",
    "I agree with that.",
    "I totally agree, Bob.",
    "I missed you.",
    "A lot has changed in the village.",
    "I hope you have a great trip to Rome.",
    "It was really fun.",
    "They were so nice to us.",
    "Do you remember anything about Gunda?",
    "do you remember anything about Gunda",
    "where did Anna go",
    "Is Anna a doctor",
    "You should try the soup.",
    "You moved to Rome.",
    "Please call Bob on Friday.",
    "Remind me to call Bob on Friday at nine.",
    "Let's meet on Friday.",
    "Don't forget the milk.",
    "Can you book a table for four",
    "I was wondering if the shop is open.",
    "I need help with my garden.",
    "I want you to act as a chef.",
    "The best day of my life",
    "A nice long walk in the park",
    "Hello {{name}}, I live in {{city}}.",
    "Mi chiamo Piero e vivo a Modena.",
    "I ragazzi sono in Italia.",
    "Ich koche gern in Berlin.",
    "我住在北京。",
    "```\nI live in Rome.\n```",
    "    I live in Rome.\n    result = compute(Node)",
    "| Name | City |\n| Anna | I live in Rome |",
    "# My garden is in Rome",
    "I went to " + "very " * 100 + "many places.",
    "Hi [Name], my flight is on [Date].",
    "Dear [First Name], I live in [City].",
]


@pytest.mark.parametrize("text", NONE)
def test_no_statement(text: str) -> None:
    assert _read(text) == []


SPLITS: list[tuple[str, list[tuple[str, str | None, Polarity]]]] = [
    (
        "I love Python but I hate Java.",
        [("I love Python", "Ann", Y), ("I hate Java.", "Ann", Y)],
    ),
    (
        "I'm a nurse, and my brother is a baker.",
        [("I'm a nurse", "Ann", Y), ("my brother is a baker.", "Ann's brother", Y)],
    ),
    (
        "User does not use Nano and uses Helix",
        [("User does not use Nano", "user", N), ("uses Helix", "user", Y)],
    ),
    (
        "I don't like tea but drink coffee.",
        [("I don't like tea", "Ann", N), ("drink coffee.", "Ann", Y)],
    ),
    ("I don't eat meat and drink milk.", [("I don't eat meat and drink milk.", "Ann", N)]),
    (
        "I sold the car; my wife bought a bicycle.",
        [("I sold the car", "Ann", Y), ("my wife bought a bicycle.", "Ann's wife", Y)],
    ),
    ("My wife and I bought a house.", [("My wife and I bought a house.", "Ann", Y)]),
    (
        "I moved to Rome last week, can you suggest a school?",
        [("I moved to Rome last week", "Ann", Y)],
    ),
    (
        "My cousin Petra is a florist. She also has a neighbour named Olaf.",
        [
            ("My cousin Petra is a florist.", "Petra", Y),
            ("She also has a neighbour named Olaf.", "Petra", Y),
        ],
    ),
    (
        "My sister has two kids. She sells bread. He sells fish in Rome.",
        [
            ("My sister has two kids.", "Ann's sister", Y),
            ("She sells bread.", "Ann's sister", Y),
            ("He sells fish in Rome.", None, Y),
        ],
    ),
    (
        "Dana met Clara in Rome. She lives in Oslo.",
        [("Dana met Clara in Rome.", "Dana", Y), ("She lives in Oslo.", None, Y)],
    ),
    (
        "Dana called her boss in Rome. She sold her car in Oslo.",
        [("Dana called her boss in Rome.", "Dana", Y), ("She sold her car in Oslo.", None, Y)],
    ),
    (
        "Dana sold her car. Is that true? She lives in Oslo.",
        [("Dana sold her car.", "Dana", Y), ("She lives in Oslo.", None, Y)],
    ),
    (
        "I moved to Rome because my sister lives there.",
        [("I moved to Rome", "Ann", Y), ("my sister lives there.", "Ann's sister", Y)],
    ),
    (
        "Because of the rain, I stayed in Rome.",
        [("Because of the rain, I stayed in Rome.", "Ann", Y)],
    ),
    (
        "My savings grew by 90%, but I spent $40 on books.",
        [("My savings grew by 90%", "Ann", Y), ("I spent $40 on books.", "Ann", Y)],
    ),
    (
        "Dana isn't in Oslo, she lives in Rome.",
        [("Dana isn't in Oslo", "Dana", N), ("she lives in Rome.", "Dana", Y)],
    ),
    (
        "We moved to Rome, my wife sells bread there.",
        [("We moved to Rome", "Ann", Y), ("my wife sells bread there.", "Ann's wife", Y)],
    ),
    # what says nothing away from the clause before stays with it
    ("I got a dog, he is so fluffy.", [("I got a dog, he is so fluffy.", "Ann", Y)]),
    ("I sold my car, its engine died.", [("I sold my car, its engine died.", "Ann", Y)]),
    ("We moved to Rome, my life is great.", [("We moved to Rome, my life is great.", "Ann", Y)]),
    (
        "I visited Dana, my old boss, in Rome.",
        [("I visited Dana, my old boss, in Rome.", "Ann", Y)],
    ),
    ("It is -5 outside.", [("It is -5 outside.", None, Y)]),
]


@pytest.mark.parametrize(("text", "expected"), SPLITS)
def test_splits(text: str, expected: list[tuple[str, str | None, Polarity]]) -> None:
    assert [(s.text, s.subject, s.polarity) for s in _read(text)] == expected


@pytest.mark.parametrize("mark", ["", "\u200e"])
def test_what_a_messenger_says_of_a_message_is_no_fact(mark: str) -> None:
    assert _read(f"{mark}This message was deleted.") == []
    assert _read(f"{mark}This message was deleted by admin Ann.") == []
    [told] = _read(f"I got the job! {mark}<This message was edited>")
    assert told.text == "I got the job!"


def test_first_person_by_role() -> None:
    text = "I bought a laptop."
    assert [s.subject for s in _read(text, Role.USER, None)] == ["user"]
    assert [s.subject for s in _read(text, Role.USER, "Luca")] == ["Luca"]
    assert [s.subject for s in _read(text, Role.NONE, None)] == [None]
    assert _read(text, Role.SYSTEM) == _read(text, Role.TOOL) == []


def test_kin_of_nobody_stays_as_written() -> None:
    assert [s.subject for s in _read("My sister lives in Oslo.", Role.NONE, None)] == ["My sister"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("I've booked your flight for Friday.", 1),
        ("I sent the report to Anna.", 1),
        ("I recommend the red one from Rome.", 0),
        ("You live in Rome.", 0),
        ("Your sister lives in Rome.", 0),
        ("Anna lives in Rome.", 0),
        ("I'll book a table in Rome.", 0),
        ("I understand that you live in Rome.", 0),
        ("My sister lives in Rome.", 0),
    ],
)
def test_an_assistant_states_only_what_it_did(text: str, count: int) -> None:
    found = _read(text, Role.ASSISTANT, None)
    assert [s.subject for s in found] == ["assistant"] * count


def test_dates_belong_to_the_statement_that_holds_them() -> None:
    text = "I moved to Rome in 2019, and I married Bob last week."
    first, second = _read(text)
    assert first.date is not None
    assert text[first.date.span.start : first.date.span.end] == "in 2019"
    assert second.date is not None
    assert text[second.date.span.start : second.date.span.end] == "last week"
    assert _read("I live in Rome.")[0].date is None


def test_dates_are_looked_for_once_and_only_when_needed() -> None:
    calls: list[str] = []

    def dates(text: str) -> list[DateSpan]:
        calls.append(text)
        return []

    for text in ("Thanks!", "I live in Rome. I own a bakery."):
        read_statements(text, speaker="Ann", role=Role.NONE, known=(), dates=dates)
    assert calls == ["I live in Rome. I own a bakery."]


def test_names_of_a_statement() -> None:
    (statement,) = _read("I met Dana Miller in Oslo, and Bob too.", known=("Bob",))
    assert statement.names == ("Dana Miller", "Oslo", "Bob")
    (statement,) = _read("I sold the house in Oslo, Bob!", known=("Bob",))
    assert statement.names == ("Oslo",)


def test_prose_around_a_recalled_block_is_read() -> None:
    text = "I sold my boat.\n\nRelevant memories:\n- I own a boat.\n\nI bought a canoe."
    assert [s.text for s in _read(text)] == ["I sold my boat.", "I bought a canoe."]


def test_the_same_text_gives_the_same_statements() -> None:
    text = "I live in Rome. My sister Clara lives in Oslo, and I visit her on Friday."
    assert _read(text) == _read(text)
