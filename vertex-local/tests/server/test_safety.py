"""It starts programs, so nobody else may talk to it. (N4)"""

import socket
import struct
from typing import Any

import pytest
import requests
from googleapiclient.discovery import build

from vertex_local.testing.local_cloud import LocalCloud

PATH = "/storage/v1/b?project=local-project"
LEAST = 1024**2  # what `body_bytes` may be set to


def get(cloud: LocalCloud, path: str = PATH, **headers: str) -> requests.Response:
    return requests.get(cloud.url + path, headers=headers, timeout=10)


def test_it_listens_on_loopback_only(cloud: LocalCloud) -> None:
    port = cloud.record.port
    for address in {
        address_info[4][0] for address_info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
    }:
        if not str(address).startswith("127."):
            with pytest.raises(OSError):
                socket.create_connection((str(address), port), timeout=2).close()
    with socket.create_connection(("127.0.0.1", port), timeout=2):
        pass


@pytest.mark.parametrize("header", ["", "Bearer wrong", "Basic b3duZXI6", "Bearer "])
def test_without_a_good_token_there_is_only_health(cloud: LocalCloud, header: str) -> None:
    answer = get(cloud, Authorization=header)
    assert answer.status_code == 401 and answer.json()["error"]["status"] == "UNAUTHENTICATED"
    assert get(cloud, "/healthz").json()["service"] == "vertex-local"


def test_a_stranger_fills_no_memory(cloud: LocalCloud) -> None:
    """The answer comes after a small part of a body, not when all of it is there."""
    head = f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {2**30}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", cloud.record.port), timeout=10) as connection:
        connection.sendall(head.encode() + bytes((1 << 20) + 1))
        assert connection.recv(100).startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize("method", ["CONNECT", "OPTIONS", "TRACE", "POST", "PRI"])
@pytest.mark.parametrize("target", ["/healthz", "*", "127.0.0.1:80", "http://127.0.0.1/healthz", "/%ff"])
def test_an_odd_request_is_refused_without_a_traceback(cloud: LocalCloud, method: str, target: str) -> None:
    with socket.create_connection(("127.0.0.1", cloud.record.port), timeout=10) as connection:
        connection.sendall(f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith((b"HTTP/1.1 401 ", b"HTTP/1.1 400 ")) and b"error" in answer.lower()
    assert f"{method} {target}" not in traced(cloud)


def test_who_went_before_an_answer_was_lost_leaves_no_traceback(cloud: LocalCloud) -> None:
    before = traced(cloud)
    cloud.rest("POST", "/vertex-local/faults", {"faults": [{"kind": "lost-answer", "match": "/storage/v1/b"}]})
    request = f"GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {cloud.token()}\r\n\r\n"
    try:
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", cloud.record.port), timeout=10) as connection:
                connection.sendall(3 * request.encode())
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    finally:
        cloud.rest("DELETE", "/vertex-local/faults")
    assert traced(cloud) == before


def traced(cloud: LocalCloud) -> str:
    """Return the errors in the log that nobody caught, each with the request before it."""
    before, errors = "", []
    for line in (cloud.state / "cloud.log").read_text().splitlines():
        errors += [before] if "Exception in ASGI" in line else []
        before = line
    return "\n".join(errors)


def test_browsers_and_foreign_names_are_refused(cloud: LocalCloud) -> None:
    good = {"Authorization": f"Bearer {cloud.token()}"}
    assert get(cloud, **good, Origin="http://evil.example").status_code == 403
    assert get(cloud, **good, Host="evil.example").status_code == 403
    assert get(cloud, "/healthz", Host="rebound.example:80").status_code == 403
    assert get(cloud, **good, Host=f"localhost:{cloud.record.port}").status_code == 200


@pytest.mark.parametrize(
    "host", ["127.0.0.1:80@evil.example", "127.0.0.1.evil.example", "2130706433", "0.0.0.0", "localhost:80:90", "[::1"]
)
def test_a_name_that_only_looks_like_loopback_is_foreign(cloud: LocalCloud, host: str) -> None:
    assert get(cloud, Authorization=f"Bearer {cloud.token()}", Host=host).status_code == 403


@pytest.mark.parametrize(
    "path", ["//t/{}/v1/x", "/T/{}/v1/x", "/%74/{}/v1/x", "/v1/{}", "/v1/%79{}", "/t/{other}/t/{}/v1/x"]
)
def test_a_token_in_an_odd_place_of_a_path_is_not_logged(cloud: LocalCloud, path: str) -> None:
    token = cloud.token("previewer")
    shown = token[1:] if "%79" in path else token
    url = cloud.url + path.format(shown, other=cloud.token("submitter"))
    assert requests.get(url, timeout=10).status_code in (401, 404)
    log = (cloud.state / "cloud.log").read_text()
    assert "(a path with a token" in log and token not in log and token[1:] not in log


def test_unknown_is_404_and_known_but_missing_is_501(cloud: LocalCloud) -> None:
    good = {"Authorization": f"Bearer {cloud.token()}"}
    unknown = get(cloud, "/v1/nothing/here", **good)
    assert (unknown.status_code, unknown.json()["error"]["status"]) == (404, "NOT_FOUND")
    known = get(cloud, "/v1/projects/local-project/roles", **good)
    assert known.status_code == 501 and "iam.projects.roles.list" in known.json()["error"]["message"]
    apart = get(cloud, "/not-served/big_table/v1/x", **good)
    assert apart.status_code == 501 and "of Google's: big table" in apart.json()["error"]["message"]


def test_a_body_that_is_no_json_is_refused(cloud: LocalCloud) -> None:
    good = {"Authorization": f"Bearer {cloud.token()}"}
    for text in ("{", "[1]", '"x"', b"\xff", b'"\xed\xa0\x80"'):
        answer = requests.post(f"{cloud.url}/v2/entries:list", data=text, headers=good, timeout=10)
        assert answer.status_code == 400 and "Invalid JSON payload" in answer.json()["error"]["message"]


def test_a_body_larger_than_is_taken_is_refused(cloud: LocalCloud) -> None:
    usual = cloud.rest("GET", "/vertex-local/settings")["body_bytes"]
    cloud.rest("POST", "/vertex-local/settings", {"body_bytes": LEAST})
    try:
        good = {"Authorization": f"Bearer {cloud.token()}"}
        answer = requests.post(f"{cloud.url}/v2/entries:list", data=b" " * (LEAST + 1), headers=good, timeout=10)
    finally:
        cloud.rest("POST", "/vertex-local/settings", {"body_bytes": usual})
    assert answer.status_code == 413 and f"{LEAST} bytes" in answer.json()["error"]["message"]


def test_json_that_is_nested_too_deeply_is_refused(cloud: LocalCloud) -> None:
    good = {"Authorization": f"Bearer {cloud.token()}"}
    for path in ("/v2/entries:list", "/storage/v1/b?project=local-project", "/v1/projects/local-project:setIamPolicy"):
        answer = requests.post(cloud.url + path, data="[" * 100_000, headers=good, timeout=10)
        assert answer.status_code == 400 and "nested too deeply" in answer.json()["error"]["message"]
    deep = "(" * 3000
    jobs = get(cloud, f"/v1/projects/local-project/locations/us-central1/customJobs?filter={deep}", **good)
    assert jobs.status_code == 400


def test_a_body_that_turns_to_nonsense_after_its_request_was_refused_ends_the_connection(cloud: LocalCloud) -> None:
    """Once in words, and with nothing in the log that looks like a mistake of the cloud's."""
    log = cloud.state / "cloud.log"
    before = log.stat().st_size
    with socket.create_connection(("127.0.0.1", cloud.record.port), timeout=30) as connection:
        connection.sendall(b"POST /v1/x HTTP/1.1\r\nHost: elsewhere\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 403 ")
        connection.sendall(b"nonsense\r\n")
        while connection.recv(65536):
            pass
    assert "Traceback" not in log.read_bytes()[before:].decode()


# --- Requests as clients write them, whatever the service: long GETs, tokens in the query, answers in part. (N17)


PROJECT = "/v1/projects/local-project"
LONG = "name:" + "x" * 3000


def test_googleapiclient_asks_a_long_question(cloud: LocalCloud) -> None:
    """googleapiclient sends one as a POST that says which method it means, with the query as a form."""
    options = {"api_endpoint": cloud.url}
    credentials = cloud.credentials()
    client: Any = build("secretmanager", "v1", credentials=credentials, client_options=options)
    assert client.projects().secrets().list(parent="projects/local-project", filter=LONG).execute() == {"totalSize": 0}


@pytest.mark.parametrize(("method", "form", "status"), [("GET", True, 200), ("GET", False, 200), ("DELETE", True, 501)])
def test_a_post_may_stand_for_another_method(cloud: LocalCloud, method: str, form: bool, status: int) -> None:
    media = "application/x-www-form-urlencoded" if form else "application/json"
    headers = {"Authorization": f"Bearer {cloud.token()}", "X-HTTP-Method-Override": method, "Content-Type": media}
    query = "fields=projectId"
    sent = {"data": query} if form else {"params": query}
    answer = requests.post(cloud.url + PROJECT, headers=headers, timeout=30, **sent)  # type: ignore[arg-type]
    assert answer.status_code == status, answer.text
    if status == 200:
        assert answer.json() == {"projectId": "local-project"}


@pytest.mark.parametrize("name", ["access_token", "oauth_token"])
def test_a_token_may_be_in_the_query_and_is_never_logged(cloud: LocalCloud, name: str) -> None:
    url = f"{cloud.url}{PROJECT}/secrets?pageSize=1"
    for secret in ("token-one", "token-two"):
        body: Any = {"replication": {"automatic": {}}}
        cloud.call("POST", f"{PROJECT}/secrets?secretId={secret}", json=body)
    token = cloud.token()
    first = requests.get(f"{url}&{name}={token}", timeout=30)
    assert first.status_code == 200, first.text
    # The token of a page is as good for whoever comes with another token.
    following = f"{url}&pageToken={first.json()['nextPageToken']}"
    assert requests.get(following, headers={"Authorization": f"Bearer {token}"}, timeout=30).status_code == 200
    assert requests.get(f"{url}&{name}=wrong", timeout=30).status_code == 401
    refused = requests.get(f"{url}&{name}={token}&colour=red", timeout=30)
    assert refused.status_code == 400 and token not in refused.text
    assert token not in (cloud.state / "cloud.log").read_text()


def test_a_header_asks_for_fields_too(cloud: LocalCloud) -> None:
    answer = get(cloud, PROJECT, **{"Authorization": f"Bearer {cloud.token()}", "X-Goog-FieldMask": "projectId"})
    assert answer.json() == {"projectId": "local-project"}
