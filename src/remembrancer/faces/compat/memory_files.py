"""`MemoryFiles`: the commands of Anthropic's memory tool (`memory_20250818`) on durable files.

A file is an item whose namespace is its directory. There are no empty directories: one is there
as long as something is in it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

from ...nouns.errors import Conflict, InvalidInput
from ...nouns.memory import BankRef
from ...nouns.text import clean
from ...verbs.items import MAX_AT_ONCE, Entry, Items, Put, Wanted

ROOT = "/memories"
MAX_LINES = 999_999
MAX_FILE_CHARS = 250_000

_LEVELS = 2
_WIDTH = len(str(MAX_LINES))
_AROUND = 2  # lines of a snippet before and after what was changed
_SIZES = "BKMG"
_TRIES = 20

Path = tuple[str, ...]


class FileError(InvalidInput, ValueError):
    """A command cannot be done; the message is for the model."""


class Change(NamedTuple):
    """What a command writes, and what it answers."""

    puts: list[Put]
    told: str


class MemoryFiles:
    """The commands, on the files of one bank. They come with the arguments of the tool.

    Args:
        items: the verb.
        bank: whose files.
    """

    def __init__(self, items: Items, bank: BankRef) -> None:
        self._items = items
        self._bank = bank

    async def execute(self, command: Mapping[str, Any]) -> str:
        """Do a command as the model sends it, with its name under `command`.

        Raises:
            FileError: it cannot be done.
        """
        given = dict(command)
        name = given.pop("command", None)
        verbs: dict[Any, Callable[..., Awaitable[str]]] = {
            "view": self.view,
            "create": self.create,
            "str_replace": self.str_replace,
            "insert": self.insert,
            "delete": self.delete,
            "rename": self.rename,
        }
        if name not in verbs:
            raise FileError(f"unknown command {name!r}; choose {', '.join(verbs)}", field="command")
        try:
            return await verbs[name](**given)
        except TypeError as error:
            raise FileError(f"{name}: {error}", field="command") from None

    async def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        """List a directory, two levels deep with sizes, or show a file with numbered lines."""
        at = _parts(path)
        found = await self._file(at) if at else None
        if found is not None:
            return _numbered(path, _text(found), view_range)
        below = await self._below(at)
        if not below and at:
            raise _not_there(path)
        return _listed(path.rstrip("/") or ROOT, at, below)

    async def create(self, path: str, file_text: str) -> str:
        """Make a file; one that is there stays as it is."""

        async def work() -> Change:
            at = _file_parts(path)
            if await self._file(at) is not None:
                raise FileError(f"File {path} already exists", field="path")
            await self._free(at, path)
            return Change([_put(at, file_text)], f"File created successfully at: {path}")

        return await self._change(work)

    async def str_replace(self, path: str, old_str: str, new_str: str = "") -> str:
        """Replace a text that stands in a file once."""

        async def work() -> Change:
            at = _file_parts(path)
            text = _text(await self._there(at, path))
            lines = _lines_of(text, old_str)
            if not lines:
                raise FileError(
                    f"No replacement was performed, old_str `{old_str}` did not appear verbatim "
                    f"in {path}.",
                    field="old_str",
                )
            if len(lines) > 1:
                where = ", ".join(map(str, lines))
                raise FileError(
                    f"No replacement was performed. Multiple occurrences of old_str `{old_str}` "
                    f"in lines: {where}. Please ensure it is unique",
                    field="old_str",
                )
            new = text.replace(old_str, new_str)
            told = (
                "The memory file has been edited. Here is the snippet showing the change (with "
                f"line numbers):\n{_snippet(new, lines[0])}"
            )
            return Change([_put(at, new)], told)

        return await self._change(work)

    async def insert(self, path: str, insert_line: int, insert_text: str) -> str:
        """Put a text after a line; 0: before the first."""

        async def work() -> Change:
            at = _file_parts(path)
            lines = _text(await self._there(at, path)).split("\n")
            if lines[-1] == "":
                lines.pop()
            if not 0 <= insert_line <= len(lines):
                raise FileError(
                    f"Invalid `insert_line` parameter: {insert_line}. It should be within the "
                    f"range [0, {len(lines)}].",
                    field="insert_line",
                    limit=len(lines),
                )
            lines.insert(insert_line, insert_text.rstrip("\n"))
            new = _put(at, "\n".join(lines).rstrip("\n") + "\n")
            return Change([new], f"The file {path} has been edited.")

        return await self._change(work)

    async def delete(self, path: str) -> str:
        """Erase a file, or a directory with all that is in it."""

        async def work() -> Change:
            at = _parts(path)
            if not at:
                raise FileError(f"Cannot delete the {ROOT} directory itself", field="path")
            gone = await self._all(at)
            if not gone:
                raise FileError(f"The path {path} does not exist", field="path")
            return Change([_gone(entry) for entry in gone], f"Successfully deleted {path}")

        return await self._change(work)

    async def rename(self, old_path: str, new_path: str) -> str:
        """Rename or move a file or a directory; what is there already stays as it is."""

        async def work() -> Change:
            old, new = _parts(old_path), _parts(new_path)
            if not old or not new:
                raise FileError(f"Cannot rename the {ROOT} directory itself", field="old_path")
            moved = await self._all(old)
            if not moved:
                raise FileError(f"The path {old_path} does not exist", field="old_path")
            if new[: len(old)] == old and new != old:
                raise FileError("A directory cannot be moved into itself", field="new_path")
            if await self._all(new):
                raise FileError(f"The destination {new_path} already exists", field="new_path")
            await self._free(new, new_path)
            puts = [_gone(entry) for entry in moved]
            puts += [_put((*new, *_at(e)[len(old) :]), _text(e)) for e in moved]
            return Change(puts, f"Successfully renamed {old_path} to {new_path}")

        return await self._change(work)

    async def clear(self) -> str:
        """Erase everything."""

        async def work() -> Change:
            return Change([_gone(entry) for entry in await self._below(())], "All memory cleared")

        return await self._change(work)

    async def _change(self, work: Callable[[], Awaitable[Change]]) -> str:
        """Write what a command makes of the files as they are, though others write them, too."""
        for _ in range(_TRIES):
            revision = await self._items.revision(self._bank)
            change = await work()
            try:
                await self._items.put(self._bank, change.puts, expect_revision=revision)
            except Conflict:
                continue
            return change.told
        raise FileError("the files were changed by others all the while: try again")

    async def _file(self, at: Path) -> Entry | None:
        return await self._items.get(self._bank, _directory(at), at[-1], refresh=False)

    async def _there(self, at: Path, path: str) -> Entry:
        found = await self._file(at)
        if found is None:
            if await self._below(at):
                raise FileError(f"The path {path} is not a file.", field="path")
            raise _not_there(path)
        return found

    async def _below(self, at: Path) -> list[Entry]:
        wanted = Wanted((ROOT, *at), limit=MAX_AT_ONCE, refresh=False)
        return sorted(await self._items.search(self._bank, wanted), key=_at)

    async def _all(self, at: Path) -> list[Entry]:
        """Return the file of a path, or all files in the directory of it."""
        found = await self._file(at)
        return [found] if found is not None else await self._below(at)

    async def _free(self, at: Path, path: str) -> None:
        """Check that a file can be made here: no directory is here, and no file above."""
        if await self._below(at):
            raise FileError(f"{path} is a directory", field="path")
        for depth in range(1, len(at)):
            if await self._file(at[:depth]) is not None:
                above = "/".join((ROOT, *at[:depth]))
                raise FileError(f"{above} is a file, not a directory", field="path")


def _parts(path: Any) -> Path:
    """Return the names of a path below the root; none for the root itself.

    Raises:
        FileError: it leads elsewhere, or holds what no name can.
    """
    if not isinstance(path, str) or not (path == ROOT or path.startswith(f"{ROOT}/")):
        raise FileError(f"Path must start with {ROOT}, got: {path}", field="path")
    names = tuple(name for name in path.removeprefix(ROOT).split("/") if name)
    for name in names:
        plain = name
        while (decoded := unquote(plain)) != plain:
            plain = decoded
        pieces = plain.replace("\\", "/").split("/")
        if ".." in pieces or "." in pieces:
            raise FileError(f"Path {path} would escape {ROOT} directory", field="path")
        if clean(name) != name or not name.isprintable() or "\\" in name:
            raise FileError(f"Path {path!r} holds characters that no name can", field="path")
    return names


def _file_parts(path: Any) -> Path:
    at = _parts(path)
    if not at or path.endswith("/"):
        raise FileError(f"The path {path} is not a file.", field="path")
    return at


def _directory(at: Path) -> Path:
    return (ROOT, *at[:-1])


def _at(entry: Entry) -> Path:
    return (*entry.namespace[1:], entry.key)


def _text(entry: Entry) -> str:
    return str(entry.value.get("text", ""))


def _put(at: Path, text: Any) -> Put:
    if not isinstance(text, str):
        raise FileError("file_text must be a text", field="file_text")
    if len(text) > MAX_FILE_CHARS or text.count("\n") >= MAX_LINES:
        raise FileError(
            f"{'/'.join((ROOT, *at))} would exceed {MAX_FILE_CHARS} characters: use more files",
            field="file_text",
            limit=MAX_FILE_CHARS,
        )
    return Put(_directory(at), at[-1], {"text": text}, text=text)


def _gone(entry: Entry) -> Put:
    return Put(entry.namespace, entry.key, None)


def _not_there(path: str) -> FileError:
    return FileError(f"The path {path} does not exist. Please provide a valid path.", field="path")


def _lines_of(text: str, part: str) -> list[int]:
    """Return the numbers of the lines where a text begins, from 1; all of them."""
    found: list[int] = []
    at = text.find(part) if part else -1
    while at >= 0:
        found.append(text.count("\n", 0, at) + 1)
        at = text.find(part, at + 1)
    return found


def _snippet(text: str, line: int) -> str:
    lines = text.split("\n")
    first, last = max(1, line - _AROUND), min(len(lines), line + _AROUND)
    return "\n".join(_line(number, lines[number - 1]) for number in range(first, last + 1))


def _line(number: int, text: str) -> str:
    return f"{number:>{_WIDTH}}\t{text}"


def _numbered(path: str, text: str, view_range: Sequence[int] | None) -> str:
    lines = text.split("\n")
    first, last = 1, len(lines)
    if view_range is not None:
        if len(view_range) != 2 or view_range[0] < 1 or -1 != view_range[1] < view_range[0]:
            raise FileError(
                f"Invalid `view_range` parameter: {list(view_range)}. It should be two line "
                f"numbers from 1 to {len(lines)}; a last one of -1 is the end.",
                field="view_range",
            )
        first = view_range[0]
        last = len(lines) if view_range[1] == -1 else min(view_range[1], len(lines))
    shown = [_line(number, lines[number - 1]) for number in range(first, last + 1)]
    return "\n".join([f"Here's the content of {path} with line numbers:", *shown])


def _listed(path: str, at: Path, below: Sequence[Entry]) -> str:
    """Return a directory's listing: two levels, sizes of directories those of all in them."""
    sizes: dict[Path, int] = {}
    directories: set[Path] = set()
    for entry in below:
        inner = _at(entry)[len(at) :]
        size = len(_text(entry).encode())
        if any(name.startswith(".") for name in inner):
            continue
        for depth in range(len(inner)):
            sizes[inner[:depth]] = sizes.get(inner[:depth], 0) + size
            directories.add(inner[:depth])
        sizes[inner] = size
    shown = [f"{_size(sizes.get((), 0))}\t{path}"]
    for inner in sorted(sizes):
        if 0 < len(inner) <= _LEVELS:
            end = "/" if inner in directories else ""
            shown.append(f"{_size(sizes[inner])}\t{path}/{'/'.join(inner)}{end}")
    head = (
        f"Here're the files and directories up to {_LEVELS} levels deep in {path}, excluding "
        "hidden items:"
    )
    return "\n".join([head, *shown])


def _size(count: int) -> str:
    value, unit = float(count), 0
    while value >= 1024 and unit < len(_SIZES) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.0f}{_SIZES[unit]}" if value == int(value) else f"{value:.1f}{_SIZES[unit]}"


__all__ = ["ROOT", "FileError", "MemoryFiles"]
