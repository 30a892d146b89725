"""Remembrancer: the memory of AI agents.

>>> import remembrancer
>>> with remembrancer.open("my-agent") as memory:
...     memory.retain("Ann: I moved to Berlin in May.", bank="ann")
...     memory.recall("Where does Ann live?", bank="ann")[0].text

Names are imported when first used, so that `import remembrancer` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .faces.client.blocking import Client
    from .faces.client.client import AsyncClient
    from .faces.library.blocking import Memory
    from .faces.library.memory import AsyncMemory
    from .faces.library.prospective import AsyncProspectiveMemoryManager, ProspectiveMemoryManager
    from .faces.library.prospective_items import DueItem, ProspectiveItem
    from .finding.composite import ScoringWeights
    from .finding.search import Weights
    from .nouns.errors import (
        Conflict,
        InvalidInput,
        ModelMismatch,
        ModelUnavailable,
        NotFound,
        RemembrancerError,
        StoreError,
        TooLarge,
    )
    from .settings import Settings
    from .verbs.retaining.units import Item

__all__ = [
    "AsyncClient",
    "AsyncMemory",
    "AsyncProspectiveMemoryManager",
    "Client",
    "Conflict",
    "DueItem",
    "InvalidInput",
    "Item",
    "Memory",
    "ModelMismatch",
    "ModelUnavailable",
    "NotFound",
    "ProspectiveItem",
    "ProspectiveMemoryManager",
    "RemembrancerError",
    "ScoringWeights",
    "Settings",
    "StoreError",
    "TooLarge",
    "Weights",
    "__version__",
    "open",
    "open_async",
]

_HOMES = {
    "AsyncClient": ".faces.client.client",
    "Client": ".faces.client.blocking",
    "AsyncMemory": ".faces.library.memory",
    "AsyncProspectiveMemoryManager": ".faces.library.prospective",
    "DueItem": ".faces.library.prospective_items",
    "ProspectiveItem": ".faces.library.prospective_items",
    "ProspectiveMemoryManager": ".faces.library.prospective",
    "Item": ".verbs.retaining.units",
    "Conflict": ".nouns.errors",
    "InvalidInput": ".nouns.errors",
    "ModelMismatch": ".nouns.errors",
    "ModelUnavailable": ".nouns.errors",
    "NotFound": ".nouns.errors",
    "StoreError": ".nouns.errors",
    "TooLarge": ".nouns.errors",
    "Memory": ".faces.library.blocking",
    "RemembrancerError": ".nouns.errors",
    "ScoringWeights": ".finding.composite",
    "Settings": ".settings",
    "Weights": ".finding.search",
}


def open(folder: str | Path | None = None, **settings: Any) -> Memory:  # noqa: A001
    """Open a memory in a folder, made when it is new; see `remembrancer.Memory`.

    Args:
        folder: where everything is kept; by default what the settings say (~/.remembrancer).
        settings: further settings by name, such as `embedder="none"`.
    """
    from .faces.library.blocking import Memory  # noqa: PLC0415
    from .faces.library.memory import make_settings  # noqa: PLC0415

    return Memory(make_settings(folder, settings))


def open_async(folder: str | Path | None = None, **settings: Any) -> AsyncMemory:
    """Return a memory to be opened by `async with`; arguments as for `open`."""
    from .faces.library.memory import AsyncMemory, make_settings  # noqa: PLC0415

    return AsyncMemory(make_settings(folder, settings))


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
