"""The answers of a replica's metadata server: the identity that client libraries find on a VM."""

import http.server
import json
import os
import socket
import urllib.parse
from pathlib import Path
from typing import Any

from ..wire import loopback
from .spec import Identity

_ROOT = "/computeMetadata/v1"
_SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
_TOKEN_SECONDS = 3599


def answer(identity: Identity, path: str) -> Any | None:
    """Return the answer to a path: text, or a value for JSON; None where a VM answers 404.

    Identity tokens are not served, as for jobs with a service account of their own.
    """
    account = {"aliases": ["default"], "email": identity.email, "scopes": _SCOPES}
    answers: dict[str, Any] = {
        "/instance/id": identity.instance_id,
        "/instance/zone": f"projects/{identity.project_number}/zones/{identity.region}-a",
        "/instance/region": f"projects/{identity.project_number}/regions/{identity.region}",
        "/instance/machine-type": f"projects/{identity.project_number}/machineTypes/{identity.machine_type}",
        "/project/project-id": identity.project_id,
        "/project/numeric-project-id": identity.project_number,
        "/universe/universe-domain": "googleapis.com",
        "/instance/service-accounts": f"default/\n{identity.email}/\n",
    }
    for alias in ("default", identity.email):
        base = f"/instance/service-accounts/{alias}"
        answers |= {
            base: account,
            f"{base}/email": identity.email,
            f"{base}/aliases": "default\n",
            f"{base}/scopes": "\n".join(_SCOPES) + "\n",
            f"{base}/token": {"access_token": identity.token, "expires_in": _TOKEN_SECONDS, "token_type": "Bearer"},
        }
    if path.rstrip("/") in ("", "/computeMetadata"):
        return "computeMetadata/\n"
    return answers.get(path.rstrip("/").removeprefix(_ROOT)) if path.startswith(_ROOT) else None


_CONNECTIONS = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LOOKS = 20
"""The number of times the tables are read: while connections come and go, a reading may lack an open one."""


class Server(http.server.ThreadingHTTPServer):
    """A server that answers for one identity on a socket that listens already."""

    daemon_threads = True

    def __init__(self, listening: socket.socket, identity: Identity) -> None:
        super().__init__(listening.getsockname(), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket, self.identity = listening, identity


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = urllib.parse.urlsplit(self.path).path
        # A page whose name was made to point here could ask with the header below, but not without these two.
        host = self.headers.get("Host", "")
        if "Origin" in self.headers or not (loopback(host) or host.partition(":")[0] == "metadata.google.internal"):
            self._send(403, "text/plain", "The metadata server answers to processes of its replica only.")
            return
        if _is_somebody_elses(self.client_address):
            self._send(403, "text/plain", "The metadata server answers to the user who runs the local cloud only.")
            return
        if self.headers.get("Metadata-Flavor") != "Google":
            self._send(403, "text/plain", "Missing Metadata-Flavor:Google header.")
            return
        content = answer(self.server.identity, path)
        if content is None:
            self._send(404, "text/plain", "Not Found")
        elif isinstance(content, str):
            self._send(200, "application/text", content)
        else:
            self._send(200, "application/json", json.dumps(content))

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: requests to the metadata server are nobody's log lines."""

    def _send(self, status: int, media: str, text: str) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Metadata-Flavor", "Google")
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _is_somebody_elses(client: tuple[str, int]) -> bool:
    """Return whether a connection is another user's, or one whose user the kernel (Linux) does not tell."""
    packed = ":".join((socket.inet_aton(client[0])[::-1].hex().upper(), f"{client[1]:04X}"))
    for _ in range(_LOOKS):
        try:
            tables = [table.read_text(encoding="ascii") for table in _CONNECTIONS if table.exists()]
        except OSError:
            return True
        if not tables:
            return False
        rows = [line.split() for table in tables for line in table.splitlines()]
        # A connection over IPv6 has the same address at its end.
        if owners := {int(row[7]) for row in rows if row[1].endswith(packed)}:
            return not owners <= {0, os.getuid()}
    return True
