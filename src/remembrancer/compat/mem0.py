"""In place of `mem0`: `from remembrancer.compat.mem0 import Memory`."""

from ..faces.compat.mem0.library import AsyncMemory, Memory

__all__ = ["AsyncMemory", "Memory"]
