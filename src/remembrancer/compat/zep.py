"""In place of Zep's `get_user_context`: one string of facts, each with when it held."""

from ..faces.compat.zep import user_context, user_context_async

__all__ = ["user_context", "user_context_async"]
