"""The engine's log, where the official provider reports each error before it answers with it."""

import contextlib
from typing import Any

import grpc

from . import VERSION
from .protos import engine, engine_services

_WITHIN_S = 5.0


class EngineLog:
    """The engine's log, at the address that the engine gives a plugin when it starts it."""

    def __init__(self, address: str) -> None:
        self._stub = engine_services.EngineStub(grpc.insecure_channel(address))

    def error(self, urn: str, what: str) -> None:
        """Report an error of a resource."""
        message = f"sdk-v2/provider2.go:571: sdk.helper_schema: {what}: provider=google-beta@{VERSION}"
        self.tell(urn, message, engine.LogSeverity.ERROR)

    def tell(self, urn: str, message: str, severity: Any = engine.LogSeverity.INFO) -> None:
        """Tell of a resource, without waiting for an engine that does not listen."""
        request = engine.LogRequest(severity=severity, message=message, urn=urn)
        with contextlib.suppress(grpc.RpcError):
            self._stub.Log(request, timeout=_WITHIN_S)
