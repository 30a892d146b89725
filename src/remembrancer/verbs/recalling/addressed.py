"""Tells whose words a question asks for: what the assistant said, or what was told."""

from __future__ import annotations

import re

# A question about what the assistant said; any other is taken to be about the user. What it is
# asked to do now ("can you suggest …") is no such question.
_ABOUT_ASSISTANT = re.compile(
    r"\b(?:did|had)\s+you\s+(?:(?:ever|also|just|already)\s+)?(?:recommend|suggest|say|tell"
    r"|mention|explain|give|list|propose|advise|describe|answer|write|show|provide|offer|call)"
    r"|\byou(?:['’]ve|\s+have|\s+had)?\s+(?:(?:ever|also|just|already|previously|once)\s+)*"
    r"(?:recommended|suggested|said|told|mentioned|explained|gave|given|listed|proposed|advised"
    r"|described|answered|wrote|written|showed|shown|provided|offered|called)\b"
    r"|\byour\s+(?:\w+\s+)?(?:recommendation|suggestion|advice|answer|explanation|reply|response)s?\b",
    re.IGNORECASE,
)


def about_assistant(question: str) -> bool:
    """Tell whether a question is about what the assistant said, rather than about the user."""
    return _ABOUT_ASSISTANT.search(question) is not None
