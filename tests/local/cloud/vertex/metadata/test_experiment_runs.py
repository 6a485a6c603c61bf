"""A job belongs to an experiment and a run (W8)."""

from typing import Any

import pytest

from local.cloud import identities
from local.cloud.nodes.environment import Place, variables
from tests.local.cloud.calling import JOBS, NUMBERED, PARENT, Calling
from tests.local.cloud.vertex.bodies import job_body

CONTEXTS = f"/v1/{PARENT}/metadataStores/default/contexts"
ACCOUNT = {"serviceAccount": identities.DEPLOYER}
EXPERIMENT = f"{NUMBERED}/metadataStores/default/contexts/exp"


@pytest.fixture
def experiment(calling: Calling) -> str:
    body = {"schemaTitle": "system.Experiment", "displayName": "exp"}
    return str(calling.call("POST", f"{CONTEXTS}?contextId=exp", body)["name"])


def job(calling: Calling, title: str = "My Train!", **spec: Any) -> dict[str, Any]:
    return calling.job(displayName=title, spec={**ACCOUNT, **spec})


def test_a_job_with_an_experiment_and_no_run_gets_one(calling: Calling, experiment: str) -> None:
    made = job(calling, experiment=experiment)
    run = calling.call("GET", f"/v1/{made['jobSpec']['experimentRun']}")
    number = made["name"].rpartition("/")[2].lstrip("7").lstrip("0")
    assert run["name"] == f"{EXPERIMENT}-my-train-{number}"
    assert (run["displayName"], run["parentContexts"]) == (f"my-train-{number}", [experiment])
    assert run["metadata"]["_state"] == "RUNNING"
    assert run["metadata"]["_custom_jobs"][0]["custom_job_resource_name"] == made["name"]


def test_a_job_joins_the_run_it_names_and_the_run_s_maker_goes_on(calling: Calling, experiment: str) -> None:
    body = {"schemaTitle": "system.ExperimentRun", "metadata": {"_params": {"lr": 0.1}}}
    run = calling.call("POST", f"{CONTEXTS}?contextId=exp-mine", body)
    short = run["name"].replace("100000000001", "slipway-local")
    assert job(calling, experiment=experiment, experimentRun=short)["jobSpec"]["experimentRun"] == run["name"]
    found = calling.call("PATCH", f"/v1/{run['name']}", {**run, "metadata": {"_params": {"lr": 0.2}}})
    assert found["metadata"]["_params"] == {"lr": 0.2}


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ({"experiment": f"{NUMBERED}/metadataStores/default/contexts/none"}, 404),
        ({"experiment": EXPERIMENT, "experimentRun": f"{EXPERIMENT}-none"}, 404),
        ({"experiment": EXPERIMENT, "experimentRun": EXPERIMENT}, 400),
        ({"experimentRun": EXPERIMENT}, 400),
        ({"experiment": EXPERIMENT, "serviceAccount": ""}, 400),
    ],
)
@pytest.mark.usefixtures("experiment")
def test_what_is_no_experiment_is_refused(calling: Calling, spec: dict[str, str], code: int) -> None:
    assert calling.refused("POST", JOBS, job_body(spec={**ACCOUNT, **spec})).code == code
    assert not calling.call("GET", f"/v1/{PARENT}/customJobs").get("customJobs")


def test_the_longest_names_still_make_an_id(calling: Calling) -> None:
    experiment = "e" * 100
    name = calling.call("POST", f"{CONTEXTS}?contextId={experiment}", {"schemaTitle": "system.Experiment"})["name"]
    run = job(calling, "T" * 128, experiment=name)["jobSpec"]["experimentRun"].rpartition("/")[2]
    # With the SDK's suffix for the run's tensorboard artifact an id may have 128 characters.
    assert len(run) == 121


def test_user_code_is_told_its_experiment_and_run() -> None:
    place = Place(0, 0, "127.2.0.1", 2222, 7777)
    spec = {"experiment": EXPERIMENT, "experimentRun": f"{EXPERIMENT}-run"}
    found = variables([place], place, project="100000000001", job_id="7", region="us-central1", spec=spec)
    assert (found["AIP_EXPERIMENT_NAME"], found["AIP_EXPERIMENT_RUN_NAME"]) == (EXPERIMENT, f"{EXPERIMENT}-run")
    found = variables([place], place, project="100000000001", job_id="7", region="us-central1", spec={})
    assert not [name for name in found if name.startswith("AIP_EXPERIMENT")]
