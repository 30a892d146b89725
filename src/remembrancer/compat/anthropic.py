"""A backend of Anthropic's memory tool; needs `pip install 'remembrancer[anthropic]'`."""

from ..faces.compat.anthropic import AsyncRemembrancerMemoryTool, RemembrancerMemoryTool
from ..faces.compat.memory_files import FileError, MemoryFiles

__all__ = ["AsyncRemembrancerMemoryTool", "FileError", "MemoryFiles", "RemembrancerMemoryTool"]
