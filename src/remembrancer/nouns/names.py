"""Names that callers give: which ones a bank may have, and a tenant."""

from __future__ import annotations

import re
import unicodedata

from .errors import InvalidInput, TooLarge
from .memory import DEFAULT_TENANT, BankRef
from .text import clean

MAX_BANK_CHARS = 256

# No caller can give a control character, so these are the house's own, and are not listed.
UNNAMED = "\x1funnamed"
"""Bank of a tenant's memories that belong to no bank in particular."""

OF_TENANT = "\x1ftenant"
"""Bank of what is kept about a tenant itself: its policy, its sessions."""

_OWN = "\x1f"

_TENANT = re.compile(r"[A-Za-z0-9_-]{1,128}")


def bank_ref(name: str, field: str = "bank", tenant: str = DEFAULT_TENANT) -> BankRef:
    """Return the bank of a name.

    Raises:
        InvalidInput: it is no text, empty, too long, or holds control characters; names `field`.
    """
    if not isinstance(name, str):
        kind = type(name).__name__
        raise InvalidInput(f"{field} must be text, and not of the type {kind}", field=field)
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


def one_at_a_time(what: str) -> str:
    """Return what jobs of a bank name as their document so that one runs after the other."""
    return f"{_OWN}{what}"


def is_own(name: str) -> bool:
    """Tell whether a name is one of the house's own, which callers are not shown."""
    return name.startswith(_OWN)


def tenant_name(name: str, field: str = "tenant_id") -> str:
    """Return a tenant's name.

    Raises:
        InvalidInput: it is not 1 to 128 letters, digits, '-' and '_'; names `field`.
    """
    if not _TENANT.fullmatch(name):
        raise InvalidInput(
            f"{field} must hold 1 to 128 characters: letters, digits, '-' and '_'",
            field=field,
            limit=128,
        )
    return name
