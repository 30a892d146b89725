"""The nine tools of the reference memory server, over the same memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from ...nouns.errors import NotFound
from .reference_graph import GraphDocuments, Node, Relation
from .tool import AnyTool, Arguments, Call, InBank, Json, Tool

_MOST = 1_000


class EntityShape(Arguments):
    """A node."""

    name: str = Field(min_length=1, max_length=256)
    entityType: str = Field(max_length=256)  # noqa: N815 - as that server spells it
    observations: list[str] = Field(default_factory=list, max_length=_MOST)


class RelationShape(Arguments):
    """A directed relation, in active voice."""

    from_: str = Field(alias="from", max_length=256)
    to: str = Field(max_length=256)
    relationType: str = Field(max_length=256)  # noqa: N815


class ContentsShape(Arguments):
    """What is observed of one node."""

    entityName: str  # noqa: N815
    contents: list[str] = Field(max_length=_MOST)


class DeletionShape(Arguments):
    """What is no longer to be known of one node."""

    entityName: str  # noqa: N815
    observations: list[str] = Field(max_length=_MOST)


class CreateEntities(InBank):
    """What `create_entities` takes."""

    entities: list[EntityShape] = Field(max_length=_MOST)


class Relations(InBank):
    """What `create_relations` and `delete_relations` take."""

    relations: list[RelationShape] = Field(max_length=_MOST)


class AddObservations(InBank):
    """What `add_observations` takes."""

    observations: list[ContentsShape] = Field(max_length=_MOST)


class DeleteEntities(InBank):
    """What `delete_entities` takes."""

    entityNames: list[str] = Field(max_length=_MOST)  # noqa: N815


class DeleteObservations(InBank):
    """What `delete_observations` takes."""

    deletions: list[DeletionShape] = Field(max_length=_MOST)


class Search(InBank):
    """What `search_nodes` takes."""

    query: str = Field(description="A part of names, types or observations.")


class Open(InBank):
    """What `open_nodes` takes."""

    names: list[str] = Field(max_length=_MOST)


async def _create_entities(arguments: CreateEntities, call: Call) -> Json:
    documents = GraphDocuments(call.bank, call.ask)
    graph = await documents.read()
    known = {n.name for n in graph.nodes}
    fresh: dict[str, Node] = {}
    for each in arguments.entities:
        if each.name not in known and each.name not in fresh:
            texts = tuple(dict.fromkeys(each.observations))
            fresh[each.name] = Node(each.name, each.entityType, texts)
    await documents.add_nodes(list(fresh.values()), len(graph.nodes))
    return {"entities": [n.shape() for n in fresh.values()]}


async def _create_relations(arguments: Relations, call: Call) -> Json:
    documents = GraphDocuments(call.bank, call.ask)
    graph = await documents.read()
    wanted = dict.fromkeys(map(_relation, arguments.relations))
    fresh = [r for r in wanted if r not in graph.relations]
    await documents.add_relations(fresh, len(graph.relations))
    return {"relations": [r.shape() for r in fresh]}


async def _add_observations(arguments: AddObservations, call: Call) -> Json:
    documents = GraphDocuments(call.bank, call.ask)
    nodes = {n.name: n for n in (await documents.read()).nodes}
    for each in arguments.observations:
        if each.entityName not in nodes:
            raise NotFound(f"Entity with name {each.entityName} not found", field="entityName")
    results = []
    for each in arguments.observations:
        node = nodes[each.entityName]
        fresh = [t for t in dict.fromkeys(each.contents) if t not in node.observations]
        await documents.add_observations(node, fresh)
        nodes[node.name] = Node(node.name, node.entity_type, (*node.observations, *fresh))
        results.append({"entityName": node.name, "addedObservations": fresh})
    return {"results": results}


async def _delete_entities(arguments: DeleteEntities, call: Call) -> Json:
    documents = GraphDocuments(call.bank, call.ask)
    gone = (await documents.read()).only(arguments.entityNames)
    await documents.remove(gone.nodes, gone.relations)
    return {"success": True, "message": "Entities deleted successfully"}


async def _delete_observations(arguments: DeleteObservations, call: Call) -> Json:
    documents = GraphDocuments(call.bank, call.ask)
    for each in arguments.deletions:
        await documents.remove_observations(each.entityName, each.observations)
    return {"success": True, "message": "Observations deleted successfully"}


async def _delete_relations(arguments: Relations, call: Call) -> Json:
    documents = GraphDocuments(call.bank, call.ask)
    await documents.remove((), map(_relation, arguments.relations))
    return {"success": True, "message": "Relations deleted successfully"}


async def _read_graph(arguments: InBank, call: Call) -> Json:  # noqa: ARG001
    return (await GraphDocuments(call.bank, call.ask).read()).shape()


async def _search_nodes(arguments: Search, call: Call) -> Json:
    graph = await GraphDocuments(call.bank, call.ask).read()
    wanted = arguments.query.casefold()

    def holds(node: Node) -> bool:
        texts = (node.name, node.entity_type, *node.observations)
        return any(wanted in text.casefold() for text in texts)

    return graph.only(n.name for n in graph.nodes if holds(n)).shape()


async def _open_nodes(arguments: Open, call: Call) -> Json:
    graph = await GraphDocuments(call.bank, call.ask).read()
    return graph.only(arguments.names).shape()


def _relation(shape: RelationShape) -> Relation:
    return Relation(shape.from_, shape.to, shape.relationType)


def _tool(
    name: str,
    description: str,
    takes: Any,
    run: Any,
    *,
    reads: bool = False,
    destroys: bool = False,
) -> AnyTool:
    title = name.replace("_", " ").capitalize()
    return Tool(name, title, description, takes, run, reads=reads, destroys=destroys)


TOOLS: Sequence[AnyTool] = (
    _tool(
        "create_entities",
        "Create new entities in the knowledge graph; those whose name is known are left alone.",
        CreateEntities,
        _create_entities,
    ),
    _tool(
        "create_relations",
        "Create relations between entities, in active voice; known ones are left alone.",
        Relations,
        _create_relations,
    ),
    _tool(
        "add_observations",
        "Add observations to existing entities; fails if an entity does not exist.",
        AddObservations,
        _add_observations,
    ),
    _tool(
        "delete_entities",
        "Delete entities with their observations and relations.",
        DeleteEntities,
        _delete_entities,
        destroys=True,
    ),
    _tool(
        "delete_observations",
        "Delete observations of entities.",
        DeleteObservations,
        _delete_observations,
        destroys=True,
    ),
    _tool(
        "delete_relations",
        "Delete relations.",
        Relations,
        _delete_relations,
        destroys=True,
    ),
    _tool("read_graph", "Read the whole knowledge graph.", InBank, _read_graph, reads=True),
    _tool(
        "search_nodes",
        "Search entities by a part of their name, type or observations; returns them with their "
        "relations.",
        Search,
        _search_nodes,
        reads=True,
    ),
    _tool(
        "open_nodes",
        "Return entities by name with their relations; unknown names are left out.",
        Open,
        _open_nodes,
        reads=True,
    ),
)
