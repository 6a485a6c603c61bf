"""From a template to the request that it makes, as a kind of job has it."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st

from slipway.authoring.template.case import Case, cases
from slipway.authoring.template.compile import check, request, usual_values
from slipway.base.errors import ConfigError
from slipway.model.catalog.placeholders import fill
from slipway.template import Disk, JobTemplate, Parameter, Variant, WorkerPool
from tests.builders.templates import job_template as template

from .conftest import CONTEXT

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
    monkeypatch.setattr("slipway.authoring.template.compile.check", lambda *_, **__: held.append(1))
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


CHOICES: dict[str, tuple[Any, ...]] = {"size": ("2b", "9b", "27b"), "gpu": ("L4", "H100"), "quick": (False, True)}
PARAMETERS = (
    Parameter("size", str, default="2b", choices=CHOICES["size"]),
    Parameter("gpu", str, default="L4", choices=CHOICES["gpu"]),
    Parameter("quick", bool, default=False),
)
CHIEF = WorkerPool("chief", "n1-standard-4", args=("${size} ${gpu} ${quick}",))
LARGE = (WorkerPool("chief", "a3-highgpu-8g", args=("${size}",)),)


def varied(*variants: Variant) -> JobTemplate:
    return template(worker_pools=(CHIEF,), parameters=PARAMETERS, variants=variants)


def test_without_variants_the_templates_own_machines_always_stand() -> None:
    asked = template()
    (only,) = cases(asked)
    assert (only, str(only)) == (Case(), "")
    assert (only.worker_pools(asked), only.capacity_types(asked)) == (asked.worker_pools, asked.capacity_types)


def test_a_variant_brings_its_machines_and_capacity_types_and_leaves_the_rest_to_the_template() -> None:
    asked = varied(
        Variant({"size": "27b"}, LARGE, ("flex-start",)), Variant({"gpu": "H100"}, capacity_types=("on-demand",))
    )
    largest, gpu, own = cases(asked)
    assert (str(largest), largest.worker_pools(asked), largest.capacity_types(asked)) == (
        "size=27b",
        LARGE,
        ("flex-start",),
    )
    assert (str(gpu), gpu.worker_pools(asked), gpu.capacity_types(asked)) == (
        "gpu=H100, size=2b or 9b",
        (CHIEF,),
        ("on-demand",),
    )
    assert (str(own), own.worker_pools(asked)) == ("gpu=L4, size=2b or 9b", (CHIEF,))


def test_the_templates_own_machines_stand_in_no_case_when_the_variants_leave_none() -> None:
    asked = varied(Variant({"quick": True}, LARGE), Variant({"quick": False}, capacity_types=("on-demand",)))
    assert [str(case) for case in cases(asked)] == ["quick=True", "quick=False"]


WHEN = st.fixed_dictionaries(
    {},
    optional={
        name: st.lists(st.sampled_from(values), min_size=1, unique=True).map(tuple) for name, values in CHOICES.items()
    },
).filter(bool)


@given(st.lists(WHEN, max_size=4))
def test_for_any_values_exactly_one_case_stands_and_it_is_the_first_that_fits(whens: list[dict[str, Any]]) -> None:
    variants = tuple(Variant(when, capacity_types=("on-demand",)) for when in whens)
    found = cases(varied(*variants))
    for combination in product(*CHOICES.values()):
        values = dict(zip(CHOICES, combination, strict=True))
        (case,) = (one for one in found if all(values[name] in allowed for name, allowed in one.when.items()))
        fitting = [one for one in variants if all(values[name] in allowed for name, allowed in one.values.items())]
        assert case.variant == (fitting[0] if fitting else None)


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        (Variant({}, LARGE), "`when` is empty"),
        (Variant({"model": "2b"}, LARGE), "unknown parameter model"),
        (Variant({"trees": 1}, LARGE), "parameter trees chooses a variant, so it needs choices"),
        (Variant({"size": "70b"}, LARGE), "size '70b' is none of 2b, 9b, 27b"),
        (Variant({"size": "2b"}), "it changes nothing"),
        (Variant({"size": "2b"}, (WorkerPool("chief", "n1-standard-9"),)), "variant 1: worker pool 'chief': unknown"),
        (Variant({"size": "2b"}, capacity_types=("flex",)), "variant 1: capacity_types: unknown 'flex'"),
    ],
)
def test_a_variant_that_makes_no_sense_is_told(variant: Variant, words: str) -> None:
    with pytest.raises(ConfigError) as error:
        template(
            worker_pools=(WorkerPool("chief", "n1-standard-4", args=("${size} ${trees}",)),),
            parameters=(PARAMETERS[0], Parameter("trees", int, default=1)),
            variants=(variant,),
        )
    assert words in error.value.why
