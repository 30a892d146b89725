"""HEBBS's contradictions: `POST /v1/contradictions/prepare` and `/commit`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field, model_validator

from ...verbs.contradicting.pairs import Pair
from ...verbs.contradictions import MOST_PAIRS, MOST_VERDICTS, SNIPPET, Judgement, Verdict
from .access import Calling
from .answers import OpenApp, answer
from .auditing import noter
from .body import Wire, body_of
from .errors import ENTITY_ERRORS
from .hebbs_shapes import bank_of, entity_of
from .occurrences import optional_body_of
from .schema import reads

router = APIRouter(tags=["Memory"])


class ContradictionsRequest(Wire):
    """Where to look; everywhere by default."""

    entity_id: str | None = Field(None, description="All entities by default.")
    max_candidates: Annotated[int, Field(ge=1, le=MOST_PAIRS)] = MOST_PAIRS


class PendingContradiction(BaseModel):
    """Two memories of one entity that may contradict each other; `a` was told first."""

    pending_id: str = Field(description="Names the pair as it is now, for commit.")
    memory_id_a: str
    memory_id_b: str
    content_a_snippet: str = Field(description=f"The first {SNIPPET:,} characters.")
    content_b_snippet: str
    classifier_score: float = Field(description="How likely, 0 to 1, by their words.")
    classifier_method: str = Field(description="negation, value or similarity.")
    similarity: float = Field(description="Their cosine, or share of words if that is greater.")
    created_at: int = Field(description="When the later one was kept, in microseconds.")
    entity_id: str | None


class ContradictionVerdict(Wire):
    """What a model says of a pair."""

    pending_id: str
    verdict: str = Field(description=f"One of {', '.join(Judgement)}.")
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 1.0
    reasoning: str | None = Field(
        None, description="Not kept: it may quote what is forgotten later."
    )


class SettleRequest(Wire):
    """Verdicts on prepared pairs; a bare array of them is taken, too."""

    verdicts: Annotated[list[ContradictionVerdict], Field(max_length=MOST_VERDICTS)]

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: Any) -> Any:
        return {"verdicts": value} if isinstance(value, list) else value


class SettledResponse(BaseModel):
    """How many pairs stand settled by which verdict; sent again, the same ones do."""

    contradictions_confirmed: int
    revisions_created: int
    dismissed: int


@router.post(
    "/v1/contradictions/prepare",
    operation_id="prepare_contradictions",
    summary="Prepare contradictions",
    response_model=list[PendingContradiction],
    responses=ENTITY_ERRORS,
    openapi_extra=reads(ContradictionsRequest),
)
async def prepare_contradictions(
    request: Request,
    app: OpenApp,
    caller: Calling,
    body: Annotated[ContradictionsRequest, Depends(optional_body_of(ContradictionsRequest))],
) -> Response:
    """Find pairs of memories that may contradict each other, for the caller's own model.

    The likeliest first. The newest memories are held against all others of their entity.
    """
    pairs = await app.memories.contradictions.prepare(
        caller, bank_of(caller, body.entity_id), body.max_candidates
    )
    return answer(request, [_shown(pair) for pair in pairs], nulls=True)


@router.post(
    "/v1/contradictions/commit",
    operation_id="commit_contradictions",
    summary="Commit contradictions",
    response_model=SettledResponse,
    responses=ENTITY_ERRORS,
    openapi_extra=reads(SettleRequest),
)
async def commit_contradictions(
    request: Request,
    app: OpenApp,
    caller: Calling,
    body: Annotated[SettleRequest, Depends(body_of(SettleRequest))],
) -> Response:
    """Settle prepared pairs, all or none of each entity.

    409 when a memory was changed or forgotten meanwhile: then prepare again.
    """
    done = await app.memories.contradictions.commit(
        caller,
        [Verdict(v.pending_id, v.verdict, v.confidence) for v in body.verdicts],
        noter(request),
    )
    return answer(
        request,
        SettledResponse(
            contradictions_confirmed=done.contradictions,
            revisions_created=done.revisions,
            dismissed=done.dismissed,
        ),
    )


def _shown(pair: Pair) -> dict[str, Any]:
    older, newer = pair.older.unit, pair.newer.unit
    return {
        "pending_id": pair.name,
        "memory_id_a": older.id.hex(),
        "memory_id_b": newer.id.hex(),
        "content_a_snippet": older.text[:SNIPPET],
        "content_b_snippet": newer.text[:SNIPPET],
        "classifier_score": pair.score,
        "classifier_method": pair.method.value,
        "similarity": pair.similarity,
        "created_at": newer.created_at,
        "entity_id": entity_of(pair.newer.ref),
    }
