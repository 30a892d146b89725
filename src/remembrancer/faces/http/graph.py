"""`GET …/graph`: memories as nodes, what links them as edges."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from ...nouns.errors import NotFound
from ...nouns.ids import to_uuid
from ...nouns.memory import BankRef, Kind
from ...nouns.text import clean
from ...verbs.browse import Query as Wanted
from ...verbs.browse import cuts
from ...verbs.graph import Edge
from .answers import OpenApp, answer
from .banks import PATH, NamedBank
from .errors import BANK_ERRORS
from .memories import Match, Part, Tags, Type, tag_filter
from .memory_shapes import ListedMemory, listed

MAX_NODES = 2_000  # the links of so many take about a second
_LABEL_CHARS = 60
_NODE_COLORS = {"world": "#4c78a8", "experience": "#54a24b", "observation": "#b279a2"}
_EDGE_COLORS = {"temporal": "#9aa5b1", "semantic": "#f2a541", "entity": "#3c9d9b"}
_CAUSAL_COLOR = "#d1495b"  # of links that are stored

router = APIRouter(tags=["Memory"])


class GraphDataResponse(BaseModel):
    """A graph as drawing libraries take it: each node and edge under `data`."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    table_rows: list[dict[str, Any]]
    total_units: int
    limit: int


@router.get(
    f"{PATH}/graph",
    operation_id="get_graph",
    summary="Get memory graph data",
    response_model=GraphDataResponse,
    responses=BANK_ERRORS,
)
async def get_graph(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    kind: Type = None,
    limit: Annotated[int, Query(ge=1, le=MAX_NODES)] = 1_000,
    q: Part = None,
    tags: Tags = None,
    tags_match: Annotated[Match, Query()] = "all_strict",
    document_id: Annotated[str | None, Query()] = None,
    chunk_id: Annotated[str | None, Query()] = None,
) -> Response:
    """Draw the newest memories, and the links between them: at most 10,000, the strongest."""
    document, chunk = _place(bank, document_id, chunk_id)
    wanted = Wanted(
        kind=Kind[kind.upper()] if kind else None,
        text=clean(q or ""),
        tags=tag_filter(tags, tags_match),
        document=document,
        chunk_index=chunk,
    )
    drawn = await app.graph(bank, wanted, limit=limit)
    rows = [listed(bank, shown) for shown in drawn.nodes]
    return answer(
        request,
        GraphDataResponse(
            nodes=[{"data": _node(row)} for row in rows],
            edges=[{"data": _edge(edge)} for edge in drawn.edges],
            table_rows=[row.model_dump() for row in rows],
            total_units=drawn.total,
            limit=limit,
        ),
        nulls=True,
        queries=("type", "limit", "q", "tags", "tags_match", "document_id", "chunk_id"),
    )


def _place(
    bank: BankRef, document_id: str | None, chunk_id: str | None
) -> tuple[str | None, int | None]:
    """Return the document and chunk that are asked for."""
    if chunk_id is None:
        return document_id, None
    for name, document, index in cuts(chunk_id):
        if name == bank.bank and document_id in (None, document):
            return document, index
    raise NotFound(f"there is no chunk {chunk_id!r} in this bank", field="chunk_id")


def _node(row: ListedMemory) -> dict[str, Any]:
    text = row.text
    label = text if len(text) <= _LABEL_CHARS else f"{text[: _LABEL_CHARS - 1].rstrip()}…"
    return {
        "id": row.id,
        "label": label,
        "text": text,
        "date": row.date,
        "context": row.context,
        "entities": row.entities,
        "type": row.fact_type,
        "color": _NODE_COLORS[row.fact_type],
    }


def _edge(edge: Edge) -> dict[str, Any]:
    source, target = to_uuid(edge.source), to_uuid(edge.target)
    name = "-".join((source, target, edge.type, *([edge.entity] if edge.entity else ())))
    return {
        "id": name,
        "source": source,
        "target": target,
        "linkType": edge.type,
        "weight": round(edge.weight, 4),
        "entityName": edge.entity,
        "color": _EDGE_COLORS.get(edge.type, _CAUSAL_COLOR),
        "lineStyle": "dashed" if edge.type == "temporal" else "solid",
    }
