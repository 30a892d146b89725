"""HEBBS's `POST /v1/upload`: files to documents of an entity, read in the background."""

from __future__ import annotations

from collections import Counter

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from ...nouns.errors import InvalidInput, TooLarge
from ...nouns.ids import to_uuid
from ...nouns.memory import Job
from ...verbs.transferring.files import MAX_FILES
from .access import Calling
from .answers import OpenApp, answer
from .auditing import audited_in
from .errors import ENTITY_ERRORS, Fault, Refused
from .files import uploads_of
from .hebbs_shapes import home_of
from .multipart import Forms, takes

MOST_FILES = 100

router = APIRouter(tags=["Files"])


class UploadedFile(BaseModel):
    """One file, and the operation that reads it."""

    filename: str
    size: int
    operation_id: str


class UploadResponse(BaseModel):
    """How many files were kept."""

    uploaded: int
    files: list[UploadedFile]
    entity_id: str | None


@router.post(
    "/v1/upload",
    operation_id="upload_files",
    summary="Upload files",
    response_model=UploadResponse,
    responses=ENTITY_ERRORS,
    openapi_extra=takes(files={"files": True}, fields=("entity_id",)),
)
async def upload_files(request: Request, app: OpenApp, caller: Calling) -> Response:
    """Keep files and read them in the background, each as a document named after it.

    100 at most. A file of the same name takes the place of the earlier one. Without `entity_id`
    they are kept with the memories that belong to none. When one cannot be taken, of those before
    it the first tens may have been: send all of them again.
    """
    forms: Forms = request.app.state.forms
    async with forms.read(request, MOST_FILES) as form:
        entity = form.fields.get("entity_id", "").strip() or None
        ref = home_of(caller, entity)
        uploads = uploads_of(form)
        names = Counter(str(upload.item.document) for upload in uploads)
        if twice := next((name for name, count in names.items() if count > 1), None):
            raise InvalidInput(f"two files have the name {twice!r}", field="files")
        jobs: list[Job] = []
        try:
            for start in range(0, max(1, len(uploads)), MAX_FILES):
                jobs += await app.files.enqueue(ref, uploads[start : start + MAX_FILES])
        except TooLarge as error:
            fault = Fault(error.message, error.code, path=("files",), limit=error.limit)
            raise Refused(413, fault) from None
        files = [
            UploadedFile(
                filename=str(upload.item.document),
                size=upload.size,
                operation_id=to_uuid(job.id),
            )
            for upload, job in zip(uploads, jobs, strict=True)
        ]
    audited_in(request, ref, files=len(files))
    app.worker.wake()
    return answer(
        request, UploadResponse(uploaded=len(files), files=files, entity_id=entity), nulls=True
    )
