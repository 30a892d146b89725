"""Inputs that atheris (libFuzzer) finds by the branches that they reach, until time is up."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from seeds import PIECES, WHOLE
from swapping import swapped

_LONGEST = 4_096  # bytes
_COVERED = re.compile(r"cov: (\d+)")


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Import our modules within this so that their branches are seen."""
    import atheris

    with (
        contextlib.redirect_stderr(io.StringIO()),
        atheris.instrument_imports(include=["remembrancer"]),
    ):
        yield


def feed_until(
    feed: Callable[[bytes], None], seconds: float, number: int, corpus: Path, artifacts: Path
) -> None:
    """Feed until time is up, and end this process; what reached something new is in `corpus`."""
    import atheris

    given = corpus.parent / "given"
    dictionary = corpus.parent / "pieces.dict"
    atheris.Setup(
        [
            sys.argv[0],
            str(corpus),
            str(given),
            f"-dict={dictionary}",
            f"-max_total_time={max(1, round(seconds))}",
            f"-max_len={_LONGEST}",
            f"-seed={number}",
            f"-artifact_prefix={artifacts}/",
            "-timeout=300",  # of the clock: what does not heed the judge's own limit
            "-rss_limit_mb=0",  # the process is limited as a whole
            "-print_final_stats=1",
        ],
        feed,
        custom_mutator=_mutated,
    )
    atheris.Fuzz()


def _mutated(data: bytes, most: int, seed: int) -> bytes:
    """Change JSON by its values every other time, else any bytes as libFuzzer does."""
    import atheris

    found = swapped(data, Random(seed)) if seed & 1 else None
    mutated: bytes = found if found and len(found) <= most else atheris.Mutate(data, most)
    return mutated


def prepare(folder: Path) -> None:
    """Write what the search begins with: valid inputs, and pieces to put into them."""
    given = folder / "given"
    given.mkdir(parents=True, exist_ok=True)
    for number, whole in enumerate(WHOLE):
        (given / str(number)).write_bytes(whole)
    spelled = ("".join(f"\\x{byte:02x}" for byte in piece[:60]) for piece in PIECES)
    (folder / "pieces.dict").write_text("".join(f'"{each}"\n' for each in spelled))


def covered(log: Path) -> int | None:
    """Return how many edges a search has reached, as it said last."""
    found = _COVERED.findall(log.read_text(errors="replace")) if log.exists() else []
    return int(found[-1]) if found else None
