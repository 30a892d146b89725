"""Answers that must be an object: found in what a model wrote, checked, and asked for again once.

Models wrap JSON in fences and prose, cut it off, or answer with another shape. What can be read is
read; a wrong answer is sent back with what is wrong, a bounded number of times.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from .types import Llm, LlmFailed, Prompt, Usage

REPAIRS = 1
"""How often a wrong answer is asked for again."""

_SHOWN_CHARS = 2_000  # of a wrong answer, sent back
_MAX_CHARS = 1_000_000
_FAULTS = 3

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Structured(Generic[M]):
    """An object, and what it took to get it."""

    value: M
    usage: Usage
    repairs: int = 0


async def ask_for(
    llm: Llm,
    prompt: Prompt,
    model: type[M],
    *,
    repairs: int = REPAIRS,
    wasted: Callable[[], None] | None = None,
) -> Structured[M]:
    """Ask for an object of a type; `wasted` is told of each answer that could not be used.

    Raises:
        LlmFailed: there was no answer, or none of that type even when asked for again.
    """
    used = Usage()
    asked = prompt
    for attempt in range(repairs + 1):
        try:
            reply = await llm.ask(asked)
        except LlmFailed as failed:
            raise LlmFailed(
                failed.message, reason=failed.reason, usage=used + failed.usage
            ) from None
        try:
            value = model.model_validate(found_in(reply.text))
        except (ValueError, ValidationError) as error:
            if wasted is not None:
                wasted()
            used += replace(reply.usage, failed=reply.usage.failed + 1)
            wrong = "it was cut off: be brief" if reply.cut else _said(error)
            asked = replace(prompt, text=prompt.text + _again(wrong, reply.text))
            continue
        return Structured(value, used + reply.usage, attempt)
    raise LlmFailed(
        f"{llm.name} gave no answer of the form asked for, {repairs + 1} times: {wrong}",
        reason="unsound",
        usage=used,
    )


def found_in(text: str) -> dict[str, Any]:
    """Return the first JSON object in a text, or the first list as `{"items": list}`.

    Raises:
        ValueError: there is none.
    """
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    text = text[:_MAX_CHARS]
    at, tries = 0, 0
    while tries < 20:
        starts = [i for i in (text.find("{", at), text.find("[", at)) if i >= 0]
        if not starts:
            break
        at = min(starts)
        try:
            value, _ = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at, tries = at + 1, tries + 1
            # An object that does not end holds inner ones, which are not what was asked for.
            if tries == 1 and text[min(starts)] == "{" and text.lstrip().startswith("{"):
                break
            continue
        if isinstance(value, dict):
            return value
        if isinstance(value, list) and (not value or isinstance(value[0], dict)):
            return {"items": value}
        at += 1
        tries += 1
    raise ValueError("it is no JSON object")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _said(error: ValueError) -> str:
    """Say what is wrong without quoting the answer."""
    if isinstance(error, ValidationError):
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        told = (f"{'.'.join(map(str, f['loc'])) or 'it'}: {f['msg']}" for f in faults[:_FAULTS])
        return "; ".join(told)[:300]
    return str(error)[:300]


def _again(wrong: str, answer: str) -> str:
    shown = answer[:_SHOWN_CHARS].replace("<", "‹").replace(">", "›")
    return (
        f"\n\nYour last answer could not be used: {wrong}. It began:\n"
        f"<answer>\n{shown}\n</answer>\n"
        "Answer again with the JSON object alone."
    )
