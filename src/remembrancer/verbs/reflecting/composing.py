"""An answer in words, put together from statements as they were said: no model writes it."""

from __future__ import annotations

from collections.abc import Sequence

from ...nouns.clock import iso
from ...nouns.memory import Modality, Precision, Role
from ...nouns.text import estimate_tokens
from .statements import Statement, one_line

_TOKEN_BYTES = 4  # see `nouns.text.estimate_tokens`
_ASKED_CHARS = 200  # of the question, repeated
_ROLES = {Role.USER: "user", Role.ASSISTANT: "assistant", Role.SYSTEM: "system", Role.TOOL: "tool"}
_DAY_CHARS = 10  # of 2024-01-15
_MINUTE_CHARS = 16
_FINE = {Precision.SECOND, Precision.MINUTE, Precision.HOUR}
_MODES = {
    Modality.WISHED: "wished",
    Modality.PLANNED: "planned",
    Modality.HYPOTHETICAL: "only supposed",
    Modality.QUOTED: "quoted",
}


def compose(
    question: str, statements: Sequence[Statement], max_tokens: int
) -> tuple[str, list[Statement]]:
    """Write what is known: the statements by day, newest first, quoted.

    Args:
        question: what was asked.
        statements: best first.
        max_tokens: estimated tokens of the text at most. The best statements that fit are taken;
            one that does not is passed over.

    Returns:
        The text, which is never empty, and the statements in it, best first.
    """
    asked = _shortened(one_line(question), _ASKED_CHARS)
    if not statements:
        return _cut(f"Nothing is known about “{asked}”.", max_tokens), []
    head = f"What is known about “{asked}”, newest first:"
    taken: dict[str, list[tuple[Statement, str]]] = {}
    used = []
    left = max_tokens * _TOKEN_BYTES - len(head.encode())
    for statement in statements:
        day, line = _day(statement), _line(statement)
        size = len(line.encode()) + 1 + (0 if day in taken else len(day) + 2)
        if size > left:
            continue
        left -= size
        taken.setdefault(day, []).append((statement, line))
        used.append(statement)
    if not used:
        return _cut(_line(statements[0]).removeprefix("- "), max_tokens), [statements[0]]
    blocks = [head]
    for day in sorted(taken, reverse=True):
        lines = sorted(taken[day], key=lambda each: -each[0].said_at)
        blocks.append("\n".join([day, *(line for _, line in lines)]))
    return "\n\n".join(blocks), used


def _line(statement: Statement) -> str:
    marks = []
    if statement.negated:
        marks.append("denied")
    if statement.modality in _MODES:
        marks.append(_MODES[statement.modality])
    when = _when(statement)
    if when:
        marks.append(f"{when}, past" if statement.past else when)
    if statement.ended is not None:
        ended = (iso(statement.ended, statement.offset_min) or "")[:_DAY_CHARS]
        marks.append(f"no longer so since {ended}")
    unit = statement.answer.unit
    who = statement.speaker or _ROLES.get(unit.role, "")
    source = statement.answer.document
    if not who and source:
        who = f"from {source}"
    said = f"“{statement.text}”"
    if who:
        said = f"{who}: {said}"
    return f"- {said}" + (f" ({', '.join(marks)})" if marks else "")


def _day(statement: Statement) -> str:
    return (iso(statement.said_at, statement.offset_min) or "")[:_DAY_CHARS]


def _when(statement: Statement) -> str:
    """Return the time that a statement speaks of, as exactly as it is known."""
    if statement.occurred_start is None:
        return ""
    width = _MINUTE_CHARS if statement.precision in _FINE else _DAY_CHARS
    start = (iso(statement.occurred_start, statement.offset_min) or "")[:width]
    if statement.occurred_end is None or statement.precision in _FINE:
        return start.replace("T", " ")
    # Ends are exclusive; the last moment before names the last day.
    last = (iso(statement.occurred_end - 1, statement.offset_min) or "")[:_DAY_CHARS]
    return start if last == start else f"{start} to {last}"


def _shortened(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[: chars - 1].rstrip() + "…"


def _cut(text: str, max_tokens: int) -> str:
    """Return a text, or as much of it as the tokens allow; at least a character."""
    if estimate_tokens(text) <= max_tokens:
        return text
    room = max_tokens * _TOKEN_BYTES - len("…".encode())
    return text.encode()[: max(room, 0)].decode(errors="ignore").rstrip() + "…"
