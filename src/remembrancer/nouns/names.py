"""Names that callers give: which ones a bank may have."""

from __future__ import annotations

import unicodedata

from .errors import InvalidInput, TooLarge
from .memory import DEFAULT_TENANT, BankRef
from .text import clean

MAX_BANK_CHARS = 256


def bank_ref(name: str, field: str = "bank", tenant: str = DEFAULT_TENANT) -> BankRef:
    """Return the bank of a name.

    Raises:
        InvalidInput: it is empty, too long, or holds control characters; names `field`.
    """
    if not name.strip():
        raise InvalidInput(
            f"{field} must hold 1 to {MAX_BANK_CHARS} characters", field=field, limit=MAX_BANK_CHARS
        )
    if clean(name) != name or any(unicodedata.category(c) == "Cc" for c in name):
        raise InvalidInput(
            f"{field} must hold 1 to {MAX_BANK_CHARS} characters, and no control characters",
            field=field,
            limit=MAX_BANK_CHARS,
        )
    if len(name) > MAX_BANK_CHARS:
        raise TooLarge(
            f"{field} has {len(name)} characters; the limit is {MAX_BANK_CHARS}",
            field=field,
            limit=MAX_BANK_CHARS,
        )
    return BankRef(tenant, name)
