"""The HTTP side: checks the caller, finds the handler, runs it in a thread and turns its answer into bytes."""

import asyncio
import errno
import json
import logging
import re
import shutil
import sqlite3
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from email.utils import format_datetime
from types import ModuleType
from urllib.parse import parse_qsl, unquote

import anyio.to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .. import discovery, organization
from ..access.keys import TOKEN_PATH
from ..access.permissions import TOKEN_HEAD
from ..endpoints import UNSERVED
from ..program import COMMAND
from ..projects import Projects
from ..router import Router
from ..wire import (
    ApiError,
    Call,
    FileSlice,
    Reply,
    Route,
    invalid_argument,
    loopback,
    not_found,
    permission_denied,
    service_disabled,
    unauthenticated,
    unavailable,
    unimplemented,
)
from ..world import World
from . import control
from .connections import Connections

_log = logging.getLogger("vertex_local")
_CHUNK = 1 << 20
_STRANGERS = 1 << 20
"""The bytes of a body that are read before its sender is known."""
_REPEATING = re.compile(r"\b(gcloud|gsutil|apitools)\b")
"""Clients that repeat whatever is 500 or more, and then speak of the network."""
_TOKENS = ("access_token", "oauth_token")
"""The parameters of a query that may have the token, where no header has it."""
_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
_SQLITE_FULL = {"SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_TRUNCATE"}


def build_app(projects: Projects, services: Sequence[ModuleType], connections: Connections | None = None) -> ASGIApp:
    """Return the ASGI application over the services' routes. `connections` lets faults drop a connection."""
    routers: dict[str, Router] = {}

    def open_routes(world: World) -> None:
        if world.project.id in routers:
            return
        routes = control.routes(projects, services) if world is projects.home else []
        for service in services:
            routes += [replace(route, api=service.API) for route in service.routes(world)]
        routers[world.project.id] = Router(routes)

    projects.follow(open_routes)
    return _App(projects, routers, connections or Connections())


class _App:
    def __init__(self, projects: Projects, routers: Mapping[str, Router], connections: Connections) -> None:
        self._projects, self._routers, self._connections = projects, routers, connections
        self._world = projects.home

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        began = time.monotonic()
        request = Request(scope, receive)
        token, path = _split_token(request)
        try:
            reply = await self._reply(request, token, path)
        except _LostAnswerError:
            _log.info("%s %s -> answer lost (fault)", request.method, _shown(path))
            self._connections.abort(scope.get("client"))
            await asyncio.sleep(0)  # lets the server see the end, so that it does not miss an answer
            return
        except ClientDisconnect:
            return
        response = _response(reply)
        response.headers["date"] = format_datetime(self._world.clock.now(), usegmt=True)
        spent = 1000 * (time.monotonic() - began)
        _log.info("%s %s -> %d in %.0f ms", request.method, _shown(path), reply.status, spent)
        await response(scope, receive, send)

    async def _reply(self, request: Request, token: str, path: str) -> Reply:
        try:
            _check_local(request)
            if path == "/healthz" and request.method == "GET":
                return control.health()
            faults = self._world.faults
            if faults.take("unavailable", request.method, path):
                raise unavailable("The service is currently unavailable.")
            delay = faults.take("delay", request.method, path)
            if delay:
                await asyncio.sleep(delay.seconds)
            body = await self._body(request, token)
            if await faults.hold(request.method, path, request.url.query, request.is_disconnected):
                raise ClientDisconnect
            if path == TOKEN_PATH and request.method == "POST":
                return await anyio.to_thread.run_sync(control.token, self._projects, body)
            reply = await anyio.to_thread.run_sync(self._answer, request, token, path, body)
            if faults.take("lost-answer", request.method, path):
                raise _LostAnswerError
            return reply
        except ApiError as problem:
            error = _final(problem, request)
            return Reply(error.code, b"" if error.code == 304 else error.body())
        except (OSError, sqlite3.Error) as error:
            return self._broken(error, request.method, _shown(path))
        except (_LostAnswerError, ClientDisconnect):
            raise
        except RecursionError:
            return Reply(400, invalid_argument("The request is nested too deeply.").body())
        except Exception:
            _log.exception("%s %s failed", request.method, _shown(path))
            return Reply(500, ApiError(500, "INTERNAL", "Internal error encountered. See cloud.log.").body())

    async def _body(self, request: Request, token: str) -> bytes:
        parts, size, known = [], 0, False
        async for part in request.stream():
            size += len(part)
            if size > self._world.settings.body_bytes:
                raise ApiError(
                    413, "INVALID_ARGUMENT", f"The body is larger than {self._world.settings.body_bytes} bytes."
                )
            if size > _STRANGERS and not known:
                known = bool(await anyio.to_thread.run_sync(self._principal, token))
            parts.append(part)
        return b"".join(parts)

    def _principal(self, token: str) -> str:
        """Return a token's principal. Raises 401."""
        principal = self._projects.identify(token) if token else None
        if principal is None:
            raise unauthenticated()
        return principal

    def _answer(self, request: Request, token: str, path: str, body: bytes) -> Reply:
        principal = self._principal(token)
        call = _call(request, principal, token, path, body)
        own = path.startswith(control.PREFIX)
        world = self._world if own else self._projects.addressed(path, dict(call.pairs), call.raw)

        def admit(route: Route) -> None:
            if route.api:
                self._admit(world, route.api, call)

        reply = self._routers[world.project.id].answer(call, admit)
        if reply is None:
            raise _unserved(call.method, path)
        if call.method != "GET":
            world.trouble = ""
        return reply

    def _admit(self, world: World, api: str, call: Call) -> None:
        """Raise 403 for a call to an API that is off, that nobody pays for, or that a perimeter keeps out."""
        payer = call.headers.get("x-goog-user-project", "")
        organization.check_quota_project(world.settings, api, call.principal, payer)
        if payer and not any(
            of.project.is_called(payer) and of.access.granted(call.principal, "serviceusage.services.use")
            for of in self._projects.worlds()
        ):
            raise organization.user_project_denied(api, call.principal, payer)
        if world.store.get("disabledApi", api) is not None:
            raise service_disabled(api, world.project.number)
        if not any(of.access.is_of_job(call.token) for of in self._projects.worlds()):
            organization.check_perimeter(world.settings, api, call.principal, world.project.number)
        if world.settings.custom_constraints and (method := discovery.method_of(call.method, call.path)):
            organization.check_method(world.settings, api, method.id, call.path)

    def _broken(self, error: OSError | sqlite3.Error, method: str, path: str) -> Reply:
        full = getattr(error, "errno", None) in _FULL or getattr(error, "sqlite_errorname", "") in _SQLITE_FULL
        if not full:
            _log.exception("%s %s failed", method, path)
            return Reply(500, ApiError(500, "INTERNAL", "Internal error encountered. See cloud.log.").body())
        self._world.trouble = f"disk full: {error}, on {method} {path} at {self._world.now()}"
        _log.error("%s", self._world.trouble)
        folder = self._world.state_folder
        message = (
            f"The local cloud's disk is full ({error}): {shutil.disk_usage(folder).free / 1e6:.0f} MB are free at "
            f"{folder}, and nothing was written. Make room, as with `{COMMAND} cache clear`, and try again."
        )
        return Reply(507, ApiError(507, "RESOURCE_EXHAUSTED", message).body())


class _LostAnswerError(Exception):
    """The fault that loses an answer."""


def _final(error: ApiError, request: Request) -> ApiError:
    """Return an error at which its client stops: gcloud takes a 501 for an outage, so it gets a 400 with its words."""
    if error.code != 501 or not _REPEATING.search(request.headers.get("user-agent", "")):
        return error
    return ApiError(400, error.status, error.message, error.details, reason=error.reason)


def _unserved(method: str, path: str) -> ApiError:
    """Return the error for what no route serves."""
    if path.startswith(UNSERVED):
        service = path.removeprefix(UNSERVED).split("/")[0].replace("_", " ")
        return unimplemented(f"The local cloud does not serve this API of Google's: {service}.")
    known = discovery.method_of(method, path)
    if known:
        return unimplemented(f"{known.id} is a method of Google's API that the local cloud does not implement.")
    return not_found(f"There is no method for {method} {path}.")


def _call(request: Request, principal: str, token: str, path: str, body: bytes) -> Call:
    """Return a request's call, without a token in its query. A POST that says so is a GET with a long query."""
    pairs = [pair for pair in request.query_params.multi_items() if pair[0] not in _TOKENS]
    method, media = request.method, request.headers.get("content-type", "")
    if method == "POST":
        method = request.headers.get("x-http-method-override", method).upper()
        if method != "POST" and media.startswith("application/x-www-form-urlencoded"):
            pairs += parse_qsl(body.decode("latin-1"), keep_blank_values=True)
            body = b""
    prefix = f"/t/{token}" if request.scope["path"].startswith("/t/") else ""
    return Call(
        principal=principal,
        token=token,
        method=method,
        path=path,
        params={},
        query={},
        headers={name.lower(): value for name, value in request.headers.items()},
        raw=body,
        pairs=tuple(pairs),
        base_url=f"{request.url.scheme}://{request.headers.get('host', '')}{prefix}",
    )


def _split_token(request: Request) -> tuple[str, str]:
    """Return the request's token ("" when it has none) and its raw path without the token's prefix."""
    raw_path: bytes = request.scope.get("raw_path") or request.scope["path"].encode()
    path = raw_path.split(b"?")[0].decode("latin-1")
    if path.startswith("/t/"):
        token, _, rest = path[3:].partition("/")
        return unquote(token), "/" + rest
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if not scheme:
        return next((request.query_params[name] for name in _TOKENS if name in request.query_params), ""), path
    return (token.strip() if scheme.lower() == "bearer" else ""), path


def _shown(path: str) -> str:
    """Return a path for the log: one with a token elsewhere than in its prefix is not repeated."""
    return "(a path with a token in it)" if TOKEN_HEAD in unquote(path) else path


def _check_local(request: Request) -> None:
    """Refuse foreign Hosts, which a name sends that was made to point here, and pages of other Origins."""
    host = request.headers.get("host", "")
    if not loopback(host):
        raise permission_denied("The local cloud answers to loopback addresses only (see the Host header).")
    if request.headers.get("origin", f"http://{host}") != f"http://{host}":
        raise permission_denied("The local cloud does not serve pages of others (see the Origin header).")


def _response(reply: Reply) -> Response:
    headers = dict(reply.headers)
    if isinstance(reply.body, FileSlice):
        headers.setdefault("content-length", str(reply.body.length))
        return StreamingResponse(_read(reply.body), reply.status, headers, reply.media)
    if isinstance(reply.body, bytes):
        content = reply.body
    elif reply.body is None:
        content = b"" if reply.status == 204 else b"{}"
    else:
        content = json.dumps(reply.body, ensure_ascii=False, separators=(",", ":")).encode()
    return Response(content, reply.status, headers, reply.media)


async def _read(part: FileSlice) -> AsyncIterator[bytes]:
    left = part.length
    with part.file as file:
        file.seek(part.start)
        while left > 0:
            chunk = await anyio.to_thread.run_sync(file.read, min(left, _CHUNK))
            if not chunk:
                return
            left -= len(chunk)
            yield chunk
