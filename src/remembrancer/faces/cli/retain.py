"""`remembrancer retain`: keep files or standard input."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .inputs import STDIN, Input, checked, plan
from .options import (
    AsJson,
    Bank,
    Data,
    Embedder,
    StoreUrl,
    Tags,
    examples,
    moment,
    offset_minutes,
    settings_of,
)
from .output import counted, progress_bar, remark, results, write_json
from .session import with_app

if TYPE_CHECKING:
    from ...app import App
    from ...verbs.retain import Progress, Retained
    from ...verbs.retaining.units import Item

NAME = "retain"
EPILOG = examples(
    "remembrancer retain notes.md --bank ann",
    "remembrancer retain chat.json letters/*.txt -b ann --tag home",
    "remembrancer retain talk.txt --timestamp 2026-05-08T09:30+01:00 --note 'team call'",
    "echo 'Ann moved to Berlin in May.' | remembrancer retain - --bank ann",
    json="{bank, documents: [...], unchanged: [...], sources, facts, entities, unread, "
    "unembedded, revision, seconds}",
)


@dataclass(frozen=True, slots=True)
class _Said:
    """What is told about everything that one command retains."""

    timestamp: datetime | None
    note: str | None
    tags: tuple[str, ...]

    def item(self, content: str, document: str | None) -> Item:
        from ...nouns.clock import to_us  # noqa: PLC0415
        from ...verbs.retaining.units import Item  # noqa: PLC0415

        return Item(
            content,
            timestamp=None if self.timestamp is None else to_us(self.timestamp),
            offset_min=offset_minutes(self.timestamp),
            note=self.note,
            document=document,
            tags=self.tags,
        )


def command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="Text, Markdown, a chat, JSON or JSONL messages; - for stdin."
        ),
    ],
    bank: Bank = "default",
    document: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Name of the document; by default the file's name. Several files become one.",
            show_default=False,
        ),
    ] = None,
    as_new: Annotated[
        bool, typer.Option("--as-new", help="Add under no name: nothing is replaced.")
    ] = False,
    timestamp: Annotated[
        str | None,
        typer.Option(
            metavar="ISO",
            help="When it was said, where the text does not tell; now by default.",
            show_default=False,
        ),
    ] = None,
    note: Annotated[
        str | None, typer.Option(help="What it is about, where it is from.", show_default=False)
    ] = None,
    tags: Tags = None,
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
    embedder: Embedder = None,
) -> None:
    """Keep files, so that they can be found.

    A document retained again under the same name replaces the former one; with the same content
    it is left as it is.
    """
    inputs = plan(files, document, as_new)
    said = _Said(moment(timestamp, "timestamp"), note, tuple(tags or ()))
    settings = settings_of(data, store, embedder)
    limit = settings.max_content_bytes
    started = time.perf_counter()
    if document is not None:
        groups: Sequence[Sequence[Input]] = [inputs]
        _check_total(inputs, settings.max_body_bytes)
    else:
        groups = [[one] for one in inputs]

    async def work(app: App) -> list[Retained]:
        typed = checked(inputs, limit)
        done: list[Retained] = []
        for group in groups:
            label = document or group[0].document or "standard input"
            texts = (typed if one.given == STDIN else one.read(limit) for one in group)
            items = [said.item(text, one.document) for text, one in zip(texts, group, strict=True)]
            try:
                with progress_bar(label) as progress:
                    done.append(await _retain(app, bank, items, progress))
            except Exception:
                if done:
                    remark(f"the {counted(len(done), 'file')} before {label} stay retained")
                raise
        return done

    done = with_app(settings, work)
    total = _sum(done) | {"seconds": round(time.perf_counter() - started, 3)}
    if json:
        write_json({"bank": bank, **total})
    else:
        _show(bank, done, total)


async def _retain(
    app: App, bank: str, items: Sequence[Item], progress: Progress | None
) -> Retained:
    from ...nouns.memory import DEFAULT_TENANT, BankRef  # noqa: PLC0415

    return await app.retain(BankRef(DEFAULT_TENANT, bank), items, progress)


def _check_total(inputs: Sequence[Input], limit: int) -> None:
    from pathlib import Path  # noqa: PLC0415

    from ...nouns.errors import TooLarge  # noqa: PLC0415

    total = sum(Path(one.given).stat().st_size for one in inputs if one.given != "-")
    if total > limit:
        raise TooLarge(
            f"the files of one document have {total:,} bytes; the limit is {limit:,}: "
            "give it several names",
            field="file",
            limit=limit,
        )


def _sum(done: Sequence[Retained]) -> dict[str, Any]:
    return {
        "documents": [name for one in done for name in one.documents],
        "unchanged": [name for one in done for name in one.unchanged],
        "sources": sum(one.sources for one in done),
        "facts": sum(one.facts for one in done),
        "entities": sum(one.entities for one in done),
        "unread": sum(one.unread for one in done),
        "unembedded": sum(one.unembedded for one in done),
        "revision": max(one.revision for one in done),
    }


def _counts(sources: int, facts: int, entities: int) -> str:
    told = (counted(sources, "source"), counted(facts, "fact"))
    return ", ".join((*told, counted(entities, "entity", "entities")))


def _show(bank: str, done: Sequence[Retained], total: dict[str, Any]) -> None:
    out = results()
    for one in done:
        for name in one.documents:
            what = (
                "unchanged"
                if name in one.unchanged
                else _counts(one.sources, one.facts, one.entities)
            )
            out.print(f"{name}: {what}", soft_wrap=True)
    out.print(
        f"retained in bank {bank}: {_counts(total['sources'], total['facts'], total['entities'])}; "
        f"{len(total['unchanged'])} unchanged; "
        f"{total['seconds']:.2f} s",
        style="bold",
        soft_wrap=True,
    )
    if total["unread"]:
        remark(f"{total['unread']} sources could not be read for facts; their text is kept")
    if total["unembedded"]:
        remark(f"{total['unembedded']} sources wait for the embedder; words find them meanwhile")
