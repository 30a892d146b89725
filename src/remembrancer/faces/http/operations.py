"""Operations of a bank: what was queued, and what came of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from ...app import App
from ...nouns.errors import InvalidInput
from ...nouns.ids import parse_id, to_uuid
from ...nouns.memory import BankRef, Job, JobState
from .answers import OpenApp, answer
from .banks import NamedBank
from .errors import BANK_ERRORS
from .moments import spell

MAX_OFFSET = 1 << 31

router = APIRouter(tags=["Operations"])

State = Literal["pending", "processing", "completed", "failed", "cancelled"]


class OperationStatusResponse(BaseModel):
    """How an operation stands; `not_found` for one that does not exist."""

    operation_id: str
    status: Literal["pending", "processing", "completed", "failed", "cancelled", "not_found"]
    operation_type: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    completed_at: str | None = None
    error_message: str | None = None
    retry_count: int | None = None
    next_retry_at: str | None = None
    result_metadata: dict[str, Any] | None = None


class OperationResponse(BaseModel):
    """An operation as listed."""

    id: str
    task_type: str
    items_count: int
    document_id: str | None
    created_at: str
    updated_at: str
    status: State
    error_message: str | None
    retry_count: int
    next_retry_at: str | None


class OperationsListResponse(BaseModel):
    """Operations, newest first."""

    bank_id: str
    total: int
    limit: int
    offset: int
    operations: list[OperationResponse]


@router.get(
    "/v1/default/banks/{bank_id}/operations/{operation_id}",
    operation_id="get_operation_status",
    summary="Get operation status",
    response_model=OperationStatusResponse,
    responses=BANK_ERRORS,
)
async def get_operation(
    request: Request, app: OpenApp, bank: NamedBank, operation_id: str
) -> Response:
    """Say how an operation stands."""
    try:
        job = await app.store.job(bank, parse_id(operation_id, "operation_id"))
    except InvalidInput:
        job = None
    status = (
        OperationStatusResponse(operation_id=operation_id, status="not_found")
        if job is None
        else _status(job)
    )
    return answer(request, status)


@router.get(
    "/v1/default/banks/{bank_id}/operations",
    operation_id="list_operations",
    summary="List operations",
    response_model=OperationsListResponse,
    responses=BANK_ERRORS,
)
async def list_operations(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    status: Annotated[State | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
) -> Response:
    """List operations, newest first."""
    state = JobState(status) if status else None
    found = {
        job.id: _listed(job) async for job in _jobs(app, bank, state, limit=limit, offset=offset)
    }
    return answer(
        request,
        OperationsListResponse(
            bank_id=bank.bank,
            total=await app.store.job_count(bank, state=state),
            limit=limit,
            offset=offset,
            operations=list(found.values()),
        ),
        nulls=True,
        queries=("status", "limit", "offset"),
    )


async def _jobs(
    app: App, bank: BankRef, state: JobState | None, *, limit: int, offset: int
) -> AsyncIterator[Job]:
    """Yield jobs one at a time: one that waits holds its contents, which may be large."""
    for place in range(offset, offset + limit):
        found = await app.store.jobs(bank, state=state, limit=1, offset=place)
        if not found:
            return
        yield found[0]


def _status(job: Job) -> OperationStatusResponse:
    done = job.state is JobState.COMPLETED
    return OperationStatusResponse(
        operation_id=to_uuid(job.id),
        status=job.state.value,
        operation_type=job.kind,
        created_at=spell(job.created_at),
        updated_at=spell(job.updated_at),
        completed_at=spell(job.updated_at) if done else None,
        error_message=job.error,
        retry_count=_retries(job),
        next_retry_at=_next_retry(job),
        result_metadata=dict(job.result) if job.result is not None else None,
    )


def _listed(job: Job) -> OperationResponse:
    result = job.result or {}
    documents: list[str] = result.get("document_ids") or []
    return OperationResponse(
        id=to_uuid(job.id),
        task_type=job.kind,
        items_count=result.get("items", len(job.payload.get("items", ()))),
        document_id=documents[0] if len(documents) == 1 else None,
        created_at=spell(job.created_at) or "",
        updated_at=spell(job.updated_at) or "",
        status=job.state.value,
        error_message=job.error,
        retry_count=_retries(job),
        next_retry_at=_next_retry(job),
    )


def _retries(job: Job) -> int:
    return max(0, job.attempts - 1)


def _next_retry(job: Job) -> str | None:
    waits = job.state is JobState.PENDING and job.attempts > 0
    return spell(job.run_after) if waits else None
