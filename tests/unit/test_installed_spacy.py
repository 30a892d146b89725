"""The setting `nlp`, and a spaCy pipeline behind it: a stand-in here, the real one in compat."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

import remembrancer
from remembrancer.nouns.errors import InvalidInput, ModelUnavailable
from remembrancer.reading import installed_spacy
from remembrancer.reading.installed_spacy import SpacyNames, load_pipeline, make_name_finder
from remembrancer.reading.naming import Recognised, RecognisedNames, RuleNames


class StandIn:
    """What is used of a pipeline: marks each "ghent", and fails on "boom"."""

    pipe_names = ("tok2vec", "ner")

    def __init__(self) -> None:
        self.open = False
        self.read: list[str] = []
        self.threads: set[str] = set()

    @contextmanager
    def memory_zone(self) -> Iterator[None]:
        """As spaCy's: not to be nested, and left open by an error."""
        assert not self.open
        self.open = True
        yield
        self.open = False

    def __call__(self, text: str) -> SimpleNamespace:
        assert self.open
        self.read.append(text)
        self.threads.add(threading.current_thread().name)
        if "boom" in text:
            raise RuntimeError("boom")
        at = text.find("ghent")
        found = [SimpleNamespace(start_char=at, end_char=at + 5, label_="GPE")] if at >= 0 else []
        return SimpleNamespace(ents=found)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the packages that are installed; add to it."""
    packages: set[str] = set()
    monkeypatch.setattr(
        installed_spacy, "find_spec", lambda name: object() if name in packages else None
    )
    return packages


def test_it_is_loaded_at_the_first_text_and_once() -> None:
    loads: list[StandIn] = []

    def load() -> StandIn:
        loads.append(StandIn())
        return loads[-1]

    names = SpacyNames(load)
    assert loads == []
    assert names("in ghent") == [Recognised(3, 8, "GPE")]
    assert names("nowhere") == []
    assert len(loads) == 1


def test_an_error_leaves_no_zone_open() -> None:
    pipeline = StandIn()
    names = SpacyNames(lambda: pipeline)
    with pytest.raises(RuntimeError, match="boom"):
        names("boom")
    assert names("ghent") == [Recognised(0, 5, "GPE")]


def test_a_pipeline_that_cannot_be_loaded_is_not_tried_again() -> None:
    tries = []

    def load() -> StandIn:
        tries.append(1)
        raise OSError("no such file")

    names = SpacyNames(load)
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="no such file"):
            names("ghent")
    assert len(tries) == 1


def test_threads_take_turns() -> None:
    names = SpacyNames(StandIn)
    found: list[list[Recognised]] = []
    work = [
        threading.Thread(target=lambda: found.extend(names("ghent") for _ in range(50)))
        for _ in range(4)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert found == [[Recognised(0, 5, "GPE")]] * 200


def test_by_default_nothing_is_needed(installed: set[str]) -> None:
    assert isinstance(make_name_finder(""), RuleNames)
    assert remembrancer.Settings().nlp == ""


@pytest.mark.parametrize("spec", ["nltk", "spacy:", "Spacy", "spacy en"])
def test_other_specs_are_refused(spec: str, installed: set[str]) -> None:
    with pytest.raises(InvalidInput, match="choose spacy") as caught:
        make_name_finder(spec)
    assert caught.value.field == "nlp"


@pytest.mark.parametrize(
    ("spec", "there", "missing"),
    [
        ("spacy", (), "spaCy is not installed"),
        ("spacy:my_pipeline", (), "spaCy is not installed"),
        ("spacy", ("spacy",), "en_core_web_sm"),
        ("spacy:my_pipeline", ("spacy", "en_core_web_sm"), "'my_pipeline' is not installed"),
        ("spacy:../nowhere", ("spacy",), "'../nowhere' is not installed"),
    ],
)
def test_what_is_missing_is_said_with_how_to_mend(
    spec: str, there: tuple[str, ...], missing: str, installed: set[str]
) -> None:
    installed.update(there)
    with pytest.raises(ModelUnavailable, match=missing) as caught:
        make_name_finder(spec)
    assert "pip install 'remembrancer[nlp]'" in str(caught.value)


def test_a_memory_says_so_when_it_is_opened(tmp_path: Path, installed: set[str]) -> None:
    with pytest.raises(ModelUnavailable, match="pip install"):
        remembrancer.open(tmp_path, embedder="none", nlp="spacy")


def test_a_folder_must_hold_a_pipeline(tmp_path: Path, installed: set[str]) -> None:
    installed.add("spacy")
    with pytest.raises(ModelUnavailable, match=r"no config\.cfg"):
        make_name_finder(f"spacy:{tmp_path}")
    (tmp_path / "config.cfg").touch()
    assert isinstance(make_name_finder(f"spacy:{tmp_path}"), RecognisedNames)


def library(monkeypatch: pytest.MonkeyPatch, pipeline: object) -> list[tuple[str, list[str]]]:
    """Put a stand-in in the place of spaCy; return what it is asked to load."""
    asked: list[tuple[str, list[str]]] = []

    def load(name: str, *, exclude: list[str]) -> object:
        asked.append((name, exclude))
        return pipeline

    module = SimpleNamespace(load=load, __version__="3.7.5")
    monkeypatch.setattr(installed_spacy, "import_module", lambda _: module)
    return asked


def test_what_names_do_not_need_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = StandIn()
    asked = library(monkeypatch, pipeline)
    assert load_pipeline("en_core_web_sm") is pipeline
    ((name, excluded),) = asked
    assert name == "en_core_web_sm"
    assert "parser" in excluded
    assert not {"ner", "tok2vec", "transformer"}.intersection(excluded)


def test_unfit_pipelines_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    library(monkeypatch, SimpleNamespace(pipe_names=["ner"]))
    with pytest.raises(ModelUnavailable, match=r"3\.8 or newer"):
        load_pipeline("old")
    blank = StandIn()
    blank.pipe_names = ("tok2vec",)  # type: ignore[assignment]
    library(monkeypatch, blank)
    with pytest.raises(ModelUnavailable, match="recognises no named entities"):
        load_pipeline("blank")


def test_a_memory_reads_with_it_in_a_worker_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: set[str]
) -> None:
    installed.update(("spacy", "en_core_web_sm"))
    pipeline = StandIn()
    asked = library(monkeypatch, pipeline)

    async def go() -> None:
        async with remembrancer.open_async(tmp_path, embedder="none", nlp="spacy") as memory:
            assert asked == []  # lazily
            await memory.retain("we moved to ghent last year", bank="ann")
            await memory.retain("boom! But we met Clara Ek there.", bank="ann")
            entities = await memory.entities(bank="ann")
        assert {(e.name, e.kind) for e in entities} >= {("ghent", "place"), ("Clara Ek", "thing")}

    asyncio.run(go())
    assert len(asked) == 1
    assert "MainThread" not in pipeline.threads
