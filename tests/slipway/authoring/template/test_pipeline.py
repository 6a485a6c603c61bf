"""A pipeline's template: what its file says, where it fits, and what it can't have. (N28)"""

import json
from pathlib import Path
from typing import Any

import pytest

from slipway.authoring.template.compile import request
from slipway.authoring.template.job_template import JobTemplate
from slipway.authoring.template.jobspec import CompileContext
from slipway.authoring.template.pipeline import with_pipeline
from slipway.authoring.template.proof import StackResources, prove
from slipway.base.errors import ConfigError
from slipway.model.cluster import ClusterSpec, PoolSpec
from slipway.model.kinds.pipeline import THIS_STACK
from slipway.model.machines.spec import MachineSpec
from slipway.template import Parameter

CONTEXT = CompileContext(
    stack="dev",
    region="us-central1",
    commit="3f9c2e1",
    catalog_bucket="catalog",
    work_bucket="work",
    trainer="trainer@acme-ml.iam.gserviceaccount.com",
    clusters={"cpu": "cpu-1"},
    project="acme-ml",
)
PARAMETERS = {
    "rows": {"parameterType": "NUMBER_INTEGER", "defaultValue": 10.0, "description": "how many"},
    "layers": {"parameterType": "LIST", "defaultValue": [1, 2]},
    "must": {"parameterType": "STRING"},
    "may": {"parameterType": "STRING", "isOptional": True},
}


def spec(many: int = 1, **resources: Any) -> dict[str, Any]:
    """A pipeline of `many` tasks that may all run at once."""
    container = {"image": "python:3.11", "command": ["sh", "-c", "echo ${HOME} $0"], "resources": resources}
    return {
        "schemaVersion": "2.1.0",
        "components": {"work": {"executorLabel": "work"}},
        "deploymentSpec": {"executors": {"work": {"container": container}}},
        "root": {
            "inputDefinitions": {"parameters": PARAMETERS},
            "dag": {"tasks": {f"work-{at}": {"componentRef": {"name": "work"}} for at in range(many)}},
        },
    }


WITHOUT_A_VALUE = spec()
WITHOUT_A_VALUE["root"]["inputDefinitions"] = {"parameters": {"end": {"parameterType": "TASK_FINAL_STATUS"}}}
OF_ANOTHER_TYPE = spec()
OF_ANOTHER_TYPE["root"]["inputDefinitions"] = {
    "parameters": {"end": {"parameterType": "BOOLEAN", "defaultValue": "false"}}
}


def template(folder: Path, content: Any = None, **given: Any) -> JobTemplate:
    (folder / "train.yaml").write_text(content if isinstance(content, str) else json.dumps(content or spec()))
    fields: dict[str, Any] = {"kinds": ("pipeline",), "pipeline": "train.yaml"} | given
    return with_pipeline(JobTemplate("train", "trains", **fields), folder)


def stack(machine: str = "n1-standard-8", most: int = 2, *, custom: bool = True) -> StackResources:
    pool = PoolSpec("workers", MachineSpec(machine), 1, most, True, 1)
    return StackResources((ClusterSpec("cpu", (pool,), custom_service_account=custom),), region="us-central1")


def test_its_parameters_are_the_pipeline_s(tmp_path: Path) -> None:
    read = template(tmp_path, parameters=(Parameter("rows", int, max=100),))
    assert [(each.name, each.type, each.default, each.max, each.help) for each in read.parameters] == [
        ("layers", str, "[1, 2]", None, "as JSON"),
        ("must", str, None, None, ""),
        ("rows", int, 10, 100, "how many"),
    ]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"parameters": (Parameter("cols", int),)}, "parameter cols: the pipeline has layers, must and rows"),
        ({"parameters": (Parameter("rows", str),)}, "parameter rows is str, and int in the pipeline"),
        ({"kinds": ("custom-job",)}, "a template with a pipeline is a pipeline, and nothing else"),
        ({"capacity_types": ("spot",)}, "Vertex AI runs pipelines on pool and on-demand alone"),
        ({"env": {"A": "b"}}, "env: a pipeline has no place for it"),
        ({"timeout_s": 60}, "timeout_s: a pipeline has no place for it"),
        ({"pipeline": "none.yaml"}, "none.yaml: it can't be read"),
        ({"content": "a: ["}, "it is not YAML"),
        ({"content": "schemaVersion: 2.0.0"}, "not a pipeline that kfp 2 compiled (schemaVersion 2.0.0)"),
        ({"content": WITHOUT_A_VALUE}, "parameter end: type must be int, "),
        ({"content": OF_ANOTHER_TYPE}, "parameter end: its default 'false' is no bool"),
        ({"content": spec(cpuLimit=9999.0)}, "none has what a task needs: CPUs 9999, memory 0 GB and accelerator none"),
        ({"content": spec() | {"components": {}}}, "it is not in the form of a compiled pipeline: KeyError('work')"),
    ],
)
def test_what_does_not_go_is_said(tmp_path: Path, given: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as refused:
        template(tmp_path, **given)
    assert words in str(refused.value)


def test_any_pool_that_suffices_takes_its_tasks_however_many(tmp_path: Path) -> None:
    (placement,) = prove(template(tmp_path, spec(many=9, cpuLimit=6.0)), stack(most=2))
    assert (placement.refusal, [pool.name for pool in placement.pools]) == ("", ["workers"])


def test_one_machine_does_for_tasks_of_different_needs_as_they_wait_for_it(tmp_path: Path) -> None:
    """A chain of two was refused: `work-1 + work-0 needs replicas 1 + 1 = 2, nearest pool cpu/workers has max 1`."""
    chain = spec(many=2)
    chain["components"]["small"] = {"executorLabel": "small"}
    container = {"image": "python:3.11", "resources": {"cpuLimit": 2.0}}
    chain["deploymentSpec"]["executors"]["small"] = {"container": container}
    second = {"componentRef": {"name": "small"}, "dependentTasks": ["work-0"]}
    chain["root"]["dag"]["tasks"]["work-1"] = second
    (placement,) = prove(template(tmp_path, chain), stack(most=1))
    assert (placement.refusal, [pool.name for pool in placement.pools]) == ("", ["workers", "workers"])


def test_of_the_pools_that_suffice_the_smallest_is_named(tmp_path: Path) -> None:
    """The roomiest was, and the job's price and its place in a queue were another pool's."""
    pools = [PoolSpec(size, MachineSpec(f"n1-{size}"), 1, 1, True, 1) for size in ("standard-4", "highmem-4")]
    large = PoolSpec("large", MachineSpec("n1-standard-8"), 1, 9, True, 1)
    here = StackResources((ClusterSpec("cpu", (large, *pools), custom_service_account=True),), region="us-central1")
    wanted: list[tuple[dict[str, Any], str]] = [({}, "standard-4"), ({"memoryLimit": 20.0}, "highmem-4")]
    for needs, name in (*wanted, ({"cpuLimit": 6.0}, "large")):
        (placement,) = prove(template(tmp_path, spec(**needs)), here)
        assert [pool.name for pool in placement.pools] == [name]


@pytest.mark.parametrize(
    ("resources", "custom", "words"),
    [
        ({"cpuLimit": 9.0}, True, "needs CPUs 9, nearest pool cpu/workers has 8"),
        ({"accelerator": {"type": "NVIDIA_L4", "count": "1"}}, True, "needs accelerator 1 NVIDIA_L4"),
        ({}, False, "needs service account custom"),
    ],
)
def test_a_pool_that_does_not_suffice_is_told_field_by_field(
    tmp_path: Path, resources: dict[str, Any], custom: bool, words: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        prove(template(tmp_path, spec(**resources)), stack(custom=custom))
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("given", "wait", "then"),
    [
        ({}, "86400000", "FAIL"),
        ({"waits": {"pool": 600}}, "600000", "FAIL"),
        ({"waits": {"pool": 600}, "capacity_types": ("pool", "on-demand")}, "600000", "FALL_BACK_TO_ON_DEMAND"),
    ],
)
def test_its_tasks_wait_for_the_cluster_and_then_do_as_the_template_says(
    tmp_path: Path, given: dict[str, Any], wait: str, then: str
) -> None:
    read = template(tmp_path, **given)
    body = request(read, "pool", CONTEXT, {}, "cpu", on=stack().clusters[0])
    assert body["runtimeConfig"]["defaultRuntime"]["persistentResourceRuntimeDetail"] == {
        "persistentResourceName": "projects/acme-ml/locations/us-central1/persistentResources/cpu-1",
        "taskResourceUnavailableWaitTimeMs": wait,
        "taskResourceUnavailableTimeoutBehavior": then,
    }
    assert body["runtimeConfig"]["parameterValues"]["rows"] == "${rows}"
    command = body["pipelineSpec"]["deploymentSpec"]["executors"]["work"]["container"]["command"]
    assert command[2] == "echo ${slipway.dollar}{HOME} $0", "a shell's own variable is no placeholder"


def submitting(folder: Path, catalog: str) -> JobTemplate:
    """A template whose pipeline has a task of `submit_op`."""
    content = spec()
    variable = {"name": "SLIPWAY_CATALOG", "value": catalog}
    content["deploymentSpec"]["executors"]["work"]["container"]["env"] = [variable]
    return template(folder, content)


def test_its_request_names_the_stack_s_catalog_to_tasks_that_name_none(tmp_path: Path) -> None:
    for named, wanted in ((THIS_STACK, "gs://catalog"), ("gs://other", "gs://other")):
        body = request(submitting(tmp_path, named), "on-demand", CONTEXT, {})
        container = body["pipelineSpec"]["deploymentSpec"]["executors"]["work"]["container"]
        assert container["env"] == [{"name": "SLIPWAY_CATALOG", "value": wanted}]
