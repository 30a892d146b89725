"""`…/export` and `…/import`: a bank's settings as a document."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from ...nouns.ids import to_uuid
from ...verbs.bank_config import BankConfig
from ...verbs.directives import CONTENT_CHARS, NAME_CHARS, Directive
from ...verbs.mental_models import QUERY_CHARS
from ...verbs.modelling.shelf import MentalModel
from ...verbs.templates import VERSION, Template
from .answers import OpenApp, answer
from .auditing import unaudited
from .banks import PATH, NamedBank
from .body import Wire, body_of
from .directives import Priority
from .errors import BANK_ERRORS
from .mental_model_shapes import MaxTokens, MentalModelTrigger, kept_trigger, trigger_of
from .retain import Tags
from .schema import reads

router = APIRouter(tags=["Bank Templates"])


class BankTemplateMentalModel(Wire):
    """A mental model of a template."""

    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.~-]{1,128}$")]
    name: Annotated[
        str, StringConstraints(min_length=1, max_length=NAME_CHARS, strip_whitespace=True)
    ]
    source_query: Annotated[
        str, StringConstraints(min_length=1, max_length=QUERY_CHARS, strip_whitespace=True)
    ]
    tags: Tags = None
    max_tokens: MaxTokens = 2048
    trigger: MentalModelTrigger | None = None


class BankTemplateDirective(Wire):
    """A directive of a template."""

    name: Annotated[
        str, StringConstraints(min_length=1, max_length=NAME_CHARS, strip_whitespace=True)
    ]
    content: Annotated[
        str, StringConstraints(min_length=1, max_length=CONTENT_CHARS, strip_whitespace=True)
    ]
    priority: Priority = 0
    is_active: bool = True
    tags: Tags = None


class BankTemplateManifest(Wire):
    """A bank's settings as a document."""

    version: str = Field(description=f"Of this format: {VERSION!r}.")
    bank: dict[str, Any] | None = Field(None, description="Settings, as in `config`.")
    mental_models: Annotated[list[BankTemplateMentalModel], Field(max_length=1_000)] | None = None
    directives: Annotated[list[BankTemplateDirective], Field(max_length=1_000)] | None = None


class BankTemplateExport(BaseModel):
    """A bank's settings as a document."""

    version: str
    bank: BankConfig | None = None
    mental_models: list[dict[str, Any]] = Field(default_factory=list)
    directives: list[dict[str, Any]] = Field(default_factory=list)

    model_config = ConfigDict(title="BankTemplateManifest")


class BankTemplateImportResponse(BaseModel):
    """What was done, or would be."""

    bank_id: str
    config_applied: bool
    mental_models_created: list[str] = Field(default_factory=list)
    mental_models_updated: list[str] = Field(default_factory=list)
    directives_created: list[str] = Field(default_factory=list)
    directives_updated: list[str] = Field(default_factory=list)
    operation_ids: list[str] = Field(default_factory=list)
    dry_run: bool = False


@router.get(
    f"{PATH}/export",
    operation_id="export_bank_template",
    summary="Export a bank's template",
    response_model=BankTemplateExport,
    responses=BANK_ERRORS,
)
async def export_bank_template(request: Request, app: OpenApp, bank: NamedBank) -> Response:
    """Write what a bank sets as a document that `import` takes; memories are not in it."""
    found = await app.templates.export(bank)
    config = BankConfig.model_construct(**found.config) if found.config else None
    body = BankTemplateExport(
        version=found.version,
        bank=config,
        mental_models=[
            {
                "id": m.id,
                "name": m.name,
                "source_query": m.source_query,
                "tags": list(m.tags),
                "max_tokens": m.max_tokens,
                "trigger": trigger_of(m),
            }
            for m in found.mental_models
        ],
        directives=[
            {
                "name": d.name,
                "content": d.content,
                "priority": d.priority,
                "is_active": d.is_active,
                "tags": list(d.tags),
            }
            for d in found.directives
        ],
    )
    return answer(request, body)


@router.post(
    f"{PATH}/import",
    operation_id="import_bank_template",
    summary="Import a bank's template",
    response_model=BankTemplateImportResponse,
    responses=BANK_ERRORS,
    openapi_extra=reads(BankTemplateManifest),
)
async def import_bank_template(
    request: Request,
    app: OpenApp,
    bank: NamedBank,
    body: Annotated[BankTemplateManifest, Depends(body_of(BankTemplateManifest))],
    dry_run: Annotated[bool, Query(description="Only check it.")] = False,
) -> Response:
    """Give a bank the settings of a template; those that it does not name stay."""
    template = Template(
        body.version,
        body.bank or {},
        [
            MentalModel(
                m.id,
                m.name,
                m.source_query,
                tuple(m.tags or ()),
                m.max_tokens,
                kept_trigger(m.trigger),
            )
            for m in body.mental_models or ()
        ],
        [
            Directive("", d.name, d.content, d.priority, d.is_active, tuple(d.tags or ()))
            for d in body.directives or ()
        ],
    )
    done = await app.templates.take_in(bank, template, dry_run=dry_run)
    if dry_run:
        unaudited(request)
    app.thinker.wake()
    return answer(
        request,
        BankTemplateImportResponse(
            bank_id=bank.bank,
            config_applied=done.config,
            mental_models_created=done.models_created,
            mental_models_updated=done.models_updated,
            directives_created=done.directives_created,
            directives_updated=done.directives_updated,
            operation_ids=[to_uuid(each) for each in done.operation_ids],
            dry_run=dry_run,
        ),
        queries=("dry_run",),
    )


@router.get(
    "/v1/bank-template-schema",
    operation_id="get_bank_template_schema",
    summary="Get the schema of bank templates",
)
async def get_bank_template_schema() -> dict[str, Any]:
    """Return the JSON schema of a bank template."""
    return BankTemplateExport.model_json_schema()
