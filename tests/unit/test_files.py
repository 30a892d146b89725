"""Which parser reads which file, and what is said when none can."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pytest

from remembrancer.keeping.worker import JobContext
from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.errors import InvalidInput, NotFound
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import BankRef, Job
from remembrancer.verbs.retaining.units import Item
from remembrancer.verbs.transferring import files
from remembrancer.verbs.transferring.files import Files, Upload
from remembrancer.verbs.transferring.uploads import Uploads

REF = BankRef("acme", "ada")


class Kept:
    """Stands for what keeps uploads."""

    async def enqueue(self, ref: BankRef, given: Sequence[Any], make: Any) -> list[Job]:
        return list(make([1 for _ in given]))


def made() -> Files:
    clock = FixedClock(1_700_000_000_000_000)
    return Files(
        None,  # type: ignore[arg-type]  # nothing is retained here
        Kept(),  # type: ignore[arg-type]
        ids=IdMaker(clock),
        clock=clock,
        max_content_bytes=1_000,
    )


def upload(name: str, *parsers: str, size: int = 9) -> Upload:
    return Upload(name, "", size, io.BytesIO(b"%PDF-1.4\n"), Item(""), parsers)


@pytest.mark.parametrize(
    ("name", "wanted", "here", "chosen"),
    [
        ("a.txt", (), False, ["builtin"]),
        ("a.txt", ("markitdown",), False, ["builtin"]),
        ("a.txt", ("markitdown",), True, ["markitdown"]),
        ("a.txt", ("markitdown", "builtin"), True, ["markitdown", "builtin"]),
        ("a.pdf", (), True, ["markitdown"]),
        ("a.pdf", ("builtin", "markitdown"), True, ["markitdown"]),
    ],
)
async def test_the_parsers_that_can_are_tried_in_order(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    wanted: tuple[str, ...],
    here: bool,
    chosen: list[str],
) -> None:
    monkeypatch.setattr(files, "installed", lambda: here)
    [job] = await made().enqueue(REF, [upload(name, *wanted)])
    assert list(job.payload["parsers"]) == chosen
    assert job.document is not None
    assert job.document.startswith("file_")


@pytest.mark.parametrize(
    ("name", "wanted", "here", "told"),
    [
        ("a.pdf", (), False, "pip install 'remembrancer[files]'"),
        ("a.docx", ("builtin",), True, "DOCX files are read by the parser markitdown"),
        ("a.docx", ("iris",), True, "there are builtin, markitdown"),
    ],
)
async def test_what_no_parser_can_read_says_what_would_help(
    monkeypatch: pytest.MonkeyPatch, name: str, wanted: tuple[str, ...], here: bool, told: str
) -> None:
    monkeypatch.setattr(files, "installed", lambda: here)
    with pytest.raises(InvalidInput) as refused:
        await made().enqueue(REF, [upload(name, *wanted)])
    assert told in refused.value.message


async def test_an_upload_that_is_not_kept_any_more_says_so() -> None:
    class Empty:
        async def blob_get(self, ref: BankRef, key: str, now: int) -> None:
            return None

    clock = FixedClock(1_700_000_000_000_000)
    [job] = await made().enqueue(REF, [upload("a.txt")])
    uploads = Uploads(Empty(), clock=clock)  # type: ignore[arg-type]
    retained = Files(
        None,  # type: ignore[arg-type]
        uploads,
        ids=IdMaker(clock),
        clock=clock,
        max_content_bytes=1_000,
    )
    with pytest.raises(NotFound, match="upload it again"):
        await retained.run(job, JobContext(job, clock))
