"""`remembrancer export`: a bank, all banks of a tenant, or one person, to files."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractContextManager, aclosing, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from ...keeping import part_files
from ...nouns.errors import InvalidInput
from .options import AsJson, Bank, Data, StoreUrl, Tenant, examples, settings_of
from .output import results, write_json
from .session import must_exist, with_app

if TYPE_CHECKING:
    from ...app import App
    from ...nouns.memory import BankRef

NAME = "export"
EPILOG = examples(
    "remembrancer export --bank ann --to ann.jsonl    (lossless: `import` reads it back)",
    "remembrancer export --bank ann --to ann.md --format markdown",
    "remembrancer export --bank ann --to ./vault --format obsidian",
    "remembrancer export --bank ann --to ann.ics --format ics",
    "remembrancer export --bank ann --entity 'Ben Ode' --to ben.jsonl",
    "remembrancer export --all --to ./all",
    json="{format, files: [{path, bank, bytes}], bytes}",
)


class _Format(StrEnum):
    JSONL = "jsonl"
    MARKDOWN = "markdown"
    OBSIDIAN = "obsidian"
    ICS = "ics"


_ENDINGS = {_Format.JSONL: "jsonl", _Format.MARKDOWN: "md", _Format.ICS: "ics"}


def command(
    to: Annotated[
        Path,
        typer.Option(
            "--to", "-o", metavar="FILE", help="A file; - for stdout; a folder for obsidian, --all."
        ),
    ],
    bank: Bank = "default",
    wanted: Annotated[
        _Format, typer.Option("--format", "-f", help="jsonl alone is lossless.")
    ] = _Format.JSONL,
    documents: Annotated[
        list[str] | None,
        typer.Option("--document", "-d", metavar="NAME", help="Only this; may be given again."),
    ] = None,
    entity: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Only what mentions it: a name, an alias, an id.",
            show_default=False,
        ),
    ] = None,
    whole: Annotated[bool, typer.Option("--all", help="Each bank of the tenant.")] = False,
    json: AsJson = False,
    tenant: Tenant = "default",
    data: Data = None,
    store: StoreUrl = None,
) -> None:
    """Write what is remembered to files that only you may read; a file appears when it is whole.

    An export is a copy: `forget` does not reach it.
    """
    _check(wanted, documents, entity, whole, to, json)
    settings = settings_of(data, store, "none")
    must_exist(settings)
    to = to.expanduser()

    async def work(app: App) -> list[dict[str, Any]]:
        from ...nouns.names import bank_ref, tenant_name  # noqa: PLC0415
        from ...verbs.transferring.readable import Names  # noqa: PLC0415

        if not whole:
            ref = bank_ref(bank, tenant=tenant_name(tenant))
            return [await _export(app, ref, to, wanted, documents, entity, _file)]
        names, done = Names(), []
        async for ref in _banks(app, tenant_name(tenant)):
            place = to / names(ref.bank.strip("\x1f"))
            if wanted is not _Format.OBSIDIAN:
                place = place.with_name(f"{place.name}.{_ENDINGS[wanted]}")
            done.append(await _export(app, ref, place, wanted, None, None, _one_of_many))
        return done

    if whole:
        to.mkdir(mode=0o700, parents=True, exist_ok=True)
    files = with_app(settings, work)
    total = sum(each["bytes"] for each in files)
    if json:
        write_json({"format": wanted.value, "files": files, "bytes": total})
    elif str(to) != "-":
        for each in files:
            line = f"wrote {each['path']}: bank {each['bank']}, {each['bytes']:,} bytes"
            results().print(line, soft_wrap=True)


def _check(
    wanted: _Format,
    documents: list[str] | None,
    entity: str | None,
    whole: bool,
    to: Path,
    json: bool,
) -> None:
    part = bool(documents) or entity is not None
    if (documents and entity is not None) or (part and whole):
        raise InvalidInput("name one of --document, --entity and --all", field="entity")
    if part and wanted in (_Format.OBSIDIAN, _Format.ICS):
        raise InvalidInput(f"--format {wanted} writes whole banks", field="format")
    if str(to) == "-" and (whole or json or wanted is _Format.OBSIDIAN):
        raise InvalidInput("only one file goes to stdout: name a place with --to", field="to")


async def _banks(app: App, tenant: str) -> AsyncGenerator[BankRef, None]:
    """Yield the banks of a tenant, with that of the memories that belong to none."""
    from ...nouns.memory import BankRef  # noqa: PLC0415
    from ...nouns.names import UNNAMED  # noqa: PLC0415

    offset = 0
    while page := await app.store.banks(tenant, 100, offset):
        offset += len(page)
        for each in page:
            yield each.ref
    if await app.store.bank(BankRef(tenant, UNNAMED)) is not None:
        yield BankRef(tenant, UNNAMED)


async def _export(
    app: App,
    ref: BankRef,
    to: Path,
    wanted: _Format,
    documents: list[str] | None,
    entity: str | None,
    opened: Callable[[Path], AbstractContextManager[IO[bytes]]],
) -> dict[str, Any]:
    """Write one bank, or a part of it; return what was written."""
    from ...verbs.transferring.readable import Readable  # noqa: PLC0415

    if wanted is _Format.OBSIDIAN:
        size = await _vault(Readable(app.store).obsidian(ref), to)
    else:
        parts = await _parts(app, ref, wanted, documents, entity)
        with opened(to) as file:
            size = 0
            async with aclosing(parts):  # it holds a snapshot, also when a disk is full
                async for part in parts:
                    size += file.write(part.encode("utf-8", "replace"))
    return {"path": str(to), "bank": ref.bank, "bytes": size}


async def _parts(
    app: App, ref: BankRef, wanted: _Format, documents: list[str] | None, entity: str | None
) -> AsyncGenerator[str, None]:
    from ...verbs.transferring.bank_out import BankOut  # noqa: PLC0415
    from ...verbs.transferring.readable import Readable  # noqa: PLC0415

    who = None if entity is None else await app.entities.which(ref, entity)
    if wanted is _Format.ICS:
        return _once(await app.calendars.export(ref))
    if wanted is _Format.MARKDOWN:
        readable = Readable(app.store)
        if who is not None:
            return readable.person(ref, who)
        return readable.markdown(ref, documents=documents)
    out = BankOut(app.store, clock=app.clock, language=app.settings.language)
    return out(ref, documents=documents) if who is None else out.person(ref, who)


async def _once(text: str) -> AsyncGenerator[str, None]:
    yield text


@contextmanager
def _file(to: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes its name when it is whole, and that others may not read."""
    if str(to) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if to.exists() and not to.is_file():
        raise InvalidInput(f"{to} is no file: name one, or - for stdout", field="to")
    with part_files.writing(to) as part:  # also removes what a killed export left
        yield from _whole(part, to)


@contextmanager
def _one_of_many(place: Path) -> Iterator[IO[bytes]]:
    """As `_file`, of many in one folder, which is not looked through for each of them."""
    number, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)  # mode 0600
    os.close(number)
    try:
        yield from _whole(Path(name), place)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _whole(part: Path, to: Path) -> Iterator[IO[bytes]]:
    with part.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    part.replace(to)


async def _vault(notes: AsyncGenerator[Any, None], to: Path) -> int:
    """Write notes into a folder; their paths are of this program's making."""
    size = 0
    async with aclosing(notes):
        async for note in notes:
            size += _write_note(to / note.path, note.text)
    return size


def _write_note(place: Path, text: str) -> int:
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _one_of_many(place) as file:
        return file.write(text.encode("utf-8", "replace"))
