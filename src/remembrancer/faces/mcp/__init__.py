"""The MCP face: tools for agents, over streamable HTTP and stdio.

Each tool is one request of the HTTP face, so that permissions, limits, checks and the audit log are
those of HTTP. The package `mcp` is an extra; nothing here is imported before somebody asks for it.
"""
