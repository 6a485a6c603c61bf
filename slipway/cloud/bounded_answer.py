"""The bounds of one answer in time and size: a service can go on forever, a byte at a time."""

from __future__ import annotations

import http.client
import io
import socket
from time import monotonic
from typing import Any

import urllib3
from urllib3.connectionpool import HTTPConnectionPool
from urllib3.exceptions import HTTPError

from slipway.formatting import size, span

PARTS = 3
"""The time of a whole answer as a multiple of that of each part; for a stream, of each `STEP` of it."""
STEP = 1 << 18
LARGEST = 128_000_000
"""The most bytes of an answer that is not a stream, unpacked."""


class OverlongAnswer(HTTPError):  # noqa: N818 - named as urllib3 names its own
    """More bytes than any API's answer has."""


class EndlessAnswer(TimeoutError):  # noqa: N818 - likewise
    """An answer that had begun, and had not ended in time."""


def whole(response: urllib3.BaseHTTPResponse) -> urllib3.BaseHTTPResponse:
    """Return the answer with its body read and unpacked. Raises HTTPError."""
    body = response.read(LARGEST + 1, decode_content=True)
    if len(body) > LARGEST:
        response.close()
        raise OverlongAnswer(f"its answer is longer than {size(LARGEST)}")
    # The value of `data`; urllib3 itself keeps no body that was read with a bound.
    response._body = body  # type: ignore[attr-defined]
    return response


def bounded(pool: type[HTTPConnectionPool], *, stream: bool) -> type[HTTPConnectionPool]:
    """Return a class of connections whose answers end in time."""
    answers = {"response_class": _Stream if stream else _Answer}
    return type("Bounded", (pool,), {"ConnectionCls": type("Bounded", (pool.ConnectionCls,), answers)})


class _Answer(http.client.HTTPResponse):
    step = LARGEST
    """The bytes after which the time begins anew."""

    def __init__(self, sock: socket.socket, *arguments: Any, **more: Any) -> None:
        super().__init__(sock, *arguments, **more)
        if (part := sock.gettimeout()) is not None:
            self.fp = io.BufferedReader(_Timed(self.fp, sock, part, self.step))


class _Stream(_Answer):
    step = STEP


class _Timed(io.RawIOBase):
    """A reader of bytes from a socket within a time. `part`: seconds for each read."""

    def __init__(self, source: io.BufferedReader, sock: socket.socket, part: float, step: int) -> None:
        self._source, self._sock, self._part, self._step = source.detach(), sock, part, step
        self._begin()

    def _begin(self) -> None:
        self._end, self._read = monotonic() + PARTS * self._part, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._end - monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            self._sock.settimeout(min(self._part, left))
            count = self._source.readinto(buffer)
        except TimeoutError:
            if left >= self._part:
                raise
            raise EndlessAnswer(f"its answer had not ended after {span(PARTS * self._part)}") from None
        finally:
            self._sock.settimeout(self._part)
        self._read += count or 0
        if self._read >= self._step:
            self._begin()
        return count

    def close(self) -> None:
        self._source.close()
        super().close()
