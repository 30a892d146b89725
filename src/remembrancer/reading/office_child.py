"""The process that reads one office file with markitdown: the file on stdin, its text on stdout.

Run by `office`, by path, with nothing of this package imported. Arguments: the file's ending, the
most bytes of text, and the most bytes of address space.
"""

from __future__ import annotations

import contextlib
import io
import resource
import sys

_CPU_S = 300


def main() -> int:
    """Read; return 0, or 3: too much text, 4: it cannot be read (stderr names the error)."""
    ending, max_bytes, memory = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    for what, limit in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, _CPU_S)):
        with contextlib.suppress(OSError, ValueError):  # not every system has both
            resource.setrlimit(what, (limit, limit))
    quiet = io.StringIO()
    try:
        with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            from markitdown import MarkItDown  # noqa: PLC0415 (slow, and may not be installed)

            done = MarkItDown(enable_plugins=False).convert_stream(
                sys.stdin.buffer, file_extension=f".{ending}"
            )
            text = str(done.markdown).encode("utf-8", "replace")
    except Exception as error:
        # Its kind alone: a message may quote the file, and would outlive a forget.
        sys.stderr.write(type(error).__name__)
        return 4
    if len(text) > max_bytes:
        return 3
    sys.stdout.buffer.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
