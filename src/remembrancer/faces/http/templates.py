"""`…/export` and `…/import`: a bank's settings as a document."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from ...verbs.bank_config import BankConfig
from ...verbs.templates import VERSION, Template
from .answers import OpenApp, answer
from .auditing import unaudited
from .banks import PATH, NamedBank
from .body import Wire, body_of
from .errors import BANK_ERRORS
from .schema import reads

router = APIRouter(tags=["Bank Templates"])


class BankTemplateManifest(Wire):
    """A bank's settings as a document. This server keeps no mental models and directives yet."""

    version: str = Field(description=f"Of this format: {VERSION!r}.")
    bank: dict[str, Any] | None = Field(None, description="Settings, as in `config`.")
    mental_models: list[dict[str, Any]] | None = None
    directives: list[dict[str, Any]] | None = None


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
    return answer(request, BankTemplateExport(version=found.version, bank=config))


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
        body.version, body.bank or {}, body.mental_models or (), body.directives or ()
    )
    applied = await app.templates.take_in(bank, template, dry_run=dry_run)
    if dry_run:
        unaudited(request)
    return answer(
        request,
        BankTemplateImportResponse(bank_id=bank.bank, config_applied=applied, dry_run=dry_run),
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
