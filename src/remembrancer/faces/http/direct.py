"""Routes that find the arguments of their endpoints themselves.

FastAPI describes them as it does any other, but its resolver, which takes as long as a small search
does, has no part in a request. For routes that are called all the time.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from fastapi import Request, Response
from fastapi.params import Depends
from fastapi.routing import APIRoute

from .access import Calling, caller_of, permitted
from .answers import OpenApp, app_of
from .banks import NamedBank, named_bank
from .body import Wire, reading

Endpoint = Callable[..., Awaitable[Response]]
Find = Callable[[Request], Any]


class Direct(APIRoute):
    """A route whose endpoint takes the request, the open memory, the caller, a bank and a body.

    Raises:
        TypeError: when it is made: the endpoint takes anything else.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request: permission first, then arguments in their order."""
        endpoint: Endpoint = self.endpoint
        finds, body = _arguments(endpoint)

        async def answered(request: Request) -> Response:
            await permitted(request)
            found = {name: find(request) for name, find in finds.items()}
            if body is None:
                return await endpoint(**found)
            name, model = body
            async with reading(request, model) as value:
                return await endpoint(**found, **{name: value})

        return answered


def _itself(request: Request) -> Request:
    return request


def _bank(request: Request) -> Any:
    return named_bank(caller_of(request), request.path_params["bank_id"])


def _dependency(hint: Any) -> Any:
    """Return the function that a hint depends on; None when it depends on none."""
    if get_origin(hint) is not Annotated:
        return None
    found = [each.dependency for each in get_args(hint)[1:] if isinstance(each, Depends)]
    return found[0] if found else None


_FINDS: dict[Any, Find] = {
    _dependency(OpenApp): app_of,
    _dependency(Calling): caller_of,
    _dependency(NamedBank): _bank,
}


def _arguments(endpoint: Endpoint) -> tuple[dict[str, Find], tuple[str, type[Wire]] | None]:
    """Return how each argument of an endpoint is found, and the name and model of its body."""
    finds: dict[str, Find] = {}
    body: tuple[str, type[Wire]] | None = None
    hints = get_type_hints(endpoint, include_extras=True)
    for name in inspect.signature(endpoint).parameters:
        hint = hints[name]
        dependency = _dependency(hint)
        kind = get_args(hint)[0] if dependency is not None else hint
        if hint is Request:
            finds[name] = _itself
        elif dependency in _FINDS:
            finds[name] = _FINDS[dependency]
        elif dependency is not None and isinstance(kind, type) and issubclass(kind, Wire):
            body = name, kind
        else:
            raise TypeError(f"{endpoint.__name__} takes {name}, which a direct route cannot find")
    return finds, body
