"""A vault on this machine that holds the keys of stacks' secrets, as a KMS does for stacks that people share.

With a passphrase instead, as on a laptop, each run of the engine derives its key by a million rounds of a hash: a tenth
of the run's cost. Tests of a passphrase have one: the demo's, and the stacks of `tests/ci`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

KEY = "hashivault://stacks"


@contextmanager
def serving() -> Iterator[Mapping[str, str]]:
    """Yield the variables by which the engine finds the vault. Its ciphertext is readable: nothing here is secret."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Transit)
    server.daemon_threads = True
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield {"VAULT_SERVER_URL": f"http://127.0.0.1:{server.server_port}", "VAULT_SERVER_TOKEN": "any"}
    finally:
        server.shutdown()
        server.server_close()


class _Transit(BaseHTTPRequestHandler):
    """The calls `PUT /v1/transit/encrypt/KEY` and `…/decrypt/KEY`, as HashiCorp's Vault has them."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one write an answer

    def do_PUT(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.startswith("/v1/transit/encrypt/"):
            answer = {"ciphertext": f"vault:v1:{sent['plaintext']}"}
        else:
            answer = {"plaintext": sent["ciphertext"].rpartition(":")[2]}
        data = json.dumps({"data": answer}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass
