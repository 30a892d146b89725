"""Operations of a bank: what was queued, what came of it, and cancelling or retrying it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from ...nouns.errors import InvalidInput
from ...nouns.ids import parse_id, to_uuid
from ...nouns.memory import Job, JobState
from ...nouns.names import is_own
from ...verbs.operations import Operation
from .answers import OpenApp, answer
from .banks import NamedBank
from .errors import BANK_ERRORS
from .moments import spell

MAX_OFFSET = 1 << 31
_TYPE_CHARS = 100
_PATH = "/v1/default/banks/{bank_id}/operations"

router = APIRouter(tags=["Operations"])

State = Literal["pending", "processing", "completed", "failed", "cancelled"]


class OperationProgress(BaseModel):
    """How far an operation is."""

    stage: str
    at: str
    processed: int | None = None
    total: int | None = None
    detail: dict[str, int] | None = None


class ChildOperationStatus(BaseModel):
    """One document of an operation about several."""

    operation_id: str
    status: State
    sub_batch_index: int | None = None
    items_count: int | None = None
    error_message: str | None = None


class OperationStatusResponse(BaseModel):
    """How an operation stands; `not_found` for one that does not exist."""

    operation_id: str
    status: Literal["pending", "processing", "completed", "failed", "cancelled", "not_found"]
    operation_type: str | None = None
    id: str | None = Field(None, description="As `operation_id`.")
    task_type: str | None = Field(None, description="As `operation_type`.")
    mental_model_id: str | None = Field(None, description="Of a refresh.")
    created_at: str | None = None
    updated_at: str | None = None
    completed_at: str | None = None
    error_message: str | None = None
    retry_count: int | None = None
    next_retry_at: str | None = None
    progress: OperationProgress | None = None
    result_metadata: dict[str, Any] | None = Field(
        None, description="What came of it; of an operation with children, of all together."
    )
    details: dict[str, Any] | None = None
    child_operations: list[ChildOperationStatus] | None = None
    task_payload: dict[str, Any] | None = Field(
        None, description="What was queued, when asked for; gone once it is completed."
    )


class OperationResponse(BaseModel):
    """An operation as listed."""

    id: str
    task_type: str
    operation_id: str = Field(description="As `id`.")
    operation_type: str = Field(description="As `task_type`.")
    items_count: int
    document_id: str | None
    filename: str | None = None
    mental_model_id: str | None = Field(None, description="Of a refresh.")
    details: dict[str, Any] | None = None
    created_at: str
    updated_at: str | None
    status: State
    error_message: str | None
    retry_count: int | None
    next_retry_at: str | None
    progress: OperationProgress | None


class OperationsListResponse(BaseModel):
    """Operations, the last queued first."""

    bank_id: str
    total: int
    limit: int
    offset: int
    operations: list[OperationResponse]


class CancelOperationResponse(BaseModel):
    """The operation is cancelled."""

    success: bool
    message: str
    operation_id: str


class RetryOperationResponse(BaseModel):
    """The operation is queued again."""

    success: bool
    message: str
    operation_id: str


class DeleteOperationResponse(BaseModel):
    """The operation's record is gone."""

    success: bool
    message: str
    operation_id: str


@router.get(
    _PATH + "/{operation_id}",
    operation_id="get_operation_status",
    summary="Get operation status",
    response_model=OperationStatusResponse,
    responses=BANK_ERRORS,
)
async def get_operation(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    operation_id: str,
    include_payload: bool = False,
) -> Response:
    """Say how an operation stands."""
    try:
        given = parse_id(operation_id, "operation_id")
    except InvalidInput:
        found = None
    else:
        found = await app.operations.get(bank, given, payload=include_payload)
    status = (
        OperationStatusResponse(operation_id=operation_id, status="not_found")
        if found is None
        else _status(found)
    )
    return answer(request, status, queries=("include_payload",))


@router.get(
    _PATH,
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
    type: Annotated[  # noqa: A002 - the parameter's name on the wire
        str | None,
        Query(max_length=_TYPE_CHARS, description="As `retain`, `batch_retain` or `sweep`."),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
    exclude_parents: Annotated[
        bool, Query(description="Leave out operations that consist of others.")
    ] = False,
) -> Response:
    """List operations, the last queued first; upkeep only when asked for by its type."""
    state = JobState(status) if status else None
    parents = not exclude_parents
    jobs = await app.store.jobs(
        bank, state=state, kind=type, parents=parents, limit=limit, offset=offset
    )
    return answer(
        request,
        OperationsListResponse(
            bank_id=bank.bank,
            total=await app.store.job_count(bank, state=state, kind=type, parents=parents),
            limit=limit,
            offset=offset,
            operations=[_listed(Operation(job)) for job in jobs],
        ),
        nulls=True,
        queries=("status", "type", "limit", "offset", "exclude_parents"),
    )


@router.delete(
    _PATH + "/{operation_id}",
    operation_id="cancel_operation",
    summary="Cancel an operation",
    response_model=CancelOperationResponse,
    responses=BANK_ERRORS,
)
async def cancel_operation(
    request: Request, app: OpenApp, bank: NamedBank, operation_id: str
) -> Response:
    """Cancel an operation that is pending or processing, with its children; else 409.

    Nothing of it is written any more once this has answered. A document that it was replacing is
    whole, the old one or the new one.
    """
    given = parse_id(operation_id, "operation_id")
    await app.operations.cancel(bank, given)
    return answer(
        request,
        CancelOperationResponse(
            success=True, message="the operation is cancelled", operation_id=to_uuid(given)
        ),
    )


@router.post(
    _PATH + "/{operation_id}/retry",
    operation_id="retry_operation",
    summary="Retry an operation",
    response_model=RetryOperationResponse,
    responses=BANK_ERRORS,
)
async def retry_operation(
    request: Request, app: OpenApp, bank: NamedBank, operation_id: str
) -> Response:
    """Queue a failed or cancelled operation again, or such children of it; else 409."""
    given = parse_id(operation_id, "operation_id")
    await app.operations.retry(bank, given)
    app.worker.wake()
    return answer(
        request,
        RetryOperationResponse(
            success=True, message="the operation is queued again", operation_id=to_uuid(given)
        ),
    )


@router.delete(
    _PATH + "/{operation_id}/delete",
    operation_id="delete_operation",
    summary="Delete an operation's record",
    response_model=DeleteOperationResponse,
    responses=BANK_ERRORS,
)
async def delete_operation(
    request: Request, app: OpenApp, bank: NamedBank, operation_id: str
) -> Response:
    """Delete the record of an operation that has ended, with its children; else 409.

    What it has stored stays.
    """
    given = parse_id(operation_id, "operation_id")
    await app.operations.delete(bank, given)
    return answer(
        request,
        DeleteOperationResponse(
            success=True, message="the operation's record is deleted", operation_id=to_uuid(given)
        ),
    )


def _status(operation: Operation) -> OperationStatusResponse:
    job = operation.job
    result = operation.result
    return OperationStatusResponse(
        operation_id=to_uuid(job.id),
        status=job.state.value,
        operation_type=job.kind,
        id=to_uuid(job.id),
        task_type=job.kind,
        mental_model_id=_model_of(job),
        created_at=spell(job.created_at),
        updated_at=spell(job.updated_at),
        completed_at=spell(job.updated_at) if job.state is JobState.COMPLETED else None,
        error_message=job.error,
        retry_count=_retries(operation),
        next_retry_at=spell(operation.next_attempt),
        progress=_progress(operation.progress),
        result_metadata=None if result is None else dict(result),
        child_operations=[_child(child) for child in operation.children] if job.batch else None,
        task_payload=dict(job.payload) or None,
    )


def _listed(operation: Operation) -> OperationResponse:
    job = operation.job
    return OperationResponse(
        id=to_uuid(job.id),
        task_type=job.kind,
        operation_id=to_uuid(job.id),
        operation_type=job.kind,
        items_count=job.items,
        document_id=None if is_own(job.document or "") else job.document,
        filename=(job.result or {}).get("filename"),
        mental_model_id=_model_of(job),
        created_at=spell(job.created_at) or "",
        updated_at=spell(job.updated_at),
        status=job.state.value,
        error_message=job.error,
        retry_count=_retries(operation),
        next_retry_at=spell(operation.next_attempt),
        progress=_progress(job.progress),
    )


def _model_of(job: Job) -> str | None:
    """Return the mental model that an operation refreshes; its payload is gone once it is done."""
    found = (job.result or {}).get("mental_model_id") or job.payload.get("mental_model_id")
    return None if found is None else str(found)


def _child(job: Job) -> ChildOperationStatus:
    return ChildOperationStatus(
        operation_id=to_uuid(job.id),
        status=job.state.value,
        sub_batch_index=job.part,
        items_count=job.items,
        error_message=job.error,
    )


def _progress(told: Mapping[str, Any] | None) -> OperationProgress | None:
    if told is None:
        return None
    return OperationProgress(**{**told, "at": spell(told["at"]) or ""})


def _retries(operation: Operation) -> int:
    return max(0, operation.attempts - 1)
