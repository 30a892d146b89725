"""How the groups of store calls reach the database: a lane that reads, a writer that writes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from ...nouns.clock import Clock
from .db import Db

P = ParamSpec("P")
T = TypeVar("T")


class Calls(ABC):
    """What each group of calls stands on; a store joins the groups."""

    _clock: Clock

    @abstractmethod
    async def _read(
        self, work: Callable[Concatenate[Db, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run work on a connection that reads."""

    @abstractmethod
    async def _write(
        self, work: Callable[Concatenate[Db, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run work in a write transaction; durable when it returns."""
