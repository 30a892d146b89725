"""Tells texts that hold always: instructions for every time to come, and preferences.

By the forms of the language alone: "Always …", "from now on …", "… whenever I ask …", "I prefer …".
Who says it decides as well: what people tell each other is no instruction to an agent.
"""

from __future__ import annotations

import re

from ..nouns.memory import Role, Unit
from .sentences import split_sentences

_LONGEST = 4_000  # characters looked at; an instruction stands where a text begins

_LEAD = (
    r"^\W*(?:(?:please|also|and|so|ok|okay|hey|hi|but|just|kindly|remember|note|rule|preference"
    r"|instruction)[\s,:;.!-]+)*(?:\d+[.)]\s*)?"
)
_SMALL_TALK = r"(?!\s+(?:mind|worry|fear|forget that|a\b|an\b|happy|glad|good|great|nice|fun)\b)"

_INSTRUCTION = re.compile(
    _LEAD + r"(?:always|never)\b" + _SMALL_TALK + "|" + _LEAD + r"(?:avoid|make\s+sure|be\s+sure"
    r"|do\s*n[o'’]t\s+(?:ever|use|give|call|ask|add|include|mention|suggest|send|write|tell|show)"
    r"|stop\s+\w+ing|refer\s+to\s+me|call\s+me|address\s+me)\b"
    r"|\b(?:from\s+now\s+on|from\s+here\s+on|going\s+forward|from\s+this\s+point\s+on"
    r"|in\s+(?:all\s+)?future\s+(?:answers|replies|responses|conversations|messages)"
    r"|please\s+(?:always|never)|you\s+(?:should|must)\s+(?:always|never))\b"
    r"|\b(?:when(?:ever)?|every\s+time|each\s+time|any\s+time|if)\s+i\s+"
    r"(?:ask|request|say|mention|bring\s+up|inquire|send|share|paste|write\s+to)\b(?![^.!]*\?)"
    # other languages, where the sentence begins with it
    r"|^\W*(?:bitte\s+)?(?:immer|niemals|ab\s+jetzt|von\s+nun\s+an|künftig)\b"
    r"|^\W*(?:toujours|désormais|à\s+partir\s+de\s+maintenant|ne\s+\w+\s+jamais)\b"
    r"|^\W*(?:por\s+favor,?\s+)?(?:siempre|nunca|jamás|a\s+partir\s+de\s+ahora|sempre|d'ora\s+in\s+poi)\b"
    r"|^\W*(?:altijd|nooit|vanaf\s+nu)\b|请(?:始终|总是|一直|不要)|从现在(?:开始|起)|以后(?:都|请|不要)"
    r"|これからは|今後は|常に",
    re.IGNORECASE,
)

_PREFERENCE = re.compile(
    r"\bi(?:['’]d|\s+would|\s+do)?"
    r"(?:\s+(?:really|much|generally|usually|always|strongly|also|still|typically|definitely))*\s+"
    r"(?:prefer|favou?r|rather|(?:like|love)\s+(?:it\s+(?:when|if)|my\b|to\s+have\b|having\b)"
    r"|(?:want|need|expect|like)\s+you\s+to|(?:can['’]t|cannot|can\s+not)\s+stand|hate|dislike"
    r"|don['’]t\s+(?:like|want\s+you))\b"
    r"|\bmy\s+(?:\w+\s+){0,2}preferences?\b"
    r"|^\W*(?:prefers|wants|likes|dislikes|hates|favou?rs)\b"
    r"|\bich\s+(?:bevorzuge|mag\s+es|hätte\s+lieber|möchte\s+lieber)\b|\bje\s+préfère\b"
    r"|\bprefiero\b|\bpreferisco\b|\bprefiro\b|\bik\s+heb\s+liever\b|我(?:更)?(?:喜欢|偏好|宁愿)",
    re.IGNORECASE,
)

# A text to work on follows: what it says is said to others.
_TASK = re.compile(
    r"\W*(?:(?:please|can\s+you|could\s+you|would\s+you)\s+)*"
    r"(?:summari[sz]e|translate|proofread|rewrite|review|check|explain|read|analy[sz]e|classify"
    r"|extract)\b[^\n]{0,160}?(?::\s|\n)",
    re.IGNORECASE,
)


def is_standing(unit: Unit) -> bool:
    """Tell whether a memory says how things are always to be done, or what somebody prefers.

    Said by a user or by whoever set the system up, or kept as a text of nobody's; what a user hands
    over to be summarised, translated and the like instructs nobody.
    """
    if unit.role not in (Role.USER, Role.SYSTEM) and (unit.role or unit.speaker):
        return False
    task = _TASK.match(unit.text)
    return holds_always(unit.text[: task.end()] if task else unit.text)


def holds_always(text: str) -> bool:
    """Tell whether a text is a standing instruction or a preference, whoever says it."""
    head = text[:_LONGEST]
    for span in split_sentences(head):
        sentence = head[span.start : span.end]
        if _INSTRUCTION.search(sentence) or _PREFERENCE.search(sentence):
            return True
    return False
