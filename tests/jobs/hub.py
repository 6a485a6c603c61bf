"""A Hugging Face hub on loopback: one gated repository of any name, model or dataset."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

GOOD, STRANGER, UNKNOWN = "hf_good", "hf_has_not_accepted", "hf_unknown"
_SHA = "0" * 39 + "1"


@contextlib.contextmanager
def serving(files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield its address. It gives the files to the token GOOD, and lists them to every token that it knows."""

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
            name = self.path.partition("/resolve/")[2].partition("/")[2]
            if token == UNKNOWN:
                self.answer(401, {"X-Error-Message": "Invalid credentials in Authorization header"})
            elif "/tree/" in self.path:
                tree = [{"type": "file", "path": file, "size": len(files[file]), "oid": _SHA} for file in files]
                self.answer(200, {}, json.dumps(tree).encode())
            elif not name:
                siblings = [{"rfilename": file} for file in files]
                self.answer(200, {}, json.dumps({"id": "one/repository", "sha": _SHA, "siblings": siblings}).encode())
            elif token != GOOD:
                self.answer(403, {"X-Error-Code": "GatedRepo", "X-Error-Message": "you are not in the authorized list"})
            else:
                self.answer(200, {"ETag": f'"{name}"', "X-Repo-Commit": _SHA}, files[name])

        do_HEAD = do_GET  # noqa: N815 (the name that the server looks for)

        def answer(self, status: int, headers: dict[str, str], content: bytes = b"") -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
