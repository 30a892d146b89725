"""Aligns an older sequence with a newer one: which element of the older one each new one is."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Hashable, Sequence


def align(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[int | None]:
    """Return for each element of `new` the index of an equal one of `old`, each used once.

    As many as possible are found. Equal elements that stand several times are told apart by what
    stands around them: common beginning and end first, then the neighbours of elements that stand
    once on both sides (as in a patience diff), then in order. O(n log n), whatever repeats.
    """
    found: list[int | None] = [None] * len(new)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        found[start] = start
        start += 1
    tail = 0
    while tail < min(len(old), len(new)) - start and old[-1 - tail] == new[-1 - tail]:
        found[-1 - tail] = len(old) - 1 - tail
        tail += 1
    free = [start <= at < len(old) - tail for at in range(len(old))]
    for mine, theirs in _anchors(old, new, start, tail):
        _take(old, new, found, free, mine, theirs)
    _take_rest(old, new, found, free)
    return found


def _anchors(
    old: Sequence[Hashable], new: Sequence[Hashable], start: int, tail: int
) -> list[tuple[int, int]]:
    """Return (new, old) places of elements that stand once on both sides, in the same order."""
    olds, news = range(start, len(old) - tail), range(start, len(new) - tail)
    once_old = Counter(old[at] for at in olds)
    once_new = Counter(new[at] for at in news)
    places = {old[at]: at for at in olds if once_old[old[at]] == 1}
    pairs = [(at, places[new[at]]) for at in news if once_new[new[at]] == 1 and new[at] in places]
    return _rising(pairs)


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return a longest run of pairs whose second numbers rise."""
    ends: list[int] = []  # smallest second number that a run of each length ends with
    last: list[int] = []  # and the pair it belongs to
    before: list[int | None] = []
    for number, (_, theirs) in enumerate(pairs):
        length = bisect_left(ends, theirs)
        before.append(last[length - 1] if length else None)
        if length == len(ends):
            ends.append(theirs)
            last.append(number)
        else:
            ends[length], last[length] = theirs, number
    run: list[tuple[int, int]] = []
    at = last[-1] if last else None
    while at is not None:
        run.append(pairs[at])
        at = before[at]
    return run[::-1]


def _take(
    old: Sequence[Hashable],
    new: Sequence[Hashable],
    found: list[int | None],
    free: list[bool],
    mine: int,
    theirs: int,
) -> None:
    """Pair an anchor and its equal neighbours on both sides."""
    if not free[theirs] or found[mine] is not None:
        return
    for step in (1, -1):
        here, there = mine + (step < 0) * step, theirs + (step < 0) * step
        while (
            0 <= here < len(new)
            and 0 <= there < len(old)
            and found[here] is None
            and free[there]
            and new[here] == old[there]
        ):
            found[here], free[there] = there, False
            here, there = here + step, there + step


def _take_rest(
    old: Sequence[Hashable], new: Sequence[Hashable], found: list[int | None], free: list[bool]
) -> None:
    """Pair what is left in order, wherever it stands."""
    queues: dict[Hashable, deque[int]] = {}
    for at, is_free in enumerate(free):
        if is_free:
            queues.setdefault(old[at], deque()).append(at)
    for at, element in enumerate(new):
        if found[at] is None and (queue := queues.get(element)):
            found[at] = queue.popleft()
