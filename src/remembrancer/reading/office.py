"""PDF and office files to text, by markitdown, when it is installed.

Such files are read in a process of their own, with bounds on its time and memory: what a file makes
of its reader then stays there.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from ..nouns.errors import InvalidInput, RemembrancerError, TooLarge

NAME = "markitdown"
TIMEOUT_S = 300.0
MEMORY_BYTES = 4 << 30  # address space, of which models map much without using it
_CHILD = Path(__file__).with_name("office_child.py")
_TOO_LONG = 3  # exit statuses of the child
_UNREAD = 4
_ERROR_BYTES = 200


def installed() -> bool:
    """Tell whether such files can be read here."""
    return find_spec(NAME) is not None


async def read_office(file: IO[bytes], ending: str, max_bytes: int) -> str:
    """Return what a file says, as Markdown.

    Args:
        file: a real file, read from its beginning.
        ending: what it is: pdf, docx, pptx, xlsx.
        max_bytes: of the text.

    Raises:
        InvalidInput: markitdown cannot read it.
        TooLarge: it says more than `max_bytes`.
        RemembrancerError: the reader died or took too long.
    """
    file.seek(0)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", str(_CHILD), ending, str(max_bytes), str(MEMORY_BYTES)),
        stdin=file,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(TIMEOUT_S):
            text, error = await process.communicate()
    except TimeoutError:
        raise InvalidInput(
            f"reading the file takes longer than {TIMEOUT_S:.0f} s: split it into smaller ones",
            field="files",
            limit=TIMEOUT_S,
        ) from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    if process.returncode == _TOO_LONG:
        raise TooLarge(
            f"the file holds more than {max_bytes} bytes of text: split it into smaller ones",
            field="files",
            limit=max_bytes,
        )
    if process.returncode == _UNREAD:
        name = error[-_ERROR_BYTES:].decode("utf-8", "replace").strip()
        raise InvalidInput(f"markitdown cannot read the file ({name})", field="files")
    if process.returncode:
        raise RemembrancerError(f"the reader of files ended with status {process.returncode}")
    return text.decode("utf-8", "replace")
