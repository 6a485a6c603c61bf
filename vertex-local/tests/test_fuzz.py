"""Whatever is sent, in whatever order, is answered: never with a 500, and in JSON where it says so. (N17)

`make fuzz` sends tens of thousands of requests, others each time; a run of all tests sends some hundreds, always
the same.
"""

import asyncio
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.fuzzing import GOOD, TUNING, Fuzzer, Sent
from tests.vertex.tuning.conftest import Machines, Studies
from vertex_local.nodes.spec import Status
from vertex_local.projects import Projects
from vertex_local.server import control
from vertex_local.server.app import build_app
from vertex_local.server.main import load_services
from vertex_local.testing.calling import PARENT, Calling, every_service
from vertex_local.vertex.scheduling.scheduler import Scheduler

MANY = int(os.environ.get("VERTEX_LOCAL_FUZZ", "0"))
LENGTH = 40
UNLIKE = (":disable", "/vertex-local/settings")
"""A disabled thing answers nothing any more, and a setting can disable."""


class Client:
    """Calls the whole application as a server would, without a network."""

    def __init__(self, calling: Calling) -> None:
        self.calling, services = calling, load_services()
        projects = Projects(calling.world)
        self._app = build_app(projects, services)
        self._token = calling.world.access.mint("user:owner@company.example", "fuzz")
        served = [route for service in services for route in service.routes(calling.world)]
        served += control.routes(projects, services)
        self.routes = [route for route in served if not route.template.endswith(UNLIKE)]

    def send(self, request: Sent) -> tuple[int, bytes]:
        # A loop of its own: asyncio.run would leave the other tests of the process without theirs.
        with closing(asyncio.new_event_loop()) as loop:
            return loop.run_until_complete(self._send(request))

    async def _send(self, request: Sent) -> tuple[int, bytes]:
        path, _, query = request.path.partition("?")
        headers = [("host", "127.0.0.1"), ("authorization", f"Bearer {self._token}"), *request.headers]
        scope = {
            "type": "http",
            "method": request.method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers],
            "scheme": "http",
            "server": ("127.0.0.1", 80),
        }
        incoming = iter([{"type": "http.request", "body": request.body, "more_body": False}])
        sent: list[Any] = []

        async def receive() -> Any:
            return next(incoming, {"type": "http.disconnect"})

        async def send(message: Any) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        body = b"".join(message.get("body", b"") for message in sent[1:])
        if (b"content-type", b"application/json; charset=UTF-8") in sent[0]["headers"] and body:
            json.loads(body)
        return sent[0]["status"], body


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[str]]]:
    """The state of a cloud that has one of everything, and the ids that are not always the same."""
    state = tmp_path_factory.mktemp("fuzz") / "state"
    with every_service(state) as calling:
        calling.cluster("cpu")
        jobs = [calling.job(cluster="cpu"), calling.job()]
        tuning = calling.call("POST", f"/v1/{PARENT}/hyperparameterTuningJobs", TUNING)
        pipeline = calling.call("POST", f"/v1/{PARENT}/trainingPipelines", GOOD["TrainingPipeline"])
        calling.call("POST", f"/v1/{PARENT}/models:upload", GOOD["UploadModelRequest"])
        board = calling.call("POST", f"/v1/{PARENT}/tensorboards", {"displayName": "b"})["response"]["name"]
        calling.call("POST", f"/v1/{board}/experiments?tensorboardExperimentId=fuzzed", {})
        calling.call("POST", f"/v1/{board}/experiments/fuzzed/runs?tensorboardRunId=fuzzed", {"displayName": "r"})
        series = {"displayName": "s", "valueType": "SCALAR"}
        made = calling.call("POST", f"/v1/{board}/experiments/fuzzed/runs/fuzzed/timeSeries", series)
        store = f"/v1/{PARENT}/metadataStores/default"
        for kind, one in (("contexts", "context"), ("executions", "execution"), ("artifacts", "artifact")):
            calling.call("POST", f"{store}/{kind}?{one}Id=fuzzed", {"schemaTitle": "system.Run"})
        calling.call("POST", "/storage/v1/b?project=local-project", {"name": "fuzzed"})
        calling.call("POST", f"/v1/{PARENT}/pipelineJobs?pipelineJobId=fuzzed", GOOD["PipelineJob"])
        calling.call("POST", "/upload/storage/v1/b/fuzzed/o?uploadType=media&name=one", raw=b"content")
        calling.call("POST", "/v1/projects/local-project/secrets?secretId=fuzzed", {"replication": {"automatic": {}}})
        calling.call("POST", "/v1/projects/local-project/secrets/fuzzed:addVersion", GOOD["AddSecretVersionRequest"])
        calling.call("POST", "/v1/projects/local-project/serviceAccounts", {"accountId": "fuzzed"})
        calling.call("POST", "/v2/entries:write", GOOD["WriteLogEntriesRequest"])
    ids = {
        "customJobs": jobs,
        "hyperparameterTuningJobs": [tuning],
        "trainingPipelines": [pipeline],
        "tensorboards": [{"name": board}],
        "timeSeries": [made],
    }
    known = {word: [item["name"].rpartition("/")[2] for item in found] for word, found in ids.items()}
    every = ("models", "pipelineJobs", "experiments", "runs", "contexts", "executions", "artifacts")
    return state, known | {word: ["fuzzed"] for word in every}


@pytest.fixture
def fresh(begun: tuple[Path, dict[str, list[str]]], tmp_path: Path) -> Iterator[Any]:
    """Makes clouds that begin with that state, one after another."""
    state, known = begun

    def made(number: int) -> Any:
        folder = tmp_path / str(number)
        shutil.copytree(state, folder)
        return every_service(folder)

    yield made, known


# What other tests left open is collected here as well as anywhere.
@pytest.mark.filterwarnings("error", "ignore::ResourceWarning")
@settings(
    max_examples=MANY // (LENGTH // 2) or 8,
    derandomize=not MANY,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(numbers=st.lists(st.integers(0, 2**32 - 1), min_size=1 if MANY else LENGTH, max_size=LENGTH))
def test_nothing_that_is_sent_is_answered_with_a_500(fresh: Any, numbers: list[int]) -> None:
    made, known = fresh
    made.count = getattr(made, "count", 0) + 1
    with made(made.count) as calling:
        client = Client(calling)
        fuzzer = Fuzzer(client.routes, known)
        wanted = [fuzzer.request(number) for number in numbers]
        lists = [fuzzer.plain(route) for route in client.routes if route.method == "GET"]
        machines = Machines()
        studies = Studies(calling, machines, Scheduler(calling.world, machines))
        for request in [*wanted, None, *lists]:
            if request is None:
                _what_the_cloud_does_by_itself(studies)
                continue
            note(f"{request}")
            status, body = client.send(request)
            calling.world.faults.set(())
            assert status not in (500, 507), (request, body)


def _what_the_cloud_does_by_itself(studies: Studies) -> None:
    """All that is due, now and in a week, in which every job's code ends well. Raises what would stop it."""
    studies.tick(2)
    for folder in studies.machines.written:
        studies.machines.ends[folder.parents[1].name] = Status("exited", 0)
    studies.calling.clock.advance(8 * 24 * 3600)
    studies.tick(2)
