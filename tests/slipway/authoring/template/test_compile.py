"""From a template to the request that it makes, as a kind of job has it."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.authoring.template.case import cases
from slipway.authoring.template.compile import request
from slipway.base.errors import ConfigError
from slipway.template import JobTemplate, Parameter, Variant, WorkerPool
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
    ("trainers", "fix"), [(("evals",), "did you mean `evals`?"), ((), "declare it under slipway:trainers")]
)
def test_a_trainer_that_the_stack_does_not_have_is_refused(trainers: tuple[str, ...], fix: str) -> None:
    context = replace(CONTEXT, trainers={name: f"{name}@acme.iam.gserviceaccount.com" for name in trainers})
    with pytest.raises(ConfigError, match="runs as trainer eval") as refused:
        request(template(trainer="eval"), "spot", context, {CODE: URI})
    assert refused.value.fix == fix


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


def test_a_role_has_variables_of_its_own_beside_the_templates_and_secrets_as_references() -> None:
    scheduler, workers = template().worker_pools
    workers = replace(workers, env={"ROLE": "worker", "TREES": "${trees}"})
    asked = template(
        worker_pools=(scheduler, workers),
        env={"ROLE": "any", "SEED": "1"},
        secrets={"KEY": "key", "OLD": "projects/p/secrets/k/versions/3"},
    )
    pools = request(asked, "spot", replace(CONTEXT, project="acme"), {CODE: URI})["jobSpec"]["workerPoolSpecs"]
    found = [{variable["name"]: variable["value"] for variable in pool["pythonPackageSpec"]["env"]} for pool in pools]
    secrets = {
        "KEY__SECRET": "projects/acme/secrets/key/versions/latest",
        "OLD__SECRET": "projects/p/secrets/k/versions/3",
    }
    assert found == [
        {"ROLE": "any", "SEED": "1", **secrets},
        {"ROLE": "worker", "SEED": "1", "TREES": "${trees}", **secrets},
    ]


def test_an_input_is_a_variable_of_every_role_with_its_address() -> None:  # N31
    data = Parameter("data", str, default="gs://acme-data/digits")
    asked = template(
        inputs={"data": "${data}", "more": "gs://acme-data/${trees}"}, parameters=(*template().parameters, data)
    )
    for pool in request(asked, "spot", CONTEXT, {CODE: URI})["jobSpec"]["workerPoolSpecs"]:
        assert pool["pythonPackageSpec"]["env"] == [
            {"name": "SLIPWAY_INPUT_DATA", "value": "${data}"},
            {"name": "SLIPWAY_INPUT_MORE", "value": "gs://acme-data/${trees}"},
        ]


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


WHEN = st.fixed_dictionaries(
    {},
    optional={
        name: st.lists(st.sampled_from(values), min_size=1, unique=True).map(tuple) for name, values in CHOICES.items()
    },
).filter(bool)


def covers(first: dict[str, Any], when: dict[str, Any]) -> bool:
    return all(name in when and {*when[name]} <= {*values} for name, values in first.items())


@given(st.lists(WHEN, max_size=4))
def test_for_any_values_exactly_one_case_stands_and_it_is_the_first_that_fits(whens: list[dict[str, Any]]) -> None:
    # One behind another that fits wherever it does is refused.
    apply = [when for place, when in enumerate(whens) if not any(covers(first, when) for first in whens[:place])]
    variants = tuple(Variant(when, capacity_types=("on-demand",)) for when in apply)
    found = cases(varied(*variants))
    for combination in product(*CHOICES.values()):
        values = dict(zip(CHOICES, combination, strict=True))
        (case,) = (
            variant for variant in found if all(values[name] in allowed for name, allowed in variant.when.items())
        )
        fitting = [
            variant for variant in variants if all(values[name] in allowed for name, allowed in variant.values.items())
        ]
        assert case.variant == (fitting[0] if fitting else None)
