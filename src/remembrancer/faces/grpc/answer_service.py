"""AnswerService: answers in words, as `POST …/reflect` gives them."""

from __future__ import annotations

from typing import Any

from ...app import App
from ...nouns.caller import Caller, Permission
from ...nouns.ids import to_uuid
from ..http.reflect import ReflectRequest, answer_to, usage_of
from .calls import Calls
from .intention_values import as_body, fill, own
from .values import fill_struct


class AnswerService:
    """The calls of the service; see `remembrancer.proto`."""

    def __init__(self, app: App) -> None:
        self._app = app

    def handlers(self, calls: Calls) -> dict[str, Any]:
        """Return the handlers by method."""
        read = Permission.READ
        return {"Reflect": calls.unary("reflect", "ReflectRequest", read, self._reflect)}

    async def _reflect(self, caller: Caller, request: Any) -> Any:
        bank = caller.bank(request.bank)
        answered = await answer_to(self._app, bank, as_body(ReflectRequest, request))
        found = answered.found
        told = own("ReflectResponse")
        told.text = found.text
        for each in found.based_on:
            unit = each.unit
            basis = told.based_on.add(
                id=to_uuid(unit.id), text=unit.text, type=unit.kind.name.lower(), tags=unit.tags
            )
            if each.document is not None:
                basis.document_id = each.document
        if found.structured is not None:
            fill_struct(told.structured_output, found.structured)
        told.structured_missing.extend(found.missing)
        fill(told.usage, usage_of(answered.usage))
        degraded = found.recalled.degraded or answered.degraded
        if degraded:
            told.degraded = degraded
        return told
