"""Finds the names of people, places and things in a text by their spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..nouns.folding import fold_name
from .lexicon import CALENDAR, COMMON, NAME_JOINERS, NOT_NAMES, TITLES
from .nicknames import GIVEN
from .resolution import person
from .types import Span
from .verbs_lexicon import BASES, ING_FORMS

_WORD = re.compile(r"\w+(?:[’'&.\-]\w+)*")
# Code, links, paths and identifiers; no name is read from them.
_MASKED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]+`|\{\{[^{}\n]*\}\}|https?://\S+|www\.\S+"
    r"|(?<![\w.+-])[\w.+-]+@[\w.-]+|(?:\b[A-Za-z]:\\|~?/)[\w.\\/~-]+"
    r"|(?<![\w.-])[\w.-]+(?:[/\\][\w.-]+)+/?|#\w+|(?<!\w)\w+\(",
    re.DOTALL,
)
_MASK_SIGNS = re.compile(r"[`@/\\({#*]|www\.")
# Headings and the bold labels of list items are in title case whatever they name.
_HEADING_LINE = re.compile(
    r"^[ \t]*#{1,6}[ \t][^\n]*$"
    r"|^[ \t]*(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?\*\*[^*\n]{1,80}(?::\*\*|\*\*:|\*\*[ \t]*$)",
    re.MULTILINE,
)
_BREAKS = frozenset('.!?…:;\n"“”(*•>|—–[{。！？')
_STRETCHED = re.compile(
    r"(\w)\1\1|^(?:a+w+|ha(?:ha)+h?|wo+w+|ye+s+|no+|so+|o+h+|u+gh+|y+a+y+)$", re.IGNORECASE
)
_FILE_LIKE = re.compile(r"\.[a-z]\w{0,4}$")
_NAME_TAILS = (".js", ".ai", ".io", ".com", ".org", ".net", ".dev")
# German writes every noun with a capital: behind these it is one, where the text is German.
_GERMAN = frozenset(
    """ich und nicht ist mit wir das ein eine einen auf für habe sich auch aber oder noch schon
    meine mein zu dem wohne heißt""".split()
)
_BEFORE_NOUN = frozenset(
    """der die das dem den des ein eine einen einem einer eines kein keine keinen mein meine meinen
    meinem meiner dein deine deinen seine seinen seinem seiner ihre ihren ihrem ihrer unser unsere
    unseren unserem unserer zum zur im beim vom ins zu diese dieser diesen dieses jeden jede
    jedes""".split()
)
_COMMANDS = BASES | ING_FORMS
# Given names that are common words, too.
_GIVEN = frozenset(
    "mark grant chase frank bill drew pat will grace hope joy sterling christian sandy jack".split()
)
_MAX_RUN = 6  # words of one name
_LINE_WINDOW = 400  # characters looked at on each side to tell a heading
_SHOUT = 6  # capitals in a row, at most, of an acronym


class KnownNames:
    """Names to look for, prepared once; may be given wherever an iterable of names is wanted.

    The first name of a known person is found, too, as it stands: whom it means is not told here
    (see `resolution`).
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = sorted({name.strip() for name in names if name and name.strip()})
        self._set = frozenset(self._names)
        self.has_small = any(not name[0].isupper() for name in self._names)
        self._by_first: dict[str, list[tuple[list[str], str]]] = {}
        for name in self._names:
            words = [word.lower() for word in _words_of(name)]
            if not words or (len(words) == 1 and words[0] in COMMON):
                continue
            self._by_first.setdefault(words[0], []).append((words, name))
            if len(words) > 1 and _may_stand_alone(name):
                self._by_first[words[0]].append(([words[0]], _words_of(name)[0]))
        for entries in self._by_first.values():
            entries.sort(key=lambda entry: (-len(entry[0]), entry[1]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._set

    def __len__(self) -> int:
        return len(self._names)

    def match(self, lows: list[str], at: int) -> tuple[str, int] | None:
        """Return the longest known name whose words stand at `at`, and how many they are."""
        for words, name in self._by_first.get(lows[at], ()):
            if lows[at : at + len(words)] == words:
                return name, len(words)
        return None


def prepare(known: Iterable[str]) -> KnownNames:
    """Return `known` ready for look-up; what is ready already is returned as it is."""
    return known if isinstance(known, KnownNames) else KnownNames(known)


def find_names(text: str, known: Iterable[str]) -> list[tuple[str, Span]]:
    """Return the names in `text` with their spans, ordered and disjoint.

    Known names are found as whole words that begin with a capital, and are returned as they are
    known; others as they are written: runs of capitalised words not at the start of a sentence (or
    seen capitalised within one elsewhere in the text), acronyms, words with digits after a name.
    Precision goes before recall; English word lists tell common words from names.
    """
    names = prepare(known)
    return _Finder(text, names).run()


class _Finder:
    """One pass over the words of one text."""

    def __init__(self, text: str, known: KnownNames) -> None:
        self.text = text
        self.known = known
        self.words: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        for match in _WORD.finditer(text):
            word = match.group()
            start, end = match.span()
            if word[-1] == "s" and word[-2:-1] in ("'", "’"):
                word, end = word[:-2], end - 2
            self.words.append(word)
            self.starts.append(start)
            self.ends.append(end)
        self.lows = [word.lower() for word in self.words]
        self.german = len(_GERMAN.intersection(self.lows)) > 1

    def run(self) -> list[tuple[str, Span]]:
        text, words = self.text, self.words
        masked = find_masked(text)
        initial = [self._is_initial(i) for i in range(len(words))]
        inside = self._inside(initial, masked)
        found: list[tuple[str, Span]] = []
        at = mask = 0
        while at < len(words):
            first = words[at]
            start = self.starts[at]
            while mask < len(masked) and masked[mask].end <= start:
                mask += 1
            hidden = mask < len(masked) and masked[mask].start <= start
            plain = first.islower() and not self.known.has_small
            if plain or hidden or not self._may_begin(at):
                at += 1
                continue
            known = self.known.match(self.lows, at) if len(self.known) else None
            low, high = self._run(at, initial)
            # "Maria Garcia" is not the known Maria Lopez, though "Maria" alone is
            if known is not None and (low > at or high <= at + known[1]):
                end = self.ends[at + known[1] - 1]
                found.append((known[0], Span(start, end)))
                at += known[1]
                continue
            if low < high and self._is_name(low, high, initial, inside):
                span = Span(self.starts[low], self.ends[high - 1])
                found.append((text[span.start : span.end], span))
            at = max(high, at + 1)
        return self._without_shouting(found)

    def _inside(self, initial: list[bool], masked: list[Span]) -> set[str]:
        """Return the words with a capital within a sentence, those of headings left out."""
        found: set[str] = set()
        lines: dict[int, bool] = {}
        mask = 0
        for i, word in enumerate(self.words):
            start = self.starts[i]
            while mask < len(masked) and masked[mask].end <= start:
                mask += 1
            hidden = mask < len(masked) and masked[mask].start <= start
            if word in found or hidden or initial[i] or not word[0].isupper():
                continue
            if not is_shouted(self.text, Span(start, self.ends[i]), lines):
                found.add(word)
        return found

    def _may_begin(self, at: int) -> bool:
        """Names begin with a capital, but for brands and names that are known written small."""
        word = self.words[at]
        if word[0].isupper() or _is_brand(word):
            return True
        match = self.known.match(self.lows, at) if self.known.has_small else None
        return match is not None and match[0].startswith(word)

    def _is_initial(self, at: int) -> bool:
        if at == 0:
            return True
        gap = self.text[self.ends[at - 1] : self.starts[at]]
        if gap in (" ", ", "):
            return False
        if self.lows[at - 1] in TITLES and gap.strip() == ".":
            return False
        return any(char in _BREAKS or char >= "\u2600" for char in gap) or not gap.isascii()

    def _gap_joins(self, at: int) -> bool:
        gap = self.text[self.ends[at - 1] : self.starts[at]]
        if gap in (" ", "\u00a0"):
            return True
        before = self.words[at - 1]
        if gap != ". ":
            return False
        initial = len(before) == 1 and before.isalpha() and before != "I"
        return self.lows[at - 1] in TITLES or (initial and not opens_only(self.lows[at]))

    def _run(self, at: int, initial: list[bool]) -> tuple[int, int]:
        """Return the range of words, from `at`, that are spelled as one name."""
        low, high = at, at
        words = self.words
        while high < len(words) and high - at < _MAX_RUN:
            if high > at and (
                not self._gap_joins(high)
                or self.ends[high - 1] != self.starts[high - 1] + len(words[high - 1])
            ):
                break
            if high > at and self.text[self.ends[high - 1]] in "'’":
                break  # a possessive ends the name
            word = words[high]
            if _is_capital(word) or _is_brand(word) or (high > at and word[0].isdigit()):
                if self._drops(high):
                    break
                high += 1
            elif high > at and (step := self._joined(high)):
                high += step
            else:
                break
        while low < high and initial[low] and self._opens(low):
            low += 1
        while high > low and (self.lows[high - 1] in TITLES and high - low > 1):
            high -= 1
        return low, high

    def _opens(self, at: int) -> bool:
        """A capitalised word that only begins its sentence: "Thanks Anna", "Configure Flask"."""
        return opens_only(self.lows[at]) or (self.german and self.lows[at] in _BEFORE_NOUN)

    def _is_german_noun(self, at: int) -> bool:
        low = self.lows[at]
        behind = at > 0 and self.lows[at - 1] in _BEFORE_NOUN and self._gap_joins(at)
        return self.german and behind and not (low in GIVEN or _is_brand(self.words[at]))

    def _joined(self, at: int) -> int:
        """Return how many joining words at `at` lead on to a capital ("of the"), or 0."""
        step = 0
        while step < 2 and at + step < len(self.words) and self.lows[at + step] in NAME_JOINERS:
            step += 1
        after = at + step
        if not step or after >= len(self.words) or not _is_capital(self.words[after]):
            return 0
        if self.lows[at] == "the" or self._drops(after):
            return 0
        return step if all(self._gap_joins(i) for i in range(at, after + 1)) else 0

    def _drops(self, at: int) -> bool:
        """Words that are no part of any name."""
        low = self.lows[at]
        return (
            low == "i"
            or low.startswith(("i'", "i’"))
            or low in CALENDAR
            or low in ("today", "tomorrow", "yesterday", "tonight")
        )

    def _is_name(self, low: int, high: int, initial: list[bool], inside: set[str]) -> bool:
        words = self.words[low:high]
        if any(
            "_" in word or (_FILE_LIKE.search(word) and not word.endswith(_NAME_TAILS))
            for word in words
        ):
            return False
        if high - low == 1:
            return self._is_single_name(low, initial[low], inside)
        return any(word.lower() not in COMMON and not word[0].isdigit() for word in words)

    def _is_single_name(self, at: int, initial: bool, inside: set[str]) -> bool:
        word, low = self.words[at], self.lows[at]
        if is_no_name(low) or self._is_german_noun(at):
            return False
        if len(word) == 1 or not word[0].isalpha():
            return False
        if word.isupper() and word.isalpha() and len(word) > _SHOUT:
            return False
        if "'" in word or "’" in word:
            head = low.replace("’", "'").split("'")[0]
            if head in COMMON or low.endswith(("'re", "'ll", "'ve", "'d", "'m", "n't", "n’t")):
                return False
        spelled = _is_brand(word) or word[1:] != word[1:].lower() or any(c.isdigit() for c in word)
        if spelled or not initial or word in inside:
            return True
        # At the start of a sentence a capital tells nothing, but a given name is one.
        return low in GIVEN and low not in _GIVEN

    def _without_shouting(self, found: list[tuple[str, Span]]) -> list[tuple[str, Span]]:
        """Leave out names in all-capital sentences and in headings, where capitals tell nothing."""
        if not found:
            return found
        lines: dict[int, bool] = {}
        return [
            (name, span)
            for name, span in found
            if name in self.known or not is_shouted(self.text, span, lines)
        ]


def _words_of(name: str) -> list[str]:
    return [match.group() for match in _WORD.finditer(name)]


def _may_stand_alone(name: str) -> bool:
    """Tell whether a longer name looks like a person's, who may be called by the first word."""
    found = person(fold_name(name))
    return found is not None and found.first == fold_name(_words_of(name)[0])


def _is_capital(word: str) -> bool:
    return word[0].isupper()


def _is_brand(word: str) -> bool:
    """iPhone, eBay, macOS: one or two small letters, then a capital."""
    if not word[0].islower() or len(word) < 4:
        return False
    head = 1 if word[1].isupper() else 2
    return word[head].isupper() and word[:head].islower() and word[head + 1].islower()


def find_masked(text: str) -> list[Span]:
    """Return the spans no name is read from: code, links, paths, headings, bold labels."""
    spans: list[Span] = []
    if _MASK_SIGNS.search(text):
        spans = [Span(m.start(), m.end()) for m in _MASKED.finditer(text)]
        if "#" in text or "**" in text:
            spans += [Span(m.start(), m.end()) for m in _HEADING_LINE.finditer(text)]
            spans.sort(key=lambda span: span.start)
    return spans


def is_shouted(text: str, span: Span, lines: dict[int, bool]) -> bool:
    """Tell whether a span stands in an all-capital line or a title-case heading.

    Args:
        text: that holds it.
        span: of a name.
        lines: what was told of lines before, by where they begin; it is added to.
    """
    low = max(0, span.start - _LINE_WINDOW)
    start = max(low, text.rfind("\n", low, span.start) + 1)
    loud = lines.get(start)
    if loud is None:
        end = text.find("\n", span.end, span.end + _LINE_WINDOW)
        loud = _is_loud(text[start : end if end >= 0 else span.end + _LINE_WINDOW])
        lines[start] = loud
    return loud


def begins_sentence(text: str, at: int) -> bool:
    """Tell whether the word at `at` is the first of a sentence, where a capital tells nothing."""
    while at > 0 and not text[at - 1].isalnum():
        at -= 1
        if text[at] in _BREAKS or text[at] >= "\u2600":
            return True
    return at == 0


def opens_only(word: str) -> bool:
    """Tell a word that only begins its sentence, however it is spelled, from a name."""
    low = word.lower()
    return low in COMMON or (low in _COMMANDS and low not in _GIVEN) or low.endswith("ly")


def is_no_name(word: str) -> bool:
    """Tell a word that is no name by itself: a function word, a cry, an abbreviation."""
    low = word.lower()
    return low in COMMON or low in NOT_NAMES or _STRETCHED.search(low) is not None


def _is_loud(line: str) -> bool:
    """Tell an all-capital line or a title-case heading from a sentence."""
    letters = [char for char in line if char.isalpha()]
    upper = sum(char.isupper() for char in letters)
    words = line.split()
    if len(words) >= 3 and upper > 0.6 * len(letters):
        return True
    if len(words) < 4 or line.rstrip()[-1:] in ".!?…,;":
        return False
    capital = sum(word[0].isupper() for word in words)
    return capital >= 0.75 * len(words)
