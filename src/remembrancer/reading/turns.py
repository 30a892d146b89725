"""Cuts a document into turns, whatever its format: JSON messages, a chat, or prose."""

from __future__ import annotations

from ..nouns.memory import Role
from .format_chat import chat_turns
from .format_headed import headed_turns
from .format_json import json_turns
from .format_plain import plain_turns
from .types import Turn


def split_turns(content: str, *, default_role: Role = Role.NONE) -> list[Turn]:
    """Return the turns of `content`: ordered, with disjoint ranges; empty ones are left out.

    Tried in this order: JSON or JSONL messages, a chat as its window shows it (who and when above
    the words), a chat as text (`Name: words` lines or headings), paragraphs. What does not read as
    one of these is prose; there is no error.

    Args:
        content: the document, verbatim.
        default_role: the role of turns that name no speaker.
    """
    turns = json_turns(content, default_role)
    if turns is None:
        turns = headed_turns(content)
    if turns is None:
        turns = chat_turns(content, default_role)
    if turns is None:
        turns = plain_turns(content, 0, len(content), default_role)
    return turns
