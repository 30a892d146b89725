"""The words of a text without what does not change what it says: case, signs, fillers, spelling.

What may change the meaning stays: numbers with their signs, negations, names, prepositions,
pronouns, tense, and the order of words.
"""

from __future__ import annotations

import re
import unicodedata

from .verbs_lexicon import BASES, PARTICIPLES

# ASCII and general punctuation; full-width forms are ASCII after NFKC.
_SIGNS = (
    r"!\"#%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~"
    r"\u00a1\u00a7\u00ab\u00b6\u00b7\u00bb\u00bf\u060c\u061b\u061f\u06d4\u0964\u0965"
    r"\u2010-\u2027\u2030-\u205e\u3001-\u3003\u3008-\u3011\u3014-\u301f\u30fb"
)
_CHAR = rf"[^\s{_SIGNS}]"  # letters with their marks, digits, currency, emoji


def _word_pattern(char: str) -> re.Pattern[str]:
    """Return a pattern of words of such characters, and of signs that mean something alone.

    A word has what holds it together (don't, snake_case, 3.5, 10:30, 5-10, C++), and a number the
    sign right before it.
    """
    return re.compile(
        rf"{char}+(?:(?:['_]|(?<=\d)[.,:/*\-\u2013](?=\d)){char}+)*(?:\+\+|#(?!\w))?"
        rf"|(?<!{char})[-\u2212.+#]{{1,2}}\d{char}*(?:[.,:/*\-\u2013]\d{char}*)*"
        r"|[%&@=/+<>\\^]|\?|#(?=\w)"
    )


_WORD = _word_pattern(_CHAR)
_ASCII_WORD = _word_pattern("[a-z0-9$]")  # the same for folded ASCII text, four times as fast
_MARKS = str.maketrans(
    dict.fromkeys(map(ord, "\u2018\u2019\u02bc\u00b4"), "'")
    | dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufe0f\ufeff"))  # None: taken out
)
_PHRASES = re.compile(
    r"(?:^|(?<=[.!?;\n])|(?<=[.!?;\n] ))(?:(?:well|anyways?|so|hey|oh well|(?:and|but) then|"
    r"you know|i mean|you see|look|listen),\s*)+"
    r"|(?:^|(?<=[.!?;\n] ))(?:you know|i mean),?\s+(?=(?:i|we|my)\b)"
    r"|[,(]\s*(?:you know|i mean|you see)\s*(?=[,.!?;)\n]|$)"
    r"|\s(?:you know|i mean)\s*(?=[.!;]|$)"
    r"|\b(?:to be honest|in all honesty|to tell (?:you )?the truth|by the way|believe it or not|"
    r"as a matter of fact|if you know what i mean)\b"
)
_PHRASE_HINTS = (
    "you know",
    "i mean",
    "you see",
    "honest",
    "truth",
    "by the way",
    "believe it",
    "of fact",
    "well,",
    "anyway",
    "so,",
    "hey,",
    "then,",
    "look,",
    "listen,",
)
_ABBREVIATED_HINTS = ("p.", "a.", "e-mail")
_HOUR = re.compile(r"\d[ap]m\b")
_ABBREVIATED = re.compile(r"\b([ap])\.\s?m\b\.?|\be-(?=mails?\b)|(?<=\d)(?=[ap]m\b)")

_ARTICLES = frozenset("a an the".split())
_AFTER_ARTICLE = frozenset(  # "a few" is not "few"; "vitamin A is", "an A in"
    """few little in on at of for from to by with is was are were and or but as than not it i that
    because so""".split()
)
_INTENSE = frozenset(  # under a negation they count: "not really", "not just"
    "really just so very totally absolutely truly definitely certainly simply".split()
)
_FILLERS = _INTENSE | frozenset(
    """actually honestly literally basically also oh ooh ah aw aww um umm uh uhm hm hmm wow whoa
    haha hahaha hehe lol btw tbh ugh yay""".split()
)
_NEGATORS = frozenset("not never no nor neither hardly barely without".split())

_UNSPLIT = {
    "cannot": "can not",
    "im": "i am",
    "ive": "i have",
    "youre": "you are",
    "youve": "you have",
    "theyre": "they are",
    "theyve": "they have",
    "weve": "we have",
    "thats": "that's",
    "whats": "what's",
    "hes": "he's",
    "shes": "she's",
    "let's": "let us",
    "cant": "can not",
    "wont": "will not",
    "gonna": "going to",
    "wanna": "want to",
    "gotta": "got to",
    "gimme": "give me",
    "lemme": "let me",
    "dunno": "do not know",
    "alright": "all right",
    "%": "percent",
    "&": "and",
} | {
    f"{verb}nt": f"{verb} not"
    for verb in "do does did is are was were have has had could should would must need".split()
}
_DENIED = {"can't": "can", "won't": "will", "shan't": "shall"}
_CONTRACTED = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will"}
_MAY_BE_IS = frozenset(
    """he she it that there here what who where how this everything something nothing everyone
    someone everybody somebody nobody""".split()
)
_AFTER_IS = frozenset("a an the not so very really".split())
_AFTER_WOULD = frozenset("be have rather never".split())
_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        """two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
        sixteen seventeen eighteen nineteen""".split(),
        2,
    )
} | {
    word: str(number * 10)
    for number, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), 2
    )
}
_VARIANTS = _NUMBERS | {
    "okay": "ok",
    "cuz": "because",
    "coz": "because",
    "tho": "though",
    "thru": "through",
    "plz": "please",
    "pls": "please",
    "thx": "thanks",
    "centre": "center",
    "centres": "centers",
    "theatre": "theater",
    "theatres": "theaters",
    "metre": "meter",
    "metres": "meters",
    "litre": "liter",
    "litres": "liters",
    "kilometre": "kilometer",
    "kilometres": "kilometers",
    "grey": "gray",
    "analyse": "analyze",
    "analysed": "analyzed",
    "analysing": "analyzing",
    "programme": "program",
    "programmes": "programs",
    "pyjamas": "pajamas",
    "doughnut": "donut",
    "doughnuts": "donuts",
    "yoghurt": "yogurt",
    "licence": "license",
    "defence": "defense",
    "catalogue": "catalog",
    "jewellery": "jewelry",
    "cosy": "cozy",
    "fulfil": "fulfill",
    "enrol": "enroll",
    "learnt": "learned",
    "dreamt": "dreamed",
    "sceptical": "skeptical",
}
for (
    _stem
) in "colour favour flavour neighbour behaviour harbour honour humour labour rumour".split():
    for _end in ("", "s", "ed", "ing", "ful", "ite", "ites", "hood", "hoods", "able"):
        _VARIANTS[_stem + _end] = _stem[:-3] + "or" + _end[:]
for (
    _stem
) in """organ real recogn apolog priorit special memor summar final minim maxim critic modern
custom optim categor social util visual emphas""".split():
    for _end in ("e", "es", "ed", "er", "ers", "ing", "ation"):
        _VARIANTS[f"{_stem}is{_end}"] = f"{_stem}iz{_end}"
for _stem in "travel cancel label model signal fuel".split():
    for _end in ("ed", "ing", "er", "ers"):
        _VARIANTS[f"{_stem}l{_end}"] = _stem + _end
del _stem, _end


def plain_words(text: str) -> list[str]:
    """Return the words of `text` that make what it says, in order, in one spelling.

    Left out are punctuation, articles, interjections and intensifiers; contractions are written
    out where they can mean one thing only; number words up to ninety become digits. A question
    mark stays, as a word of its own.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    ascii_only = folded.isascii()
    if not ascii_only:
        folded = folded.translate(_MARKS)
    if any(hint in folded for hint in _PHRASE_HINTS):
        folded = _PHRASES.sub(" ", folded)
    if any(hint in folded for hint in _ABBREVIATED_HINTS) or _HOUR.search(folded):
        folded = _ABBREVIATED.sub(_abbreviated, folded)
    words = _written_out((_ASCII_WORD if ascii_only else _WORD).findall(folded))
    out: list[str] = []
    for at, word in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        if word in _ARTICLES and (word == "the" or (after and after not in _AFTER_ARTICLE)):
            continue
        if word in _FILLERS and not (word in _INTENSE and out and out[-1] in _NEGATORS):
            continue
        if word == "?" and out and out[-1] == "?":
            continue
        out.append(_VARIANTS.get(word, word))
    return out


def _abbreviated(match: re.Match[str]) -> str:
    if match.group(1):
        return f" {match.group(1)}m"
    return "e" if match.group() else " "


def _written_out(words: list[str]) -> list[str]:
    """Write contractions out."""
    out: list[str] = []
    for at, word in enumerate(words):
        whole = _UNSPLIT.get(word)
        if whole is None:
            if "'" not in word:
                out.append(word)
                continue
            whole = word
        after = words[at + 1] if at + 1 < len(words) else ""
        for part in whole.split(" "):
            out += _parts(part, after) if "'" in part else (part,)
    return out


def _parts(word: str, after: str) -> tuple[str, ...]:
    """Write one contraction out, given the word after it; one that may mean two things stays."""
    if word.endswith("n't"):
        base = _DENIED.get(word, word[:-3])
        return (word,) if base == "ai" else (base, "not")
    base, _, end = word.rpartition("'")
    end = f"'{end}"
    if end in _CONTRACTED:
        return base, _CONTRACTED[end]
    if end == "'d":
        if after in _AFTER_WOULD or (after in BASES and after not in PARTICIPLES):
            return base, "would"
        had = after in ("been", "better", "got") or (after in PARTICIPLES and after not in BASES)
        return base, "had" if had else "'d"
    if end == "'s":
        if base in _MAY_BE_IS:
            if after in ("been", "got", "had"):
                return base, "has"
            return base, "'s" if after in PARTICIPLES else "is"
        return base, "is" if after in _AFTER_IS else "'s"
    return (word,)
