"""Finds text that nobody told: memory blocks pasted back, system prompts, logs and tool output.

Such text is kept, but no fact is read from it: a memory that reads its own recollections as news
would count them as proof of themselves. Nor are blocks of recollections found (see `recalled`).
"""

from __future__ import annotations

import re

from .recalled import FENCE_END, find_recalled
from .types import Span

_MEMORY_WORDS = r"memor(?:y|ies)|recollections?|recalled|retrieved"
_TAG_WORDS = (
    r"memor|recall|retriev|context|knowledge|system|document|history|instruction|reminder|tool|"
    r"function|observation|persona"
)
_TAG = re.compile(
    rf"<\s?([a-z][\w-]{{0,40}}(?:{_TAG_WORDS})[\w-]{{0,40}}|(?:{_TAG_WORDS})[\w-]{{0,40}})"
    r"(?:\s[^<>\n]{0,200})?>",
    re.IGNORECASE,
)
_LASTING_TAG = re.compile(r"memor|recall|retriev", re.IGNORECASE)
# [MEMORY] … [/MEMORY], --- BEGIN MEMORIES --- … --- END MEMORIES ---
_FENCE = re.compile(
    r"^[ \t]*(?:\[|[-=*#~]{2,40}[ \t]*\[?)[ \t]*(?:begin|start|start of)?[ \t]*"
    rf"[^\]\n=*#~]{{0,40}}\b(?:{_MEMORY_WORDS})\b[^\]\n=*#~]{{0,40}}?[ \t]*"
    r"(?:\]|:?[ \t]*[-=*#~]{2,40}[ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(
    r"^[#*\[> \t]{0,16}"
    r"(?:(?:relevant|recalled|retrieved|related|known|stored|saved|previous|past|long-term|user|"
    r"injected|your|existing|background|core|agent)[ \t]+){0,3}"
    r"(?:(?:memories|memory|recollections)\b[^.!?\n]{0,60}[:\]]"
    r"|(?:relevant|recalled|retrieved|stored|saved|injected)[ \t]+"
    r"(?:context|facts|information|knowledge)\b[^.!?\n]{0,60}[:\]]"
    r"|(?:context|facts|information|knowledge)[ \t]+(?:recalled|retrieved|from)[ \t]+"
    r"(?:the[ \t]+|your[ \t]+)?memory\b[^.!?\n]{0,60}:?"
    r"|(?:here(?:'s| is| are)|this is)[ \t]+(?:what|everything|the things|things|some things)[ \t]+"
    r"(?:I|we|you)[ \t]+(?:remember|recall|know|have stored)\b[^.!?\n]{0,60}:"
    r"|(?:what|things)[ \t]+I[ \t]+(?:remember|recall|know)\b[^.!?\n]{0,60}:"
    r"|(?:here[ \t]+are|these[ \t]+are|the[ \t]+following|I[ \t]+(?:have[ \t]+)?found)\b"
    r"[^.!?:\n]{0,40}\b(?:memories|recollections)\b[^.!?\n]{0,60}:)"
    r"[^\n]*$"
    # a Markdown heading needs no colon
    r"|^#{1,6}[ \t]+"
    r"(?:(?:relevant|recalled|retrieved|stored|saved|long-term|user|agent)[ \t]+){0,2}"
    r"(?:memory|memories|recollections|recalled[ \t]+(?:context|facts))(?:[ \t]+context)?[ \t]*#*$",
    re.IGNORECASE | re.MULTILINE,
)
_LIST_LINE = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]")
_PROMPT = re.compile(
    r"(?:#{1,6}\s{0,4})?(?:system(?: prompt)?:"
    r"|you are (?:[A-Z]\w+,? )?(?:an? |the )?(?:[\w-]+ ){0,4}"
    r"(?:assistant|ai|agent|bot|chatbot|language model)\b"
    r"|act as (?:an? |the )|you will be given|your (?:task|role) is\b"
    r"|(?:please )?(?:extract|identify|list|summari[sz]e|translate|rewrite|proofread|classify)\b"
    r"[^.!?\n]{0,80}\b(?:below|following|this (?:text|conversation|article|email|passage))\b)",
    re.IGNORECASE,
)
# said to people, too: a prompt only when it goes on to instruct
_PRAISE_OR_PROMPT = re.compile(
    r"(?:#{1,6}\s{0,4})?you are (?:[A-Z]\w+,? )?(?:an? |the )?(?:[\w-]+ ){0,4}"
    r"(?:expert|model|tutor|engineer|companion|planner|coach|specialist|consultant|analyst|guide)\b",
    re.IGNORECASE,
)
_INSTRUCTS = re.compile(
    r"\b(?:your (?:task|role|goal)|you (?:must|should|will|help|always|never|speciali[sz]e)"
    r"|respond|the users?)\b",
    re.IGNORECASE,
)
_INSTRUCTS_WITHIN = 400  # characters
# one line of a log, a shell session or a scheduler
_LOG_LINE = re.compile(
    r"^[ \t]*(?:"
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?\]?[ \t]+"
    r"[\[(]?(?:trace|debug|info|notice|warn|warning|error|fatal|critical)\b"
    r"|(?-i:\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b\]?[ \t]*[:|-]?[ \t])"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[ \t]+\d{1,2}[ \t]\d\d:\d\d:\d\d[ \t]"
    r"|(?:npm|pip|yarn)[ \t]+(?:WARN|ERR!|notice|info)\b|(?:HEARTBEAT|CRON)_\w+"
    r"|[$#%][ \t][a-z][\w./-]*(?:[ \t]|$)|at[ \t][\w$.<>]+\(.*\)$"
    r"|as an ai(?:[ -](?:language[ -])?(?:model|assistant))?,"
    r")[^\n]*$",
    re.MULTILINE | re.IGNORECASE,
)
# opens a paragraph of output
_OUTPUT = re.compile(
    r"^[ \t]*(?:\[(?:cron|tool|scheduler|heartbeat|system|automated)\b[^\]\n]{0,80}\]"
    r"|(?:tool|function|command|shell|terminal)[ \t_-]+(?:results?|output|call|response|returned)\b"
    r"[^:\n]{0,60}:"
    r"|(?:(?:the|a|your)[ \t]+)?(?:cron|scheduled)[ \t]+(?:job|task)\b[^.!?\n]{0,60}"
    r"\b(?:ran|run|started|finished|completed|fired|triggered|executed)\b"
    r"|(?:stdout|stderr|exit code):|Traceback \(most recent call last\))",
    re.IGNORECASE | re.MULTILINE,
)
_SHOTS = re.compile(
    r"^[ \t]*(?:input|question|q):[^\n]*(?:\n(?!\n)[^\n]*){0,8}?"
    r"\n[ \t]*(?:output|answer|a):[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_HINTS = re.compile(r"memor|recoll|recall|retriev|remember|know|context", re.IGNORECASE)


def is_prompt(text: str) -> bool:
    """Tell whether a text is told to a model: a system prompt, or a text to work on."""
    start = len(text) - len(text.lstrip())
    if _PROMPT.match(text, start):
        return True
    praise = _PRAISE_OR_PROMPT.match(text, start)
    end = praise.end() if praise else 0
    return bool(praise and _INSTRUCTS.search(text, end, end + _INSTRUCTS_WITHIN))


def find_injected(text: str) -> list[Span]:
    """Return the spans of `text` that were pasted or printed rather than said; they may overlap.

    These are blocks recalled from a memory (tagged, fenced, or listed under a heading such as
    "Relevant memories:"), worked examples of a prompt, lines of logs and of shells, and paragraphs
    of tool output. A text that is a prompt from its first words on is one span.
    """
    if is_prompt(text):
        return [Span(0, len(text))]
    spans: list[Span] = []
    if "<" in text:
        spans += _tagged(text)
    if _HINTS.search(text):
        spans += _fenced(text)
        spans += _listed(text)
    spans += find_recalled(text)
    if "\n" in text:
        spans += [Span(*m.span()) for m in _SHOTS.finditer(text)]
    spans += [Span(*m.span()) for m in _LOG_LINE.finditer(text)]
    spans += _printed(text)
    return spans


def _tagged(text: str) -> list[Span]:
    spans: list[Span] = []
    folded = text.lower() if text.isascii() else text
    unclosed: set[str] = set()
    at = 0
    while (match := _TAG.search(text, at)) is not None:
        tag = match.group(1).lower() if text.isascii() else match.group(1)
        close = -1 if tag in unclosed else folded.find(f"</{tag}", match.end())
        if close < 0:
            unclosed.add(tag)
        if close >= 0:
            end = close + len(tag) + 3
        elif _LASTING_TAG.search(tag):
            end = len(text)  # without its closing tag, nothing after it can be trusted
        else:
            end = _paragraph_end(text, match.end())
        spans.append(Span(match.start(), end))
        at = end
    return spans


def _printed(text: str) -> list[Span]:
    spans: list[Span] = []
    at = 0
    while (match := _OUTPUT.search(text, at)) is not None:
        at = _paragraph_end(text, match.end())
        spans.append(Span(match.start(), at))
    return spans


def _fenced(text: str) -> list[Span]:
    spans: list[Span] = []
    at, closed = 0, True
    while (match := _FENCE.search(text, at)) is not None:
        close = FENCE_END.search(text, match.end()) if closed else None
        closed = close is not None
        end = close.end() if close is not None else _list_end(text, match.end())
        spans.append(Span(match.start(), end))
        at = max(end, match.end())
    return spans


def _listed(text: str) -> list[Span]:
    spans: list[Span] = []
    for match in _HEADING.finditer(text):
        if not spans or match.start() >= spans[-1].end:
            spans.append(Span(match.start(), _list_end(text, match.end())))
    return spans


def _paragraph_end(text: str, at: int) -> int:
    end = text.find("\n\n", at)
    return len(text) if end < 0 else end


def _list_end(text: str, at: int) -> int:
    """Return where the block under a heading line that ends at `at` is over.

    The block is the lines up to the first blank one, and any list items after it.
    """
    size = len(text)
    seen_blank = seen_text = False
    while at < size:
        stop = text.find("\n", at + 1)
        stop = size if stop < 0 else stop
        line = text[at + 1 : stop]
        if not line.strip():
            seen_blank = seen_text
        elif seen_blank and not _LIST_LINE.match(line):
            return at
        else:
            seen_text = True
        at = stop
    return size
