"""The words of an ask to be reminded in the languages other than English that are read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

DAILY: Final = "daily"
"""The group of `Tongue.every` for each day; its others are weekdays, Monday first."""

CUE: Final = re.compile(
    r"erinner|rappele|rappelle|penser|recu[eé]rd|recordar|acu[eé]rd|ricord|lembr"
)
"""What every ask holds, in lower case: most sentences have none of it."""

_START = r"(?:^|[,;.!?…)–—-]\s*|\b(?:{also})\s+)(?:{please},?\s+)?[¡¿]?"


@dataclass(frozen=True, slots=True)
class Tongue:
    """How one language asks.

    `head` is the ask; after its group `split` the `verb` comes later. `tail` is what may end the
    sentence, `lead` links the ask to what is to be done, `left` is what a time leaves behind before
    it. `clock` is a time of the day alone (groups h, m), `parts` its parts with the hour that they
    mean, `every` a plain repeat.
    """

    code: str  # ISO 639-1
    head: re.Pattern[str]
    verb: re.Pattern[str]
    tail: re.Pattern[str]
    lead: re.Pattern[str]
    left: re.Pattern[str]
    clock: re.Pattern[str]
    parts: tuple[tuple[re.Pattern[str], int], ...]
    every: re.Pattern[str]


def _tongue(
    code: str,
    *,
    head: str,
    also: str,
    please: str,
    lead: str,
    left: str,
    clock: str,
    parts: dict[str, int],
    daily: str,
    each: str,
    weekdays: str,
    verb: str = "(?!)",
) -> Tongue:
    days = "|".join(f"(?P<d{n}>{day})" for n, day in enumerate(weekdays.split(), 0))
    return Tongue(
        code,
        _compiled(_START.format(also=also, please=please) + rf"(?:{head})\b"),
        _compiled(rf"\b(?:{verb})\b"),
        _compiled(rf"(?:[\s,]+(?:{please}))?[\s.!?…]*$"),
        _compiled(rf"^[\s,:]*(?:(?:{please})[\s,]+)?(?:{lead})?"),
        _compiled(rf"[\s,]+(?:{left})?[\s,]*$|^(?:{left})[\s,]*$"),
        _compiled(rf"\b(?:{clock})"),
        tuple((_compiled(rf"\b(?:{words})\b"), hour) for words, hour in parts.items()),
        _compiled(rf"\b(?:(?P<{DAILY}>{daily})|(?:{each})\s+(?:{days}))\b"),
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@cache
def tongues() -> tuple[Tongue, ...]:
    """Return the languages; they are made when one is first asked in: it takes a while."""
    return (
        _tongue(
            "de",
            head=r"erinner(?:e|n sie)? (?:mich|uns)(?: bitte)?(?: noch)?(?: mal)?"
            r"|(?P<split>(?:kannst|könntest|würdest|magst) du (?:mich|uns)"
            r"|(?:können|könnten|würden) sie (?:mich|uns))",
            also="und|dann|also|aber",
            please="bitte",
            verb="erinnern",
            lead=r"(?:dar?an,?\s+(?:dass\s+ich\s+|dass\s+)?|an\s+|ans\s+)",
            left="am|um|im|in|zum|gegen|den|dem|der",
            clock=r"um (?P<h>\d{1,2})(?:[:.](?P<m>\d\d))?(?: uhr(?: (?P<n>\d\d))?)?\b",
            parts={
                "früh|morgens|am morgen|vormittags?|am vormittag": 9,
                "mittags?|zu mittag": 12,
                "nachmittags?|am nachmittag": 15,
                "abends?|am abend": 18,
                "nachts?|in der nacht": 20,
            },
            daily="täglich|jeden tag",
            each="jeden",
            weekdays="montag dienstag mittwoch donnerstag freitag samstag|sonnabend sonntag",
        ),
        _tongue(
            "fr",
            head=r"rappel(?:le|ez)[- ](?:moi|nous)|fais[- ]moi penser|faites[- ]moi penser"
            r"|(?:peux[- ]tu|tu peux|pourrais[- ]tu|pouvez[- ]vous|pourriez[- ]vous) me rappeler",
            also="et|puis|alors|mais",
            please="s['’]il (?:te|vous) pla[iî]t|stp|svp",
            lead=r"(?:d['’]|de\s+|qu['’]|que\s+|à\s+)",
            left="le|la|à|au|en|ce|les|du|d['’]ici",
            clock=r"à (?P<h>\d{1,2}) ?(?:h|heures?)(?: ?(?P<m>\d\d))?\b"
            r"|à (?P<h2>\d{1,2}):(?P<m2>\d\d)\b",
            parts={
                "(?:le |au )?matin": 9,
                "(?:à )?midi": 12,
                "(?:l['’])?après[- ]midi": 15,
                "(?:le |au |ce )?soir": 18,
                "(?:la |cette )?nuit": 20,
            },
            daily="tous les jours|chaque jour",
            each="chaque|tous les",
            weekdays="lundis? mardis? mercredis? jeudis? vendredis? samedis? dimanches?",
        ),
        _tongue(
            "es",
            head=r"recu[eé]rd[ae](?:me|nos)|acu[eé]rdame"
            r"|(?:puedes|puede|podrías|podría) recordarme",
            also="y|entonces|pero",
            please="por favor",
            lead=r"(?:de que\s+|que\s+|de\s+)",
            left="el|la|a|al|a las|en|los|las|para",
            clock=r"a las? (?P<h>\d{1,2})(?:[:.](?P<m>\d\d))?(?: horas| h)?\b",
            parts={
                "(?:por|de|en) la mañana": 9,
                "(?:al )?mediodía": 12,
                "(?:por|de|en|esta) ?(?:la )?tarde": 15,
                "(?:por|de|en|esta) ?(?:la )?noche": 20,
            },
            daily="todos los días|cada día|diariamente",
            each="cada|todos los",
            weekdays="lunes martes miércoles jueves viernes sábados? domingos?",
        ),
        _tongue(
            "it",
            head=r"ricorda(?:mi|temi|ci)|mi ricordi|(?:puoi|potresti|può|potrebbe) ricordarmi",
            also="e|poi|allora|ma",
            please="per favore|per piacere",
            lead=r"(?:di\s+|che\s+|d['’])",
            left="il|la|a|al|alle|in|nel|per|dal",
            clock=r"alle (?P<h>\d{1,2})(?:[:.](?P<m>\d\d))?\b",
            parts={
                "(?:di |la )?mattin[ao]|stamattina": 9,
                "(?:a )?mezzogiorno": 12,
                "(?:di |nel )?pomeriggio": 15,
                "(?:di |la )?sera|stasera": 18,
                "(?:di )?notte|stanotte": 20,
            },
            daily="ogni giorno|tutti i giorni",
            each="ogni|tutti i",
            weekdays="lunedì martedì mercoledì giovedì venerdì sabato domenica",
        ),
        _tongue(
            "pt",
            head=r"lembr[ae][- ](?:me|nos)|me lembr[ae]"
            r"|(?:pode|podes|poderia|podia) (?:me )?lembrar(?:-me)?",
            also="e|então|mas",
            please="por favor",
            lead=r"(?:de que\s+|que\s+|de\s+|d[oa]s?\s+)",
            left="o|a|às|as|em|no|na|para|dia",
            clock=r"[àa]s (?P<h>\d{1,2})(?:[:h](?P<m>\d\d))?(?:h| horas)?\b",
            parts={
                "(?:de|pela|da) manhã": 9,
                "(?:ao )?meio[- ]dia": 12,
                "(?:à|de|da) tarde": 15,
                "(?:à|de|da) noite": 20,
            },
            daily="todos os dias|cada dia|diariamente",
            each="cada|tod[ao]s? [ao]s?|toda",
            weekdays="segundas?(?:-feiras?)? terças?(?:-feiras?)? quartas?(?:-feiras?)?"
            " quintas?(?:-feiras?)? sextas?(?:-feiras?)? sábados? domingos?",
        ),
        _tongue(
            "nl",
            head=r"herinner (?:me|mij|ons)(?: er)?|(?P<split>(?:kun|kan|wil) je (?:me|mij|ons))",
            also="en|dan|maar",
            please="alsjeblieft|alstublieft",
            verb="herinneren",
            lead=r"(?:eraan\s+|aan\s+)?(?:dat\s+ik\s+|dat\s+|om\s+|aan\s+)?",
            left="om|op|in|de|het",
            clock=r"om (?P<h>\d{1,2})(?:[:.](?P<m>\d\d))?(?: uur)?\b",
            parts={
                "vroeg|'?s ochtends|ochtend|'?s morgens|vanochtend": 9,
                "'?s middags|middag|vanmiddag": 15,
                "'?s avonds|avond|vanavond": 18,
                "'?s nachts|nacht|vannacht": 20,
            },
            daily="dagelijks|(?:elke|iedere) dag",
            each="elke|iedere",
            weekdays="maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
        ),
    )
