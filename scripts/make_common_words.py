#!/usr/bin/env python3
"""Write finding/common_words.txt: the commonest English words, the commonest first.

The words of the bundled model's vocabulary stand in the order of how common they were in the text
that it was made from, so they are a list of words by how common they are. Standard library only.
"""

from __future__ import annotations

import json
from pathlib import Path

HOUSE = Path(__file__).resolve().parent.parent / "src/remembrancer"
VOCABULARY = HOUSE / "models/data/bge-small-en-v1.5-int8/tokenizer.json"
TARGET = HOUSE / "finding/common_words.txt"
SHORTEST = 2  # letters


def main() -> None:
    """Write the file."""
    vocabulary = json.loads(VOCABULARY.read_text(encoding="utf-8"))["model"]["vocab"]
    words = [
        word
        for word in sorted(vocabulary, key=vocabulary.__getitem__)
        if word.isascii() and word.isalpha() and len(word) >= SHORTEST
    ]
    TARGET.write_text("\n".join(words) + "\n", encoding="utf-8")
    print(f"{TARGET}: {len(words)} words")


if __name__ == "__main__":
    main()
