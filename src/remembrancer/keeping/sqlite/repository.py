"""A folder of backups that share their blocks: each writes only what no earlier one holds.

A database file is cut into blocks of one size. `packs/` holds the blocks (see `packs`), `backups/`
a manifest for each backup: the hashes of its blocks in order, and that of the whole. Packs are
durable before the manifest that needs them is there under its name, so a backup is there whole or
not at all, and one that is killed leaves the earlier ones as they were.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from ...nouns.errors import Corrupt, NotFound, StoreBusy, StoreError, StoreTooNew
from ..durable import sync
from .packs import PART, Blocks, PackWriter

Progress = Callable[[int, int], None]
"""Called with how many blocks are done, and how many there are to do."""

BLOCK_BYTES = 16_384
"""Four pages of a database: one changed page has so much written again. Smaller blocks would have
longer manifests, 67 bytes a block."""
HEAD = "repository.json"
_FORMAT = 1
_DAY_US = 86_400_000_000
_NAME = "%Y%m%dT%H%M%S.%fZ"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Damage(NamedTuple):
    """What a backup lacks. `block`: its number, from 0; None: the manifest does not read."""

    backup: str
    block: int | None
    what: str


def is_repository(folder: Path) -> bool:
    """Return whether a folder holds backups that share their blocks."""
    return (folder / HEAD).is_file()


class Repository:
    """The backups of a folder, by name; names are UTC times and sort by them."""

    def __init__(self, folder: Path) -> None:
        """Open a folder that holds backups.

        Raises:
            NotFound: it does not.
            StoreTooNew: a newer version wrote it.
        """
        if not is_repository(folder):
            raise NotFound(f"{folder} holds no backups: name the folder of `backup --incremental`")
        self.folder = folder
        self._packs = folder / "packs"
        self._manifests = folder / "backups"
        try:
            found = int(json.loads((folder / HEAD).read_text(encoding="utf-8"))["format"])
        except (ValueError, KeyError, TypeError) as error:
            raise Corrupt(f"{folder / HEAD} does not read") from error
        if found > _FORMAT:
            raise StoreTooNew(
                f"{folder} was written by a newer version of Remembrancer (format {found}; this "
                f"one knows {_FORMAT}): upgrade it",
                limit=_FORMAT,
            )

    @classmethod
    def prepared(cls, folder: Path) -> Repository:
        """Open a folder, made when it is not there, or empty.

        Raises:
            StoreError: it holds something else.
        """
        if not is_repository(folder):
            if folder.exists() and not folder.is_dir():
                raise StoreError(f"{folder} is a file; incremental backups need a folder")
            if folder.is_dir() and any(not e.name.startswith(HEAD) for e in folder.iterdir()):
                raise StoreError(
                    f"{folder} is not empty and holds no backups: name a new folder, or that of "
                    "earlier incremental backups"
                )
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(folder / HEAD, {"format": _FORMAT, "of": "remembrancer backups"})
        made = cls(folder)
        for each in (made._packs, made._manifests):
            each.mkdir(mode=0o700, exist_ok=True)
        return made

    @contextmanager
    def held(self, *, alone: bool) -> Iterator[None]:
        """Keep others from changing the folder meanwhile; `alone`: from reading it, too.

        Raises:
            StoreBusy: somebody does.
        """
        handle = os.open(self.folder / HEAD, os.O_RDONLY | os.O_CLOEXEC)
        try:
            try:
                fcntl.flock(handle, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StoreBusy(
                    f"another backup, prune or restore is using {self.folder}; try again after it"
                ) from None
            if alone:
                self._tidy()
            yield
        finally:
            os.close(handle)

    def names(self) -> list[str]:
        """Return the names of all backups, the oldest first."""
        return sorted(path.stem for path in self._manifests.glob("*.json"))

    def chosen(self, name: str | None) -> str:
        """Return the name of a backup that is there; the newest when none is given."""
        names = self.names()
        if name is None and names:
            return names[-1]
        if name not in names:
            some = f"; there are {', '.join(names[-3:])}" if names else "; there is none yet"
            raise NotFound(f"{self.folder} has no backup {name or ''}{some}".replace("  ", " "))
        return name

    def manifest(self, name: str) -> dict[str, Any]:
        """Return what is known of a backup.

        Raises:
            Corrupt: it is not as it was written.
        """
        path = self._manifests / f"{name}.json"
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            check = told.pop("check")
            if check != _sum(told) or not isinstance(told["blocks"], list):
                raise ValueError
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise Corrupt(
                f"backup {name} is damaged: {path} does not read as it was written; go on with "
                "another one, and delete that file"
            ) from error
        if told["format"] > _FORMAT:
            raise StoreTooNew(
                f"backup {name} was written by a newer version: upgrade", limit=_FORMAT
            )
        return dict(told)

    def add(
        self,
        copy: Path,
        about: Mapping[str, Any],
        now_us: int,
        progress: Progress | None = None,
        distrusted: Collection[bytes] = (),
    ) -> dict[str, Any]:
        """Keep a file as the newest backup; return its manifest without the list of blocks.

        Args:
            copy: a database that nobody changes meanwhile.
            about: what else to say of it in the manifest.
            now_us: the time, which names it.
            progress: told of every block.
            distrusted: hashes of blocks that are written again though they are there.
        """
        name = self._new_name(now_us)
        with Blocks(self._packs) as blocks:
            known = set(blocks.places).difference(distrusted)
        total = -(-copy.stat().st_size // BLOCK_BYTES)
        whole = hashlib.sha256()
        listed: list[str] = []
        with copy.open("rb") as file, PackWriter(self._packs / f"{name}.pack") as pack:
            while block := file.read(BLOCK_BYTES):
                whole.update(block)
                digest = hashlib.sha256(block).digest()
                listed.append(digest.hex())
                if digest not in known:
                    pack.add(digest, block)
                    known.add(digest)
                if progress is not None:
                    progress(len(listed), total)
            pack.finish()
            told = {
                "format": _FORMAT,
                "name": name,
                **about,
                "bytes": file.tell(),
                "sha256": whole.hexdigest(),
                "new_blocks": pack.blocks,
                "new_bytes": pack.bytes,
            }
        manifest = {**told, "blocks": listed}
        _write(self._manifests / f"{name}.json", {**manifest, "check": _sum(manifest)})
        return {**told, "blocks": len(listed)}

    def assemble(self, name: str, target: Path, progress: Progress | None = None) -> dict[str, Any]:
        """Write a backup to a file; return its manifest.

        Raises:
            Corrupt: a block, or the whole, is not as it was written; says which.
        """
        manifest = self.manifest(name)
        whole = hashlib.sha256()
        with Blocks(self._packs) as blocks, target.open("wb") as file:
            for number, each in enumerate(manifest["blocks"]):
                block = blocks.read(bytes.fromhex(each))
                if block is None:
                    what = _what(blocks, bytes.fromhex(each))
                    raise Corrupt(f"backup {name}: block {number} {what}; restore another backup")
                whole.update(block)
                file.write(block)
                if progress is not None:
                    progress(number + 1, len(manifest["blocks"]))
        if whole.hexdigest() != manifest["sha256"]:
            raise Corrupt(f"backup {name} is damaged: the whole is not what was written")
        return manifest

    def damage(self, progress: Progress | None = None) -> tuple[list[Damage], set[bytes]]:
        """Read every block and manifest; return what backups lack, and the blocks' hashes."""
        bad: set[bytes] = set()
        with Blocks(self._packs) as blocks:
            for number, (digest, damaged) in enumerate(blocks.damaged()):
                if damaged:
                    bad.add(digest)
                if progress is not None:
                    progress(number + 1, len(blocks.places))
            return list(self._lacking(blocks, bad)), bad

    def prune(self, keep: int | None, days: float | None, now_us: int) -> dict[str, Any]:
        """Drop old backups, and all blocks that none of the others needs.

        Args:
            keep: how many of the newest stay; None: any number.
            days: how old one may be; None: any age. The newest one stays whatever its age.
            now_us: the time.

        Raises:
            Corrupt: the manifest of one that stays does not read, so nobody knows what it needs;
                nothing was dropped.
        """
        names = self.names()
        kept = names[-keep:] if keep is not None else names
        if days is not None:
            since = now_us - days * _DAY_US
            kept = [name for name in kept if self._made(name) >= since or name == names[-1]]
        dropped = [name for name in names if name not in kept]
        needed: set[bytes] = set()
        for name in kept:
            needed.update(map(bytes.fromhex, self.manifest(name)["blocks"]))
        for name in dropped:
            (self._manifests / f"{name}.json").unlink()
        sync(self._manifests)
        return {"dropped": dropped, "kept": len(kept), "freed_bytes": self._drop_blocks(needed)}

    def _lacking(self, blocks: Blocks, bad: set[bytes]) -> Iterator[Damage]:
        for name in self.names():
            try:
                manifest = self.manifest(name)
            except Corrupt as error:
                yield Damage(name, None, error.message)
                continue
            for number, each in enumerate(manifest["blocks"]):
                digest = bytes.fromhex(each)
                if digest in bad or digest not in blocks.places:
                    yield Damage(name, number, _what(blocks, digest))

    def _made(self, name: str) -> int:
        """Return when a backup was made: of one that does not read, by its name."""
        try:
            made: int = self.manifest(name)["made_at_us"]
        except Corrupt:
            return _us_of(name)
        return made

    def _drop_blocks(self, needed: set[bytes]) -> int:
        """Write packs anew without the blocks that no backup needs; return the bytes freed."""
        freed = 0
        with Blocks(self._packs) as blocks:
            if needed <= blocks.places.keys():  # nothing can be read of those, nor is missing
                for pack in blocks.unread:
                    freed += pack.stat().st_size
                    pack.unlink()
            for pack, index in blocks.packs.items():
                stay = [(d, p) for d, p in index if d in needed and blocks.places[d] == p]
                if len(stay) == len(index):
                    continue
                before = pack.stat().st_size
                if not stay:
                    pack.unlink()
                    sync(self._packs)
                    freed += before
                    continue
                with PackWriter(pack) as anew:
                    for digest, place in stay:
                        anew.add(digest, blocks.raw(place))
                    anew.finish()
                freed += before - pack.stat().st_size
        return freed

    def _new_name(self, now_us: int) -> str:
        """Return a name after all others, whatever the clock says."""
        for path in [*self._manifests.glob("*.json"), *self._packs.glob("*.pack")]:
            now_us = max(now_us, _us_of(path.stem) + 1)
        return (_EPOCH + timedelta(microseconds=now_us)).strftime(_NAME)

    def _tidy(self) -> None:
        """Remove what a backup left that was killed."""
        for folder in (self.folder, self._packs, self._manifests):
            for part in folder.glob(f"*{PART}*"):
                part.unlink()


def _us_of(name: str) -> int:
    try:
        at = datetime.strptime(name, _NAME).replace(tzinfo=UTC)
    except ValueError:
        return 0
    return (at - _EPOCH) // timedelta(microseconds=1)


def _what(blocks: Blocks, digest: bytes) -> str:
    place = blocks.places.get(digest)
    if place is not None:
        return f"({digest.hex()[:16]}… in {place.pack.name}) is damaged"
    where = f"; {blocks.unread[0].name} does not read" if blocks.unread else ""
    return f"({digest.hex()[:16]}…) is missing{where}"


def _sum(told: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _write(path: Path, told: Mapping[str, Any]) -> None:
    part = path.with_name(path.name + PART)
    try:
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
        with part.open("w", encoding="utf-8") as file:
            json.dump(told, file)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        sync(path.parent)
    finally:
        part.unlink(missing_ok=True)
