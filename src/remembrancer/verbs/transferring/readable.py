"""A bank for people: one Markdown text, or a folder of notes for Obsidian.

What was remembered stands in code, fenced by more backticks than it holds itself, so no text can
break out of its place and pass for another's.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...keeping.store import Store
from ...keeping.view import View
from ...nouns.clock import iso
from ...nouns.errors import NotFound
from ...nouns.memory import BankRef, Document, Entity, Layer, Unit
from ...nouns.text import shown
from .bank_out import mentioning

_PAGE = 200
_RUN = re.compile(r"`+")
_SPACE = re.compile(r"\s+")
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*#^\[\]]+')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_NAME_BYTES = 120


class Note(NamedTuple):
    """A file of a folder of notes: its path within the folder, and its text."""

    path: str
    text: str


def fenced(text: str) -> str:
    """Return a text as a code block that it cannot end."""
    fence = "`" * max(3, 1 + max((len(run) for run in _RUN.findall(text)), default=0))
    return f"{fence}text\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}\n"


def coded(text: str) -> str:
    """Return a text as a code span on one line that it cannot end."""
    line = _SPACE.sub(" ", text).strip() or " "
    fence = "`" * (1 + max((len(run) for run in _RUN.findall(line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


class Names:
    """Gives files names that lead nowhere else, each once whatever letter case counts for."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def __call__(self, name: str) -> str:
        """Return a name for a file, without an ending."""
        safe = _UNSAFE.sub("_", name).strip(" .") or "_"
        safe = safe.encode()[:_NAME_BYTES].decode(errors="ignore").strip(" .") or "_"
        if _RESERVED.fullmatch(safe):
            safe = f"_{safe}"
        free, number = safe, 2
        while free.casefold() in self._taken:
            free, number = f"{safe} {number}", number + 1
        self._taken.add(free.casefold())
        return free


@dataclass(frozen=True, slots=True)
class _Told:
    """A document with its text and its units."""

    document: Document
    text: str
    units: Sequence[Unit]


class Readable:
    """Writes banks for people."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def markdown(
        self, ref: BankRef, *, documents: Sequence[str] | None = None
    ) -> AsyncGenerator[str, None]:
        """Yield parts of one text: documents with what was read from them, and single memories.

        Raises:
            NotFound: there is no such bank or document.
        """
        bank = await self._store.bank(ref)
        if bank is None:
            raise NotFound(f"there is no bank {ref.bank!r}", field="bank")
        yield f"# Memory of {coded(ref.bank)}\n"
        async with self._store.snapshot(ref) as view:
            async for told in _documents(view, documents):
                yield "\n" + "\n".join(_section(told))
            if documents is None:
                async for units in _alone(view):
                    yield "\n" + "\n".join(_list_of(units))

    async def person(self, ref: BankRef, entity_id: bytes) -> AsyncGenerator[str, None]:
        """Yield parts of one text: what mentions an entity.

        Raises:
            NotFound: there is no such entity.
        """
        async with self._store.snapshot(ref) as view:
            entity = await view.entity(entity_id)
            if entity is None:
                raise NotFound("there is no such entity", field="entity")
            yield f"# What mentions {coded(entity.name)}\n\n"
            ids = await view.run(lambda reader: mentioning(reader, entity_id))
            for start in range(0, len(ids), _PAGE):
                units = await view.units(ids[start : start + _PAGE])
                yield "\n".join(_list_of(units)) + "\n"

    async def obsidian(self, ref: BankRef) -> AsyncGenerator[Note, None]:
        """Yield notes: one a document, one an entity, linked to each other.

        Raises:
            NotFound: there is no such bank.
        """
        if await self._store.bank(ref) is None:
            raise NotFound(f"there is no bank {ref.bank!r}", field="bank")
        async with self._store.snapshot(ref) as view:
            names, called = Names(), dict[str, str]()
            offset = 0
            while entities := await view.entities(_PAGE, offset):
                offset += len(entities)
                for entity in entities:
                    called[entity.name] = names(entity.name)
                    yield _entity_note(entity, called[entity.name])
            names = Names()
            async for told in _documents(view, None):
                yield _document_note(told, names(told.document.name), called)
            number = 0
            async for units in _alone(view):
                number += 1
                text = "\n".join([*_list_of(units), "", *_linked(units, called)])
                yield Note(f"Memories {number}.md", text + "\n")


async def _documents(view: View, wanted: Sequence[str] | None) -> AsyncIterator[_Told]:
    for name in wanted or ():
        document = await view.document(name)
        if document is None:
            raise NotFound(f"document {name!r} does not exist", field="document")
        yield await _told(view, document)
    offset = 0
    while wanted is None and (page := await view.documents(_PAGE, offset)):
        offset += len(page)
        for document in page:
            yield await _told(view, document)


async def _told(view: View, document: Document) -> _Told:
    text = "".join(chunk.text for chunk in await view.chunks(document.id))
    return _Told(document, shown(text), await view.units_of(document.id))


async def _alone(view: View) -> AsyncIterator[list[Unit]]:
    """Yield the memories of no document."""
    after = b""
    while ids := await view.unit_ids(None, after, _PAGE):
        after = ids[-1]
        own = [unit for unit in await view.units(ids) if unit.document_id is None]
        if own:
            yield own


def _section(told: _Told) -> Iterator[str]:
    document = told.document
    yield f"## {coded(document.name)}\n"
    yield f"- kept: {iso(document.created_at)}"
    if document.tags:
        yield f"- tags: {', '.join(coded(tag) for tag in document.tags)}"
    for key, value in (document.metadata or {}).items():
        yield f"- {coded(key)}: {coded(value)}"
    yield ""
    yield fenced(told.text)
    facts = [unit for unit in told.units if unit.layer is Layer.FACT]
    if facts:
        yield "What was read from it:\n"
        yield from _list_of(facts)


def _list_of(units: Sequence[Unit]) -> Iterator[str]:
    for unit in units:
        who = f" {coded(unit.speaker)}:" if unit.speaker else ""
        when = f" (about {iso(unit.occurred_start)})" if unit.occurred_start is not None else ""
        yield f"- {iso(unit.mentioned_at)}{who} {coded(unit.text)}{when}"


def _entity_note(entity: Entity, name: str) -> Note:
    front = {"aliases": [entity.name, *entity.aliases], "kind": entity.kind}
    return Note(f"Entities/{name}.md", _front(front) + f"\n# {coded(entity.name)}\n")


def _document_note(told: _Told, name: str, called: dict[str, str]) -> Note:
    document = told.document
    front = {
        "title": document.name,
        "created": iso(document.created_at),
        "tags": list(document.tags),
        **{f"meta_{key}": value for key, value in (document.metadata or {}).items()},
    }
    lines = [_front(front), fenced(told.text)]
    facts = [unit for unit in told.units if unit.layer is Layer.FACT]
    lines += _list_of(facts)
    lines += ["", *_linked(told.units, called)]
    return Note(f"Documents/{name}.md", "\n".join(lines) + "\n")


def _linked(units: Sequence[Unit], called: dict[str, str]) -> Iterator[str]:
    named = dict.fromkeys(name for unit in units for name in unit.entities if name in called)
    for name in named:
        yield f"- mentions [[Entities/{called[name]}|{_UNSAFE.sub('_', name)}]]"


def _front(told: Mapping[str, object]) -> str:
    """Return front matter; JSON is YAML, and a text in it stays on its line."""
    lines = [
        f"{_SPACE.sub(' ', _UNSAFE.sub('_', key))}: {json.dumps(value, ensure_ascii=True)}"
        for key, value in told.items()
        if value
    ]
    return "\n".join(["---", *lines, "---", ""])
