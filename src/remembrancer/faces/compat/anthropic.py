"""Anthropic's memory tool over a memory of ours, as the SDK's helper class and its async twin."""

from __future__ import annotations

from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Self

from anthropic.tools import ToolError
from anthropic.tools.memory import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from ...nouns.errors import InvalidInput
from ...nouns.names import bank_ref
from .errors import as_value_errors
from .holding import Held, Host
from .memory_files import MemoryFiles

_BANK = "anthropic-memory"


class _Backend:
    """The files of a bank, and the memory that holds them."""

    def __init__(self, memory: Host | str | Path | None, bank: str, settings: Any) -> None:
        with as_value_errors():
            ref = bank_ref(bank)
            self.held = Held(memory, settings)
        self.files = MemoryFiles(self.held.app.items, ref)

    async def done(self, work: Coroutine[Any, Any, str]) -> str:
        try:
            told = await work
        except InvalidInput as error:
            raise ToolError(error.message) from None
        self.held.app.worker.wake()  # for what was erased
        return told


class RemembrancerMemoryTool(BetaAbstractMemoryTool):
    """The memory tool, for `client.beta.messages.run_tools(tools=[…])`.

    Args:
        memory: an open `remembrancer.Memory`, a folder, or None for the folder of the settings.
        bank: whose files; what stands in them can be recalled there, too.
        cache_control: the SDK's.
        settings: of the memory that is opened here, such as `embedder="none"`.
    """

    def __init__(
        self,
        memory: Host | str | Path | None = None,
        *,
        bank: str = _BANK,
        cache_control: BetaCacheControlEphemeralParam | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._backend = _Backend(memory, bank, settings)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """List a directory or show a file."""
        return self._do(self._files.view(command.path, command.view_range))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Make a file."""
        return self._do(self._files.create(command.path, command.file_text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that stands in a file once."""
        return self._do(self._files.str_replace(command.path, command.old_str, command.new_str))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Put a text after a line."""
        done = self._files.insert(command.path, command.insert_line, command.insert_text)
        return self._do(done)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Erase a file or a directory."""
        return self._do(self._files.delete(command.path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Rename or move a file or a directory."""
        return self._do(self._files.rename(command.old_path, command.new_path))

    def clear_all_memory(self) -> str:
        """Erase everything."""
        return self._do(self._files.clear())

    def close(self) -> None:
        """Close what was opened here; safe to call twice."""
        self._backend.held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _files(self) -> MemoryFiles:
        return self._backend.files

    def _do(self, work: Coroutine[Any, Any, str]) -> str:
        return self._backend.held.wait(self._backend.done(work))


class AsyncRemembrancerMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool for the async client; see `RemembrancerMemoryTool`."""

    def __init__(
        self,
        memory: Host | str | Path | None = None,
        *,
        bank: str = _BANK,
        cache_control: BetaCacheControlEphemeralParam | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._backend = _Backend(memory, bank, settings)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """List a directory or show a file."""
        return await self._do(self._files.view(command.path, command.view_range))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Make a file."""
        return await self._do(self._files.create(command.path, command.file_text))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that stands in a file once."""
        done = self._files.str_replace(command.path, command.old_str, command.new_str)
        return await self._do(done)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Put a text after a line."""
        done = self._files.insert(command.path, command.insert_line, command.insert_text)
        return await self._do(done)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Erase a file or a directory."""
        return await self._do(self._files.delete(command.path))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Rename or move a file or a directory."""
        return await self._do(self._files.rename(command.old_path, command.new_path))

    async def clear_all_memory(self) -> str:
        """Erase everything."""
        return await self._do(self._files.clear())

    def close(self) -> None:
        """Close what was opened here; safe to call twice."""
        self._backend.held.close()

    @property
    def _files(self) -> MemoryFiles:
        return self._backend.files

    async def _do(self, work: Coroutine[Any, Any, str]) -> str:
        return await self._backend.held.until(self._backend.done(work))
