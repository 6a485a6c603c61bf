"""An official plugin: what it can reach, and when it ends. gcp-provider.md, seen again."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from local.plugin.installation import install
from local.plugin.official import held
from tests.local.plugin.test_process import ends

# As the official one does at each start, by Google's own client: whose token it is, and whether it is in the cloud.
_ASKS = """#!{python}
import requests
from google.auth.compute_engine import _metadata
from google.auth.exceptions import TransportError
from google.auth.transport.requests import Request

for ask in (
    lambda: _metadata.get_project_id(Request()),
    lambda: requests.get("https://oauth2.googleapis.com/tokeninfo", timeout=60),
    lambda: requests.get("http://metadata.google.internal/computeMetadata/v1/", timeout=60),
    lambda: requests.get("http://169.254.169.254/", timeout=60),
):
    try:
        ask()
    except (requests.RequestException, TransportError):
        pass
"""
# One that goes on, whatever the engine does.
_STAYS = """#!/bin/sh
trap '' INT TERM
echo $$
while :; do sleep 1; done
"""
_LEAVES = """#!/bin/sh
trap 'exit 7' INT
echo $$
while :; do sleep 1; done
"""


def _plugin(folder: Path, text: str) -> Path:
    """Installed into a home of its own: the program that the engine starts."""
    official = folder / "official"
    official.write_text(text)
    official.chmod(0o755)
    return install(folder / "home", Path(sys.executable), str(official)) / "pulumi-resource-gcp"


def test_whatever_it_asks_beyond_this_machine_arrives_nowhere(tmp_path: Path) -> None:
    """Its connections, watched: all four ways out lead to one address."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as nowhere:
        Thread(target=_refuse, args=(nowhere, asked), daemon=True).start()
        environ = held(os.environ, f"127.0.0.1:{nowhere.getsockname()[1]}")
        script = tmp_path / "asks"
        script.write_text(_ASKS.format(python=sys.executable))
        subprocess.run([sys.executable, script], env=environ, check=True)
    lines = [line.split(b" HTTP/")[0].decode() for line in asked]
    assert lines[0].startswith("GET /computeMetadata/v1/project/project-id")
    assert lines[-3:] == [
        "CONNECT oauth2.googleapis.com:443",
        "GET http://metadata.google.internal/computeMetadata/v1/",
        "GET http://169.254.169.254/",
    ]


def _refuse(server: socket.socket, asked: list[bytes]) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            asked.append(connection.recv(65536).split(b"\r\n")[0])
            connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def test_it_does_not_outlive_an_engine_that_was_killed(tmp_path: Path) -> None:
    binary = _plugin(tmp_path, _STAYS)
    # A stand-in for the engine: it starts the plugin, reads its first line and is killed.
    engine = f"exec 3< <({binary}); read -r plugin <&3; echo $! $plugin; kill -9 $$"
    shell = subprocess.run(["bash", "-c", engine], capture_output=True, text=True, check=False)
    assert shell.returncode == -signal.SIGKILL
    assert all(ends(int(pid)) for pid in shell.stdout.split())


@pytest.mark.parametrize("alone", [True, False])
def test_it_ends_with_the_signal_by_which_an_engine_ends_its_plugins(tmp_path: Path, alone: bool) -> None:
    process = subprocess.Popen([_plugin(tmp_path, _LEAVES)], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    plugin = int(process.stdout.readline())
    process.send_signal(signal.SIGINT) if alone else os.killpg(process.pid, signal.SIGINT)
    assert process.wait() == 7
    process.stdout.close()
    assert ends(plugin)
