"""`remembrancer mcp`: be an MCP server on standard input and output."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Data, Embedder, StoreUrl, examples, settings_of

if TYPE_CHECKING:
    from ...settings import Settings

NAME = "mcp"
EPILOG = examples(
    "remembrancer mcp --bank ann",
    "remembrancer mcp --bank ann --url http://localhost:6381 --api-key rmb_…",
    "remembrancer mcp --tools reference",
)


def command(
    bank: Annotated[
        str | None,
        typer.Option(
            envvar=["REMEMBRANCER_MCP_BANK_ID", "HINDSIGHT_MCP_BANK_ID"],
            help="The bank that the agent has for its own; it may name others without.",
            show_default=False,
        ),
    ] = None,
    tools: Annotated[
        str | None,
        typer.Option(
            help="memory (default), reference (the nine of the reference memory server), or all.",
            show_default=False,
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            envvar="REMEMBRANCER_URL",
            help="Of a running server to talk to, instead of opening the data folder here.",
            show_default=False,
        ),
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option(envvar="REMEMBRANCER_MCP_KEY", help="For that server.", show_default=False),
    ] = None,
    data: Data = None,
    store: StoreUrl = None,
    embedder: Embedder = None,
) -> None:
    """Serve an agent's program over standard input and output (MCP). It starts this command."""
    import asyncio  # noqa: PLC0415

    from ...nouns.errors import InvalidInput  # noqa: PLC0415

    if find_spec("mcp") is None:
        raise InvalidInput("this needs the package mcp: pip install 'remembrancer[mcp]'")
    from ..mcp.tools import tool_set  # noqa: PLC0415

    chosen = tool_set(tools)
    settings = settings_of(data, store, embedder)
    headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
    if url is not None:
        asyncio.run(_remote(url, bank, str(chosen), headers))
    else:
        asyncio.run(_here(settings, bank, str(chosen), headers))


async def _remote(url: str, bank: str | None, tools: str, headers: dict[str, str]) -> None:
    from ..mcp.stdio import serve  # noqa: PLC0415
    from ..mcp.tools import tool_set  # noqa: PLC0415
    from ..mcp.ways import Remote  # noqa: PLC0415

    way = Remote(url)
    try:
        await serve(way, bank=bank, tools=tool_set(tools), headers=headers)
    finally:
        await way.close()


async def _here(settings: Settings, bank: str | None, tools: str, headers: dict[str, str]) -> None:
    from ...app import App  # noqa: PLC0415
    from ..http.server import make_app  # noqa: PLC0415
    from ..mcp.stdio import serve  # noqa: PLC0415
    from ..mcp.tools import tool_set  # noqa: PLC0415
    from ..mcp.ways import Inside  # noqa: PLC0415

    # Whoever may read the folder needs no key, here as in the other commands.
    app = await App.open(settings.model_copy(update={"auth": "off"}), watch=True)
    try:
        way = Inside(make_app(app))
        await serve(way, bank=bank, tools=tool_set(tools), headers=headers)
    finally:
        await app.close()
