"""`Memory` and `AsyncMemory` as mem0 has them, over a folder of ours."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Mapping
from functools import update_wrapper
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from ....nouns.caller import Caller
from ....nouns.errors import InvalidInput
from ...library.blocking import Memory as OurMemory
from ...library.memory import AsyncMemory as OurAsyncMemory
from ...library.memory import make_settings
from ...loops import Loop
from ..errors import as_value_errors
from ..opening import Lazily
from .messages import told_at
from .service import TOP_K, UNSET, Mem0, Search, filter_of

T = TypeVar("T")
P = ParamSpec("P")

Config = Mapping[str, Any] | None

_OURS = "remembrancer"  # the part of a configuration that is for us


class AsyncMemory:
    """mem0's `AsyncMemory`. Both styles of call work: ids beside the query, or in `filters`.

    Args:
        config: mem0's configuration. Of it only the object `remembrancer` counts: settings by
            name, such as `{"data": "./memory", "embedder": "none"}`. No model is called.
        memory: an `AsyncMemory` of ours to use instead; closing it stays with its owner.

    Raises:
        ValueError: `remembrancer.InvalidInput` and `remembrancer.NotFound` are kinds of it here.
    """

    def __init__(self, config: Config = None, *, memory: OurAsyncMemory | None = None) -> None:
        with as_value_errors():
            self._memory = Lazily(memory or OurAsyncMemory(_settings(config)))

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Make one of a configuration; it may be awaited, too."""
        return cls(config_dict)

    def __await__(self) -> Generator[Any, None, Self]:
        """Open it; the first call does so otherwise."""
        yield from self._memory.app().__await__()
        return self

    async def __aenter__(self) -> Self:
        return await self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close what was opened here; what was acknowledged stays."""
        await self._memory.close()

    async def add(
        self,
        messages: Any,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        app_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: Any = None,
        expiration_date: Any = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Keep messages, verbatim: `{"results": [{"id", "memory", "event"}]}`.

        Args:
            messages: a text, a message, or a list of messages.
            user_id, agent_id, run_id, app_id: whose memory; one at least.
            metadata: any JSON, kept with each.
            timestamp: when it was said: ISO 8601, a datetime, or seconds since 1970.
            expiration_date: the last day on which it is shown, `YYYY-MM-DD`.
            infer, memory_type, prompt: taken, and without effect: nothing is rewritten.
        """
        del infer, memory_type, prompt
        with as_value_errors():
            ids = _ids(user_id, agent_id, run_id, app_id)
            added = await (await self._mem0()).add(
                messages,
                ids,
                metadata=metadata,
                timestamp=timestamp,
                expiration_date=expiration_date,
            )
        return {"results": added}

    async def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        app_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        limit: int | None = None,
        threshold: float | None = None,
        rerank: bool = False,
        explain: bool = False,
        reference_date: Any = None,
        show_expired: bool = False,
    ) -> dict[str, Any]:
        """Find memories, best first: `{"results": [{"id", "memory", "score", …}]}`.

        Args:
            query: in plain words.
            user_id, agent_id, run_id, app_id: whose; here or in `filters`, one at least.
            filters: conditions, joined by AND, OR and NOT.
            top_k: results at most (20); `limit` is another name.
            limit: see `top_k`.
            threshold: the lowest score, 0 to 1; by default any.
            rerank, explain: taken, and without effect.
            reference_date: when it is asked, for "yesterday".
            show_expired: find what has expired, too.
        """
        del rerank, explain
        with as_value_errors():
            found = await (await self._mem0()).search(
                Search(
                    query,
                    filter_of(filters, _ids(user_id, agent_id, run_id, app_id)),
                    top_k=_top_k(top_k, limit),
                    threshold=threshold,
                    show_expired=show_expired,
                    asked_at=told_at(reference_date, "reference_date"),
                )
            )
        return {"results": found}

    async def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return a memory, or None."""
        return await (await self._mem0()).get(memory_id)

    async def get_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        app_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        limit: int | None = None,
        show_expired: bool = False,
    ) -> dict[str, Any]:
        """Return memories, the newest first: `{"results": […]}`; arguments as for `search`."""
        with as_value_errors():
            found, _ = await (await self._mem0()).get_all(
                filter_of(filters, _ids(user_id, agent_id, run_id, app_id)),
                top_k=_top_k(top_k, limit),
                show_expired=show_expired,
            )
        return {"results": found}

    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Change a memory: its text (`data` is another name), metadata over the old, its last day.

        Raises:
            ValueError: there is none of that id, or nothing is to be changed.
        """
        with as_value_errors():
            await (await self._mem0()).update(
                memory_id,
                text=data if text is None else text,
                metadata=metadata,
                expiration_date=expiration_date,
            )
        return {"message": "Memory updated successfully!"}

    async def delete(self, memory_id: str) -> dict[str, str]:
        """Erase a memory, from the disk too.

        Raises:
            ValueError: there is none of that id.
        """
        with as_value_errors():
            await (await self._mem0()).delete(memory_id)
        return {"message": "Memory deleted successfully!"}

    async def delete_all(
        self,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        app_id: str | None = None,
    ) -> dict[str, str]:
        """Erase what has all of these ids; one at least."""
        with as_value_errors():
            await (await self._mem0()).delete_all(_ids(user_id, agent_id, run_id, app_id))
        return {"message": "Memories deleted successfully!"}

    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return what became of a memory, oldest first. Nothing is left of an erased one."""
        return await (await self._mem0()).history(memory_id)

    async def reset(self) -> None:
        """Erase every memory that was made through this face."""
        await (await self._mem0()).reset()

    async def _mem0(self) -> Mem0:
        return Mem0(await self._memory.app(), Caller())


def _blocking(
    method: Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Memory, P], T]:
    """Turn a method of `AsyncMemory` into one that waits."""

    def waiting(self: Memory, /, *args: P.args, **kwargs: P.kwargs) -> T:
        done: T = self._wait(method(self._inner, *args, **kwargs))
        return done

    return update_wrapper(waiting, method)


class Memory:
    """mem0's `Memory`; see `AsyncMemory`. It may be used from several threads.

    Args:
        config: as there.
        memory: a `Memory` of ours to use instead.
    """

    def __init__(self, config: Config = None, *, memory: OurMemory | None = None) -> None:
        self._loop: Loop | None = None
        if memory is not None:
            self._inner = AsyncMemory(memory=memory.inner)
            self._wait: Callable[[Coroutine[Any, Any, Any]], Any] = memory.wait
            return
        self._inner = AsyncMemory(config)
        self._loop = Loop("remembrancer-mem0")
        self._wait = self._loop.wait

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Make one of a configuration."""
        return cls(config_dict)

    def close(self) -> None:
        """Close what was opened here; safe to call twice."""
        if self._loop is not None and self._loop.running:
            self._wait(self._inner.close())
            self._loop.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    add = _blocking(AsyncMemory.add)
    search = _blocking(AsyncMemory.search)
    get = _blocking(AsyncMemory.get)
    get_all = _blocking(AsyncMemory.get_all)
    update = _blocking(AsyncMemory.update)
    delete = _blocking(AsyncMemory.delete)
    delete_all = _blocking(AsyncMemory.delete_all)
    history = _blocking(AsyncMemory.history)
    reset = _blocking(AsyncMemory.reset)


def _settings(config: Config) -> Any:
    given = config.get(_OURS, {}) if isinstance(config, Mapping) else {}
    if not isinstance(given, Mapping):
        raise InvalidInput(f"{_OURS} must be an object of settings", field=_OURS)
    named = dict(given)
    folder = named.pop("data", None)
    return make_settings(None if folder is None else Path(folder), named)


def _ids(
    user_id: str | None, agent_id: str | None, run_id: str | None, app_id: str | None
) -> dict[str, str | None]:
    return {"user_id": user_id, "agent_id": agent_id, "run_id": run_id, "app_id": app_id}


def _top_k(top_k: int | None, limit: int | None) -> int:
    return next((k for k in (top_k, limit) if k is not None), TOP_K)
