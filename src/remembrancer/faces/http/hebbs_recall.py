"""`POST /v1/recall`: by similarity, time, cause or analogy, in HEBBS's words."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import AliasChoices, BaseModel, Field

from ...finding.composite import ScoringWeights
from ...nouns.caller import Caller, Permission
from ...nouns.errors import InvalidInput
from ...nouns.ids import parse_id
from ...verbs.recalling.origins import Origin
from ...verbs.recalling.searches import Asked, Search, Way
from .access import Calling
from .answers import OpenApp, answer
from .body import Wire, body_of
from .errors import ENTITY_ERRORS
from .hebbs_shapes import RecallItem, Span, bank_of, items_of, link_type, origin_named
from .prime import Int64, Weights
from .schema import reads

MOST_STRATEGIES = 16
_TOP_K, _DEPTH, _ALPHA = 10, 5, 0.5

router = APIRouter(tags=["Memory"])


class Parameters(Wire):
    """What a strategy can be told; in a strategy's own object, it counts for that one alone."""

    entity_id: str | None = Field(None, description="Entity (bank); all by default.")
    top_k: Int64 | None = Field(None, description="Results at most: 10; above 1000 counts as 1000.")
    time_range: Span | None = Field(None, description="When a memory was told.")
    seed_memory_id: str | None = Field(
        None, description="causal: where to begin; by default what the cue names by id, or is like."
    )
    edge_types: list[str] | None = Field(None, description="causal: links to follow; all.")
    max_depth: Int64 | None = Field(None, description="causal: steps, 5; above 10 counts as 10.")
    analogical_alpha: float | None = Field(
        None, description="analogical: what meaning counts against shape, 0 to 1; .5."
    )
    ef_search: int | None = Field(None, description="Taken, and of no effect: search is exact.")


class StrategyConfig(Parameters):
    """One strategy with its own parameters."""

    strategy: str = Field(
        validation_alias=AliasChoices("strategy", "strategy_type", "type"),
        description="similarity, temporal, causal or analogical.",
    )


class HebbsRecallRequest(Parameters):
    """What to look for, and how."""

    cue: str = Field("", description="May be empty when only what is recent is asked for.")
    strategies: Annotated[list[str | StrategyConfig], Field(max_length=MOST_STRATEGIES)] | None = (
        Field(None, description="Names, or objects with parameters; similarity by default.")
    )
    strategy: str | None = Field(None, description="One name, instead of `strategies`.")
    scoring_weights: Weights | None = None
    cue_context: dict[str, Any] | None = Field(
        None, description="analogical: the context that is looked for; its `kind` counts, too."
    )
    reinforce: bool = Field(
        True, description="Count this as a use of the memories; needs the permission write."
    )


class StrategyError(BaseModel):
    """A strategy that could not be followed, or not wholly, and why."""

    strategy: str
    message: str


class HebbsRecallResponse(BaseModel):
    """Memories by composite score."""

    results: list[RecallItem]
    strategy_errors: list[StrategyError]
    count: int


@router.post(
    "/v1/recall",
    operation_id="recall",
    summary="Recall by strategies",
    response_model=HebbsRecallResponse,
    responses=ENTITY_ERRORS,
    openapi_extra=reads(HebbsRecallRequest),
)
async def recall(
    request: Request,
    app: OpenApp,
    caller: Calling,
    body: Annotated[HebbsRecallRequest, Depends(body_of(HebbsRecallRequest))],
) -> Response:
    """Find memories by one or several strategies; one that fails says why beside the others."""
    weights, like = body.scoring_weights, body.cue_context or {}
    found = await app.memories.strategies(
        caller,
        body.cue,
        [_search(caller, body, each) for each in _strategies(body)],
        Asked(
            top_k=_TOP_K if body.top_k is None else body.top_k,
            weights=ScoringWeights(
                **{name: getattr(weights, name) for name in Weights.model_fields} if weights else {}
            ),
            attributes=like,
            origin=_origin(like.get("kind")),
            reinforce=body.reinforce and caller.may(Permission.WRITE),
        ),
    )
    return answer(
        request,
        {
            "results": await items_of(app.memories.lookup, found.memories),
            "strategy_errors": [
                {"strategy": each.way.value, "message": each.message} for each in found.failures
            ],
            "count": len(found.memories),
        },
        nulls=True,
    )


def _strategies(body: HebbsRecallRequest) -> list[StrategyConfig]:
    given: list[str | StrategyConfig] = [*(body.strategies or ())]
    if body.strategy is not None:
        given.append(body.strategy)
    if not given and body.strategies is None:
        given.append(Way.SIMILARITY.value)
    return [StrategyConfig(strategy=each) if isinstance(each, str) else each for each in given]


def _search(caller: Caller, body: HebbsRecallRequest, config: StrategyConfig) -> Search:
    """Return a strategy; what its own object leaves open is as the request has it."""

    def told(name: str) -> Any:
        own = getattr(config, name)
        return getattr(body, name) if own is None else own

    span, seed, depth, alpha = map(
        told, ("time_range", "seed_memory_id", "max_depth", "analogical_alpha")
    )
    return Search(
        _way(config.strategy),
        bank=bank_of(caller, told("entity_id")),
        top_k=config.top_k,
        since=None if span is None else span.first,
        until=None if span is None else span.last,
        seed=parse_id(seed, "seed_memory_id") if seed else None,
        types=tuple(link_type(name, "edge_types") for name in told("edge_types") or ()),
        max_depth=_DEPTH if depth is None else depth,
        alpha=_ALPHA if alpha is None else alpha,
    )


def _way(name: str) -> Way:
    try:
        return Way(name.lower())
    except ValueError:
        raise InvalidInput(
            f"strategies must be of {', '.join(each.value for each in Way)}", field="strategies"
        ) from None


def _origin(kind: Any) -> Origin | None:
    """Return the origin that a context's `kind` means; None for what is no kind."""
    try:
        return origin_named(kind, "cue_context.kind") if isinstance(kind, str) else None
    except InvalidInput:
        return None
