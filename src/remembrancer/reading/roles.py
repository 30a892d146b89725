"""Tells role words ("user", "assistant") from the names of speakers."""

from __future__ import annotations

from ..nouns.memory import Role

_ROLES = {
    Role.USER: "user human customer client",
    Role.ASSISTANT: "assistant ai bot model chatbot gpt chatgpt claude gemini",
    Role.SYSTEM: "system developer",
    Role.TOOL: "tool function",
}
_BY_WORD = {word: role for role, words in _ROLES.items() for word in words.split()}


def role_of(word: str) -> Role:
    """Return the role a word names in any case, or `Role.NONE` (it may be a speaker's name)."""
    return _BY_WORD.get(word.strip().lower(), Role.NONE)
