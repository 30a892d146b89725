"""What `test_spacy.py` runs in the environment that has spaCy and its small English pipeline."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import remembrancer
from remembrancer.nouns.errors import ModelUnavailable
from remembrancer.reading.installed_spacy import PACKAGES, SpacyNames, load_pipeline
from remembrancer.reading.names import prepare
from remembrancer.reading.naming import Named, RecognisedNames, RuleNames

NOBODY = prepare(())
SAID = "🎉 Toyota and Honda called. Anna moved to Porto.\n" * 3


def test_a_memory_loads_it_when_it_reads_and_keeps_kinds(tmp_path: Path) -> None:
    # the first test: no other has loaded it yet
    with remembrancer.open(tmp_path, embedder="none", nlp="spacy") as memory:
        assert "spacy" not in sys.modules
        memory.retain(SAID, bank="ann")
        assert "spacy" in sys.modules
        kinds = {each.name: each.kind for each in memory.entities(bank="ann")}
        assert kinds["Toyota"] == "organization"
        assert kinds["Porto"] == "place"
    with pytest.raises(ModelUnavailable, match="pip install"):
        remembrancer.open(tmp_path, embedder="none", nlp="spacy:en_core_web_nothing")


@pytest.fixture(scope="module")
def pipeline() -> object:
    return load_pipeline(PACKAGES[0])


@pytest.fixture(scope="module")
def names(pipeline: object) -> RecognisedNames:
    return RecognisedNames(SpacyNames(lambda: pipeline))  # type: ignore[arg-type, return-value]


def told(found: list[Named]) -> dict[str, str]:
    return {each.name: each.kind for each in found}


def test_it_finds_names_and_kinds_that_the_rules_do_not(names: RecognisedNames) -> None:
    rules = told(RuleNames().find(SAID, NOBODY))
    assert "Toyota" not in rules
    found = names.find(SAID, NOBODY)
    assert told(found).keys() > rules.keys()
    assert told(found)["Toyota"] == "organization"
    assert told(found)["Porto"] == "place"
    assert all(SAID[each.span.start : each.span.end] == each.name for each in found)
    assert told(names.find("we fly from london to tokyo", NOBODY)) == {
        "london": "place",
        "tokyo": "place",
    }


def test_the_same_text_has_the_same_names(names: RecognisedNames) -> None:
    found = names.find(SAID, NOBODY)
    for other in ("i was in paris", "Netflix!", SAID * 40):
        names.find(other, NOBODY)
    assert names.find(SAID, NOBODY) == found


def test_of_what_was_read_no_word_stays(names: RecognisedNames, pipeline: object) -> None:
    strings = pipeline.vocab.strings  # type: ignore[attr-defined]
    names.find("Toyota", NOBODY)
    before = len(strings)
    names.find("Toyota sold us the blue qwzkylph, qwzkylph said.", NOBODY)
    assert "qwzkylph" not in strings
    assert len(strings) == before
