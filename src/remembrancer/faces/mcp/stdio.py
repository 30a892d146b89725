"""The stdio transport: an agent's program starts us and talks over our pipes."""

from __future__ import annotations

from mcp.server.stdio import stdio_server

from .server import Connection, Memory
from .tools import ToolSet
from .ways import Headers, Way


async def serve(way: Way, *, bank: str | None, tools: ToolSet, headers: Headers) -> None:
    """Serve one client until it closes our standard input."""
    connection = Connection(headers, bank, tools)
    memory = Memory(way, lambda _: connection)
    server = memory.server()
    try:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
    finally:
        await memory.close()
