"""`…/files/retain`: files to documents; and `/v1/default/files/download`: what an export made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError
from starlette.datastructures import UploadFile

from ...nouns.errors import TooLarge
from ...nouns.ids import to_uuid
from ...nouns.text import clean
from ...verbs.retaining.units import Item
from ...verbs.transferring.files import MAX_FILES, Upload
from .access import Calling
from .answers import OpenApp, answer
from .banks import NamedBank
from .body import Wire, parse
from .errors import BANK_ERRORS, Fault, Refused, faults_of
from .moments import WhenSaid
from .multipart import Form, Forms, takes
from .retain import NAME_CHARS, NOTE_CHARS, Metadata, Tags

router = APIRouter(tags=["Files"])


def _parsers(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _no_mode(value: Any) -> None:
    if value is not None:
        raise ValueError("is not taken here: a file replaces the document of its document_id")


Parsers = Annotated[Annotated[list[str], Field(max_length=10)] | None, BeforeValidator(_parsers)]
NoMode = Annotated[Any, AfterValidator(_no_mode)]


class FileMetadata(Wire):
    """What is told beside one file, in the order of the files."""

    document_id: str | None = Field(None, max_length=NAME_CHARS)
    context: str | None = Field(None, max_length=NOTE_CHARS)
    metadata: Metadata = None
    tags: Tags = None
    timestamp: WhenSaid = None
    parser: Parsers = None
    strategy: str | None = Field(
        None, max_length=NAME_CHARS, description="Kept with the document; changes nothing yet."
    )
    update_mode: NoMode = None


class FileRetainRequest(Wire):
    """The part `request` of the body, as JSON."""

    parser: Parsers = Field(None, description="One, or several that are tried in turn.")
    files_metadata: Annotated[list[FileMetadata], Field(max_length=MAX_FILES)] | None = None
    document_tags: Tags = None
    in_background: Literal[True] | None = Field(None, alias="async")
    update_mode: NoMode = None


class FileRetainResponse(BaseModel):
    """One operation a file, in their order."""

    operation_ids: list[str]


@router.post(
    "/v1/default/banks/{bank_id}/files/retain",
    operation_id="file_retain",
    summary="Convert files to memories",
    response_model=FileRetainResponse,
    responses=BANK_ERRORS,
    openapi_extra=takes(files={"files": True}, fields=("request",)),
)
async def file_retain(request: Request, app: OpenApp, bank: NamedBank) -> Response:
    """Keep files and read them in the background, each as a document of its own.

    Text, Markdown, JSON, JSONL, CSV and HTML are read as they are; PDF, DOCX, PPTX and XLSX when
    the package `remembrancer[files]` is installed. 10 files and 100 MB a request.
    """
    forms: Forms = request.app.state.forms
    async with forms.read(request, MAX_FILES) as form:
        told = _told(form)
        try:
            jobs = await app.files.enqueue(bank, _uploads(form, told))
        except TooLarge as error:
            fault = Fault(error.message, error.code, path=("files",), limit=error.limit)
            raise Refused(413, fault) from None
    app.worker.wake()
    return answer(
        request,
        FileRetainResponse(operation_ids=[to_uuid(job.id) for job in jobs]),
        ignored=dict.fromkeys(_ignored(told)),
    )


@router.get(
    "/v1/default/files/download/{key:path}",
    operation_id="download_file",
    summary="Download a file",
    responses={200: {"content": {"application/zip": {}}}, **BANK_ERRORS},
    response_class=StreamingResponse,
)
async def download_file(app: OpenApp, caller: Calling, key: str) -> Response:
    """Send the archive that an export has made; its operation tells the key."""
    archive = await app.exports.open(caller.tenant, key, caller.reaches)
    return StreamingResponse(
        archive.parts,
        media_type="application/zip",
        headers={
            "Content-Length": str(archive.size),
            "Content-Disposition": f'attachment; filename="{archive.filename}"',
            "Cache-Control": "no-store",
        },
    )


def _told(form: Form) -> FileRetainRequest:
    """Read the part `request`; without one nothing is told."""
    text = form.fields.get("request", "")
    try:
        told = FileRetainRequest.model_validate(parse(text.encode()) if text.strip() else {})
    except ValidationError as error:
        raise Refused(422, *faults_of(error, "body")) from None
    count = len(form.files.get("files", ()))
    if told.files_metadata is not None and len(told.files_metadata) != count:
        raise Refused(
            422,
            Fault(
                f"files_metadata has {len(told.files_metadata)} entries for {count} files: give "
                "one for each, in their order",
                path=("files_metadata",),
            ),
        )
    return told


def uploads_of(form: Form) -> list[Upload]:
    """Return files of which nothing is told; each is a document named after its path."""
    made = []
    for file in form.files.get("files", []):
        upload = _upload(file, FileMetadata(), FileRetainRequest())
        path = clean(file.filename or "").replace("\\", "/").strip("/")[-NAME_CHARS:]
        item = replace(upload.item, document=path or upload.name)
        made.append(replace(upload, item=item))
    return made


def _uploads(form: Form, told: FileRetainRequest) -> list[Upload]:
    files = form.files.get("files", [])
    metadata = told.files_metadata or [FileMetadata() for _ in files]
    return [_upload(*each, told) for each in zip(files, metadata, strict=True)]


def _upload(file: UploadFile, each: FileMetadata, told: FileRetainRequest) -> Upload:
    name = clean(file.filename or "").replace("\\", "/").rpartition("/")[2][:255] or "file"
    metadata = {"filename": name, **(each.metadata or {})}
    item = Item(
        content="",
        timestamp=each.timestamp.us if each.timestamp else None,
        offset_min=each.timestamp.offset_min if each.timestamp else None,
        note=clean(each.context) or None if each.context else None,
        metadata=metadata,
        document=clean(each.document_id).strip() or None if each.document_id else None,
        tags=_tags(each.tags, told.document_tags),
        strategy=clean(each.strategy) or None if each.strategy else None,
    )
    return Upload(
        name=name,
        media_type=file.content_type or "",
        size=file.size or 0,
        file=file.file,
        item=item,
        parsers=tuple(each.parser or told.parser or ()),
    )


def _tags(*lists: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for tags in lists for tag in tags or ()))


def _ignored(told: FileRetainRequest) -> list[str]:
    names = [f"request.{name}" for name in told.ignored()]
    if any(each.strategy for each in told.files_metadata or ()):
        names.append("request.files_metadata.strategy")
    return names
