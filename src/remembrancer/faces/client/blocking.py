"""`Client`: `AsyncClient` for code that is not async."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from ..loops import Loop
from .client import AsyncClient

T = TypeVar("T")
P = ParamSpec("P")


def _blocking(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Client, P], T]:
    """Turn a method of `AsyncClient` into one that waits."""

    def waiting(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.loop.wait(method(self.inner, *args, **kwargs))

    return update_wrapper(waiting, method)


class Client:
    """A server's memory. Use it as `with Client("http://localhost:6381") as client:`.

    Arguments and methods are those of `AsyncClient`. It may be used from several threads.
    """

    def __init__(self, url: str = "http://localhost:6381", **options: Any) -> None:
        self.loop = Loop("remembrancer-client", "client")
        self.inner = AsyncClient(url, **options)

    def __enter__(self) -> Self:
        self.loop.check()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; safe to call twice."""
        if self.loop.running:
            self.loop.wait(self.inner.close())
            self.loop.stop()

    retain = _blocking(AsyncClient.retain)
    retain_many = _blocking(AsyncClient.retain_many)
    recall = _blocking(AsyncClient.recall)
    reflect = _blocking(AsyncClient.reflect)
    prime = _blocking(AsyncClient.prime)
    forget = _blocking(AsyncClient.forget)
    remind = _blocking(AsyncClient.remind)
    check = _blocking(AsyncClient.check)
    ack = _blocking(AsyncClient.ack)
    operation = _blocking(AsyncClient.operation)
    wait = _blocking(AsyncClient.wait)
    status = _blocking(AsyncClient.status)
    request = _blocking(AsyncClient.request)

    def due(self, *, bank: str | None = None) -> Generator[dict[str, Any], None, None]:
        """Yield what falls due, as it does, until you stop; acknowledge each."""
        events = self.inner.due(bank=bank)

        async def following() -> dict[str, Any] | None:
            return await anext(events, None)

        try:
            while (event := self.loop.wait(following())) is not None:
                yield event
        finally:
            if self.loop.running:
                self.loop.wait(events.aclose())
