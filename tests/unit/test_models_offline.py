"""The bundled model reports nothing: onnxruntime's usage reports are off before it is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EMBED = """
import asyncio
from remembrancer.models.factory import make_embedder

async def main():
    embedder = make_embedder("bge-small")
    await embedder.embed(["hello"])
    await embedder.close()

asyncio.run(main())
"""


def plain(folder: Path) -> dict[str, str]:
    """An environment with little in it: onnxruntime also keeps quiet where a variable says CI."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, "TMPDIR": str(folder)}


def test_onnxruntime_opens_no_reporting_session(tmp_path: Path) -> None:
    # With reports on, importing onnxruntime leaves its session id in the temporary folder.
    env = plain(tmp_path)
    subprocess.run([sys.executable, "-c", EMBED], env=env, check=True, timeout=120)
    assert list(tmp_path.iterdir()) == []


def test_with_reports_on_it_would_be_seen(tmp_path: Path) -> None:
    env = plain(tmp_path)
    subprocess.run([sys.executable, "-c", "import onnxruntime"], env=env, check=True, timeout=120)
    assert list(tmp_path.iterdir()) != []
