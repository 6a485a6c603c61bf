"""The engine's state in a bucket of the local cloud.

The engine's storage client sends no token to an emulator and reads contents by the XML API, which the local cloud does
not serve. So it talks to a server of its own on this machine, which adds the token and translates the API.
"""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, unquote

import requests

from tests.local.conftest import LocalCloud

_API = ("storage/", "upload/", "download/", "batch/")
_KEPT = ("content-", "x-goog-", "range", "etag", "last-modified")


@contextmanager
def bucket_backend(cloud: LocalCloud, bucket: str) -> Iterator[Mapping[str, str]]:
    """Make the bucket, and yield the variables with which the engine keeps its state in it."""
    cloud.rest("POST", "/storage/v1/b?project=local-project", {"name": bucket, "location": "US-CENTRAL1"})

    class Door(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            path = self.path.lstrip("/")
            if not path.startswith(_API):
                name = unquote(path.partition("/")[2].partition("?")[0])
                path = f"storage/v1/b/{bucket}/o/{quote(name, safe='')}?alt=media"
            sent = {key: value for key, value in self.headers.items() if key.lower().startswith(_KEPT)}
            answer = requests.request(
                "GET" if self.command == "HEAD" else self.command,
                f"{cloud.url}/{path}",
                data=self._body(),
                headers={**sent, "Authorization": f"Bearer {cloud.token()}", "Accept-Encoding": "identity"},
                timeout=60,
            )
            self.send_response(answer.status_code)
            for key, value in answer.headers.items():
                if key.lower().startswith(_KEPT) and key.lower() != "content-length":
                    self.send_header(key, value)
            if "Location" in answer.headers:
                self.send_header("Location", answer.headers["Location"].replace(cloud.url, door))
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.content)

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _pass_on  # noqa: N815 - http.server's names

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Door)
    door = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield {"PULUMI_BACKEND_URL": f"gs://{bucket}", "STORAGE_EMULATOR_HOST": door.removeprefix("http://")}
    finally:
        server.shutdown()
        server.server_close()
