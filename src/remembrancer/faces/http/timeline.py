"""`…/timeline`: the values that an attribute had, one after the other."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from ...nouns.ids import parse_id, to_uuid
from ...verbs.recall import RecallOptions
from ...verbs.truth import Held
from .answers import OpenApp, answer
from .banks import PATH, NamedBank
from .errors import BANK_ERRORS, Fault, Refused
from .moments import read_moment, spell

router = APIRouter(tags=["Memory"])


class HeldValue(BaseModel):
    """One value of an attribute, as one fact tells it."""

    id: str = Field(description="Of the fact.")
    memory_id: str = Field(description="Of the memory that the fact was read from.")
    text: str
    subject: str = Field(description="Whose attribute it is; `self`: of whoever speaks.")
    slot: str = Field(description="Which attribute.")
    value: str
    stance: str = Field(description="holds, denied, or held: it did once.")
    mentioned_at: str | None
    valid_from: str | None
    valid_until: str | None
    superseded_by: str | None = Field(description="The fact that ended it.")
    contradicts: str | None = Field(description="A fact that says otherwise, at the same time.")
    holds: bool = Field(description="Now, or at `as_of`.")


class Timeline(BaseModel):
    """The values, oldest first."""

    values: list[HeldValue]


AsOf = Annotated[str | None, Query(description="When `holds` is told for; now by default.")]


@router.get(
    f"{PATH}/memories/{{memory_id}}/timeline",
    operation_id="get_memory_timeline",
    summary="Get the values of what a memory is about",
    response_model=Timeline,
    responses=BANK_ERRORS,
)
async def get_memory_timeline(
    request: Request, app: OpenApp, bank: NamedBank, memory_id: str, as_of: AsOf = None
) -> Response:
    """Show every value of the attributes that a memory or a fact tells of, oldest first."""
    held = await app.truth.history(bank, parse_id(memory_id, "memory_id"), _at(as_of))
    return answer(request, Timeline(values=[_shown(each) for each in held]), nulls=True)


@router.get(
    f"{PATH}/timeline",
    operation_id="get_timeline",
    summary="Get the values of what a question asks for",
    response_model=Timeline,
    responses=BANK_ERRORS,
)
async def get_timeline(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    query: Annotated[str, Query(description="A question, such as: Where do I live?")],
    as_of: AsOf = None,
) -> Response:
    """Show every value of the attribute that a question asks for; empty when none is known."""
    options = RecallOptions(limit=5, as_of=_at(as_of))
    held = await app.truth.asked(bank, query, options)
    return answer(request, Timeline(values=[_shown(each) for each in held]), nulls=True)


def _at(value: str | None) -> int | None:
    try:
        moment = read_moment(value)
    except ValueError as error:
        raise Refused(422, Fault(f"as_of {error}", where="query", path=("as_of",))) from None
    return moment.us if moment else None


def _shown(held: Held) -> HeldValue:
    fact = held.fact
    return HeldValue(
        id=to_uuid(fact.id),
        memory_id=to_uuid(held.memory_id),
        text=fact.text,
        subject=held.subject,
        slot=held.slot,
        value=held.value,
        stance=held.stance.name.lower(),
        mentioned_at=spell(fact.mentioned_at, fact.offset_min),
        valid_from=spell(held.valid_from, fact.offset_min),
        valid_until=spell(held.valid_until, fact.offset_min),
        superseded_by=to_uuid(held.superseded_by) if held.superseded_by else None,
        contradicts=to_uuid(held.contradicts) if held.contradicts else None,
        holds=held.holds,
    )
