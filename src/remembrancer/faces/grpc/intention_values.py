"""Values of `remembrancer.v1`: from messages to the models of the HTTP face and back.

So both wires take the same, within the same limits. Fields are called alike, but times end in `_ms`
here.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ...nouns.caller import Caller
from ...nouns.errors import InvalidInput
from ...nouns.intention import Event
from ..http.body import Wire
from ..http.errors import faults_of
from ..http.intention_shapes import UpdateIntentionRequest
from .proto import OWN_PACKAGE, message
from .values import fill_struct, from_struct, optional

MS = "_ms"
_STRUCT = "google.protobuf.Struct"
_DEEPEST = 20  # levels of a Struct; clients of several languages read no more than some 30
_LARGEST = int(sys.float_info.max)

W = TypeVar("W", bound=Wire)


def own(name: str) -> Any:
    """Return an empty message of that name."""
    return message(name, OWN_PACKAGE)()


def as_body(model: type[W], told: Any) -> W:
    """Read a message as the body that the HTTP face takes for it.

    Raises:
        InvalidInput: names the field that is at fault.
    """
    return _valid(model, _plain(told))


def changed_body(request: Any) -> UpdateIntentionRequest:
    """Read what an UpdateRequest changes and what it takes away.

    Raises:
        InvalidInput: names the field that is at fault.
    """
    known = request.changes.DESCRIPTOR.fields_by_name
    told = _plain(request.changes)
    for name in request.clear:
        plain = name.removesuffix(MS)
        if name not in known or name == "id":
            raise InvalidInput(
                f"clear names {name[:40]!r}, which is no field of the changes", field="clear"
            )
        if plain in told:
            raise InvalidInput(f"{name} is set in changes and named in clear", field="clear")
        told[plain] = None
    return _valid(UpdateIntentionRequest, told)


def fill(target: Any, shape: BaseModel) -> None:
    """Write what the HTTP face shows; fields that the message does not have are passed over."""
    _fill(target, {name: getattr(shape, name) for name in type(shape).model_fields})


def fill_event(target: Any, event: Event) -> None:
    """Write a kept event."""
    target.id = event.id
    target.name = event.name
    target.time_ms = event.at // 1_000
    target.received_at_ms = event.received_at // 1_000
    if event.data:
        fill_struct(target.payload, _tame(event.data))


def ceiling_of(caller: Caller, request: Any) -> float | None:
    """Return the highest tier rank that a call may see: the key's, or a lower one asked for.

    None is no ceiling.

    Raises:
        InvalidInput: `max_tier_rank` is no finite number.
    """
    asked = optional(request, "max_tier_rank")
    if asked is not None and not math.isfinite(asked):
        raise InvalidInput("max_tier_rank must be a finite number", field="max_tier_rank")
    given = [rank for rank in (caller.max_tier_rank, asked) if rank is not None]
    return min(given, default=None)


def limit_of(request: Any, default: int, most: int) -> int:
    """Return how many things a call asks for.

    Raises:
        InvalidInput: it is none, or more than `most`.
    """
    limit = optional(request, "limit")
    if limit is None:
        return default
    if not 1 <= limit <= most:
        raise InvalidInput(f"limit must be 1 to {most}", field="limit", limit=most)
    return int(limit)


def _valid(model: type[W], told: Mapping[str, Any]) -> W:
    try:
        return model.model_validate(told)
    except ValidationError as error:
        fault = faults_of(error, "body")[0]
        raise InvalidInput(fault.text, field=fault.field, limit=fault.limit) from None


def _plain(told: Any) -> dict[str, Any]:
    """Return the fields that are set, by their names over HTTP."""
    found: dict[str, Any] = {}
    for field, value in told.ListFields():
        name = field.name.removesuffix(MS)
        if _repeats(value):
            found[name] = list(value)
        elif field.message_type is None:
            found[name] = value
        elif field.message_type.full_name == _STRUCT:
            found[name] = from_struct(value, name)
        else:
            found[name] = _plain(value)
    return found


def _fill(target: Any, values: Mapping[str, Any]) -> None:
    known = target.DESCRIPTOR.fields_by_name
    for name, value in values.items():
        field = known.get(name) or known.get(name + MS)
        if field is None or value is None:
            continue
        if _repeats(getattr(target, field.name)):
            getattr(target, field.name).extend(value)
        elif field.message_type is None:
            timed = field.name.endswith(MS)
            setattr(target, field.name, math.floor(value) if timed else value)
        elif field.message_type.full_name == _STRUCT:
            fill_struct(getattr(target, field.name), _tame(value))
        else:
            getattr(target, field.name).SetInParent()
            _fill(getattr(target, field.name), value)


def _repeats(value: Any) -> bool:
    return hasattr(value, "extend")  # as lists have; 5.26 has no `is_repeated` of a field


def _tame(value: Any, level: int = 0) -> Any:
    """Return JSON values as a Struct can carry them: what nests too deeply is told as JSON text.

    So are whole numbers beyond what a double holds.
    """
    if isinstance(value, int) and abs(value) > _LARGEST:
        return str(value)
    if not isinstance(value, Mapping | list):
        return value
    if level == _DEEPEST:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return [_tame(each, level + 1) for each in value]
    return {name: _tame(each, level + 1) for name, each in value.items()}
