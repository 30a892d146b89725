"""Tells which program a file is an export of, by its name and how it begins."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from .calendars import calendar
from .chats import chatgpt, claude
from .json_stream import BrokenJson
from .mail import mbox
from .memories import graph, hebbs, hindsight, mem0, records
from .notes import markdown
from .tables import lines, table
from .types import File, Parser

BANK_FORMAT = "remembrancer-bank"
"""The format that the first line of our own lossless export names."""


class Format(StrEnum):
    """What can be imported."""

    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    MEM0 = "mem0"
    HINDSIGHT = "hindsight"
    HEBBS = "hebbs"
    MCP = "mcp"
    MARKDOWN = "markdown"
    OBSIDIAN = "obsidian"
    CSV = "csv"
    JSONL = "jsonl"
    MBOX = "mbox"
    ICS = "ics"
    BANK = "bank"  # of our own: see `verbs.transferring.bank_out`
    ARCHIVE = "archive"  # of our own and Hindsight's routes: see `verbs.transferring.archive`


PARSERS: Mapping[Format, Parser] = {
    Format.CHATGPT: chatgpt,
    Format.CLAUDE: claude,
    Format.MEM0: mem0,
    Format.HINDSIGHT: hindsight,
    Format.HEBBS: hebbs,
    Format.MCP: graph,
    Format.MARKDOWN: markdown,
    Format.OBSIDIAN: markdown,
    Format.CSV: table,
    Format.JSONL: lines,
    Format.MBOX: mbox,
    Format.ICS: calendar,
}

_ENDINGS = {
    **dict.fromkeys((".md", ".markdown", ".txt"), Format.MARKDOWN),
    **dict.fromkeys((".csv", ".tsv"), Format.CSV),
    ".mbox": Format.MBOX,
    ".ics": Format.ICS,
}
_JSON = (".json", ".jsonl", ".ndjson")
_BESIDE = ("users.json", "user.json", "message_feedback.json", "shared_conversations.json")
_HEBBS = ("importance", "kind", "created_at_us", "entity_id", "memory_id", "decay_score")


def format_of(file: File) -> Format | None:
    """Return what a file is; None when it is nothing that can be imported."""
    name = file.path.rpartition("/")[2].lower()
    ending = f".{name.rpartition('.')[2]}" if "." in name else ""
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    if ending in _JSON:
        return None if name in _BESIDE else _of_json(file)
    with file.open() as opened:
        head = opened.read(64)
    if head.startswith(b"From "):
        return Format.MBOX
    return Format.ICS if head.upper().startswith(b"BEGIN:VCALENDAR") else None


def _of_json(file: File) -> Format | None:
    try:
        for _, value in records(file):
            if value is not None:  # a value too long, or a line that is no JSON
                return _of_record(value)
    except BrokenJson:
        return None
    return None


def _of_record(value: Any) -> Format | None:
    if not isinstance(value, dict):
        return None
    if value.get("format") == BANK_FORMAT:
        return Format.BANK
    if "mapping" in value:
        return Format.CHATGPT
    if value.keys() & {"chat_messages", "prompt_template", "conversations_memory"}:
        return Format.CLAUDE
    if isinstance(value.get("memory"), str):
        return Format.MEM0
    if value.get("type") in ("entity", "relation"):
        return Format.MCP
    if "original_text" in value or "fact_type" in value or "document_metadata" in value:
        return Format.HINDSIGHT
    if isinstance(value.get("content"), str) and len(value.keys() & set(_HEBBS)) > 1:
        return Format.HEBBS
    return Format.JSONL
