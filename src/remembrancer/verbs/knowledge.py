"""Knowledge pages: mental models in a tree of folders, to be read, searched and exported.

A node is a record that holds a name and a place; what a page says is its mental model's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..keeping.batch import Batch
from ..keeping.records import Record
from ..keeping.store import Store
from ..nouns.clock import Clock, iso
from ..nouns.errors import InvalidInput, NotFound, TooLarge
from ..nouns.ids import IdMaker, to_uuid
from ..nouns.memory import BankRef, Job
from ..nouns.text import clean
from ..reading.plain_words import plain_words
from .mental_models import NAME_CHARS, MentalModels
from .modelling.shelf import Shelf, Shown

NODE = "knowledge_node"
"""The kind of the records."""

FOLDER, PAGE = "folder", "page"
MOST = 2_000  # nodes of one bank
MOST_DEPTH = 20
_SNIPPET_CHARS = 200

TagRule = Callable[[Collection[str]], bool]
"""Tells of a page's tags whether it is wanted."""


@dataclass(frozen=True, slots=True)
class Node:
    """A folder, or a page of the mental model `model`. Without `parent` it stands at the top."""

    id: str
    kind: str
    name: str
    parent: str | None = None
    model: str | None = None
    created_at: int = 0
    updated_at: int = 0


@dataclass(frozen=True, slots=True)
class ShownNode:
    """A node with its mental model, and for a folder what stands in it."""

    node: Node
    shown: Shown | None = None
    children: tuple[ShownNode, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that a search found; `score` from 0 to 1."""

    page: ShownNode
    snippet: str
    score: float


class Knowledge:
    """The verbs; everything they need is passed in."""

    def __init__(
        self, store: Store, shelf: Shelf, models: MentalModels, *, ids: IdMaker, clock: Clock
    ) -> None:
        self._store = store
        self._shelf = shelf
        self._models = models
        self._ids = ids
        self._clock = clock

    async def tree(self, ref: BankRef, wanted: TagRule | None = None) -> tuple[ShownNode, ...]:
        """Return the top nodes with all that stands in them, by name.

        Of `wanted` pages, only folders that lead to one are returned.
        """
        nodes = await self._nodes(ref)
        pages = await self._pages(ref, [n for n in nodes.values() if n.kind == PAGE])
        inside: dict[str | None, list[Node]] = {}
        for node in nodes.values():
            parent = node.parent if node.parent in nodes else None
            inside.setdefault(parent, []).append(node)

        def built(parent: str | None, depth: int) -> tuple[ShownNode, ...]:
            found = sorted(inside.get(parent, ()), key=lambda n: (n.kind != FOLDER, n.name, n.id))
            shown = (
                ShownNode(n, pages.get(n.id), built(n.id, depth + 1) if depth < MOST_DEPTH else ())
                for n in found
            )
            return tuple(n for n in shown if wanted is None or n.children or _fits(n, wanted))

        return built(None, 0)

    async def folder(self, ref: BankRef, name: str, parent: str | None) -> Node:
        """Make a folder; the bank is made when it is new.

        Raises:
            NotFound, InvalidInput, TooLarge: nothing was made.
        """
        node = await self._new(ref, FOLDER, name, parent, None)
        await self._store.apply(ref, Batch(records=[_record(node)]))
        return node

    async def page(
        self,
        ref: BankRef,
        name: str,
        source_query: str,
        parent: str | None,
        *,
        tags: Sequence[str] = (),
        max_tokens: int = 2048,
        trigger: Mapping[str, Any] | None = None,
    ) -> tuple[Node, Job]:
        """Make a page with a mental model of its own, which is refreshed.

        Raises:
            NotFound, InvalidInput, TooLarge: nothing was made.
        """
        key = to_uuid(self._ids.new())
        node = await self._new(ref, PAGE, name, parent, key)
        _, job = await self._models.create(
            ref,
            name,
            source_query,
            key=key,
            tags=tags,
            max_tokens=max_tokens,
            trigger=trigger,
            with_records=[_record(node)],
        )
        return node, job

    async def get(self, ref: BankRef, key: str, *, page: bool = False) -> ShownNode:
        """Return a node.

        Raises:
            NotFound: there is none of this id, or with `page` it is a folder.
        """
        record = await self._store.record(ref, NODE, key)
        if record is None or (page and record.data["kind"] != PAGE):
            what = "page" if page else "node"
            raise NotFound(f"there is no such knowledge {what} in this bank", field=f"{what}_id")
        node = _of(record)
        return ShownNode(node, (await self._pages(ref, [node])).get(key))

    async def update(
        self, ref: BankRef, key: str, place: Mapping[str, Any], model: Mapping[str, Any]
    ) -> ShownNode:
        """Change a node's `name` and `parent`, and what its mental model is.

        Raises:
            NotFound, InvalidInput, TooLarge: nothing was changed, or the name and place alone.
        """
        old = (await self.get(ref, key)).node
        new = replace(old, **place, updated_at=self._clock.now_us())
        new = replace(new, name=_name(new.name))
        await self._check_parent(ref, new.parent, key)
        await self._store.apply(ref, Batch(records=[_record(new)]))
        changes = {**model, **({"name": new.name} if "name" in place else {})}
        if new.model is not None and changes:
            await self._models.update(ref, new.model, changes)
        return await self.get(ref, key)

    async def delete(self, ref: BankRef, key: str) -> int:
        """Delete a node, all that stands in it, and the mental models of pages; return how many.

        Raises:
            NotFound: there is none of this id.
        """
        await self.get(ref, key)
        nodes = await self._nodes(ref)
        going = [key]
        for each in going:
            going += [n.id for n in nodes.values() if n.parent == each and n.id not in going]
        for each in reversed(going):  # what is inside first, so that it can be done again
            node = nodes[each]
            model = await self._shelf.find(ref, node.model) if node.model else None
            if model is not None:
                await self._shelf.delete(ref, model, erase_records=[(NODE, each)])
            else:
                await self._store.apply(ref, Batch(erase_records=[(NODE, each)]))
        return len(going)

    async def search(
        self, ref: BankRef, query: str, limit: int, wanted: TagRule | None = None
    ) -> list[Hit]:
        """Find pages that hold words of a question, the best first."""
        nodes = [n for n in (await self._nodes(ref)).values() if n.kind == PAGE]
        pages = await self._pages(ref, nodes)
        words = set(plain_words(query))
        hits = []
        for node in nodes:
            shown = pages.get(node.id)
            if wanted is not None and not _fits(ShownNode(node, shown), wanted):
                continue
            text = (shown.content or "") if shown else ""
            named = words & set(plain_words(node.name))
            found = words & set(plain_words(text))
            if words and (named or found):
                score = (len(named | found) + len(named)) / (2 * len(words))
                hits.append(Hit(ShownNode(node, shown), _snippet(text, found), round(score, 4)))
        hits.sort(key=lambda hit: (-hit.score, hit.page.node.name, hit.page.node.id))
        return hits[:limit]

    async def models(self, ref: BankRef) -> set[str]:
        """Return the ids of the mental models that are pages."""
        return {n.model for n in (await self._nodes(ref)).values() if n.model is not None}

    async def export(self, ref: BankRef) -> list[tuple[str, str]]:
        """Return path and Markdown of each page."""
        found: list[tuple[str, str]] = []
        seen: set[str] = set()

        def walk(nodes: Sequence[ShownNode], folder: str) -> None:
            for each in nodes:
                name = re.sub(r"[^\w .-]+", "-", each.node.name).strip(". ") or each.node.id
                if each.node.kind == FOLDER:
                    walk(each.children, f"{folder}{name}/")
                    continue
                path = f"{folder}{name}.md"
                path = path if path not in seen else f"{folder}{name}-{each.node.id}.md"
                seen.add(path)
                found.append((path, markdown(each)))

        walk(await self.tree(ref), "")
        return found

    async def _nodes(self, ref: BankRef) -> dict[str, Node]:
        return {r.key: _of(r) for r in await self._store.records(ref, NODE, limit=MOST)}

    async def _pages(self, ref: BankRef, nodes: Sequence[Node]) -> dict[str, Shown]:
        models = {n.id: await self._shelf.find(ref, n.model) for n in nodes if n.model}
        there = {key: model for key, model in models.items() if model is not None}
        shown = await self._shelf.shown(ref, list(there.values()))
        return dict(zip(there, shown, strict=True))

    async def _new(
        self, ref: BankRef, kind: str, name: str, parent: str | None, model: str | None
    ) -> Node:
        if await self._store.record_count(ref, NODE) >= MOST:
            raise TooLarge(f"the bank has {MOST} knowledge nodes, which is the limit", limit=MOST)
        key = to_uuid(self._ids.new())
        await self._check_parent(ref, parent, key)
        now = self._clock.now_us()
        return Node(key, kind, _name(name), parent, model, now, now)

    async def _check_parent(self, ref: BankRef, parent: str | None, key: str) -> None:
        for _ in range(MOST_DEPTH - 1):
            if parent is None:
                return
            if parent == key:
                raise InvalidInput("a folder cannot stand in itself", field="parent_id")
            record = await self._store.record(ref, NODE, parent)
            if record is None or record.data["kind"] != FOLDER:
                raise NotFound("there is no such folder in this bank", field="parent_id")
            parent = record.data["parent"]
        raise TooLarge(
            f"folders stand in each other {MOST_DEPTH} deep at most",
            field="parent_id",
            limit=MOST_DEPTH,
        )


def markdown(page: ShownNode) -> str:
    """Return a page as Markdown, with what it is about and when it was written at its head."""
    shown = page.shown
    model = shown.model if shown is not None else None
    lines = ["---", f"name: {page.node.name}"]
    if model is not None:
        lines += [f"description: {' '.join(model.source_query.split())}"]
        lines += [f"tags: {', '.join(model.tags)}"] if model.tags else []
        lines += [f"timestamp: {iso(model.refreshed_at)}"] if model.refreshed_at else []
    body = shown.content if shown is not None and shown.content else "Nothing is written yet."
    return "\n".join([*lines, "---", "", f"# {page.node.name}", "", body, ""])


def _fits(node: ShownNode, wanted: TagRule) -> bool:
    tags = node.shown.model.tags if node.shown is not None else ()
    return node.node.kind == PAGE and wanted(tags)


def _snippet(text: str, words: set[str]) -> str:
    low = text.lower()
    places = [at for word in words if (at := low.find(word)) >= 0]
    start = max(0, min(places, default=0) - _SNIPPET_CHARS // 4)
    return " ".join(text[start : start + _SNIPPET_CHARS].split())


def _name(name: str) -> str:
    name = clean(name).strip()
    if not name:
        raise InvalidInput("name must not be empty", field="name", limit=1)
    if len(name) > NAME_CHARS:
        raise TooLarge(
            f"name has {len(name)} characters; the limit is {NAME_CHARS}",
            field="name",
            limit=NAME_CHARS,
        )
    return name


def _record(node: Node) -> Record:
    data = {"kind": node.kind, "name": node.name, "parent": node.parent, "model": node.model}
    return Record(NODE, node.id, node.created_at, node.updated_at, data)


def _of(record: Record) -> Node:
    return Node(
        record.key, created_at=record.created_at, updated_at=record.updated_at, **record.data
    )
