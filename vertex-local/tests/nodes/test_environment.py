"""The environment of a replica: who the others are, where it is, and where its outputs lie (checklist 10)."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vertex_local.nodes import addresses, environment, metadata_answers
from vertex_local.nodes.environment import Place
from vertex_local.nodes.metadata_server import MetadataServer
from vertex_local.nodes.preparation import install_at_start
from vertex_local.nodes.spec import Identity
from vertex_local.server.daemon import DEFAULT_PORT

SPEC = {"workerPoolSpecs": [], "baseOutputDirectory": {"outputUriPrefix": "gs://b/run/"}}
PLACES = [Place(0, 0, "127.1.0.1", 2222, 7777), *(Place(1, n, f"127.1.0.{n + 2}", 2222, 7777) for n in range(2))]

NUMBER = "100000000001"


def test_a_replica_finds_the_others_and_itself() -> None:
    environ = environment.variables(PLACES, PLACES[2], project=NUMBER, job_id="7", region="us-central1", spec=SPEC)
    cluster = json.loads(environ["CLUSTER_SPEC"])
    assert cluster["cluster"] == {
        "workerpool0": ["127.1.0.1:2222"],
        "workerpool1": ["127.1.0.2:2222", "127.1.0.3:2222"],
    }
    assert cluster["task"] == {"type": "workerpool1", "index": 1}
    assert cluster["environment"] == "cloud"
    assert cluster["job"] == SPEC
    assert cluster["open_ports"] == [7777]
    assert json.loads(environ["TF_CONFIG"])["task"] == {"type": "worker", "index": 1, "cloud": ""}
    assert (environ["RANK"], environ["WORLD_SIZE"]) == ("2", "3")
    assert (environ["MASTER_ADDR"], environ["MASTER_PORT"]) == ("127.1.0.1", "2222")


def test_the_project_is_its_number_and_outputs_lie_under_the_base() -> None:
    spec = {**SPEC, "experiment": "exp", "experimentRun": "exp-run"}  # W8
    environ = environment.variables(PLACES, PLACES[0], project=NUMBER, job_id="7", region="us-central1", spec=spec)
    assert environ["CLOUD_ML_PROJECT_ID"] == "100000000001"
    assert (environ["CLOUD_ML_JOB_ID"], environ["CLOUD_ML_REGION"]) == ("7", "us-central1")
    assert environ["AIP_MODEL_DIR"] == "gs://b/run/model/"
    assert environ["AIP_CHECKPOINT_DIR"] == "gs://b/run/checkpoints/"
    assert environ["AIP_TENSORBOARD_LOG_DIR"] == "gs://b/run/logs/"
    assert (environ["AIP_EXPERIMENT_NAME"], environ["AIP_EXPERIMENT_RUN_NAME"]) == ("exp", "exp-run")


def test_a_single_replica_is_the_chief_and_has_no_tf_config() -> None:
    environ = environment.variables(PLACES[:1], PLACES[0], project=NUMBER, job_id="7", region="us-central1", spec={})
    assert json.loads(environ["CLUSTER_SPEC"])["cluster"] == {"chief": ["127.1.0.1:2222"]}
    assert not {"TF_CONFIG", "RANK", "MASTER_ADDR", "AIP_MODEL_DIR", "AIP_EXPERIMENT_NAME"} & environ.keys()


def test_an_evaluator_is_never_part_of_the_tensorflow_cluster() -> None:
    evaluator = Place(3, 0, "127.1.0.9", 2222, 7777)
    found = environment.tf_config([*PLACES, evaluator], evaluator, {})
    assert "evaluator" not in found["cluster"]
    assert found["task"]["type"] == "evaluator"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("$(A)/x", "1/x"),
        ("$$(A)", "$(A)"),
        ("$(B)", "$(B)"),
        ("$A", "$A"),
        ("$(A)$(A)", "11"),
        ("$$$(A)", "$1"),
        ("$$$$(A)", "$$(A)"),
        ("$$ $$5 $5 $", "$ $5 $5 $"),
        ("$(a b) $$(a b) $(1 $(A)", "$(a b) $(a b) $(1 $(A)"),
        ("$(A", "$(A"),
    ],
)
def test_references_are_expanded(text: str, result: str) -> None:
    assert environment.expanded(text, {"A": "1"}) == result


def test_what_a_job_is_told_of_itself_has_letters_as_they_are() -> None:
    """Linux refuses a variable of more than 128 KB, and a job carries up to 32 KB of parameters twice."""
    args = ["é" * 16_000, "é" * 16_000]
    spec = {"workerPoolSpecs": [{"containerSpec": {"args": args}}]}
    environ = environment.variables(PLACES, PLACES[0], project=NUMBER, job_id="7", region="us-central1", spec=spec)
    for name in ("CLUSTER_SPEC", "TF_CONFIG"):
        assert len(environ[name].encode()) < 80_000 and json.loads(environ[name])["job"] == spec


# --- Replicas on one machine have addresses of their own, and so have clouds.


@given(st.sets(st.integers(1, 10**6), min_size=2, max_size=50))
def test_replicas_have_addresses_of_their_own(numbers: set[int]) -> None:
    found = [addresses.address(number, min(numbers), "linux") for number in sorted(numbers)]
    assert len({host for host, _, _ in found}) == len(numbers)
    assert found == sorted(found), "as the service's names, the chief's before those of the workers"
    assert all(host.startswith("127.") and not host.startswith("127.0.") for host, _, _ in found)
    elsewhere = addresses.address(min(numbers), min(numbers), "darwin")
    assert elsewhere[0] == "127.0.0.1"
    assert elsewhere[1] != elsewhere[2]


def test_jobs_that_listen_on_every_address_do_not_meet() -> None:
    """PyTorch's store does, wherever it is told to be."""
    ports = [addresses.address(number, first, "linux")[1:] for number, first in ((1, 1), (2, 1), (3, 3))]
    assert ports[0] == ports[1], "in a job the same, as in the service"
    assert not set(ports[0]) & set(ports[2])


@given(st.integers(1, 10**6), st.sampled_from(["linux", "darwin"]))
def test_no_replica_has_the_port_of_a_cloud(number: int, platform: str) -> None:
    """A store that listens on every address fails on a port that a cloud has."""
    _, *ports = addresses.address(number, number, platform)
    assert not {*ports} & {*addresses.SERVER_PORTS, DEFAULT_PORT}


def test_two_clouds_do_not_count_from_the_same_number() -> None:
    assert addresses.beginning(Path("/a/state")) != addresses.beginning(Path("/b/state"))


# --- The Vertex AI SDK inside a job finds the local cloud without being told (W8).


CLOUD = {"GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT": "http://127.0.0.1:8470/v1beta1/", "GOOGLE_CLOUD_PROJECT": "local-project"}
SHOW = "c = aiplatform.initializer.global_config; print(c.api_endpoint, c._api_transport, c.project, c.location)"


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """The site-packages of an environment that a job runs in."""
    folder = tmp_path / "lib" / "python3.11" / "site-packages"
    folder.mkdir(parents=True)
    install_at_start(tmp_path)
    return folder


def said(packages: Path, *codes: str, imports: str = "sys", **variables: str) -> list[str]:
    """Return what each code prints in a process of its own, forked from a Python with these site-packages after its
    import."""
    program = f"""
import os, site, sys
site.addsitedir({str(packages)!r})
import {imports}
for code in {codes!r}:
    if not os.fork():
        exec(code)
        sys.stdout.flush()
        os._exit(0)  # taking heavy packages apart takes as long as half of their import
    os.wait()
"""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GOOGLE_", "CLOUD_ML_"))}
    command = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(command, env={**kept, **variables}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_sdk_has_the_cloud_for_its_default_and_what_user_code_says_wins(packages: Path) -> None:
    init = "from google.cloud import aiplatform\naiplatform.init({})\n" + SHOW
    codes = init.format("location='europe-west4'"), init.format("project='mine', api_endpoint='localhost:1'")
    assert said(packages, *codes, imports="google.cloud.aiplatform", **CLOUD) == [
        "http://127.0.0.1:8470 rest local-project europe-west4",
        "localhost:1 rest mine us-central1",
    ]


def test_outside_a_job_nothing_changes(packages: Path) -> None:
    code = "print([type(finder).__name__ for finder in sys.meta_path].count('_Finder'))"
    assert said(packages, code) == ["0"]
    assert said(packages, code, **CLOUD) == ["1"]


# --- The metadata server of a replica gives its token to that replica, not to pages or to other people. (N4)


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
    identity = Identity("a@b", "p", "1", "us-central1", "42", "n1-standard-4", "t")
    paths = "project/project-id project/numeric-project-id instance/service-accounts/default/email"
    assert [metadata_answers.answer(identity, f"/computeMetadata/v1/{path}") for path in paths.split()] == [
        "p",
        "1",
        "a@b",
    ]
    assert metadata_answers.answer(identity, "/else") is None
