"""`POST …/memories/dry-run-extract`: what would be read from a content, in Hindsight's words."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from ...nouns.memory import Unit
from ...verbs.retaining.units import Item
from .answers import OpenApp, answer
from .banks import NamedBank
from .body import Wire, body_of
from .errors import BANK_ERRORS
from .moments import WhenSaid, spell
from .retain import NOTE_CHARS, TokenUsage
from .schema import reads

router = APIRouter(tags=["Memory"])


class DryRunExtractRequest(Wire):
    """A content to read without storing it."""

    content: str
    context: str = Field("", max_length=NOTE_CHARS)
    timestamp: WhenSaid = Field(None, description="When it was said; null: now.")

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "content": "I moved to Berlin last week",
                "timestamp": "2024-01-15T10:30:00Z",
            }
        }
    )


class ExtractedFact(BaseModel):
    """A fact that retain would store; its text stands in the content word for word."""

    text: str
    fact_type: str
    occurred_start: str | None = None
    occurred_end: str | None = None
    entities: list[str] = []


class DryRunExtractionResult(BaseModel):
    """What would be stored."""

    facts: list[ExtractedFact]
    usage: TokenUsage


@router.post(
    "/v1/default/banks/{bank_id}/memories/dry-run-extract",
    operation_id="dry_run_extract",
    summary="Dry-run fact extraction",
    response_model=DryRunExtractionResult,
    responses=BANK_ERRORS,
    openapi_extra=reads(DryRunExtractRequest),
)
async def dry_run_extract(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    body: Annotated[DryRunExtractRequest, Depends(body_of(DryRunExtractRequest))],
) -> Response:
    """Show which facts retain would read from a content. Nothing is stored."""
    item = Item(
        content=body.content,
        timestamp=body.timestamp.us if body.timestamp else None,
        offset_min=body.timestamp.offset_min if body.timestamp else None,
        note=body.context or None,
    )
    facts = [_fact(unit) for unit in await app.dry_run(bank, item)]
    return answer(request, DryRunExtractionResult(facts=facts, usage=TokenUsage()))


def _fact(unit: Unit) -> ExtractedFact:
    return ExtractedFact(
        text=unit.text,
        fact_type=unit.kind.name.lower(),
        occurred_start=spell(unit.occurred_start, unit.offset_min),
        occurred_end=spell(unit.occurred_end, unit.offset_min),
        entities=list(unit.entities),
    )
