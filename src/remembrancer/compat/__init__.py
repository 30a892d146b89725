"""Drop-in replacements for other memory systems: change an import, keep the code.

`remembrancer.compat.mem0`, `.langgraph`, `.anthropic`, `.openai_agents` and `.zep` each take the
place of a module of the system that they are named after; `.llamaindex` and `.pydantic_ai` plug
into theirs.
"""
