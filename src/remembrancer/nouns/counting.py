"""Units with other access counters, in a fraction of the time of `dataclasses.replace`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, make_dataclass
from operator import attrgetter
from typing import Any, cast

from .memory import Unit

_NAMES = tuple(f.name for f in fields(Unit))
_VALUES: Callable[[Unit], tuple[Any, ...]] = attrgetter(*_NAMES)
_COUNT, _LAST_AT = _NAMES.index("access_count"), _NAMES.index("last_accessed_at")

# A frozen dataclass makes a call for each field it sets; this twin has the same slots but is open.
_Open = make_dataclass("_Open", [(name, Any) for name in _NAMES], slots=True, eq=False)


def accessed(unit: Unit, count: int, last_at: int | None) -> Unit:
    """Return a unit with these counters."""
    values = list(_VALUES(unit))
    values[_COUNT], values[_LAST_AT] = count, last_at
    copy = _Open(*values)
    copy.__class__ = Unit
    return cast(Unit, copy)
