"""Tells texts that only ask from those that say something, and what a question takes for granted.

"Who is Ines?" says nothing; "Did you know I got the job?" does, and "How was your trip to Oslo?"
takes it for granted. English is read by its words, other languages by how a question begins.
"""

from __future__ import annotations

import re
from functools import cache

from . import lexicon as lex
from .questions import is_question
from .tokens import Tokens
from .verbs_lexicon import PAST_FORMS

LONGEST = 240  # characters; a longer text says something
_LONGEST_UNMARKED = 6  # words of a question without its mark
_LONGEST_ASIDE = 48  # characters of a sentence without the mark that says nothing
_MARKS = frozenset("?？؟")
_SIGNS = '.,!…;:-–—()*"“”'
_SHORT = 3  # words of a question that need no verb: "Ines?"
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’»)*_]*\s+|(?<=[。！？])|\n+")
_ENDS_ASKING = re.compile(
    r"[?？؟][!?？\s\"'”’»)*_\u2600-\u27bf\U0001f300-\U0001faff\ufe0f\u200d]*$"
)
_WH_WORDS = lex.WH_WORDS | {"when"}
_ANY = frozenset("any anyone anything".split())
_OPENINGS = lex.INTERJECTIONS | {"by", "the", "way", "or", "oh"}
_ADDRESS = re.compile(r"^[^\W\d_]+(?: [^\W\d_]+)?,\s+(?=\w)")  # "Mel, where …"
_EMPTY_WORDS = lex.INTERJECTIONS | lex.EMPTY | lex.STOP
_SUBJECTS = frozenset("i we he she they".split())
_INDIRECT = frozenset("what where who whom whose why how which if whether".split())
_GIVEN = frozenset(
    "that because since although though while after before until unless once now as".split()
)
_TELLING = frozenset(
    """know knew hear heard tell told mention mentioned see saw notice noticed guess believe realize
    realise say said remember forget forgot think""".split()
)
_WERE = frozenset("did was were have has had".split())
_OTHERS = frozenset("you he she they".split())
_REQUESTING = frozenset("can could would will".split())
_ASKED = frozenset("tell remind remember recall say know".split())
_TELLS_WHEN = frozenset("know tell say remember sure".split())
_OWN = frozenset("my our your his her their".split())
_PARTING = frozenset(",;:—–")
_BEFORE_SUBJECTS = lex.INVERTING | _INDIRECT | lex.CONJUNCTIONS | {"when", "'d", "'ll"}
_HELD = 3  # words that may follow "your" and belong to it
_PLAIN = re.compile(r"[^\W_]+")

_FOREIGN = re.compile(
    r"^\W*(?:(?:und|aber|et|mais|y|pero|e|ma|en|maar|а|и)\s+)?(?:"
    r"wer|was|wo|wohin|woher|wann|wie|warum|wieso|weshalb|welche[rsnm]?|wessen|wem|wen"
    r"|(?:weißt|kennst|erinnerst|hast|bist|kannst|magst|willst|wohnst) du|(?:habe|bin|kann|muss|mag"
    r"|soll|wohne|arbeite|esse|trinke|rauche|fahre) ich|ist|sind|gibt es"
    r"|qui|quoi|où|quand|comment|pourquoi|quel(?:le)?s?|combien|est-ce que?|est-ce qu['’]"
    r"|qu['’]est-ce|que|sais-tu|connais-tu|as-tu|es-tu|(?:tu )?te souviens(?:-tu)?|ai-je|suis-je"
    r"|quién(?:es)?|qué|dónde|adónde|cuándo|cómo|cuál(?:es)?|cuánt[oa]s?|por qué|sabes|conoces"
    r"|recuerdas|te acuerdas|tengo|vivo|soy"
    r"|chi|che|cosa|dove|come|perché|quale|quali|conosci|sai|ricordi|ti ricordi"
    r"|quem|onde|quanto|lembra|conhece|waar|wanneer|hoe|waarom|welke?|wie|wat|ken je|weet je"
    r"|кто|что|где|когда|как|почему|зачем|какой|какая|какие|сколько|помнишь"
    r")(?=[\s'’?]).*$",
    re.IGNORECASE | re.DOTALL,
)
_FOREIGN_GIVEN = re.compile(
    r"\b(?:dass|weil|obwohl|nachdem|bevor|seit|parce que|puisque|porque|aunque|desde que|poiché"
    r"|omdat|что|потому)\b|\S\s+(?:que|qu['’]|che|dat)\s*\w|[;:—]|,\s",
    re.IGNORECASE,
)
_SCAFFOLD = re.compile(r"(?:qu['’])?est-ce qu(?:e|['’])", re.IGNORECASE)
_FOREIGN_OWN = re.compile(
    r"\b(?:mein|dein|unser|euer|ihr|sein)(?:e[rsnm]?)?\s+(\w+)"
    r"|\b(?:mon|ma|mes|ton|ta|tes|notre|nos|votre|vos|mi|mis|tu|tus|nuestr[oa]s?|su|sus)\s+(\w+)",
    re.IGNORECASE,
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_CJK_ASKS = re.compile(
    r"[谁誰什么甚麼哪怎何几幾吗嗎呢]|どこ|いつ|どう|なぜ|ですか|ますか|でしたか|ましたか"
)
_CJK_JOINTS = frozenset("，、,；")
_CJK_LONGEST = 24  # characters
_ABOUT_ASKING = re.compile(
    r"\b(?:ask(?:ed|ing|s)?|questions?|wonder(?:ed|ing)?|inquir\w+|enquir\w+|br(?:ing|ought) up)\b"
    r"|\b(?:gefragt|fragen?|fragte\w*|demandée?s?|demandais|pregunt\w+|chiesto|domand\w+|gevraagd"
    r"|vra(?:ag|gen)|спрашива\w+|спросил\w*|вопрос\w*)\b|[问問]",
    re.IGNORECASE,
)


def asks_for_questions(query: str) -> bool:
    """Tell whether a query is about what was asked: "what did I ask about the visa?"."""
    return _ABOUT_ASKING.search(query) is not None


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text as `taken_for_granted` spells them."""
    return frozenset(map(_plain, _PLAIN.findall(text.lower())))


def taken_for_granted(text: str) -> frozenset[str] | None:
    """Return what a text that only asks takes for granted, in words; None for any other text.

    Those are numbers, what belongs to somebody ("your trip to Oslo"), what a clause within the
    question says of its noun ("the hotel I stayed at"), and what somebody is asked to have done
    ("how did you get into rowing?"). Mostly there are none.
    """
    if len(text) > LONGEST or not _may_ask(text):
        return None
    sentences = [s.strip() for s in _SENTENCE.split(text) if s and not s.isspace()]
    if any(len(s) > _LONGEST_ASIDE and _MARKS.isdisjoint(s[-3:]) for s in sentences):
        return None  # most texts end here
    given: set[str] = set()
    asked = False
    for sentence in sentences:
        if _says_nothing(sentence) and sentence[-1] not in _MARKS:
            continue
        found = _sentence(sentence)
        if found is None:
            return None
        asked = True
        given |= found
    return frozenset(given) if asked else None


def _may_ask(text: str) -> bool:
    """Tell at a glance whether a text may be a question; most are none."""
    if "?" in text or "？" in text or "؟" in text:
        return True
    if len(text) > _LONGEST_UNMARKED * 12:
        return False
    first = text.split(None, 1)[:1]
    return bool(first) and first[0].lower() in _unmarked()


@cache
def _unmarked() -> frozenset[str]:
    return _WH_WORDS | lex.INTERJECTIONS


def _says_nothing(sentence: str) -> bool:
    """Tell a greeting or praise: "Hey Mel!", "That's great."."""
    words = [word.strip(_SIGNS) for word in sentence.replace("’", "'").split()]
    if len(words) > 2 * _SHORT:
        return False
    told = [word for word in words if word and word.lower() not in _EMPTY_WORDS]
    return not told or (len(told) == 1 and told[0][0].isupper())


def _sentence(sentence: str) -> set[str] | None:
    """Return what a question takes for granted, None for a sentence that is none."""
    marked = _ENDS_ASKING.search(sentence) is not None
    if _CJK.search(sentence):
        return set() if _asks_in_cjk(sentence, marked=marked) else None
    if not marked and sentence.split(None, 1)[0].lower() not in _unmarked():
        return None
    english = _english(sentence, marked=marked)
    if english is not None or not marked or _looks_english(sentence):
        return english
    bare = _SCAFFOLD.sub(" ", sentence).rstrip("?!. ")
    if not _FOREIGN.match(sentence) or _FOREIGN_GIVEN.search(bare):
        return None
    own = {_plain(w.lower()) for m in _FOREIGN_OWN.finditer(sentence) for w in m.groups() if w}
    return own | {word for word in _PLAIN.findall(sentence) if word[0].isdigit()}


def _asks_in_cjk(sentence: str, *, marked: bool) -> bool:
    if len(sentence) > _CJK_LONGEST or not _CJK_JOINTS.isdisjoint(sentence):
        return False
    particle = sentence.rstrip("。").endswith(("か", "吗", "嗎"))
    return _CJK_ASKS.search(sentence) is not None and (marked or particle)


def _looks_english(sentence: str) -> bool:
    lows = _PLAIN.findall(sentence.lower())
    return sum(low in lex.STOP for low in lows) * 2 > len(lows)


def _english(sentence: str, *, marked: bool) -> set[str] | None:
    address = _ADDRESS.match(sentence)
    tokens = Tokens(sentence, address.end() if address else 0, len(sentence))
    words, size = tokens.lows, len(tokens)
    low = 0
    while low < size and words[low] in _OPENINGS and words[low] not in lex.INVERTING:
        low += 1
    if low and low + 1 < size and "," in tokens.gap(low + 1):
        low += 1  # "Hey Mel, where …"
    if low >= size:
        return set() if marked and size <= _SHORT else None
    if marked and size - low <= _SHORT and not _SUBJECTS.intersection(words[low:]):
        return set()
    after = words[low + 1] if low + 1 < size else ""
    if words[low] in _REQUESTING and after == "you" and _ASKED.isdisjoint(words[low : low + 4]):
        return None  # "Can you draft …": it tells what is being worked on
    if not is_question(tokens, low, size) and not (marked and words[low] in _ANY):
        return None
    if not marked and not _plainly(words, low):
        return None
    return _granted(tokens, low)


def _plainly(words: list[str], low: int) -> bool:
    """Tell a question without its mark from "what is important to me is …"."""
    if words[low] not in _WH_WORDS or not 1 < len(words) - low <= _LONGEST_UNMARKED:
        return False
    if words[low + 1] not in lex.INVERTING | {"'s"}:
        return False
    return sum(word in lex.INVERTING or word == "'s" for word in words[low:]) == 1


def _granted(tokens: Tokens, low: int) -> set[str] | None:
    """Return what the question from `low` takes for granted, None where it states something."""
    words = tokens.lows
    given = {_plain(word) for word in words[low:] if word[0].isdigit()}
    if _of_what_was(words, low):
        given |= {_plain(w) for w in words[low + 1 :] if w not in lex.STOP and w not in _TELLING}
    for at in range(low + 1, len(tokens)):
        word, before = words[at], words[at - 1]
        if _states(tokens, low, at):
            return None
        if word in _OWN:
            given |= _telling(words[at + 1 : at + 1 + _HELD])
        elif word in _SUBJECTS and before not in _BEFORE_SUBJECTS:
            given |= _telling(words[at + 1 :])  # "the hotel I stayed at"
    return given


def _of_what_was(words: list[str], low: int) -> bool:
    """Tell a question to somebody about what happened, as "what got you into rowing?" has it."""
    if words[low] not in _WH_WORDS or low + 2 >= len(words):
        return False
    after = words[low + 1]
    if after in _WERE:
        return words[low + 2] in _OTHERS
    return after in PAST_FORMS and after not in lex.INVERTING and "you" in words[low + 2 :]


def _states(tokens: Tokens, low: int, at: int) -> bool:
    """Tell whether a clause that says something begins at a word of a question."""
    words = tokens.lows
    word, before = words[at], words[at - 1]
    if at + 1 >= len(words):
        return False
    if any(sign in _PARTING for sign in tokens.gap(at)):
        first = words[at + (word in lex.CONJUNCTIONS)]
        joined = word in lex.CONJUNCTIONS or word in _SUBJECTS
        if joined and first not in lex.INVERTING and first not in _WH_WORDS:
            return True  # "…, and I moved"
    if word in _GIVEN and _begins_clause(tokens, at + 1):
        return True
    if word == "when" and words[at + 1] in _SUBJECTS | lex.POSSESSIVES:
        return before not in _TELLS_WHEN or (before == "remember" and words[low] in lex.INVERTING)
    return before in _TELLING and _says_that(tokens, at)


def _begins_clause(tokens: Tokens, at: int) -> bool:
    word = tokens.lows[at]
    return (
        word in lex.PRONOUNS
        or word in lex.POSSESSIVES
        or (tokens.raws[at][:1].isupper() and at + 1 < len(tokens))
    )


def _says_that(tokens: Tokens, at: int) -> bool:
    """Tell whether what is said follows: "did you know I …", "did you hear Anna moved"."""
    words = tokens.lows
    if at + 1 >= len(words):
        return False
    if words[at] in _SUBJECTS | {"it", "there"}:
        return True
    named = words[at] in lex.POSSESSIVES or tokens.raws[at][:1].isupper() or words[at] == "the"
    return named and any(w in PAST_FORMS or w in lex.BE or w == "'s" for w in words[at + 1 :])


def _telling(words: list[str]) -> set[str]:
    return {_plain(word) for word in words if word not in lex.STOP and word not in lex.EMPTY}


def _plain(word: str) -> str:
    """Return a word without the ending of a plural or a possessive."""
    word = word.removesuffix("'s").removesuffix("’s")
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
