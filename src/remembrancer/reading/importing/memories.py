"""Exports of other memories: mem0, Hindsight, HEBBS, and the reference MCP memory server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...nouns.text import clean
from .fields import id_of, metadata_of, name_of, tags_of, text_of, time_of
from .json_stream import BrokenJson, objects, values
from .types import File, Item, Left, Passage, Taken, TakenNode, TakenRelation

Record = tuple[str, Any]
"""Where a record stands, and the record."""


def records(file: File) -> Iterator[Record]:
    """Yield the records of a JSON or JSONL file: lines, or the items of its lists.

    Raises:
        BrokenJson: what was yielded before stands.
    """
    with file.open() as opened:
        if file.path.lower().endswith((".jsonl", ".ndjson")):
            for number, value in objects(opened):
                yield f"{file.path}:{number}", value
        else:
            for number, (member, value, listed) in enumerate(values(opened)):
                if listed or isinstance(value, dict):
                    yield f"{file.path}[{member or ''}{number}]", value


def mem0(file: File) -> Iterator[Item]:
    """Read mem0's memories: a list, or an object that holds one as results or memories."""
    try:
        for where, value in records(file):
            if not isinstance(value, dict) or "memory" not in value:
                graph = isinstance(value, dict) and "relationship" in value
                why = "a relation of the graph" if graph else "it is no memory"
                yield Left(where, why)
                continue
            yield _memory(value, where, "mem0", ("memory",), tags_of(value.get("categories")))
    except BrokenJson as error:
        yield Left(file.path, error.message)


def hebbs(file: File) -> Iterator[Item]:
    """Read HEBBS memories, one a line: episodes and what was revised; insights are made anew."""
    try:
        for where, value in records(file):
            if not isinstance(value, dict) or not isinstance(value.get("content"), str):
                yield Left(where, "it is no memory")
            elif str(value.get("kind", "")).upper() in ("INSIGHT", "PROPOSITION"):
                yield Left(
                    where, f"derived ({str(value['kind']).lower()}): read anew from the rest"
                )
            else:
                yield _memory(value, where, "hebbs", ("content",), ())
    except BrokenJson as error:
        yield Left(file.path, error.message)


def hindsight(file: File) -> Iterator[Item]:
    """Read Hindsight's documents (`original_text`) or memories (`text`) as its API lists them."""
    try:
        for where, value in records(file):
            told = value if isinstance(value, dict) else {}
            if str(told.get("type") or told.get("fact_type")) == "observation":
                yield Left(where, "derived (observation): read anew from the rest")
            elif text_of(told) is None:
                yield Left(where, "it holds no text")
            else:
                tags = tags_of(told.get("tags"))
                yield _memory(told, where, "hindsight", ("original_text", "content", "text"), tags)
    except BrokenJson as error:
        yield Left(file.path, error.message)


def graph(file: File) -> Iterator[Item]:
    """Read the file of the reference MCP memory server: entities and relations, one a line."""
    try:
        for where, value in records(file):
            item = _of_graph(value)
            yield item if item is not None else Left(where, "it is no entity and no relation")
    except BrokenJson as error:
        yield Left(file.path, error.message)


def _of_graph(value: Any) -> TakenNode | TakenRelation | None:
    if not isinstance(value, dict):
        return None
    if value.get("type") == "relation":
        ends = (value.get("from"), value.get("to"), value.get("relationType"))
        told = [clean(end).strip() for end in ends if isinstance(end, str)]
        return TakenRelation(*told) if len(told) == len(ends) and all(told) else None
    name = value.get("name")
    if value.get("type") != "entity" or not isinstance(name, str) or not clean(name).strip():
        return None
    observed = value.get("observations")
    texts = [
        clean(o) for o in (observed if isinstance(observed, list) else ()) if isinstance(o, str)
    ]
    kind = clean(str(value.get("entityType") or "thing")).strip() or "thing"
    kept = tuple(dict.fromkeys(text for text in texts if text.strip()))
    return TakenNode(clean(name).strip(), kind, kept)


def _memory(
    value: Mapping[str, Any],
    where: str,
    prefix: str,
    texts: tuple[str, ...],
    tags: tuple[str, ...],
) -> Item:
    found = text_of(value, texts)
    if found is None:
        return Left(where, "it holds no text")
    key, text = found
    at, offset = time_of(
        value, ("mentioned_at", "created_at", "timestamp", "created_at_us", "date", "updated_at")
    )
    note = value.get("context")
    note = clean(note).strip()[:10_000] if isinstance(note, str) else ""
    inner = value.get("metadata") or value.get("document_metadata")
    more = inner if isinstance(inner, dict) else {}
    told = {k: v for k, v in value.items() if k in ("user_id", "agent_id", "run_id", "entity_id")}
    context = value.get("context")
    if isinstance(context, dict):
        told["context"] = context
    passage = Passage(text, at, offset, note or None)
    name = name_of(prefix, id_of(value, where))
    return Taken(name, (passage,), (*tags, prefix), metadata_of({**more, **told}, (key,)))
