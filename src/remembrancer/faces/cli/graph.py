"""Keeps an imported knowledge graph as the tools of the reference memory server keep it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ...nouns.errors import InvalidInput

if TYPE_CHECKING:
    from ...app import App
    from ...reading.importing.types import TakenNode, TakenRelation
    from ..mcp.reference_graph import GraphDocuments, Node, Relation
    from ..mcp.ways import Ask, Inside


class GraphKeeping:
    """Adds nodes and relations to the graph of one bank; what is there is left alone."""

    def __init__(self, app: App, bank: str) -> None:
        self._app = app
        self._bank = bank
        self._way: Inside | None = None
        self._documents: GraphDocuments | None = None
        self._nodes: dict[str, Node] = {}
        self._order = 0
        self._relations: set[Relation] = set()

    async def __call__(
        self, nodes: Sequence[TakenNode], relations: Sequence[TakenRelation]
    ) -> tuple[int, int]:
        """Keep what is not there; return how many things came new and how many were there."""
        from ..mcp.reference_graph import Node, Relation  # noqa: PLC0415

        documents = await self._open()
        new = there = 0
        fresh: dict[str, Node] = {}
        for each in nodes:
            known = self._nodes.get(each.name) or fresh.get(each.name)
            if known is None:
                fresh[each.name] = Node(each.name, each.kind, each.observations)
                new += 1 + len(each.observations)
                continue
            added = [text for text in each.observations if text not in known.observations]
            there += 1 + len(each.observations) - len(added)
            new += len(added)
            held = (*known.observations, *added)
            if each.name in fresh:
                fresh[each.name] = Node(known.name, known.entity_type, held)
            elif added:
                await documents.add_observations(known, added)
                self._nodes[each.name] = Node(known.name, known.entity_type, held)
        await documents.add_nodes(list(fresh.values()), self._order)
        self._order += len(fresh)
        self._nodes |= fresh
        made = [Relation(r.source, r.target, r.kind) for r in relations]
        fresh_relations = [r for r in dict.fromkeys(made) if r not in self._relations]
        await documents.add_relations(fresh_relations, len(self._relations))
        self._relations |= set(fresh_relations)
        return new + len(fresh_relations), there + len(relations) - len(fresh_relations)

    async def close(self) -> None:
        """End it."""
        if self._way is not None:
            await self._way.close()

    async def _open(self) -> GraphDocuments:
        if self._documents is not None:
            return self._documents
        if find_spec("httpx") is None:
            raise InvalidInput(
                "a knowledge graph needs the package httpx: pip install 'remembrancer[mcp]'",
                field="format",
            )
        from ..http.server import make_app  # noqa: PLC0415
        from ..mcp.reference_graph import GraphDocuments  # noqa: PLC0415
        from ..mcp.ways import Inside  # noqa: PLC0415

        self._way = Inside(make_app(self._app))
        self._documents = GraphDocuments(self._bank, self._ask)
        graph = await self._documents.read()
        self._nodes = {node.name: node for node in graph.nodes}
        self._order = len(graph.nodes)
        self._relations = set(graph.relations)
        return self._documents

    async def _ask(self, ask: Ask) -> Any:
        from ..mcp.ways import error_text  # noqa: PLC0415

        assert self._way is not None
        answer = await self._way.call(ask, {})
        if answer.status >= 400:
            raise InvalidInput(error_text(answer))
        return answer.body
