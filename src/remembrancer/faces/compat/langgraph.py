"""`RemembrancerStore`: LangGraph's `BaseStore` over a memory of ours, durable, sync and async."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from heapq import nsmallest
from pathlib import Path
from typing import Any, Self

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    tokenize_path,
)

from ...nouns.clock import from_us
from ...nouns.memory import BankRef
from ...nouns.names import bank_ref
from ...verbs.items import Entry, Items, Put, Test, Wanted
from .errors import BadValue, as_value_errors
from .holding import Held, Host

_MINUTE_US = 60_000_000
_ANY = "*"
_WHOLE = "$"


class RemembrancerStore(BaseStore):
    """A store of JSON values by namespace and key, which also searches by meaning.

    Reads make nothing; a batch reads first, then puts everything in one transaction. Items with a
    time to live are not answered once it has passed, and are erased at the next put.

    Args:
        memory: an open `remembrancer.Memory`, a folder, or None for the folder of the settings.
        bank: where items are kept.
        index: `{"fields": [...]}`: what items are found by; all their texts by default. The
            embedder is the memory's own, so `embed` and `dims` have no effect. False: nothing.
        ttl: LangGraph's configuration of times to live.
        settings: of the memory that is opened here, such as `embedder="none"`.

    Raises:
        ValueError: input that cannot be taken (`remembrancer.InvalidInput`).
    """

    supports_ttl = True

    __slots__ = ("_bank", "_fields", "_held", "ttl_config")

    def __init__(
        self,
        memory: Host | str | Path | None = None,
        *,
        bank: str = "langgraph",
        index: Mapping[str, Any] | bool | None = None,
        ttl: TTLConfig | None = None,
        **settings: Any,
    ) -> None:
        self.ttl_config = ttl
        self._fields: list[str] | None = None
        if index is not False:
            given = index.get("fields") if isinstance(index, Mapping) else None
            self._fields = list(given) if given else [_WHOLE]
        with as_value_errors():
            self._bank: BankRef = bank_ref(bank)
            self._held = Held(memory, settings)

    def close(self) -> None:
        """Close what was opened here; safe to call twice."""
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several operations; results come in their order."""
        return self._held.wait(self._batch(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several operations; results come in their order."""
        return await self._held.until(self._batch(list(ops)))

    def sweep_ttl(self) -> int:
        """Erase what has expired now; return how many items that were."""
        return self._held.wait(self._items.sweep(self._bank))

    @property
    def _items(self) -> Items:
        return self._held.app.items

    async def _batch(self, ops: Sequence[Op]) -> list[Result]:
        with as_value_errors():
            puts = [self._put(op) for op in ops if isinstance(op, PutOp)]
            results = [await self._read(op) for op in ops]
            await self._items.put(self._bank, puts)
        if any(put.value is None for put in puts):
            self._held.app.worker.wake()
        return results

    async def _read(self, op: Op) -> Result:
        match op:
            case PutOp():
                return None
            case GetOp():
                found = await self._items.get(
                    self._bank, tuple(op.namespace), op.key, refresh=op.refresh_ttl
                )
                return None if found is None else _item(found)
            case SearchOp():
                wanted = Wanted(
                    tuple(op.namespace_prefix),
                    query=op.query,
                    test=_test(op.filter),
                    limit=op.limit,
                    offset=op.offset,
                    refresh=op.refresh_ttl,
                )
                return [_found(entry) for entry in await self._items.search(self._bank, wanted)]
            case ListNamespacesOp():
                return await self._namespaces(op)
        raise BadValue(f"unknown operation {type(op).__name__}", field="ops")

    async def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        if op.limit < 0 or op.offset < 0:
            raise BadValue("limit and offset must not be negative", field="limit", limit=0)
        found = {
            namespace[: op.max_depth]
            async for namespace in self._items.namespaces(self._bank)
            if all(_matches(condition, namespace) for condition in op.match_conditions or ())
        }
        return nsmallest(op.offset + op.limit, found)[op.offset :]

    def _put(self, op: PutOp) -> Put:
        value = None if op.value is None else self._items.guarded(dict(op.value))
        return Put(
            tuple(op.namespace),
            op.key,
            value,
            text=None if value is None else self._text(value, op.index),
            ttl_us=None if op.ttl is None else round(op.ttl * _MINUTE_US),
        )

    def _text(self, value: Mapping[str, Any], index: bool | list[str] | None) -> str | None:
        """Return what an item is found by; None: it is not to be found by a query."""
        if index is False or self._fields is None:
            return None
        fields = self._fields if index is None or index is True else index
        texts: list[str] = []
        for path in fields:
            texts += (
                _leaves(value) if path == _WHOLE else get_text_at_path(value, tokenize_path(path))
            )
        return "\n".join(texts) or None


def _leaves(value: Any) -> list[str]:
    """Return the texts and numbers of a value, in order, without their names."""
    if isinstance(value, Mapping):
        return [text for each in value.values() for text in _leaves(each)]
    if isinstance(value, list | tuple):
        return [text for each in value for text in _leaves(each)]
    if isinstance(value, str):
        return [value] if value.strip() else []
    return [] if value is None or isinstance(value, bool) else [str(value)]


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = tuple(condition.path)
    if condition.match_type not in ("prefix", "suffix"):
        raise BadValue(
            f"unknown match_type {condition.match_type!r}; choose prefix, suffix",
            field="match_type",
        )
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)]
    if condition.match_type == "suffix":
        part = namespace[len(namespace) - len(path) :]
    return all(wanted in (_ANY, label) for wanted, label in zip(path, part, strict=True))


def _test(conditions: Mapping[str, Any] | None) -> Test | None:
    """Return what tells whether a value passes a filter.

    Raises:
        BadValue: an operator is not known.
    """
    if not conditions:
        return None
    _known(conditions)
    return partial(_passes, conditions)


def _passes(conditions: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    return all(_fits(value.get(key), wanted) for key, wanted in conditions.items())


def _fits(kept: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(str(key).startswith("$") for key in wanted):
            return all(_OPERATORS[name](kept, operand) for name, operand in wanted.items())
        return isinstance(kept, Mapping) and _passes(wanted, kept)
    if isinstance(wanted, list | tuple):
        if not isinstance(kept, list | tuple) or len(kept) != len(wanted):
            return False
        return all(_fits(one, other) for one, other in zip(kept, wanted, strict=True))
    return bool(kept == wanted)


def _ordered(kept: Any, operand: Any) -> tuple[Any, Any] | None:
    """Return both as numbers or as texts; None where they cannot be compared."""
    try:
        return float(kept), float(operand)
    except (TypeError, ValueError):
        both_texts = isinstance(kept, str) and isinstance(operand, str)
        return (kept, operand) if both_texts else None


def _greater(kept: Any, operand: Any) -> bool:
    pair = _ordered(kept, operand)
    return pair is not None and bool(pair[0] > pair[1])


def _at_least(kept: Any, operand: Any) -> bool:
    pair = _ordered(kept, operand)
    return pair is not None and bool(pair[0] >= pair[1])


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda kept, operand: bool(kept == operand),
    "$ne": lambda kept, operand: bool(kept != operand),
    "$gt": _greater,
    "$gte": _at_least,
    "$lt": lambda kept, operand: _greater(operand, kept),
    "$lte": lambda kept, operand: _at_least(operand, kept),
}


def _known(conditions: Any) -> None:
    """Refuse operators that are not known, before anything is searched."""
    if isinstance(conditions, Mapping):
        operators = [key for key in conditions if str(key).startswith("$")]
        for key in operators:
            if key not in _OPERATORS or len(operators) != len(conditions):
                raise BadValue(
                    f"unknown operator {key!r}; choose {', '.join(_OPERATORS)}", field="filter"
                )
        for each in conditions.values():
            _known(each)
    elif isinstance(conditions, list | tuple):
        for each in conditions:
            _known(each)


def _item(entry: Entry) -> Item:
    return Item(
        value=dict(entry.value),
        key=entry.key,
        namespace=entry.namespace,
        created_at=from_us(entry.created_at),
        updated_at=from_us(entry.updated_at),
    )


def _found(entry: Entry) -> SearchItem:
    return SearchItem(
        entry.namespace,
        entry.key,
        dict(entry.value),
        from_us(entry.created_at),
        from_us(entry.updated_at),
        entry.score,
    )
