"""The options that commands share, and the settings that come of them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...nouns.errors import InvalidInput

if TYPE_CHECKING:
    from ...settings import Settings

_WHERE = "Where the memory is"

Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        envvar="REMEMBRANCER_DATA",
        metavar="DIR",
        help="Folder that holds everything; ~/.remembrancer by default.",
        rich_help_panel=_WHERE,
        show_default=False,
    ),
]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store",
        envvar="REMEMBRANCER_STORE",
        metavar="URL",
        help="Where rows are kept, if not in the data folder: sqlite:///FOLDER or postgresql://…",
        rich_help_panel=_WHERE,
        show_default=False,
    ),
]
Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        envvar="REMEMBRANCER_EMBEDDER",
        metavar="SPEC",
        help="bge-small (default, bundled), openai:MODEL, fastembed:NAME, "
        "sentence-transformers:NAME, none, hash:DIM.",
        rich_help_panel=_WHERE,
        show_default=False,
    ),
]
Bank = Annotated[
    str, typer.Option("--bank", "-b", metavar="BANK", help="Whose memory: a user, an agent.")
]
Tenant = Annotated[
    str,
    typer.Option("--tenant", metavar="NAME", help="Whose banks, where there are several tenants."),
]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", "-t", metavar="TAG", help="A label; may be given again."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

MEMORY_JSON = (
    "id, text, speaker, role, said_at, occurred: [start, end] or null, precision, turn, part, "
    "note, tags: [...], metadata: {...}, facts: [{id, text, subject, negated, modality, occurred}]"
)


def settings_of(
    data: Path | None = None,
    store: str | None = None,
    embedder: str | None = None,
    **more: Any,
) -> Settings:
    """Return the settings: options, then environment, then defaults.

    Raises:
        InvalidInput: an option or an environment variable holds what cannot be.
    """
    from ...settings import Settings, fault_of  # noqa: PLC0415

    given = {"data": data, "store": store, "embedder": embedder, **more}
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValueError as error:
        field, what = fault_of(error)
        if field is None:
            raise InvalidInput(f"an environment variable cannot be read: {what}") from None
        raise InvalidInput(
            f"{field} (option or REMEMBRANCER_{field.upper()}): {what}", field=field
        ) from None


def moment(text: str | None, field: str) -> datetime | None:
    """Read a time as ISO 8601; one without an offset is UTC.

    Raises:
        InvalidInput: it is no such time.
    """
    if text is None:
        return None
    try:
        said = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(
            f"{field} {text!r} is no time: write it as 2026-05-08, 2026-05-08T09:30 (UTC) "
            "or 2026-05-08T09:30+01:00",
            field=field,
        ) from None
    return said if said.tzinfo else said.replace(tzinfo=UTC)


def offset_minutes(said: datetime | None) -> int | None:
    """Return the UTC offset of a time in minutes."""
    offset = said.utcoffset() if said is not None else None
    return None if offset is None else int(offset.total_seconds() // 60)


def examples(*lines: str, json: str | None = None) -> str:
    """Return the end of a command's help: examples, and the shape of its JSON."""
    shown = ["[bold]Examples[/bold]", *(line.replace("[", r"\[") for line in lines)]
    if json is not None:
        shown += ["[bold]JSON[/bold]", json.replace("[", r"\[")]
    return "\n\n".join(shown)
