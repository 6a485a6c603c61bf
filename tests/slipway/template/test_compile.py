"""A template becomes the exact message that is posted, checked with the official type. # D3 # D9"""

from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from slipway.catalog.placeholders import fill
from slipway.errors import ConfigError
from slipway.template import Disk, Parameter, WorkerPool
from slipway.template.compile import check, request, usual_values

from .conftest import CONTEXT, template

CODE = template().packages[0]
URI = "gs://acme-dev-catalog/packages/dask-digits-0123456789ab.tar.gz"


def test_the_request_on_a_pool() -> None:  # P1
    body = request(template(timeout_s=60, env={"SEED": "${trees}"}), "pool", CONTEXT, {CODE: URI}, "cpu")
    assert body["displayName"] == "${slipway.job}"
    assert body["labels"] == {
        "slipway-template": "dask-digits",
        "slipway-stack": "dev",
        "slipway-commit": "3f9c2e1",
        "slipway-commit-dirty": "false",
        "slipway-capacity-type": "pool",
        "slipway-request": "${slipway.request}",
    }
    changed = request(template(), "pool", replace(CONTEXT, dirty=True), {CODE: URI}, "cpu")
    assert changed["labels"]["slipway-commit-dirty"] == "true", "the commit lacks what defined it"  # N8
    spec = body["jobSpec"]
    assert spec["persistentResourceId"] == "cpu-1a2b3c4"
    assert spec["serviceAccount"] == "trainer@acme.iam.gserviceaccount.com"
    assert spec["baseOutputDirectory"] == {"outputUriPrefix": "${slipway.output}"}
    assert spec["scheduling"] == {"timeout": "60s"}
    scheduler, workers = spec["workerPoolSpecs"]
    assert scheduler["machineSpec"] == {"machineType": "n1-standard-4"}
    assert scheduler["diskSpec"] == {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100}
    assert scheduler["replicaCount"] == "1"
    assert workers["replicaCount"] == "${workers}"
    package = scheduler["pythonPackageSpec"]
    assert package["packageUris"] == [URI]
    assert package["pythonModule"] == "slipway_launcher"
    assert package["args"] == [
        "--claim",
        "gs://acme-dev-work/claims/${slipway.request}",
        "--module",
        "dask_digits.task",
        "--",
        "--trees=${trees}",
        "--output=${slipway.output}",
    ]
    assert package["env"] == [{"name": "SEED", "value": "${trees}"}]


def test_a_job_runs_as_the_trainer_that_its_template_chooses() -> None:  # P5
    """On a cluster too: one with accounts of jobs' own takes any of them (vertex-rules 2)."""
    context = replace(CONTEXT, trainers={"evals": "evals-1@acme.iam.gserviceaccount.com"})
    for place in (("pool", "cpu"), ("spot", None)):
        spec = request(template(trainer="evals"), place[0], context, {CODE: URI}, place[1])["jobSpec"]
        assert spec["serviceAccount"] == "evals-1@acme.iam.gserviceaccount.com"


@pytest.mark.parametrize(
    ("trainers", "fix"),
    [
        (("evals", "tuning"), "did you mean trainer='evals'?"),
        (("tuning",), "one of tuning, or declare it under slipway:trainers"),
        ((), "declare it under slipway:trainers"),
    ],
)
def test_a_trainer_that_the_stack_does_not_have_is_refused(trainers: tuple[str, ...], fix: str) -> None:
    context = replace(CONTEXT, trainers={name: f"{name}@acme.iam.gserviceaccount.com" for name in trainers})
    with pytest.raises(ConfigError) as refused:
        request(template(trainer="eval"), "spot", context, {CODE: URI})
    assert "runs as trainer eval" in refused.value.what and "stack dev does not have" in refused.value.what
    assert refused.value.fix == fix


def test_spot_names_its_strategy_and_no_cluster() -> None:
    spec = request(template(), "spot", CONTEXT, {CODE: URI})["jobSpec"]
    assert spec["scheduling"]["strategy"] == "SPOT"
    assert "persistentResourceId" not in spec


@pytest.mark.parametrize("capacity_type", ["pool", "spot"])
def test_the_request_is_canonical_json_of_the_official_type(capacity_type: str) -> None:  # D9
    """Through the message and back it is the same, so no field is misspelt, renamed or dropped."""
    gpu = WorkerPool("chief", "n1-standard-8", Disk("pd-ssd", 200), "NVIDIA_TESLA_T4", 2, args=("${rate}", "${name}"))
    parameters = (Parameter("rate", float, min=0.5), Parameter("name", str, choices=("a",)))
    for asked in (template(), template(worker_pools=(gpu,), parameters=parameters)):
        body = request(asked, capacity_type, CONTEXT, {CODE: URI}, "cpu" if capacity_type == "pool" else None)
        assert MessageToDict(check(asked, body)) == fill(body, usual_values(asked))


def test_what_is_published_was_held_to_the_official_type_already(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever commit it was published from; another body, or one of a template that has none, is held to it."""
    held: list[object] = []
    monkeypatch.setattr("slipway.template.compile.check", lambda *_, **__: held.append(1))
    published = request(template(), "pool", CONTEXT, {CODE: URI}, "cpu")
    later = replace(CONTEXT, commit="4a0d3f2", dirty=True)
    assert request(template(), "pool", later, {CODE: URI}, "cpu", checked=[published])["labels"] != published["labels"]
    assert len(held) == 1
    request(template(timeout_s=60), "pool", later, {CODE: URI}, "cpu", checked=[published])
    assert len(held) == 2


def test_a_field_that_the_api_does_not_have_is_named() -> None:
    asked = template()
    body: dict[str, Any] = request(asked, "spot", CONTEXT, {CODE: URI})
    body["jobSpec"]["workerPoolSpecs"][1]["machineSpec"]["machine"] = "n1"
    with pytest.raises(ConfigError) as error:
        check(asked, body)
    assert "not a valid CustomJob" in error.value.what
    assert "workerPoolSpecs[1].machineSpec" in error.value.why
    assert "machine" in error.value.why


def test_one_of_the_hundred_variables_is_for_the_parameters() -> None:
    env = {f"A{number}": "1" for number in range(99)}
    request(template(env=env), "spot", CONTEXT, {CODE: URI})
    with pytest.raises(ConfigError) as error:
        request(template(env={**env, "B": "1"}), "spot", CONTEXT, {CODE: URI})
    assert "101 environment variables" in error.value.why and "at most 100" in error.value.why


def test_a_role_has_variables_of_its_own_beside_the_templates() -> None:
    scheduler, workers = template().worker_pools
    workers = replace(workers, env={"ROLE": "worker", "TREES": "${trees}"})
    asked = template(worker_pools=(scheduler, workers), env={"ROLE": "any", "SEED": "1"}, secrets={"KEY": "key"})
    pools = request(asked, "spot", replace(CONTEXT, project="acme"), {CODE: URI})["jobSpec"]["workerPoolSpecs"]
    found = [{one["name"]: one["value"] for one in pool["pythonPackageSpec"]["env"]} for pool in pools]
    secret = {"KEY__SECRET": "projects/acme/secrets/key/versions/latest"}
    assert found == [
        {"ROLE": "any", "SEED": "1", **secret},
        {"ROLE": "worker", "SEED": "1", "TREES": "${trees}", **secret},
    ]


@pytest.mark.parametrize("field", ["env", "secrets"])
def test_the_variable_of_the_parameters_is_not_the_templates(field: str) -> None:
    with pytest.raises(ConfigError) as error:
        template(**{field: {"SLIPWAY_PARAMETERS": "mine"}})
    assert "SLIPWAY_PARAMETERS: Slipway sets it itself" in error.value.why
