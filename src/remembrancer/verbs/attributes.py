"""Attributes: any JSON that a caller keeps with a memory, within a bound."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..nouns.errors import InvalidInput, TooLarge

MAX_ATTRIBUTES_BYTES = 16_384
"""Of their JSON in UTF-8."""


def merged_attributes(
    old: Mapping[str, Any] | None, new: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Return old attributes with new ones over them; None when there are none.

    Raises:
        TooLarge: together they are above `MAX_ATTRIBUTES_BYTES`.
        InvalidInput: a number is not finite.
    """
    merged = {**(old or {}), **(new or {})}
    try:
        text = json.dumps(merged, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise InvalidInput("context must hold finite numbers", field="context") from None
    size = len(text.encode())
    if size > MAX_ATTRIBUTES_BYTES:
        raise TooLarge(
            f"context has {size} bytes as JSON; the limit is {MAX_ATTRIBUTES_BYTES}",
            field="context",
            limit=MAX_ATTRIBUTES_BYTES,
        )
    return merged or None
