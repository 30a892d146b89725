"""Which tools there are, and which of them a connection sees."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum

from ...nouns.errors import InvalidInput
from . import bank_tools, future_tools, memory_tools, reference_tools
from .tool import AnyTool


class ToolSet(StrEnum):
    """What a connection asks for."""

    MEMORY = "memory"
    REFERENCE = "reference"
    ALL = "all"


_SETS: dict[ToolSet, Sequence[AnyTool]] = {
    ToolSet.MEMORY: (*memory_tools.TOOLS, *future_tools.TOOLS, *bank_tools.TOOLS),
    ToolSet.REFERENCE: reference_tools.TOOLS,
}
_SETS[ToolSet.ALL] = (*_SETS[ToolSet.MEMORY], *_SETS[ToolSet.REFERENCE])


def tool_set(name: str | None) -> ToolSet:
    """Return the set of a name; `memory` without one.

    Raises:
        InvalidInput: there is none of that name.
    """
    if not name:
        return ToolSet.MEMORY
    try:
        return ToolSet(name)
    except ValueError:
        raise InvalidInput(
            f"tools must be one of {', '.join(ToolSet)}, not {name!r}", field="tools"
        ) from None


def tools_of(
    chosen: ToolSet, *, one_bank: bool, enabled: Collection[str] | None = None
) -> dict[str, AnyTool]:
    """Return the tools that a connection sees, by name.

    Args:
        chosen: the set.
        one_bank: the connection has a bank of its own; tools about many are left out.
        enabled: names of those that the bank allows; None: all.
    """
    return {
        tool.name: tool
        for tool in _SETS[chosen]
        if not (one_bank and tool.many) and (enabled is None or tool.name in enabled)
    }
