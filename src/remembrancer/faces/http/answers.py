"""What all routes share: the open memory, and how an answer is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends, Request, Response
from pydantic import BaseModel
from pydantic_core import to_json

from ...app import App

_MAX_NAMES = 50
_NAME_CHARS = 100


def app_of(request: Request) -> App:
    """Return the open memory that a request is answered from."""
    app: App = request.app.state.app
    return app


async def _app(request: Request) -> App:  # async: FastAPI hands plain functions to a thread
    return app_of(request)


OpenApp = Annotated[App, Depends(_app)]


def answer(
    request: Request,
    body: BaseModel | Mapping[str, Any] | Sequence[Any],
    *,
    nulls: bool = False,
    queries: Iterable[str] = (),
    ignored: Iterable[str] = (),
    headers: Mapping[str, str] | None = None,
    status: int = 200,
) -> Response:
    """Write an answer.

    Args:
        request: what is answered.
        body: the answer; a mapping or a list is written as it is, without a check of its types.
        nulls: keep keys without a value.
        queries: the query parameters that the route knows.
        ignored: keys of the body that it knows but did not follow.
        headers: more headers.
        status: of the answer.
    """
    names = [*getattr(request.state, "ignored", ()), *ignored]
    if request.scope["query_string"]:
        known = set(queries)
        names += (name for name in request.query_params if name not in known)
    told = dict(headers or {})
    if names:
        # Percent-encoded, because a key may hold what a header may not.
        told["X-Ignored-Params"] = ", ".join(
            quote(name[:_NAME_CHARS], safe="._-[]", errors="replace") or '""'
            for name in [*dict.fromkeys(names)][:_MAX_NAMES]
        )
    text: str | bytes
    if isinstance(body, BaseModel):
        text = body.model_dump_json(by_alias=True, exclude_none=not nulls)
    else:
        text = to_json(body, exclude_none=not nulls, inf_nan_mode="null")
    return Response(text, status, told, "application/json")


def timing(**milliseconds: float) -> dict[str, str]:
    """Return the Server-Timing header: what took how long."""
    parts = (f"{name};dur={value:.2f}" for name, value in milliseconds.items())
    return {"Server-Timing": ", ".join(parts)}
