"""How names of entities are compared: two names with the same fold are one name.

Stores keep folds as keys, so a change here needs a migration that folds every name again.
"""

from __future__ import annotations

import re
import unicodedata

# Letters that do not decompose into a base and a mark.
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"})
_SIGNS = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "‐": "-", "–": "-"})
# Marks are taken off Latin and Greek letters only: elsewhere (й, が, ك) they make another letter.
_MARKED = re.compile("([a-z\u0370-\u03ff])[\u0300-\u036f]+")
_THE = "the "


def fold_name(name: str) -> str:
    """Return the key under which a name is compared; never empty unless the name is blank.

    It is the name in compatibility form (NFKC) and case-folded, without the accents of Latin and
    Greek letters, with single spaces, typographic apostrophes and hyphens made plain, and without
    a leading "the" or a possessive ending. Digits and all other signs stay: names that differ in
    one are different names.
    """
    text = unicodedata.normalize("NFKC", name).casefold()
    text = _MARKED.sub(r"\1", unicodedata.normalize("NFD", text))
    text = unicodedata.normalize("NFC", text).translate(_LETTERS).translate(_SIGNS)
    text = " ".join(text.split())
    bare = text.removeprefix(_THE)
    if len(bare) > 2 and bare.endswith("'s"):
        bare = bare[:-2]
    elif len(bare) > 2 and bare.endswith("s'"):
        bare = bare[:-1]
    return bare or text
