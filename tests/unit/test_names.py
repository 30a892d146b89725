from __future__ import annotations

import pytest

from remembrancer.reading.names import KnownNames, find_names

CASES: list[tuple[str, list[str]]] = [
    ("I met Anna in New York City.", ["Anna", "New York City"]),
    ("We saw Dr. Anna Schmidt today.", ["Dr. Anna Schmidt"]),
    ("Dinner at Café Zoë was good.", ["Café Zoë"]),
    ("My boss is Przemysław Nowak.", ["Przemysław Nowak"]),
    ("I study at the University of Toronto.", ["University of Toronto"]),
    ("We heard Ludwig van Beethoven.", ["Ludwig van Beethoven"]),
    ("Meet me in Room 101.", ["Room 101"]),
    ("I take Flight UA123 with my iPhone 15.", ["Flight UA123", "iPhone 15"]),
    ("I work for NASA and like LGBTQ groups.", ["NASA", "LGBTQ"]),
    ("Clara's dog Rex met O'Brien.", ["Clara", "Rex", "O'Brien"]),
    ("I saw Clara. Clara was well.", ["Clara", "Clara"]),
    ("Thanks Anna!", ["Anna"]),
    ("Alice works at Google.", ["Alice", "Google"]),
    ("Coffee helps. Sandy beaches, too. Will you?", []),
    ("It was Anna's idea.", ["Anna"]),
    ("Anna Schmidt moved.", ["Anna Schmidt"]),
    ("I love You on Monday in May and I'm OK.", []),
    ("Therapy helps.", []),
    ("Yesterday I slept. Then we ate.", []),
    ("Wow! Awww. Hahaha. Yesss.", []),
    ("THIS IS SO GREAT BOB", []),
    ("that is AMAZING and SO good", []),
    ("call getUser() and My_Class in src/App/Main.tsx", []),
    ("see `Anna Schmidt` at https://Example.org/Anna", []),
    ("```\nclass Handler(Node): pass\n```", []),
    ("Getting Started With Python", []),
    ("# About Anna Schmidt", []),
    ("- **Meal Plan:** eat well", []),
    ("# All about Citation\nCitation counts. We met Lena.", ["Lena"]),
    ("- **The Index:** first\nIndex funds pay.", []),
    ("We played Witcher 3. It was fun.", ["Witcher 3"]),
    ("I choose option C. Suppose it rains.", []),
    ("I read George R. R. Martin.", ["George R. R. Martin"]),
    ("Besides Italy, we saw Malta.", ["Italy", "Malta"]),
    ("Yo Tim! All well?", ["Tim"]),
    ("Ich habe einen Kuchen und die Nachbarin kam mit Lena.", ["Lena"]),
    ("Meine Freundin heißt Lena und wohnt in Köln.", ["Lena", "Köln"]),
    ("Ich fahre mit dem Zug zur Deutschen Bahn.", ["Deutschen Bahn"]),
    ("We saw Das Boot with Lena.", ["Das Boot", "Lena"]),
    ("Configure Flask first.", ["Flask"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_names(text: str, expected: list[str]) -> None:
    found = find_names(text, [])
    assert [name for name, _ in found] == expected
    assert all(text[span.start : span.end] == name for name, span in found)


KNOWN_CASES: list[tuple[str, list[str]]] = [
    ("Anna went home.", ["Anna"]),  # whom she means is told by resolution
    ("anna went home.", []),
    ("Annabel went home.", ["Annabel"]),
    ("Annabelline went home.", []),
    ("So Anna Schmidt went.", ["Anna Schmidt"]),
    ("Anna Miller went.", ["Anna Miller"]),
    ("Bob! Go.", ["Bob"]),
    ("I use emacs daily.", ["emacs"]),
    ("Maria is here.", ["Maria"]),
    ("Zoe is here.", ["Zoe"]),
    ("Room service was slow.", []),  # the first word of no person
    ("Doctor is here.", []),
    ("University is over.", []),
]


@pytest.mark.parametrize(("text", "expected"), KNOWN_CASES)
def test_known_names(text: str, expected: list[str]) -> None:
    people = ["Anna Schmidt", "Bob", "Maria Lopez", "Maria Rossi", "Zoe Ek", "Doctor Ross"]
    known = KnownNames([*people, "emacs", "Room 101", "University of Turku", " "])
    assert [name for name, _ in find_names(text, known)] == expected


def test_known_names_may_be_any_iterable() -> None:
    assert find_names("Bob.", ["Bob"]) == find_names("Bob.", KnownNames(["Bob"]))


def test_known_names_are_a_collection() -> None:
    known = KnownNames(["b", "a", "a"])
    assert list(known) == ["a", "b"]
    assert len(known) == 2
    assert "a" in known
