"""Open connections by their client's address, so that a fault can drop one without an answer."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class Connections:
    def __init__(self) -> None:
        self._open: dict[tuple[str, int], asyncio.Transport] = {}

    def abort(self, client: tuple[str, int] | None) -> None:
        """Close the client's connection at once, unless the client has done so."""
        transport = self._open.get(tuple(client)) if client else None  # type: ignore[arg-type]
        if transport is not None:
            transport.abort()

    def protocol(self) -> type[H11Protocol]:
        """Return a protocol class for uvicorn that keeps this registry."""
        registry = self._open

        class Protocol(H11Protocol):
            def connection_made(self, transport: Any) -> None:
                registry[transport.get_extra_info("peername")[:2]] = transport
                super().connection_made(transport)

            def send_400_response(self, msg: str) -> None:
                """Send a 400, unless the request has its answer: a body can turn to nonsense after it was refused."""
                if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                    super().send_400_response(msg)
                else:
                    self.transport.close()

            def connection_lost(self, exc: Exception | None) -> None:
                registry.pop(self.transport.get_extra_info("peername")[:2], None)
                super().connection_lost(exc)

        return Protocol
