"""Errors to answers: the one place that maps them to statuses, in the dialect of the path."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match

from ...nouns.errors import (
    Conflict,
    DeadlineExceeded,
    Exhausted,
    Forbidden,
    InvalidInput,
    ModelUnavailable,
    NotFound,
    Overloaded,
    RateLimited,
    RemembrancerError,
    StoreBusy,
    StoreFull,
    Unauthenticated,
)
from ...nouns.text import clean
from .schema import fails_with

MAX_FAULTS = 20  # told in one answer
RETRY_AFTER_S = 2
_NAME_CHARS = 100  # of a caller's key, told back
_PART = re.compile(r"[^.\[\]]+")
_IN_PATHS = frozenset(
    (
        "bank_id document_id operation_id memory_id chunk_id intention_id occurrence_id key_id"
    ).split()
)
_PLAIN = {
    "missing": "is missing",
    "model_type": "must be an object, {...}",
    "model_attributes_type": "must be an object, {...}",
    "dict_type": "must be an object, {...}",
}
"""What pydantic says in words of Python, by type, in those of JSON."""
_LIMITS = ("max_length", "min_length", "le", "ge", "lt", "gt")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a request. `where` is body, path or query."""

    message: str
    type: str = "invalid_input"
    where: str = "body"
    path: tuple[str | int, ...] = ()
    limit: int | float | None = None

    @property
    def field(self) -> str:
        """The field's name, its parts joined by dots."""
        return ".".join(map(str, self.path))

    @property
    def text(self) -> str:
        """The message; it names the field."""
        plain = re.sub(r"\[(\d+)\]", r".\1", self.message)
        return plain if self.field in plain else f"{self.field}: {plain}"


class Refused(InvalidInput):
    """A request that is refused before any verb sees it.

    Attributes:
        status: the HTTP status.
        faults: what is wrong with it.
        close: hang up after the answer, because more of the body may come.
    """

    def __init__(self, status: int, *faults: Fault, close: bool = False) -> None:
        first = faults[0]
        super().__init__(first.text, field=first.field or None, limit=first.limit)
        self.status = status
        self.faults = faults
        self.close = close


class ErrorDetail(BaseModel):
    """One fault, as FastAPI spells it, with the field and the limit that was broken."""

    loc: list[str | int]
    msg: str
    type: str
    field: str | None = None
    limit: int | float | None = None


class HTTPValidationError(BaseModel):
    """The request was understood and refused."""

    detail: list[ErrorDetail]


class HTTPError(BaseModel):
    """Any other error."""

    detail: str


class ApiErrorDetail(BaseModel):
    """One fault of a request."""

    field: str | None
    limit: int | float | None
    message: str


class ApiError(BaseModel):
    """An error of the routes outside `/v1/default`; three names for two things, for all clients."""

    error_code: str
    message: str
    code: str
    error: str
    details: list[ApiErrorDetail]


BANK_ERRORS: dict[int | str, dict[str, Any]] = {
    **{
        status: fails_with(HTTPError)
        for status in (401, 403, 404, 408, 409, 413, 415, 421, 429, 500, 503, 504)
    },
    422: fails_with(HTTPValidationError),
}
ENTITY_ERRORS: dict[int | str, dict[str, Any]] = {
    status: fails_with(ApiError)
    for status in (400, 401, 403, 404, 408, 409, 413, 415, 421, 422, 429, 500, 503, 504)
}

ERRORS = (HTTPError, ApiError)  # named by routes; FastAPI itself describes HTTPValidationError


class _Names:
    """How the routes outside `/v1/default` name a status: error_code and code."""

    KNOWN: Mapping[int, tuple[str, str]] = {
        400: ("invalid_input", "INVALID_ARGUMENT"),
        401: ("unauthenticated", "UNAUTHENTICATED"),
        403: ("permission_denied", "PERMISSION_DENIED"),
        404: ("not_found", "NOT_FOUND"),
        405: ("method_not_allowed", "UNIMPLEMENTED"),
        408: ("timeout", "DEADLINE_EXCEEDED"),
        409: ("conflict", "ABORTED"),
        413: ("too_large", "RESOURCE_EXHAUSTED"),
        415: ("unsupported_media_type", "INVALID_ARGUMENT"),
        421: ("misdirected_request", "FAILED_PRECONDITION"),
        429: ("rate_limited", "RESOURCE_EXHAUSTED"),
        503: ("storage_error", "UNAVAILABLE"),
        504: ("deadline_exceeded", "DEADLINE_EXCEEDED"),
        507: ("store_full", "RESOURCE_EXHAUSTED"),
    }
    OTHER = ("internal_error", "INTERNAL")


def install(api: FastAPI) -> None:
    """Make every error of an application an answer."""
    api.add_exception_handler(RemembrancerError, _ours)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(HTTPException, _http)
    api.add_exception_handler(Exception, _unexpected)


async def answer_to(request: Request, error: RemembrancerError) -> JSONResponse:
    """Return the answer to a request that failed before it came to the routes."""
    return await _ours(request, error)


def faults_of(error: ValidationError | RequestValidationError, where: str = "") -> list[Fault]:
    """Shape what pydantic found; `where` is put where its locations do not begin with it."""
    found = (
        error.errors(include_url=False, include_input=False)
        if isinstance(error, ValidationError)
        else error.errors()
    )
    return [_fault(each, where) for each in found[:MAX_FAULTS]]


def _fault(found: Any, where: str) -> Fault:
    loc = tuple(_safe(part) for part in found["loc"])
    if not where:
        where, loc = str(loc[0]), loc[1:]
    context = found.get("ctx") or {}
    limit = next((context[k] for k in _LIMITS if isinstance(context.get(k), int | float)), None)
    plain = _PLAIN.get(found["type"], found["msg"])
    message = clean(plain.removeprefix("Value error, "))
    return Fault(message, found["type"], where, loc, limit)


def _safe(part: Any) -> str | int:
    return part if isinstance(part, int) else clean(str(part))[:_NAME_CHARS]


async def _ours(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, Refused):
        answer = _answer(request, error.status, error.message, error.faults)
        if error.close:
            answer.headers["Connection"] = "close"
        return answer
    assert isinstance(error, RemembrancerError)
    status = _status(error)
    if status == 500:
        return await _unexpected(request, error)
    answer = _answer(request, status, error.message, [_fault_of(request, error)])
    if isinstance(error, Unauthenticated):
        answer.headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, RateLimited | Overloaded):
        answer.headers["Retry-After"] = str(max(1, math.ceil(error.retry_after_s)))
    return answer


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    faults = faults_of(error)
    return _answer(request, 422, faults[0].text, faults)


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if "Allow" in headers:  # the router tells of the first route of a path alone
        headers["Allow"] = _methods(request) or headers["Allow"]
    answer = _answer(request, error.status_code, _with_a_way_on(error, headers.get("Allow")), ())
    answer.headers.update(headers)
    return answer


def _methods(request: Request) -> str:
    """Return which methods the routes of a request's path take."""
    found: set[str] = set()
    for route in request.app.state.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            found |= getattr(route, "methods", None) or set()
    return ", ".join(sorted(found))


def _with_a_way_on(error: HTTPException, allowed: str | None) -> str:
    """Return what an error of the router says, and where to look instead."""
    match str(error.detail):
        case "Not Found":
            return "Not Found: there is no such route; GET / lists all of them"
        case "Method Not Allowed" if allowed:
            return f"Method Not Allowed: this route takes {allowed}"
    return str(error.detail)


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    log.error("%s %s failed", request.method, request.scope["path"], exc_info=error)
    return _answer(request, 500, "something went wrong here; the server's log says what", ())


def _status(error: RemembrancerError) -> int:
    match error:
        case InvalidInput():  # TooLarge too: one text of a body that as a whole was not
            return 422
        case Unauthenticated():
            return 401
        case Forbidden():
            return 403
        case NotFound():
            return 404
        case RateLimited():
            return 429
        case Conflict():
            return 409
        case StoreBusy() | ModelUnavailable() | Exhausted():
            return 503
        case DeadlineExceeded():
            return 504
        case StoreFull():
            return 507
    return 500


def _fault_of(request: Request, error: RemembrancerError) -> Fault:
    path = tuple(int(p) if p.isdigit() else p for p in _PART.findall(error.field or ""))
    where = "path" if error.field in _IN_PATHS else "body"
    if path and path[0] in request.query_params and path[0] not in request.path_params:
        where = "query"
    return Fault(error.message, error.code, where, path, error.limit)


def _answer(request: Request, status: int, message: str, faults: Sequence[Fault]) -> JSONResponse:
    headers = {"Retry-After": str(RETRY_AFTER_S)} if status == 503 else None
    path: str = request.scope["path"]
    body: BaseModel
    if path.startswith("/v1/") and not path.startswith("/v1/default/"):
        # These routes know no 422: what cannot be taken is an invalid argument.
        status = 400 if status == 422 else status
        code, name = _Names.KNOWN.get(status, _Names.OTHER)
        body = ApiError(
            error_code=code,
            message=message,
            code=name,
            error=message,
            details=[
                ApiErrorDetail(field=f.field or None, limit=f.limit, message=f.text) for f in faults
            ],
        )
    elif status == 422:
        body = HTTPValidationError(detail=[_detail(f) for f in faults])
    else:
        body = HTTPError(detail=message)
    return JSONResponse(body.model_dump(), status, headers)


def _detail(fault: Fault) -> ErrorDetail:
    return ErrorDetail(
        loc=[fault.where, *fault.path],
        msg=fault.text,
        type=fault.type,
        field=fault.field or None,
        limit=fault.limit,
    )
