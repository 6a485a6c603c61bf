"""Event files that a job writes are runs of the tensorboard that it names (Z4)."""

from typing import Any
from urllib.parse import quote

import pytest

from local.cloud import identities
from tests.local.cloud.calling import JOBS, PARENT, Calling
from tests.local.cloud.vertex.bodies import job_body

BOARDS = f"/v1/{PARENT}/tensorboards"


@pytest.fixture
def board(calling: Calling) -> str:
    calling.bucket("work")
    return str(calling.call("POST", BOARDS, {"displayName": "board"})["response"]["name"])


def job(calling: Calling, board: str) -> str:
    """The name of a job that writes below gs://work/out/logs/."""
    return str(calling.job(spec=logging_to(board))["name"])


def logging_to(board: str) -> dict[str, Any]:
    output = {"outputUriPrefix": "gs://work/out"}
    return {"serviceAccount": identities.DEPLOYER, "tensorboard": board, "baseOutputDirectory": output}


def logs(calling: Calling, name: str) -> None:
    path = f"/upload/storage/v1/b/work/o?uploadType=media&name={quote(f'out/logs/{name}', safe='')}"
    calling.call("POST", path, raw=b"events")


def runs(calling: Calling, at: str) -> list[str]:
    return sorted(run["displayName"] for run in calling.call("GET", f"{at}/runs").get("tensorboardRuns", []))


def test_a_job_s_logs_are_runs_of_an_experiment_of_its_own(calling: Calling, board: str) -> None:
    name = job(calling, board)
    at = f"/v1/{board}/experiments/{name.rpartition('/')[2]}"
    logs(calling, "notes.txt")
    assert calling.call("GET", f"/v1/{board}/experiments") == {}
    logs(calling, "events.out.tfevents.1.host.1.0")
    assert runs(calling, at) == ["default"] and calling.call("GET", at)["displayName"] == "train"
    calling.call("POST", f"/v1/{name}:cancel", {})
    logs(calling, "Eval Set/events.out.tfevents.2")
    assert runs(calling, at) == ["default", "eval-set"]


def test_the_sdk_finds_the_run_s_context_to_end_it(calling: Calling, board: str) -> None:
    name = job(calling, board)
    logs(calling, "events.tfevents")
    calling.call("GET", f"/v1/{board}")
    contexts = f"/v1/{PARENT}/metadataStores/default/contexts/{name.rpartition('/')[2]}"
    assert calling.call("GET", f"{contexts}-default")["metadata"]["_state"] == "RUNNING"
    # The mark by which the SDK tells it from an experiment of people.
    assert "tensorboard_link" in calling.call("GET", contexts)["metadata"]


@pytest.mark.parametrize(("where", "code"), [("us-central1", 404), ("europe-west4", 400)])
def test_the_tensorboard_must_be_in_the_job_s_region(calling: Calling, board: str, where: str, code: int) -> None:
    number = f"{board.partition('/locations/')[0]}/locations/{where}/tensorboards/1"
    if code == 400:
        made = calling.call("POST", BOARDS.replace("us-central1", where), {"displayName": "far"})
        number = made["response"]["name"]
    assert calling.refused("POST", JOBS, job_body(spec=logging_to(number))).code == code
