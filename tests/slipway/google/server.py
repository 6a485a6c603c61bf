"""A server for tests, with prepared answers, in clear or over TLS."""

import contextlib
import datetime
import http.server
import ipaddress
import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from email.message import Message
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from slipway.google.connection import Connection
from slipway.google.endpoints import OVERRIDES, Endpoints
from slipway.google.session import HttpPolicy, Session
from slipway.google.transport import Transport
from tests.loopback import Handler


class Server:
    """A server with one answer for every request; `sent` are the requests' first lines, `heard` their headers.

    Over TLS with a `certificate`, and, when `mutual`, only for clients with the same one.
    """

    def __init__(self, certificate: Path | None = None, *, mutual: bool = False) -> None:
        self.status, self.content, self.headers = 200, b"{}", dict[str, str]()
        self.sent: list[str] = []
        self.heard: list[Message] = []
        self.missing = 0
        """The number of bytes that are promised and never come."""
        self.next_content: Callable[[], bytes] = lambda: self.content
        """The answer to the next request."""
        outer = self

        class Answers(Handler):
            def do_GET(self) -> None:
                outer.sent.append(f"{self.command} {self.path}")
                outer.heard.append(self.headers)
                # With some of a request unread the connection would be reset, and the answer lost with it.
                self.body()
                content = outer.next_content()
                self.send_response(outer.status)
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content) + outer.missing))
                self.end_headers()
                self.wfile.write(content)

            do_POST = do_CONNECT = do_GET

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            if mutual:
                context.verify_mode = ssl.CERT_REQUIRED
                context.load_verify_locations(certificate)
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        self.url = f"http{'s' if certificate else ''}://127.0.0.1:{self.http.server_address[1]}/"
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    def says(self, body: Any, status: int = 200, **headers: str) -> None:
        self.content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()


def starting(kind: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Yield a function that makes one of a kind; all of them are closed in the end."""
    with contextlib.ExitStack() as running:
        yield lambda *words, **more: running.enter_context(contextlib.closing(kind(*words, **more)))


def connection(url: str, environ: Mapping[str, str] | None = None) -> Connection:
    session = Session(Transport(environ or {}), HttpPolicy(1.0, 5.0, attempts=2), sleep=lambda seconds: None)
    return Connection(session, Endpoints(overrides=dict.fromkeys(OVERRIDES, url)))


def certificate(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file
