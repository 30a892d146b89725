"""The MCP server of one kind of connection: lists tools, runs them, tells what is due."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from ..._version import __version__
from ...nouns.errors import InvalidInput, RemembrancerError
from .due import Notices, bank_of, due_uri
from .results import Results
from .tool import AnyTool, Call, Json
from .tools import ToolSet, tools_of
from .ways import Ask, Headers, Way, error_text, path_of

DEFAULT_BANK = "default"

_INSTRUCTIONS = (
    "This server is your long-term memory. At the start of a conversation call prime; before "
    "answering about the user or the past call recall; when something worth knowing later is said "
    "call retain; for what is to be done later call remind, and ask check what is due."
)

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True)
class Connection:
    """What a request's connection says.

    Attributes:
        headers: that bring the credential to the HTTP face.
        bank: the bank that the connection is about; None: the tools' argument, or `default`.
        tools: which set of tools it sees.
    """

    headers: Headers
    bank: str | None = None
    tools: ToolSet = ToolSet.MEMORY


class Refusal(Exception):
    """The HTTP face refused a request; the text is for people."""


class Memory:
    """The handlers of the protocol's requests, over a way to the HTTP face.

    Args:
        way: to the HTTP face.
        connection: tells what a request's connection says.
    """

    def __init__(self, way: Way, connection: Callable[[Context], Connection]) -> None:
        self._way = way
        self._connection = connection
        self._notices = Notices(way)
        self._results = Results(way)

    def server(self) -> Server[Any]:
        """Return the server that speaks the protocol."""
        return Server(
            "remembrancer",
            version=__version__,
            title="Remembrancer",
            instructions=_INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._listen,
        )

    async def close(self) -> None:
        """End what watches for subscribers."""
        await self._notices.close()

    async def _list_tools(
        self,
        ctx: Context,
        params: types.PaginatedRequestParams | None,  # noqa: ARG002
    ) -> types.ListToolsResult:
        connection = self._connection(ctx)
        found = (await self._tools(connection)).values()
        results = [await self._results.of(tool.answers, connection.headers) for tool in found]
        return types.ListToolsResult(tools=[*map(_described, found, results)])

    async def _call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        connection = self._connection(ctx)
        try:
            result = await self._run(ctx, connection, params.name, dict(params.arguments or {}))
        except (Refusal, RemembrancerError) as error:
            return _failed(str(error))
        except ValidationError as error:
            return _failed(_faults(error))
        text = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], structured_content=dict(result)
        )

    async def _run(
        self, ctx: Context, connection: Connection, name: str, arguments: dict[str, Any]
    ) -> Json:
        tools = await self._tools(connection)
        if name not in tools:
            raise InvalidInput(
                f"there is no tool {name!r} here; there are: {', '.join(sorted(tools))}",
                field="name",
            )
        tool = tools[name]
        bank = arguments.pop("bank_id", None) or connection.bank or DEFAULT_BANK
        if not isinstance(bank, str):
            raise InvalidInput("bank_id must be text", field="bank_id")
        if connection.bank is not None and bank != connection.bank:
            raise InvalidInput(
                f"this connection is about the bank {connection.bank!r} alone", field="bank_id"
            )
        call = Call(bank, lambda ask: self._ask(ask, connection), ctx.session.report_progress)
        return await tool.run(tool.takes.model_validate(arguments), call)

    async def _ask(self, ask: Ask, connection: Connection) -> Any:
        answer = await self._way.call(ask, connection.headers)
        if answer.status >= 400:
            raise Refusal(error_text(answer))
        return answer.body

    async def _tools(self, connection: Connection) -> dict[str, AnyTool]:
        enabled = await self._enabled(connection)
        return tools_of(connection.tools, one_bank=connection.bank is not None, enabled=enabled)

    async def _enabled(self, connection: Connection) -> Collection[str] | None:
        """Return which tools the connection's bank allows; None: all."""
        if connection.bank is None:
            return None
        ask = Ask("GET", path_of(connection.bank, "config"))
        answer = await self._way.call(ask, connection.headers)
        if answer.status in {401, 403, 429}:
            raise MCPError(types.INVALID_REQUEST, error_text(answer))
        if answer.status >= 400:
            return None  # there is no such bank yet
        names: list[str] | None = answer.body.get("config", {}).get("mcp_enabled_tools")
        return names

    async def _list_resources(
        self,
        ctx: Context,
        params: types.PaginatedRequestParams | None,  # noqa: ARG002
    ) -> types.ListResourcesResult:
        bank = self._connection(ctx).bank or DEFAULT_BANK
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=due_uri(bank),
                    name=f"due in {bank}",
                    title="What is due",
                    description="What is to be done now. Subscribe to be told when something falls "
                    "due; another bank's name may stand in the address.",
                    mime_type="application/json",
                )
            ]
        )

    async def _read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        connection = self._connection(ctx)
        bank = self._named(connection, params.uri)
        ask = Ask("POST", path_of(bank, "intentions", "check"), body={"mode": "peek"})
        try:
            body = await self._ask(ask, connection)
        except Refusal as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        return types.ReadResourceResult(
            contents=[
                types.TextResourceContents(
                    uri=params.uri,
                    mime_type="application/json",
                    text=json.dumps(body, ensure_ascii=False),
                )
            ]
        )

    async def _subscribe(
        self, ctx: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        connection = self._connection(ctx)
        bank = self._named(connection, params.uri)
        self._notices.watch(ctx.session, bank, connection.headers)
        return types.EmptyResult()

    async def _unsubscribe(
        self, ctx: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        await self._notices.leave(ctx.session, self._named(self._connection(ctx), params.uri))
        return types.EmptyResult()

    async def _listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        connection = self._connection(ctx)
        uris = params.notifications.resource_subscriptions or []
        banks = [self._named(connection, uri) for uri in uris]
        return await self._notices.listen(ctx, params, banks, connection.headers)

    def _named(self, connection: Connection, uri: Any) -> str:
        bank = bank_of(str(uri))
        if bank is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no resource {uri}")
        if connection.bank is not None and bank != connection.bank:
            raise MCPError(
                types.INVALID_PARAMS, f"this connection is about {connection.bank!r} alone"
            )
        return bank


def _described(tool: AnyTool, result: Mapping[str, Any]) -> types.Tool:
    schema = tool.takes.model_json_schema()
    schema.pop("title", None)
    schema.pop("description", None)
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema,
        output_schema=dict(result),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads,
            destructive_hint=tool.destroys,
            open_world_hint=False,
        ),
    )


def _failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def _faults(error: ValidationError) -> str:
    told = []
    for each in error.errors():
        where, message = ".".join(map(str, each["loc"])), each["msg"].removeprefix("Value error, ")
        told.append(f"{where}: {message}" if where else message)
    return "; ".join(told)
