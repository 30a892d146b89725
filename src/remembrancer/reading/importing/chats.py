"""Exports of chats: ChatGPT's conversations, and Claude's conversations, projects and memories.

A conversation becomes one document, JSON messages in the order in which they were said, so that
reading tells turns, roles and times apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...nouns.clock import iso
from ...nouns.text import clean
from ..format_json import parse_time
from .fields import list_of, metadata_of, name_of, time_of
from .json_stream import BrokenJson, values
from .types import MAX_RECORD_BYTES, File, Item, Left, Passage, Taken

_NONE = f"it is no conversation, or longer than {MAX_RECORD_BYTES} bytes"
_ROLES = ("user", "assistant")
_SENDERS = {"human": "user", "user": "user", "assistant": "assistant"}


def chatgpt(file: File) -> Iterator[Item]:
    """Read `conversations.json` of a ChatGPT export; the branch that is shown is taken."""
    with file.open() as opened:
        try:
            for number, (_, value, _) in enumerate(values(opened)):
                yield from _chatgpt_conversation(value, f"{file.path}[{number}]")
        except BrokenJson as error:
            yield Left(file.path, error.message)


def _chatgpt_conversation(value: Any, where: str) -> Iterator[Item]:
    mapping = value.get("mapping") if isinstance(value, dict) else None
    if not isinstance(mapping, dict):
        yield Left(where, _NONE)
        return
    chain = _shown_branch(value, mapping)
    messages: list[dict[str, Any]] = []
    left: dict[str, int] = {}
    for node in chain:
        told, why = _chatgpt_message(node.get("message"))
        if told is not None:
            messages.append(told)
        elif why:
            left[why] = left.get(why, 0) + 1
    others = sum(1 for n in mapping.values() if isinstance(n, dict) and n.get("message"))
    others -= sum(1 for n in chain if n.get("message"))
    if others > 0:
        left["of a branch that is not shown (edited or answered anew)"] = others
    chain.clear()
    mapping.clear()  # a long one takes much more than what was said in it
    own = value.get("conversation_id") or value.get("id")
    name = name_of("chatgpt", own or value.get("title") or where)
    yield from _conversation(name, value.get("title"), value, messages, ("chatgpt",), where)
    yield from (Left(name, why, count) for why, count in left.items())


def _shown_branch(value: Mapping[str, Any], mapping: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the nodes from the root to the current one."""
    at = value.get("current_node")
    if not isinstance(at, str) or at not in mapping:
        told = [n.get("parent") for n in mapping.values() if isinstance(n, dict)]
        parents = {parent for parent in told if isinstance(parent, str)}
        leaves = [key for key in mapping if key not in parents]
        at = leaves[-1] if leaves else None
    chain: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while isinstance(at, str) and at in mapping and at not in seen:
        seen.add(at)
        node = mapping[at]
        if not isinstance(node, dict):
            break
        chain.append(node)
        at = node.get("parent")
    return chain[::-1]


def _chatgpt_message(message: Any) -> tuple[dict[str, Any] | None, str | None]:
    """Return a message as reading takes it, or why it is left."""
    if not isinstance(message, dict):
        return None, None
    author, content = message.get("author"), message.get("content")
    role = author.get("role") if isinstance(author, dict) else None
    meta = message.get("metadata")
    if isinstance(meta, dict) and meta.get("is_visually_hidden_from_conversation"):
        return None, "hidden in the conversation"
    if role not in _ROLES:
        return None, f"said by {role}" if isinstance(role, str) and role else "said by nobody"
    if message.get("recipient") not in (None, "", "all"):
        return None, "said to a tool"
    if not isinstance(content, dict):
        return None, "without content"
    kind = content.get("content_type")
    if kind not in ("text", "multimodal_text"):
        return None, f"of the type {kind}"
    words: list[str] = []
    for part in list_of(content.get("parts")):
        if isinstance(part, str):
            words.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            words.append(part["text"])  # what was spoken
    text = clean("\n".join(words)).strip()
    if not text:
        return None, "without text" if kind == "text" else "an image or a file"
    at, _ = parse_time(message.get("create_time"))
    return _message(role, text, at), None


def claude(file: File) -> Iterator[Item]:
    """Read `conversations.json`, `projects.json` or `memories.json` of a Claude export."""
    with file.open() as opened:
        try:
            for number, (member, value, _) in enumerate(values(opened)):
                where = f"{file.path}[{member or number}]"
                if not isinstance(value, dict):
                    yield Left(where, _NONE)
                elif "chat_messages" in value:
                    yield from _claude_conversation(value, where)
                elif "docs" in value or "prompt_template" in value:
                    yield from _claude_project(value, where)
                elif "conversations_memory" in value or "project_memories" in value:
                    yield from _claude_memories(value)
                else:
                    yield Left(where, "it holds no conversation, project or memory")
        except BrokenJson as error:
            yield Left(file.path, error.message)


def _claude_conversation(value: Mapping[str, Any], where: str) -> Iterator[Item]:
    name = name_of("claude", value.get("uuid") or where)
    messages: list[dict[str, Any]] = []
    left: dict[str, int] = {}
    told = value["chat_messages"]
    for message in list_of(told):
        if not isinstance(message, dict):
            continue
        text = _claude_text(message)
        role = _SENDERS.get(str(message.get("sender")))
        for kind, why in (("attachments", "an attachment without text"), ("files", "a file")):
            for each in list_of(message.get(kind)):
                extracted = each.get("extracted_content") if isinstance(each, dict) else None
                if isinstance(extracted, str) and clean(extracted).strip():
                    text = f"{text}\n\n{clean(extracted).strip()}".strip()
                else:
                    left[why] = left.get(why, 0) + 1
        if role is None or not text:
            why = "without text" if role else "said by nobody known"
            left[why] = left.get(why, 0) + 1
            continue
        at, _ = parse_time(message.get("created_at"))
        messages.append(_message(role, text, at))
    yield from _conversation(name, value.get("name"), value, messages, ("claude",), where)
    yield from (Left(name, why, count) for why, count in left.items())


def _claude_text(message: Mapping[str, Any]) -> str:
    parts = message.get("content")
    words = [
        part["text"]
        for part in list_of(parts)
        if isinstance(part, dict)
        and part.get("type") == "text"
        and isinstance(part.get("text"), str)
    ]
    told = "\n".join(words) or message.get("text")
    return clean(told).strip() if isinstance(told, str) else ""


def _claude_project(value: Mapping[str, Any], where: str) -> Iterator[Item]:
    own = value.get("uuid") or where
    at, offset = time_of(value)
    note = f"the project {value['name']}" if value.get("name") else None
    texts = [(key, value.get(key), (at, offset)) for key in ("description", "prompt_template")]
    docs = value.get("docs")
    for number, doc in enumerate(list_of(docs)):
        if isinstance(doc, dict):
            called = str(doc.get("uuid") or doc.get("filename") or number)
            texts.append((called, doc.get("content"), time_of(doc)))
    for key, text, (own_at, own_offset) in texts:
        if isinstance(text, str) and clean(text).strip():
            told = (own_at, own_offset) if own_at is not None else (at, offset)
            passage = Passage(text, *told, note)
            yield Taken(name_of("claude", "project", own, key), (passage,), ("claude",))


def _claude_memories(value: Mapping[str, Any]) -> Iterator[Item]:
    who = value.get("account_uuid") or "account"
    text = value.get("conversations_memory")
    if isinstance(text, str) and clean(text).strip():
        yield Taken(name_of("claude", "memory", who), (Passage(text),), ("claude",))
    projects = value.get("project_memories")
    for project, told in projects.items() if isinstance(projects, dict) else ():
        if isinstance(told, str) and clean(told).strip():
            yield Taken(name_of("claude", "memory", project), (Passage(told),), ("claude",))


def _message(role: str, text: str, at: int | None) -> dict[str, Any]:
    told: dict[str, Any] = {"role": role, "content": text}
    if at is not None:
        told["timestamp"] = iso(at)
    return told


def _conversation(
    name: str,
    title: Any,
    value: Mapping[str, Any],
    messages: list[dict[str, Any]],
    tags: tuple[str, ...],
    where: str,
) -> Iterator[Item]:
    if not messages:
        yield Left(where, "a conversation without words")
        return
    at, _ = time_of(value, ("create_time", "created_at"))
    title = clean(title).strip()[:1_000] if isinstance(title, str) else None
    content = "[" + ",\n".join(json.dumps(m, ensure_ascii=False) for m in messages) + "]"
    passage = Passage(content, at, note=title or None)
    yield Taken(name, (passage,), tags, metadata_of({"title": title}))
