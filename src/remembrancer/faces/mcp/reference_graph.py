"""The knowledge graph of the reference memory server, kept as documents of a bank.

A node, an observation and a relation are one document each, whose name follows from what they say.
So to create one twice changes nothing, each is found by recall as any memory is, and to delete one
erases its text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .tool import Asking
from .ways import Ask, path_of

_PREFIX = "knowledge-graph"
_PAGE = 1_000
_ITEMS = 500  # a request


@dataclass(frozen=True, slots=True)
class Node:
    """An entity with what was observed of it."""

    name: str
    entity_type: str
    observations: tuple[str, ...] = ()

    def shape(self) -> dict[str, Any]:
        """Return it as the reference server spells it."""
        return {
            "name": self.name,
            "entityType": self.entity_type,
            "observations": list(self.observations),
        }


@dataclass(frozen=True, slots=True)
class Relation:
    """A directed relation between two entities, in active voice."""

    source: str
    target: str
    kind: str

    def shape(self) -> dict[str, Any]:
        """Return it as the reference server spells it."""
        return {"from": self.source, "to": self.target, "relationType": self.kind}


@dataclass(frozen=True, slots=True)
class KnowledgeGraph:
    """Nodes and relations, in the order in which they were made."""

    nodes: tuple[Node, ...]
    relations: tuple[Relation, ...]

    def only(self, names: Iterable[str]) -> KnowledgeGraph:
        """Return some nodes, and the relations that begin or end at one of them."""
        kept = frozenset(names)
        return KnowledgeGraph(
            tuple(n for n in self.nodes if n.name in kept),
            tuple(r for r in self.relations if r.source in kept or r.target in kept),
        )

    def shape(self) -> dict[str, Any]:
        """Return it as the reference server spells it."""
        return {
            "entities": [n.shape() for n in self.nodes],
            "relations": [r.shape() for r in self.relations],
        }


class GraphDocuments:
    """Reads and writes the graph of one bank."""

    def __init__(self, bank: str, ask: Asking) -> None:
        self._bank = bank
        self._ask = ask

    async def read(self) -> KnowledgeGraph:
        """Return the whole graph."""
        found = [d["document_metadata"] for d in await self._documents()]
        observed: dict[str, list[tuple[int, str]]] = {}
        for each in found:
            if each.get("graph") == "observation":
                seen = observed.setdefault(each["entity"], [])
                seen.append((int(each["order"]), each["observation"]))
        nodes = sorted(
            (int(each["order"]), each["entity"], each["entity_type"])
            for each in found
            if each.get("graph") == "node"
        )
        relations = sorted(
            (int(each["order"]), each["from"], each["to"], each["relation"])
            for each in found
            if each.get("graph") == "relation"
        )
        return KnowledgeGraph(
            tuple(
                Node(name, kind, tuple(text for _, text in sorted(observed.get(name, ()))))
                for _, name, kind in nodes
            ),
            tuple(Relation(a, b, kind) for _, a, b, kind in relations),
        )

    async def add_nodes(self, nodes: Sequence[Node], after: int) -> None:
        """Keep nodes with their observations, all or none of each 500."""
        items = []
        for n, node in enumerate(nodes):
            items.append(_node_item(node, after + n))
            items += [
                _observation_item(node, text, order) for order, text in enumerate(node.observations)
            ]
        await self._keep(items)

    async def add_observations(self, node: Node, texts: Sequence[str]) -> None:
        """Keep further observations of a node."""
        after = len(node.observations)
        items = [_observation_item(node, text, after + n) for n, text in enumerate(texts)]
        await self._keep(items)

    async def add_relations(self, relations: Sequence[Relation], after: int) -> None:
        """Keep relations."""
        await self._keep([_relation_item(r, after + n) for n, r in enumerate(relations)])

    async def remove(self, nodes: Iterable[Node], relations: Iterable[Relation]) -> None:
        """Erase nodes with their observations, and relations."""
        names = [_relation_name(r) for r in relations]
        for node in nodes:
            names.append(_node_name(node.name))
            names += [_observation_name(node.name, text) for text in node.observations]
        await self._erase(names)

    async def remove_observations(self, name: str, texts: Iterable[str]) -> None:
        """Erase observations of a node."""
        await self._erase([_observation_name(name, text) for text in texts])

    async def _keep(self, items: Sequence[Mapping[str, Any]]) -> None:
        for start in range(0, len(items), _ITEMS):
            body = {"items": items[start : start + _ITEMS]}
            await self._ask(Ask("POST", path_of(self._bank, "memories"), body=body))

    async def _erase(self, names: Sequence[str]) -> None:
        for start in range(0, len(names), _ITEMS):
            body = {"entity_id": self._bank, "document_ids": names[start : start + _ITEMS]}
            await self._ask(Ask("POST", "/v1/forget", body=body))

    async def _documents(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while True:
            query = {"tags": _PREFIX, "limit": _PAGE, "offset": len(found)}
            page = await self._ask(Ask("GET", path_of(self._bank, "documents"), query))
            found += page["items"]
            if not page["items"] or len(found) >= page["total"]:
                return found


def _node_item(node: Node, order: int) -> dict[str, Any]:
    return _item(
        f"{node.name} is a {node.entity_type}",
        _node_name(node.name),
        {"graph": "node", "entity": node.name, "entity_type": node.entity_type},
        order,
        [{"text": node.name, "type": node.entity_type}],
    )


def _observation_item(node: Node, text: str, order: int) -> dict[str, Any]:
    return _item(
        text,
        _observation_name(node.name, text),
        {"graph": "observation", "entity": node.name, "observation": text},
        order,
        [{"text": node.name, "type": node.entity_type}],
    )


def _relation_item(relation: Relation, order: int) -> dict[str, Any]:
    return _item(
        f"{relation.source} {relation.kind.replace('_', ' ')} {relation.target}",
        _relation_name(relation),
        {
            "graph": "relation",
            "from": relation.source,
            "to": relation.target,
            "relation": relation.kind,
        },
        order,
        [{"text": relation.source}, {"text": relation.target}],
    )


def _item(
    content: str,
    name: str,
    metadata: dict[str, str],
    order: int,
    entities: list[dict[str, str]],
) -> dict[str, Any]:
    return {
        "content": content,
        "document_id": name,
        "metadata": {**metadata, "order": str(order)},
        "tags": [_PREFIX],
        "entities": entities,
        "resolve_entities": False,
    }


def _node_name(name: str) -> str:
    return f"{_PREFIX}/node/{_digest(name)}"


def _observation_name(name: str, text: str) -> str:
    return f"{_PREFIX}/observation/{_digest(name)}/{_digest(text)}"


def _relation_name(relation: Relation) -> str:
    return f"{_PREFIX}/relation/{_digest(relation.source, relation.kind, relation.target)}"


def _digest(*parts: str) -> str:
    whole = "\x00".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(whole, digest_size=16).hexdigest()
