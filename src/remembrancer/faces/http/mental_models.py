"""`…/mental-models`: standing answers to standing questions, in Hindsight's words."""

from __future__ import annotations

import difflib
import time
from collections import Counter
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import RootModel

from ...nouns.ids import to_uuid
from ...verbs.mental_models import WRITTEN
from .answers import OpenApp, answer
from .auditing import audited
from .banks import PATH, DeleteResponse, Limit, NamedBank, Offset
from .body import body_of
from .errors import BANK_ERRORS
from .mental_model_shapes import (
    AsyncOperationSubmitResponse,
    CreateMentalModelRequest,
    CreateMentalModelResponse,
    DryRunRefreshResult,
    FactCounts,
    MentalModelListResponse,
    MentalModelResponse,
    MentalModelVersion,
    UpdateMentalModelRequest,
    by_type,
    kept_trigger,
    shape,
    trigger_of,
)
from .moments import spell
from .schema import reads
from .tag_rules import MatchQuery, TagsQuery, passes

_PATH = f"{PATH}/mental-models"
_ONE = f"{_PATH}/{{mental_model_id}}"
Detail = Annotated[Literal["metadata", "content", "full"], Query()]

router = APIRouter(tags=["Mental models"])


class MentalModelHistory(RootModel[list[MentalModelVersion]]):
    """What a mental model said before, newest first; what was forgotten is not in it."""


@router.get(
    _PATH,
    operation_id="list_mental_models",
    summary="List mental models",
    response_model=MentalModelListResponse,
    responses=BANK_ERRORS,
)
async def list_mental_models(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    tags: TagsQuery = None,
    tags_match: MatchQuery = "any",
    detail: Detail = "full",
    exclude_knowledge_pages: Annotated[
        bool, Query(description="Leave out those of knowledge pages.")
    ] = False,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """List a bank's mental models, newest first."""
    found = [m for m in await app.shelf.all(bank) if passes(m.tags, tags, tags_match)]
    if exclude_knowledge_pages:
        pages = await app.knowledge.models(bank)
        found = [m for m in found if m.id not in pages]
    page = await app.shelf.shown(bank, found[offset : offset + limit], basis=detail == "full")
    body = MentalModelListResponse(
        items=[shape(bank, each, detail=detail) for each in page],
        total=len(found),
        limit=limit,
        offset=offset,
    )
    names = ("tags", "tags_match", "detail", "exclude_knowledge_pages", "limit", "offset")
    return answer(request, body, queries=names)


@router.post(
    _PATH,
    operation_id="create_mental_model",
    summary="Create mental model",
    response_model=CreateMentalModelResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(CreateMentalModelRequest),
)
async def create_mental_model(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    body: Annotated[CreateMentalModelRequest, Depends(body_of(CreateMentalModelRequest))],
) -> Response:
    """Keep a question whose answer is to stand ready; it is written in the background."""
    model, job = await app.mental_models.create(
        bank,
        body.name,
        body.source_query,
        key=body.id,
        tags=body.tags or (),
        max_tokens=body.max_tokens,
        trigger=kept_trigger(body.trigger),
    )
    app.thinker.wake()
    audited(request, mental_model_id=model.id)
    told = CreateMentalModelResponse(mental_model_id=model.id, operation_id=to_uuid(job.id))
    return answer(request, told)


@router.get(
    _ONE,
    operation_id="get_mental_model",
    summary="Get mental model",
    response_model=MentalModelResponse,
    responses=BANK_ERRORS,
)
async def get_mental_model(
    request: Request, app: OpenApp, bank: NamedBank, mental_model_id: str, detail: Detail = "full"
) -> Response:
    """Show a mental model."""
    model = await app.shelf.get(bank, mental_model_id)
    [shown] = await app.shelf.shown(bank, [model], basis=detail == "full")
    return answer(request, shape(bank, shown, detail=detail), queries=("detail",))


@router.patch(
    _ONE,
    operation_id="update_mental_model",
    summary="Update mental model",
    response_model=MentalModelResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(UpdateMentalModelRequest),
)
async def update_mental_model(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    mental_model_id: str,
    body: Annotated[UpdateMentalModelRequest, Depends(body_of(UpdateMentalModelRequest))],
) -> Response:
    """Change a mental model; what it says stays until it is refreshed."""
    names = ("name", "source_query", "max_tokens", "tags")
    changes: dict[str, Any] = {n: v for n in names if (v := getattr(body, n)) is not None}
    if body.trigger is not None:
        changes["trigger"] = kept_trigger(body.trigger)
    model = await app.mental_models.update(bank, mental_model_id, changes)
    audited(request, mental_model_id=model.id)
    [shown] = await app.shelf.shown(bank, [model], basis=True)
    return answer(request, shape(bank, shown))


@router.delete(
    _ONE,
    operation_id="delete_mental_model",
    summary="Delete mental model",
    response_model=DeleteResponse,
    responses=BANK_ERRORS,
)
async def delete_mental_model(
    request: Request, app: OpenApp, bank: NamedBank, mental_model_id: str
) -> Response:
    """Delete a mental model with all that it says and said."""
    await app.mental_models.delete(bank, mental_model_id)
    told = DeleteResponse(success=True, message="the mental model was deleted", deleted_count=1)
    return answer(request, told)


@router.get(
    f"{_ONE}/history",
    operation_id="get_mental_model_history",
    summary="Get mental model history",
    response_model=MentalModelHistory,
    responses=BANK_ERRORS,
)
async def get_mental_model_history(
    request: Request, app: OpenApp, bank: NamedBank, mental_model_id: str
) -> Response:
    """List what a mental model said before."""
    model = await app.shelf.get(bank, mental_model_id)
    units = await app.shelf.texts(bank, model.versions)
    told = [
        MentalModelVersion(previous_content=u.text, changed_at=spell(u.created_at)) for u in units
    ]
    return answer(request, MentalModelHistory(told))


@router.post(
    f"{_ONE}/refresh",
    operation_id="refresh_mental_model",
    summary="Refresh mental model",
    response_model=AsyncOperationSubmitResponse,
    responses=BANK_ERRORS,
)
async def refresh_mental_model(
    request: Request, app: OpenApp, bank: NamedBank, mental_model_id: str
) -> Response:
    """Have a mental model written anew, in the background."""
    job = await app.mental_models.enqueue(bank, mental_model_id)
    app.thinker.wake()
    audited(request, mental_model_id=mental_model_id, operation_id=to_uuid(job.id))
    return answer(
        request, AsyncOperationSubmitResponse(operation_id=to_uuid(job.id), status="queued")
    )


@router.post(
    f"{_ONE}/clear",
    operation_id="clear_mental_model",
    summary="Clear mental model",
    response_model=MentalModelResponse,
    responses=BANK_ERRORS,
)
async def clear_mental_model(
    request: Request, app: OpenApp, bank: NamedBank, mental_model_id: str
) -> Response:
    """Erase what a mental model says and said; the question stays."""
    model = await app.mental_models.clear(bank, mental_model_id)
    [shown] = await app.shelf.shown(bank, [model])
    return answer(request, shape(bank, shown))


@router.post(
    f"{_ONE}/dry-run-refresh",
    operation_id="dry_run_refresh_mental_model",
    summary="Dry-run a refresh",
    response_model=DryRunRefreshResult,
    responses=BANK_ERRORS,
)
async def dry_run_refresh_mental_model(
    request: Request, app: OpenApp, bank: NamedBank, mental_model_id: str
) -> Response:
    """Say what a refresh would write; nothing is kept but what the model used."""
    begun = time.perf_counter()
    found = await app.mental_models.candidate(bank, mental_model_id)
    model, answered = found.shown.model, found.answered
    trigger = trigger_of(model)
    mode = trigger["mode"]
    current, candidate = found.shown.content or "", found.content
    written = found.outcome == WRITTEN
    took = round((time.perf_counter() - begun) * 1e3)
    kinds = Counter(a.unit.kind.name.lower() for a in answered.found.answers)
    used = Counter(a.unit.kind.name.lower() for a in answered.found.based_on)
    usage = {
        "input_tokens": answered.usage.input,
        "output_tokens": answered.usage.output,
        "total_tokens": answered.usage.total,
        "cached_tokens": answered.usage.cached,
        "thoughts_tokens": answered.usage.thoughts,
    }
    llm_calls = [{"scope": scope, "duration_ms": ms} for scope, ms in answered.calls]
    delta = found.delta
    reason = delta.why.value if delta is not None and delta.why is not None else None
    changes = None
    if delta is not None and (delta.applied or delta.skipped):
        changes = {
            "applied": [dict(each) for each in delta.applied],
            "skipped": [dict(each) for each in delta.skipped],
        }
    warnings = [
        answered.degraded,
        delta.warning if delta else None,
        delta.failed if delta else None,
    ]
    body = DryRunRefreshResult(
        mental_model_id=model.id,
        name=model.name,
        requested_mode=mode,
        effective_mode=found.mode,
        mode_fallback_reason=reason,
        outcome=found.outcome,
        would_persist=written,
        scope={
            "tags": list(model.tags) or None,
            "tags_match": trigger.get("tags_match") or "any",
            "fact_types": trigger.get("fact_types"),
            "exclude_mental_models": trigger["exclude_mental_models"],
            "exclude_mental_model_ids": trigger.get("exclude_mental_model_ids") or [],
        },
        window={"created_before": spell(app.clock.now_us()), "watermark": spell(model.seen_at)},
        facts=FactCounts(retrieved=dict(kinds), used=dict(used)),
        based_on=by_type([a.unit for a in answered.found.based_on]),
        current_content=current,
        candidate_content=candidate,
        preview_content=candidate if written else current,
        diff="\n".join(
            difflib.unified_diff(current.splitlines(), candidate.splitlines(), lineterm="")
        )
        if written
        else "",
        delta_operations=changes,
        trace={
            "effective_mode": found.mode,
            "mode_fallback_reason": reason,
            "outcome": found.outcome,
            "delta_operations": changes,
            "tool_calls": [],
            "llm_calls": llm_calls,
            "duration_ms": took,
            "warnings": [],
        },
        usage=usage,
        duration_ms=took,
        warnings=[each for each in warnings if each],
    )
    return answer(request, body)
