"""JSON with one of its values put in place of another, or replaced by an odd one."""

from __future__ import annotations

import json
from random import Random
from typing import Any

_ODD = (None, True, 0, -1, 1e300, "", "x", "\u0000", "2026-05-08T10:00:00Z", [], {}, [[]], [None],
        {"a": []}, ["x", 1], "9" * 30)  # fmt: skip


def swapped(data: bytes, random: Random) -> bytes | None:
    """Return JSON, or lines of JSON, with a value changed; None: it is neither."""
    try:
        return _spelled([_changed(json.loads(data), random)])
    except (ValueError, RecursionError):
        pass
    lines = data.splitlines()
    if not lines:
        return None
    try:
        values = [json.loads(line) for line in lines]
        at = random.randrange(len(values))
        values[at] = _changed(values[at], random)
        return _spelled(values)
    except (ValueError, RecursionError):
        return None


def _spelled(values: list[Any]) -> bytes:
    return b"\n".join(json.dumps(value).encode() for value in values)


def _changed(whole: Any, random: Random) -> Any:
    """Change one place, each as likely; a key may go or come as well."""
    box = [whole]
    places: list[tuple[Any, Any]] = [(box, 0)]
    for container, key in places:  # grows while it is walked
        value = container[key]
        keys = (
            value
            if isinstance(value, dict)
            else range(len(value))
            if isinstance(value, list)
            else ()
        )
        places.extend((value, each) for each in keys)
    container, key = random.choice(places)
    way = random.randrange(8)
    if way == 0 and isinstance(container, dict):
        del container[key]
    elif way == 1 and isinstance(container, dict):
        container[random.choice([k for c, k in places if isinstance(k, str)])] = container[key]
    elif way <= 3 and len(places) > 1:
        other, name = random.choice(places)
        # A copy: a value put into itself would have no end.
        container[key] = json.loads(json.dumps(other[name]))
    else:
        container[key] = random.choice(_ODD)
    return box[0]
