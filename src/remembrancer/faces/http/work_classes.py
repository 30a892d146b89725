"""Which class of work a request is, by its method and path, before any route is looked for."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from ...nouns.caller import Permission
from ...verbs.admission.desk import Work
from .access import needed

HEAVY = frozenset(
    {
        # These may ask a language model.
        "reflect",
        "bank_llm_health",
        "dry_run_refresh_mental_model",
        # These read texts anew, or much of a bank.
        "dry_run_extract",
        "get_graph",
        "get_entity_graph",
        "get_bank_stats",
        "find_clusters",
        "prepare_insights",
        "prepare_contradictions",
        "export_bank_template",
        "export_knowledge_pages",
    }
)
"""Operations that take long, by id."""

LASTING = frozenset({"stream_intentions", "subscribe", "metrics"})
"""Operations that have no place: streams have bounds of their own; figures are told under load,
too."""

_MCP = re.compile(r"/mcp(?:/|$)")  # its tools send requests of their own, each with a place
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class WorkClasses:
    """Knows the classes of all routes.

    Args:
        routes: of the application.
    """

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        # Those whose class is not told by the method, by method and the last part of the path.
        self._others: defaultdict[tuple[str, str], list[tuple[re.Pattern[str], Work | None]]] = (
            defaultdict(list)
        )
        for route in routes:
            if isinstance(route, APIRoute):
                for method in route.methods or ():
                    work = _work(method, route.path, route.operation_id)
                    if work is not _plain(method):
                        last = route.path.rpartition("/")[2]
                        name = "" if "{" in last else last
                        self._others[method, name].append((route.path_regex, work))

    def of(self, method: str, path: str) -> Work | None:
        """Return a request's class; None: it needs no place."""
        last = path.rpartition("/")[2]
        for name in (last, ""):
            for pattern, work in self._others.get((method, name), ()):
                if pattern.match(path):
                    return work
        return None if _MCP.match(path) else _plain(method)


def _plain(method: str) -> Work:
    return Work.READ if method in _SAFE else Work.WRITE


def _work(method: str, path: str, operation: str | None) -> Work | None:
    if operation in LASTING:
        return None
    if operation in HEAVY:
        return Work.HEAVY
    permission = needed(method, path, operation)
    if permission is Permission.READ:
        return Work.READ
    return Work.WRITE if permission is Permission.WRITE else _plain(method)
