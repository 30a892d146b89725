"""Routes that find the arguments of their endpoints themselves."""

from __future__ import annotations

from typing import Annotated

import pytest
from fastapi import APIRouter, Query, Response

from remembrancer.faces.http.direct import Direct


async def _limited(limit: Annotated[int, Query()] = 1) -> Response:
    return Response(str(limit))


def test_an_argument_that_only_fastapi_can_find_is_refused_when_the_route_is_made() -> None:
    router = APIRouter(route_class=Direct)
    with pytest.raises(TypeError, match=r"_limited takes limit"):
        router.get("/limited")(_limited)
