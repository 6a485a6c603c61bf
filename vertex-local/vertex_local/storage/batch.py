"""Many small calls in one request, as the official client's `batch()` sends them."""

import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

from ..router import Router
from ..wire import ApiError, Call, Reply, Route
from . import errors
from .multipart import Part, boundary, headers, parts

_LIMIT = 100
_BLANK = re.compile(rb"\r?\n\r?\n")
_TOKEN_PREFIX = re.compile(r"^/t/[^/]+(?=/)")


class Batch:
    def __init__(self, routes: Sequence[Route]) -> None:
        self._router = Router(routes)

    def routes(self) -> list[Route]:
        return [Route("POST", "/batch/storage/v1", self.post), Route("POST", "/batch", self.post)]

    def post(self, call: Call) -> Reply:
        """Answer each part as one call by the same principal; a failed part does not undo the others."""
        requests = parts(call.raw, boundary(call.headers.get("content-type", "")))
        if len(requests) > _LIMIT:
            raise errors.invalid(f"The batch request exceeds the limit of {_LIMIT} calls.")
        mark = f"batch_{uuid.uuid4().hex}"
        answer = b"".join(self._answer(call, part, mark) for part in requests)
        return Reply(200, answer + f"--{mark}--\r\n".encode(), f"multipart/mixed; boundary={mark}")

    def _answer(self, call: Call, part: Part, mark: str) -> bytes:
        try:
            reply = self._run(call, part)
        except ApiError as problem:
            reply = Reply(problem.code, problem.body())
        body = b"" if reply.body is None else json.dumps(reply.body).encode()
        identifier = part.headers.get("content-id", "").strip("<>")
        head = (
            f"--{mark}\r\nContent-Type: application/http\r\nContent-ID: <response-{identifier}>\r\n\r\n"
            f"HTTP/1.1 {reply.status} {'OK' if reply.status < 300 else 'Error'}\r\n"
            f"Content-Type: {reply.media}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body + b"\r\n"

    def _run(self, call: Call, part: Part) -> Reply:
        pieces = _BLANK.split(part.content, maxsplit=1)
        first, _, rest = pieces[0].partition(b"\n")
        words = first.decode("latin-1").split()
        if len(words) < 2:
            raise errors.invalid("A part of the batch is not an HTTP request.")
        target = urlsplit(words[1])
        path = _TOKEN_PREFIX.sub("", target.path)
        reply = self._router.answer(
            replace(
                call,
                method=words[0],
                path=path,
                pairs=tuple(parse_qsl(target.query, keep_blank_values=True)),
                headers=headers(rest),
                raw=pieces[1].strip() if len(pieces) > 1 else b"",
            )
        )
        if reply is None:
            raise errors.not_implemented(f"{words[0]} {path} in a batch")
        return reply
