"""`…/knowledge-base`: mental models as pages in a tree of folders, in Hindsight's words."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field

from ...nouns.ids import to_uuid
from ...verbs.knowledge import FOLDER, ShownNode, TagRule, markdown
from .answers import OpenApp, answer
from .auditing import audited
from .banks import PATH, DeleteResponse, NamedBank
from .body import Wire, body_of
from .errors import BANK_ERRORS
from .mental_model_shapes import (
    MaxTokens,
    MentalModelTrigger,
    Name,
    kept_trigger,
    trigger_of,
)
from .mental_model_shapes import Query as SourceQuery
from .moments import spell
from .retain import Tags
from .schema import reads
from .tag_rules import tag_rule

_PATH = f"{PATH}/knowledge-base"
_NODE = f"{_PATH}/nodes/{{node_id}}"
MAX_HITS = 50
_ID_CHARS = 128

router = APIRouter(tags=["Knowledge base"])

Wanted = Annotated[TagRule | None, Depends(tag_rule)]
_TAGS = ("tags", "tags_match", "tag_groups")
Parent = Annotated[str | None, Field(max_length=_ID_CHARS)]


class CreateFolderRequest(Wire):
    """A folder to make."""

    name: Name
    parent_id: Parent = None


class CreatePageRequest(Wire):
    """A page to make, with a mental model of its own."""

    name: Name
    source_query: SourceQuery
    parent_id: Parent = None
    tags: Tags = None
    max_tokens: MaxTokens | None = None
    trigger: MentalModelTrigger | None = None


class UpdateNodeRequest(Wire):
    """What to change; what is left out stays, and a null `parent_id` moves to the top."""

    name: Name | None = None
    parent_id: Parent = None
    source_query: SourceQuery | None = None
    tags: Tags = None
    max_tokens: MaxTokens | None = None
    trigger: MentalModelTrigger | None = None


class KnowledgeNode(BaseModel):
    """A folder or a page."""

    id: str
    kind: Literal["folder", "page"]
    name: str
    parent_id: str | None = None
    mental_model_id: str | None = None
    managed: bool = False
    description: str | None = None
    tags: list[str] = Field(default_factory=list)
    timestamp: str | None = None
    is_stale: bool | None = None
    trigger: dict[str, Any] | None = None
    children: list[KnowledgeNode] = Field(default_factory=list)


class KnowledgeTreeResponse(BaseModel):
    """The tree."""

    roots: list[KnowledgeNode]


class CreateKnowledgePageResponse(BaseModel):
    """The page, its mental model, and the operation that writes it."""

    page_id: str
    mental_model_id: str
    operation_id: str | None = None


class KnowledgePageResponse(BaseModel):
    """A page."""

    id: str
    name: str
    type: str = "page"
    description: str | None = None
    tags: list[str] = Field(default_factory=list)
    timestamp: str | None = None
    body: str | None = None
    markdown: str


class KnowledgePageSearchResult(BaseModel):
    """A page that was found; `score` from 0 to 1."""

    id: str
    name: str
    mental_model_id: str | None = None
    snippet: str
    score: float
    updated_at: str | None = None


class KnowledgePageSearchResponse(BaseModel):
    """Pages, the best first."""

    results: list[KnowledgePageSearchResult]
    total: int


class KnowledgePageBundleFile(BaseModel):
    """A page as a file."""

    path: str
    content: str


class KnowledgePageBundleResponse(BaseModel):
    """All pages as files."""

    files: list[KnowledgePageBundleFile]


@router.get(
    f"{_PATH}/tree",
    operation_id="get_knowledge_tree",
    summary="Get the knowledge tree",
    response_model=KnowledgeTreeResponse,
    responses=BANK_ERRORS,
)
async def get_knowledge_tree(
    request: Request, app: OpenApp, bank: NamedBank, wanted: Wanted
) -> Response:
    """Show all folders and pages, by name, folders first; of some tags, where those pages are."""
    roots = [_node(each) for each in await app.knowledge.tree(bank, wanted)]
    return answer(request, KnowledgeTreeResponse(roots=roots), queries=_TAGS)


@router.post(
    f"{_PATH}/folders",
    operation_id="create_knowledge_folder",
    summary="Create knowledge folder",
    status_code=201,
    response_model=KnowledgeNode,
    responses=BANK_ERRORS,
    openapi_extra=reads(CreateFolderRequest),
)
async def create_knowledge_folder(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    body: Annotated[CreateFolderRequest, Depends(body_of(CreateFolderRequest))],
) -> Response:
    """Make a folder."""
    node = await app.knowledge.folder(bank, body.name, body.parent_id)
    audited(request, node_id=node.id)
    return answer(request, _node(ShownNode(node)), status=201)


@router.post(
    f"{_PATH}/pages",
    operation_id="create_knowledge_page",
    summary="Create knowledge page",
    status_code=201,
    response_model=CreateKnowledgePageResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(CreatePageRequest),
)
async def create_knowledge_page(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    body: Annotated[CreatePageRequest, Depends(body_of(CreatePageRequest))],
) -> Response:
    """Make a page; it is written in the background."""
    node, job = await app.knowledge.page(
        bank,
        body.name,
        body.source_query,
        body.parent_id,
        tags=body.tags or (),
        max_tokens=body.max_tokens or 2048,
        trigger=kept_trigger(body.trigger),
    )
    app.thinker.wake()
    audited(request, node_id=node.id)
    told = CreateKnowledgePageResponse(
        page_id=node.id, mental_model_id=node.model or "", operation_id=to_uuid(job.id)
    )
    return answer(request, told, status=201)


@router.get(
    f"{_PATH}/export",
    operation_id="export_knowledge_pages",
    summary="Export knowledge pages",
    response_model=KnowledgePageBundleResponse,
    responses=BANK_ERRORS,
)
async def export_knowledge_pages(request: Request, app: OpenApp, bank: NamedBank) -> Response:
    """Return all pages as Markdown files."""
    files = [
        KnowledgePageBundleFile(path=path, content=content)
        for path, content in await app.knowledge.export(bank)
    ]
    return answer(request, KnowledgePageBundleResponse(files=files))


@router.get(
    f"{_PATH}/search",
    operation_id="search_knowledge_pages",
    summary="Search knowledge pages",
    response_model=KnowledgePageSearchResponse,
    responses=BANK_ERRORS,
)
async def search_knowledge_pages(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    wanted: Wanted,
    q: Annotated[str, Query(min_length=1, max_length=1_000)],
    limit: Annotated[int, Query(ge=1, le=MAX_HITS)] = 10,
) -> Response:
    """Find pages by the words in them."""
    results = [
        KnowledgePageSearchResult(
            id=hit.page.node.id,
            name=hit.page.node.name,
            mental_model_id=hit.page.node.model,
            snippet=hit.snippet,
            score=hit.score,
            updated_at=_written(hit.page),
        )
        for hit in await app.knowledge.search(bank, q, limit, wanted)
    ]
    body = KnowledgePageSearchResponse(results=results, total=len(results))
    return answer(request, body, queries=("q", "limit", *_TAGS))


@router.get(
    f"{_PATH}/pages/{{page_id}}",
    operation_id="get_knowledge_page",
    summary="Get knowledge page",
    response_model=KnowledgePageResponse,
    responses=BANK_ERRORS,
)
async def get_knowledge_page(
    request: Request, app: OpenApp, bank: NamedBank, page_id: str
) -> Response:
    """Show a page."""
    page = await app.knowledge.get(bank, page_id, page=True)
    shown = page.shown
    return answer(
        request,
        KnowledgePageResponse(
            id=page.node.id,
            name=page.node.name,
            description=shown.model.source_query if shown else None,
            tags=list(shown.model.tags) if shown else [],
            timestamp=_written(page),
            body=shown.content if shown else None,
            markdown=markdown(page),
        ),
    )


@router.patch(
    _NODE,
    operation_id="update_knowledge_node",
    summary="Update knowledge node",
    response_model=KnowledgeNode,
    responses=BANK_ERRORS,
    openapi_extra=reads(UpdateNodeRequest),
)
async def update_knowledge_node(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    node_id: str,
    body: Annotated[UpdateNodeRequest, Depends(body_of(UpdateNodeRequest))],
) -> Response:
    """Rename or move a node, or change what a page is about."""
    place: dict[str, Any] = {"name": body.name} if body.name is not None else {}
    if "parent_id" in body.model_fields_set:
        place["parent"] = body.parent_id
    names = ("source_query", "tags", "max_tokens")
    model: dict[str, Any] = {n: v for n in names if (v := getattr(body, n)) is not None}
    if body.trigger is not None:
        model["trigger"] = kept_trigger(body.trigger)
    node = await app.knowledge.update(bank, node_id, place, model)
    audited(request, node_id=node_id)
    return answer(request, _node(node))


@router.delete(
    _NODE,
    operation_id="delete_knowledge_node",
    summary="Delete knowledge node",
    response_model=DeleteResponse,
    responses=BANK_ERRORS,
)
async def delete_knowledge_node(
    request: Request, app: OpenApp, bank: NamedBank, node_id: str
) -> Response:
    """Delete a node with all that stands in it, mental models included."""
    count = await app.knowledge.delete(bank, node_id)
    told = DeleteResponse(success=True, message=f"{count} nodes were deleted", deleted_count=count)
    return answer(request, told)


def _written(page: ShownNode) -> str | None:
    return spell(page.shown.model.refreshed_at) if page.shown is not None else None


def _node(each: ShownNode) -> KnowledgeNode:
    model = each.shown.model if each.shown is not None else None
    return KnowledgeNode(
        id=each.node.id,
        kind="folder" if each.node.kind == FOLDER else "page",
        name=each.node.name,
        parent_id=each.node.parent,
        mental_model_id=each.node.model,
        description=model.source_query if model else None,
        tags=list(model.tags) if model else [],
        timestamp=_written(each),
        is_stale=each.shown.stale if each.shown else None,
        trigger=trigger_of(model) if model else None,
        children=[_node(child) for child in each.children],
    )
