"""The metadata server of a replica gives its token to that replica, not to pages or to other people. (N4)"""

import json
import os
import socket
import subprocess
from collections.abc import Iterator, Mapping

import pytest

from local.cloud.nodes import metadata_answers
from local.cloud.nodes.metadata_server import MetadataServer
from local.cloud.nodes.spec import Identity

TOKEN = "/computeMetadata/v1/instance/service-accounts/default/token"
GOOGLE = {"Metadata-Flavor": "Google"}


@pytest.fixture
def server() -> Iterator[MetadataServer]:
    identity = Identity("trainer@p", "p", "1", "us-central1", "7", "n1-standard-4", "the-token")
    with MetadataServer("127.0.0.1", identity) as running:
        yield running


def ask(server: MetadataServer, headers: Mapping[str, str], uid: int | None = None) -> tuple[int, str]:
    """Status and body of one request for the token, sent by a process of another user when `uid` is given."""
    host, _, port = server.address.partition(":")
    lines = {"Host": server.address, "Connection": "close", **headers}
    text = f"GET {TOKEN} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n"
    if uid is not None:
        words = ["bash", "-c", 'exec 3<>"/dev/tcp/$0/$1"; cat >&3; cat <&3', host, port]
        answer = subprocess.run(words, input=text.encode(), user=uid, cwd="/", capture_output=True, check=True).stdout
    else:
        with socket.create_connection((host, int(port)), timeout=5) as client:
            client.sendall(text.encode())
            answer = b"".join(iter(lambda: client.recv(65536), b""))
    head, _, body = answer.decode().partition("\r\n\r\n")
    return int(head.split()[1]), body


def test_a_replica_gets_its_token(server: MetadataServer) -> None:
    status, body = ask(server, GOOGLE)
    assert status == 200 and json.loads(body)["access_token"] == "the-token"


@pytest.mark.parametrize("host", ["metadata.google.internal", "localhost:80", "127.0.0.1"])
def test_it_answers_to_the_names_that_client_libraries_use(server: MetadataServer, host: str) -> None:
    assert ask(server, {**GOOGLE, "Host": host})[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Metadata-Flavor": "google"},
        {**GOOGLE, "Host": "rebound.example"},
        {**GOOGLE, "Host": "127.0.0.1.rebound.example:80"},
        {**GOOGLE, "Host": ""},
        {**GOOGLE, "Origin": "http://rebound.example"},
    ],
)
def test_a_page_gets_nothing(server: MetadataServer, headers: dict[str, str]) -> None:
    status, body = ask(server, headers)
    assert status == 403 and "the-token" not in body


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_another_user_of_the_machine_gets_nothing(server: MetadataServer) -> None:
    status, body = ask(server, GOOGLE, uid=65534)
    assert status == 403 and "the-token" not in body


def test_the_metadata_server_tells_the_job_s_identity() -> None:
    identity = Identity("a@b", "slipway-local", "100000000001", "us-central1", "42", "n1-standard-4", "t")
    base = "/computeMetadata/v1"
    assert metadata_answers.answer(identity, f"{base}/project/project-id") == "slipway-local"
    assert metadata_answers.answer(identity, f"{base}/project/numeric-project-id") == "100000000001"
    assert metadata_answers.answer(identity, f"{base}/instance/service-accounts/default/email") == "a@b"
    token = metadata_answers.answer(identity, f"{base}/instance/service-accounts/default/token")
    assert token == {"access_token": "t", "expires_in": 3599, "token_type": "Bearer"}
    assert metadata_answers.answer(identity, f"{base}/instance/service-accounts/default/identity") is None
    assert metadata_answers.answer(identity, "/else") is None
