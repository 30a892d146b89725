"""Threads that each own one connection and run what they are given, in order."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Concatenate, ParamSpec, TypeVar

from ...nouns.errors import StoreError
from .db import Db

P = ParamSpec("P")
T = TypeVar("T")
Future = asyncio.Future[Any]
Translated = Callable[[Exception], Exception]
"""Turns a database's error into one of ours; any other one stays as it is."""


# The work, its arguments, who waits for it, and what is done afterwards.
_Item = tuple[Callable[..., Any], Any, Any, Future | None, Callable[[Db], object] | None]


def settle(future: Future, result: Any, error: BaseException | None) -> None:
    """Give a future its outcome from another thread; an abandoned one is left alone."""
    try:
        future.get_loop().call_soon_threadsafe(_set, future, result, error)
    except RuntimeError:  # the loop has closed: nobody waits any more
        return


def _set(future: Future, result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


class Lane:
    """One thread with one connection, opened when first needed.

    A queue of its own makes a hop cost about half of what an executor's does, and keeps the
    connection in one thread. What nobody waits for any more (a deadline passed) is not begun.

    Args:
        open_db: opens the connection.
        translated: what becomes of errors.
        name: of the thread.
        watch: is given the connection, and a function that tells whether what it does is abandoned.
    """

    def __init__(
        self,
        open_db: Callable[[], Db],
        translated: Translated,
        name: str,
        watch: Callable[[Db, Callable[[], bool]], None] | None = None,
    ) -> None:
        self._open_db = open_db
        self._watch = watch
        self._current: Future | None = None
        self._translated = translated
        self._queue: SimpleQueue[_Item | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._gate = threading.Lock()
        self._closed = False
        self._started = False

    async def run(
        self, work: Callable[Concatenate[Db, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `work(db, ...)` on the lane's thread and return what it returns."""
        future: Future = asyncio.get_running_loop().create_future()
        self._put((work, args, kwargs, future, None))
        result: T = await future
        return result

    async def run_then(
        self,
        after: Callable[[Db], object],
        work: Callable[Concatenate[Db, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """As `run`, and run `after(db)`, come what may, once the result is handed on.

        Nobody waits for it; what fails there the next use of the connection meets.
        """
        future: Future = asyncio.get_running_loop().create_future()
        self._put((work, args, kwargs, future, after))
        result: T = await future
        return result

    def post(self, work: Callable[[Db], object]) -> None:
        """Run `work(db)` after what is queued, without waiting for it."""
        with suppress(StoreError):  # a closed lane has ended what it had begun
            self._put((work, (), {}, None, None))

    def stop(self) -> None:
        """Finish what is queued, close the connection and end the thread."""
        with self._gate:
            self._closed = True
            self._queue.put(None)
        if self._started:
            self._thread.join()

    def _put(self, item: _Item) -> None:
        with self._gate:
            if self._closed:
                raise StoreError("the store is closed; open it again")
            if not self._started:
                self._started = True
                self._thread.start()
            self._queue.put(item)

    def _abandoned(self) -> bool:
        """Tell whether nobody waits any more for what is being done; asked in the lane's thread."""
        future = self._current
        return future is not None and future.cancelled()

    def _work(self) -> None:
        db: Db | None = None
        while (item := self._queue.get()) is not None:
            work, args, kwargs, future, after = item
            if future is not None and future.cancelled():
                continue
            self._current = future
            result: Any = None
            error: Exception | None = None
            try:
                if db is None:
                    db = self._open_db()
                    if self._watch is not None:
                        self._watch(db, self._abandoned)
                result = work(db, *args, **kwargs)
            except Exception as exc:
                error = self._translated(exc)
            if future is not None:
                settle(future, result, error)
            self._current = None
            del work, args, kwargs, future, item, result, error
            if after is not None and db is not None:
                with suppress(Exception):
                    after(db)
        if db is not None:
            db.close()
