"""Puts the HTTP routes together and serves them on one address."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn
from fastapi import Depends, FastAPI
from starlette.middleware.gzip import GZipMiddleware

from ..._version import __version__
from ...app import App
from ...nouns.errors import StoreError
from ..console.pages import Doorstep, Pages
from ..tls import Tls
from . import (
    audit,
    bank_config,
    bank_profile,
    banks,
    consolidation,
    directives,
    documents,
    dry_run,
    entities,
    errors,
    events,
    files,
    forget,
    graph,
    health,
    hebbs_contradictions,
    hebbs_insights,
    hebbs_memories,
    hebbs_policy,
    hebbs_recall,
    hebbs_subscribe,
    hebbs_system,
    hebbs_upload,
    hebbs_workspaces,
    ics,
    intention_shapes,
    intention_stream,
    intentions,
    keys,
    knowledge,
    llm,
    mem0_hosted,
    mem0_platform,
    mem0_shapes,
    memories,
    mental_model_shapes,
    mental_models,
    metrics,
    occurrences,
    operations,
    prime,
    recall,
    recall_request,
    reflect,
    retain,
    schema,
    stats,
    tags,
    templates,
    timeline,
    transfer,
    webhooks,
)
from .access import permitted
from .admission import Admission
from .banks import EncodedBanks
from .base_path import BasePath
from .body import Bodies
from .connections import bounded
from .hebbs_subscribe import Pushes
from .intake import Intake
from .intention_stream import Streams
from .mcp_route import McpRoute
from .multipart import Forms
from .overload import Overload
from .watching import Watched
from .workspaces import Workspaces

GZIP_BYTES = 1024  # answers from here on are compressed when the client can take it
_GZIP_LEVEL = 1  # half the time of 5, for answers that are 3 to 6 % longer
# FastAPI's own spans hold query strings, and its logs errors, which may quote memories: `Watched`
# makes ours.
_NO_TELEMETRY: Any = dict.fromkeys(("tracing", "metrics", "logs", "auto_configure"), False)
_DRAIN_S = 25  # for requests that run when the server is told to stop
_BODIES = (
    retain.RetainRequest,
    consolidation.ConsolidationRequest,
    dry_run.DryRunExtractRequest,
    recall_request.RecallRequest,
    reflect.ReflectRequest,
    prime.PrimeRequest,
    forget.ForgetRequest,
    hebbs_memories.RememberRequest,
    hebbs_memories.ReviseRequest,
    hebbs_memories.BatchRequest,
    hebbs_memories.GraphRequest,
    hebbs_recall.HebbsRecallRequest,
    hebbs_insights.HebbsReflectRequest,
    hebbs_insights.CommitRequest,
    hebbs_contradictions.ContradictionsRequest,
    hebbs_contradictions.SettleRequest,
    hebbs_subscribe.SubscribeRequest,
    hebbs_subscribe.FeedRequest,
    hebbs_policy.PolicyRequest,
    hebbs_workspaces.CreateWorkspaceRequest,
    memories.UpdateMemoryRequest,
    documents.UpdateDocumentRequest,
    banks.CreateBankRequest,
    bank_profile.UpdateDispositionRequest,
    bank_profile.AddBackgroundRequest,
    bank_config.BankConfigUpdate,
    entities.MergeEntitiesRequest,
    entities.SplitEntityRequest,
    entities.UpdateEntityRequest,
    templates.BankTemplateManifest,
    directives.CreateDirectiveRequest,
    directives.UpdateDirectiveRequest,
    mental_model_shapes.CreateMentalModelRequest,
    mental_model_shapes.UpdateMentalModelRequest,
    knowledge.CreateFolderRequest,
    knowledge.CreatePageRequest,
    knowledge.UpdateNodeRequest,
    webhooks.CreateWebhookRequest,
    webhooks.UpdateWebhookRequest,
    intention_shapes.RegisterRequest,
    intention_shapes.UpdateIntentionRequest,
    intentions.CheckRequest,
    occurrences.AnswerRequest,
    occurrences.NackRequest,
    occurrences.SnoozeRequest,
    occurrences.ExtendRequest,
    events.EventsRequest,
    keys.CreateKeyRequest,
    keys.RotateKeyRequest,
    mem0_shapes.Mem0AddRequest,
    mem0_shapes.Mem0SearchRequest,
    mem0_shapes.Mem0ListRequest,
    mem0_shapes.Mem0UpdateRequest,
)
_ROUTERS = (
    recall,  # these two first: a request is compared with one router after the other
    prime,
    retain,
    dry_run,
    reflect,
    forget,
    hebbs_memories,
    hebbs_recall,
    hebbs_insights,
    hebbs_contradictions,
    hebbs_subscribe,
    hebbs_policy,
    hebbs_system,
    hebbs_upload,
    hebbs_workspaces,
    memories,
    documents,
    graph,
    operations,
    banks,
    bank_profile,
    bank_config,
    stats,
    tags,
    entities,
    templates,
    timeline,
    directives,
    mental_models,
    knowledge,
    consolidation,
    llm,
    webhooks,
    ics,
    intention_stream,  # before `intentions`, which takes any name there
    intentions,
    occurrences,
    events,
    files,
    transfer,
    audit,
    keys,
    mem0_hosted,
    mem0_platform,
    health,
    metrics,
)


def make_app(app: App, host: str | None = None) -> FastAPI:
    """Return the HTTP face of an open memory; closing the memory is left to the caller.

    Args:
        app: the open memory.
        host: that it is bound to.
    """
    api = FastAPI(
        title="Remembrancer",
        version=__version__,
        description="A memory for AI agents: retain, recall, prime, forget.",
        openapi_url=None,  # see `schema.describe`
        docs_url=None,  # these pages would load scripts from elsewhere
        redoc_url=None,
        telemetry=_NO_TELEMETRY,
        dependencies=[Depends(permitted)],  # which `direct.Direct` asks itself
    )
    api.state.app = app
    api.state.bodies = Bodies(app.settings.max_body_bytes)
    api.state.forms = Forms(app.settings.max_upload_bytes)
    api.state.started = time.monotonic()
    api.state.draining = False
    api.state.streams = Streams(app)
    api.state.pushes = Pushes(app)
    for module in _ROUTERS:
        api.include_router(module.router)
    api.state.mcp = McpRoute(api, app.settings)
    api.router.routes.extend((*api.state.mcp.routes, *Pages().routes))
    errors.install(api)
    schema.describe(api, _BODIES, errors.ERRORS)
    # The first one stands next to the routes.
    hosts = (*app.settings.allowed_hosts, *([host] if host else ()))
    api.state.routes = [route for module in _ROUTERS for route in module.router.routes]
    api.state.methods = schema.methods_of(api.state.routes)
    api.add_middleware(Overload, desk=app.desk, meters=app.meters, routes=api.state.routes)
    api.add_middleware(Admission, gate=app.gate, hosts=hosts)
    api.add_middleware(Watched, memory=app)
    api.add_middleware(GZipMiddleware, minimum_size=GZIP_BYTES, compresslevel=_GZIP_LEVEL)
    api.add_middleware(EncodedBanks)
    api.add_middleware(Workspaces)
    api.add_middleware(Doorstep)
    if app.settings.base_path:
        api.servers = [{"url": app.settings.base_path}]
        api.add_middleware(BasePath, base=app.settings.base_path)
    api.add_middleware(Intake)
    return api


class HttpServer:
    """The HTTP face on one address; it holds the address from when it is made.

    Args:
        host: a name or number of this machine.
        port: 0 takes a free one, see `url`.
        listener: a socket that has the address already.
        tls: the certificate to serve with; without one, connections are plain.

    Raises:
        StoreError: the address cannot be listened on.
    """

    def __init__(
        self,
        host: str,
        port: int,
        listener: socket.socket | None = None,
        *,
        tls: Tls | None = None,
    ) -> None:
        self._host = host
        self._tls = tls
        self.listener = listener or _listen(host, port)
        self._api: FastAPI | None = None
        self._server: _Server | None = None
        self._streams: tuple[Streams, Pushes, McpRoute] | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        host, port = self.listener.getsockname()[:2]
        scheme = "http" if self._tls is None else "https"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    async def serve(self, app: App, ready: Callable[[], None]) -> None:
        """Serve an open memory until `stop`; requests that run then have 25 s to end."""
        api = self._api = make_app(app, self._host)
        mcp: McpRoute = api.state.mcp
        self._streams = api.state.streams, api.state.pushes, mcp
        config = uvicorn.Config(
            api,
            log_level="warning",
            log_config=None,  # as ours are
            access_log=False,
            lifespan="off",
            server_header=False,
            http=bounded(app.settings.max_connections, app.settings.idle_s, app.settings.stall_s),
            timeout_graceful_shutdown=_DRAIN_S,
        )
        config.load()
        if self._tls is not None:
            config.ssl = self._tls.context()
        self._server = _Server(config, ready)
        try:
            await self._server.serve([self.listener])
        finally:
            await mcp.ended()

    def drain(self) -> None:
        """Say from now on that no more requests should come, and go on serving."""
        if self._api is not None:
            self._api.state.draining = True

    def stop(self) -> None:
        """Take no more requests; said twice, wait no longer for those that run."""
        for streams in self._streams or ():
            streams.close()
        if self._server is not None:
            self._server.force_exit = self._server.should_exit
            self._server.should_exit = True

    def close(self) -> None:
        """Give the address back."""
        self.listener.close()


class _Server(uvicorn.Server):
    """A server that says when it is ready, and leaves signals to others."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio turns off Nagle's algorithm; else an answer waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise StoreError(
            f"{host}:{port} cannot be listened on ({error.strerror}): stop what runs there, or "
            "choose another port with --http HOST:PORT"
        ) from None
    return listener
