"""Text hygiene: what is taken out of any text before it is stored, and how long texts are."""

from __future__ import annotations

import re

# C0 and C1 controls except tab, line feed and carriage return; lone surrogates; the noncharacters
# that no store takes. Everything else is the caller's and stays as it is.
_UNWANTED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

REDACTED = "\x7f"
"""What each character of an erased text becomes in its document: DEL, the character that paper tape
rubbed others out with. `clean` takes it out of whatever is handed in, so no text of a caller is
ever taken for an erased one."""

BLACKED = "\u2588"
"""What an erased character is shown as."""

HOLES = (REDACTED, BLACKED)
"""What may stand for an erased character, in a document or in one that was shown and comes back."""

ERASED = "erased:"
"""What the content hash of a document begins with that lost units; a revision follows."""


def clean(text: str) -> str:
    """Return `text` without control characters and lone surrogates; line ends become LF."""
    text = _UNWANTED.sub("", text)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def shown(text: str) -> str:
    """Return the text of a chunk as people see it: each erased character is U+2588."""
    return text.replace(REDACTED, BLACKED)


def estimate_tokens(text: str) -> int:
    """Estimate a text's length in model tokens without a tokenizer.

    Four UTF-8 bytes a token is the usual rule for English; it errs high for CJK (three bytes a
    character, about one token each), which keeps a budget on the safe side.
    """
    return (len(text.encode()) + 3) // 4
